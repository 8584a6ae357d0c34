# RUN: nereid compile %s:product --signature '*fp32:16, *bf16:16, *bf16:16, i32, i32' --target x86-64-v4-amx --emit llvm | FileCheck %s --check-prefix=ASKED
# RUN: nereid compile %s:product --signature '*fp32:16, *bf16:16, *bf16:16, i32, 96' --target x86-64-v4-amx --emit llvm | FileCheck %s --check-prefix=LINES
# RUN: nereid compile %s:product --signature '*fp32:16, *bf16:16, *bf16:16, i32, 1024' --target x86-64-v4-amx --emit llvm | FileCheck %s --check-prefix=CROWDED
import triton
import triton.language as tl


# Tiles read rows of the left operand where they lie, if these begin at lines of
# the cache and no multiple of 2 KiB apart; else they are copied, 128 bytes each.
# ASKED: and i32 %{{.*}}, 31
# ASKED: and i32 %{{.*}}, 1023
# ASKED: call void @llvm.x86.tileloadd64(i8 4,
# LINES: call void @llvm.x86.tileloadd64(i8 4, ptr %{{.*}}, i64 192)
# CROWDED: call void @llvm.x86.tileloadd64(i8 4, ptr %{{.*}}, i64 128)
@triton.jit
def product(y_ptr, a_ptr, b_ptr, N, STRIDE):
    rows = tl.arange(0, 64)
    ks = tl.arange(0, 64)
    cols = tl.arange(0, 64)
    a = tl.load(a_ptr + rows[:, None] * STRIDE + ks[None, :])
    b = tl.load(b_ptr + ks[:, None] * N + cols[None, :])
    tl.store(y_ptr + rows[:, None] * N + cols[None, :], tl.dot(a, b))
