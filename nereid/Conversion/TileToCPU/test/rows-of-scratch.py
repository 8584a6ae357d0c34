# RUN: nereid compile %s:product --signature '*fp32:16, *fp32:16, *fp32:16, i32:16, 256' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=APART
# RUN: nereid compile %s:product --signature '*fp32:16, *fp32:16, *fp32:16, i32:16, 32' --target x86-64-v3 --emit llvm | FileCheck %s --check-prefix=DENSE
import triton
import triton.language as tl


# Rows of 1024 bytes would share four sets of a first-level cache of 64: each
# begins a line later. Rows of 128 bytes stay together.
# APART-LABEL: define void @product
# APART: mul i64 %{{.*}}, 1088
# DENSE-LABEL: define void @product
# DENSE-NOT: {{[, ]192$}}
# DENSE: ret void
@triton.jit
def product(y_ptr, a_ptr, b_ptr, stride, N: tl.constexpr):
    rows = tl.arange(0, 32)
    ks = tl.arange(0, 32)
    cols = tl.arange(0, N)
    a = tl.load(a_ptr + rows[:, None] * stride + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] * stride + cols[None, :])
    tl.store(y_ptr + rows[:, None] * stride + cols[None, :], tl.dot(a, b))
