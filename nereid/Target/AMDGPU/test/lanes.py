# How lanes exchange words: DPP inside rows of 16, then what the chip has between rows and halves; waves by LDS.
# RUN: nereid compile %s:total --target gfx942 --emit amdgcn --signature '*fp32:16,*fp32:16,1024' | FileCheck %s --check-prefix=GFX942
# RUN: nereid compile %s:total --target gfx1100 --emit amdgcn --signature '*fp32:16,*fp32:16,1024' | FileCheck %s --check-prefix=GFX1100
import triton
import triton.language as tl


# GFX942-LABEL: {{^}}total:
# GFX942-DAG: quad_perm:[1,0,3,2]
# GFX942-DAG: quad_perm:[2,3,0,1]
# GFX942-DAG: row_half_mirror
# GFX942-DAG: row_ror:8
# GFX942-DAG: ds_swizzle_b32
# GFX942-DAG: ds_bpermute_b32
# GFX942: ds_write_b32
# GFX942: s_barrier
# GFX942: ds_read
# GFX1100-LABEL: {{^}}total:
# GFX1100-DAG: row_xmask:1
# GFX1100-DAG: row_xmask:2
# GFX1100-DAG: row_xmask:4
# GFX1100-DAG: row_xmask:8
# GFX1100-DAG: v_permlanex16_b32
# GFX1100: ds_store_b32
# GFX1100: s_barrier
# GFX1100: ds_load
@triton.jit
def total(x_ptr, z_ptr, N: tl.constexpr):
    tl.store(z_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, N)), axis=0))
