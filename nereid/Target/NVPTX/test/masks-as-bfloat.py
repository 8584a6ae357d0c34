# -1 where a mask is true, as a bfloat: LLVM 22 writes 1.
# RUN: nereid compile %s:kernel --signature '*bf16:16, i32' --target sm_90a --emit ptx | FileCheck %s
# RUN: nereid compile %s:kernel --signature '*bf16:16, i32' --target sm_80 --emit ptx | FileCheck %s --check-prefix=SM80
import triton
import triton.language as tl


# CHECK: selp.b16 {{%rs[0-9]+}}, 0xBF80,
# CHECK-NOT: cvt.rn.bf16
# SM80: selp.b16 {{%rs[0-9]+}}, 0xBF80,
@triton.jit
def kernel(y_ptr, n):
    i = tl.arange(0, 64)
    tl.store(y_ptr + i, tl.where((i < n) | (i > 50), -1, 0).to(tl.bfloat16))
