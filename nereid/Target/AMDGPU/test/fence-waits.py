# A barrier at the head of a loop waits for what the turn before stored. LLVM 22 takes such a wait out when it sees the loop's
# head for the first time, with nothing on its way.
# RUN: nereid compile %s:turned --target gfx1100 --num-warps 4 --emit amdgcn --signature '*fp32:16,i32,512' | FileCheck %s --check-prefix=RDNA3
# RUN: nereid compile %s:turned --target gfx1201 --num-warps 4 --emit amdgcn --signature '*fp32:16,i32,512' | FileCheck %s --check-prefix=RDNA4
# RUN: env NEREID_HIP_DRIVER=simulator NEREID_SIMULATOR=gfx1100,races nereid run %s:turned x_ptr=randn:f32[512] n=4 BLOCK=512 --grid 1 --device hip:0 --check
# RUN: env NEREID_HIP_DRIVER=simulator NEREID_SIMULATOR=gfx1201,races nereid run %s:turned x_ptr=randn:f32[512] n=4 BLOCK=512 --grid 1 --device hip:0 --check
# RUN: env NEREID_HIP_DRIVER=simulator NEREID_SIMULATOR=gfx942,races nereid run %s:turned x_ptr=randn:f32[512] n=4 BLOCK=512 --grid 1 --device hip:0 --check
#
# RDNA3-LABEL: {{^}}turned:
# RDNA3: s_waitcnt_vscnt null, 0x0
# RDNA3-NEXT: s_barrier
# RDNA3: global_store_b128
# RDNA4-LABEL: {{^}}turned:
# RDNA4: s_wait_storecnt 0x0
# RDNA4-NEXT: s_barrier_signal
# RDNA4: global_store_b128
import triton
import triton.language as tl


@triton.jit
def turned(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = at * 1.0
    for _ in range(n):
        total = tl.sum(x, axis=0)
        x = tl.load(x_ptr + BLOCK - 1 - at) + total
        tl.store(x_ptr + at, x)
