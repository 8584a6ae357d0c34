# The assembler wants an instruction's sums, up to 128, to have room in the registers that threads begin with. So a block
# of one group has a multiprocessor to itself where its instructions have 256 columns,
# RUN: nereid compile %s:sums --target sm_90a --num-warps 4 --emit ptx \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16,64,256' | FileCheck %s --check-prefix=ALONE
# ALONE-NOT: .maxnreg
# ALONE: cp.async.bulk.tensor
# ALONE-NOT: setmaxnreg
# ALONE: wgmma.mma_async.sync.aligned.m64n256k16
# shares it where they have fewer,
# RUN: nereid compile %s:sums --target sm_90a --num-warps 4 --emit ptx \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16,64,128' | FileCheck %s --check-prefix=SHARED
# SHARED: .maxnreg 128
# SHARED: setmaxnreg.inc.sync.aligned.u32 216
# and four groups of 256 columns have no warps that copy.
# RUN: nereid compile %s:sums --target sm_90a --num-warps 16 -v --emit ptx -o %t.ptx \
# RUN:   --signature '*fp32:16,*bf16:16,*bf16:16,i32:16,256,256' 2>&1 | FileCheck %s --check-prefix=MANY
# MANY: not warps of their own that copy: the threads would begin with fewer registers than the sums of an instruction take
import triton
import triton.language as tl


@triton.jit
def sums(y_ptr, a_ptr, b_ptr, K, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    ks = tl.arange(0, 64)
    total = tl.zeros((M, N), dtype=tl.float32)
    for k in tl.range(0, K, 64, warp_specialize=True):
        a = tl.load(a_ptr + m[:, None] * K + (k + ks)[None, :])
        b = tl.load(b_ptr + n[None, :] * K + (k + ks)[:, None])
        total = tl.dot(a, b, total)
    tl.store(y_ptr + m[:, None] * N + n[None, :], total)
