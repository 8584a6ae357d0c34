# ptxas may not unroll a loop that makes a product by wgmma and computes with its
# result, nor one around that loop; others it may.
# RUN: nereid compile %s:kernel --signature '*fp16:16, *fp16:16, *fp32:16, i32, i32, 1' --target sm_90a --emit ptx | FileCheck %s --check-prefix=USED
# RUN: nereid compile %s:kernel --signature '*fp16:16, *fp16:16, *fp32:16, i32, i32, 2' --target sm_90a --emit ptx | FileCheck %s --check-prefix=OUTER
# RUN: nereid compile %s:kernel --signature '*fp16:16, *fp16:16, *fp32:16, i32, i32, 0' --target sm_90a --emit ptx | FileCheck %s --check-prefix=CARRIED
# RUN: nereid compile %s:kernel --signature '*fp16:16, *fp16:16, *fp32:16, i32, i32, 1' --target sm_80 --emit ptx | FileCheck %s --check-prefix=CARRIED
import triton
import triton.language as tl


# USED: .pragma "nounroll";
# USED: .pragma "nounroll";
# USED: wgmma.mma_async
# USED-NOT: .pragma
# USED: ret;
# OUTER: .pragma "nounroll";
# OUTER-NOT: .pragma
# OUTER: ret;
# CARRIED-NOT: .pragma
# CARRIED: ret;
@triton.jit
def kernel(a_ptr, b_ptr, c_ptr, n, m, COMPUTES: tl.constexpr):
    i = tl.arange(0, 64)
    x = tl.load(a_ptr + i[:, None] * 64 + i[None, :])
    acc = tl.zeros([64, 64], tl.float32)
    for k in range(n):
        for l in range(m):
            acc = tl.dot(x, tl.load(b_ptr + (k * m + l) * 4096 + i[:, None] * 64 + i[None, :]), acc)
            if COMPUTES == 1:
                acc = acc * 0.25
        if COMPUTES == 2:
            acc = acc * 0.5
    for k in range(m):
        acc = acc * 0.125
    tl.store(c_ptr + i[:, None] * 64 + i[None, :], acc)
