# Products of 8-bit floats need PTX 8.4; whatever else 9.0 does, an older
# driver's assembler takes too.
# RUN: nereid compile %s:kernel --signature '*fp8e4nv:16, *fp32:16' --target sm_90a --emit ptx | FileCheck %s
# RUN: nereid compile %s:kernel --signature '*fp16:16, *fp32:16' --target sm_90a --emit ptx | FileCheck %s --check-prefix=HALF
import triton
import triton.language as tl


# CHECK: .version 8.4
# CHECK: mma.sync{{.*}}e4m3
# HALF: .version 8.0
# HALF: mma.sync{{.*}}f16
@triton.jit
def kernel(x_ptr, y_ptr):
    i = tl.arange(0, 32)
    at = i[:, None] * 32 + i[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.dot(x, tl.trans(x)))
