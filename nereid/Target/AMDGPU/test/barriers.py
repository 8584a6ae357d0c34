# A barrier waits for LDS alone, unless a thread may touch global memory that another one wrote.
# RUN: nereid compile %s:total --target gfx942 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,1024' | FileCheck %s --check-prefix=LDS
# RUN: nereid compile %s:total --target gfx1201 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,1024' | FileCheck %s --check-prefix=LDS12
# RUN: nereid compile %s:turned --target gfx942 --emit amdgcn --signature '*fp32:16,1024' | FileCheck %s --check-prefix=GLOBAL
# RUN: nereid compile %s:counted --target gfx942 --emit amdgcn --signature '*i32:16,1024' | FileCheck %s --check-prefix=GLOBAL
import triton
import triton.language as tl


# LDS-LABEL: {{^}}total:
# LDS: ds_write_b32
# LDS: s_waitcnt lgkmcnt(0){{ *$}}
# LDS-NEXT: s_barrier
# LDS12-LABEL: {{^}}total:
# LDS12: ds_store_b32
# LDS12: s_wait_dscnt 0x0
# LDS12-NOT: s_wait_{{loadcnt|storecnt}} 0x0
# LDS12: s_barrier_signal
@triton.jit
def total(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    y = tl.load(y_ptr + at)
    tl.store(z_ptr + at, y + tl.sum(tl.load(x_ptr + at), axis=0))


# GLOBAL: s_waitcnt vmcnt(0)
# GLOBAL: s_barrier
@triton.jit
def turned(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x_ptr + at, at * 1.0)
    tl.store(x_ptr + at, tl.load(x_ptr + BLOCK - 1 - at))


@triton.jit
def counted(x_ptr, BLOCK: tl.constexpr):
    n = tl.atomic_add(x_ptr, 1)
    tl.store(x_ptr + 1 + tl.arange(0, BLOCK), n + tl.arange(0, BLOCK))
