# RUN: nereid compile %s:column_sums --signature '*fp32:16, *fp32:16, *fp32:16, i32:16, 8, 16, 256' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=EIGHT16
# RUN: nereid compile %s:column_sums --signature '*fp32:16, *fp32:16, *fp32:16, i32:16, 8, 16, 256' --target x86-64-v4 --emit llvm | FileCheck %s --check-prefix=EIGHT32
# RUN: nereid compile %s:column_sums --signature '*fp32:16, *fp32:16, *fp32:16, i32:16, 2, 16, 256' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=TWO16
import triton
import triton.language as tl


# Sums of columns wait in registers while the loop goes down the rows: half of
# the registers, 16 or 32, have sums.
# EIGHT16-LABEL: define void @column_sums
# EIGHT16-NOT: phi <{{16|32}} x float>
# EIGHT16-COUNT-8: phi <8 x float>
# EIGHT16-NOT: phi <{{16|32}} x float>
# EIGHT16: ret void
# EIGHT32-LABEL: define void @column_sums
# EIGHT32-NOT: phi <64 x float>
# EIGHT32-COUNT-8: phi <32 x float>
# EIGHT32-NOT: phi <64 x float>
# EIGHT32: ret void
# TWO16-LABEL: define void @column_sums
# TWO16-COUNT-2: phi <16 x float>
@triton.jit
def column_sums(y_ptr, a_ptr, x_ptr, stride, COUNT: tl.constexpr, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.arange(0, ROWS)[:, None]
    cols = tl.arange(0, COLS)
    x = tl.load(x_ptr + rows * stride + cols[None, :])
    sums = ()
    for i in tl.static_range(COUNT):
        sums = sums + (tl.sum(tl.load(a_ptr + i * stride + rows) * x, axis=0), )
    for i in tl.static_range(COUNT):
        tl.store(y_ptr + i * stride + cols, sums[i])
