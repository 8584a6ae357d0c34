# RUN: nereid compile %s:larger --signature '*fp16:16, *fp16:16, i32:16, 256' --target x86-64-v3 --emit asm | FileCheck %s
# RUN: nereid compile %s:larger --signature '*fp16:16, *fp16:16, i32:16, 256' --target x86-64-v4 --emit asm | FileCheck %s
import triton
import triton.language as tl


# The larger number of two float16s is chosen by comparisons of whole vectors: LLVM
# calls fmaxf for each lane of its own.
# CHECK: larger
# CHECK-NOT: call
# CHECK: vcmp{{[a-z]*}}ps
# CHECK-NOT: call
@triton.jit
def larger(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.maximum(tl.load(x + i), tl.load(x + n + i)))
