# A vector add: accesses of 128 bits, masks by branches, the descriptor and the metadata of the kernel.
# RUN: nereid compile %s:add --target gfx942 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,1024' | FileCheck %s --check-prefixes=CHECK,GFX942
# RUN: nereid compile %s:add --target gfx1100 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,1024' | FileCheck %s --check-prefixes=CHECK,GFX1100
# RUN: nereid compile %s:add --target gfx1201 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,1024' | FileCheck %s --check-prefixes=CHECK,GFX1201
import triton
import triton.language as tl


# CHECK: .amdgcn_target "amdgcn-amd-amdhsa--gfx
# CHECK-LABEL: {{^}}add:
# GFX942: s_and_saveexec_b64
# GFX942: global_load_dwordx4
# GFX942: s_waitcnt vmcnt
# GFX942: global_store_dwordx4
# GFX1100: s_and_saveexec_b32
# GFX1100: global_load_b128
# GFX1100: s_waitcnt vmcnt
# GFX1100: global_store_b128
# GFX1201: global_load_b128
# GFX1201: s_wait_loadcnt
# GFX1201: global_store_b128
# CHECK-NOT: flat_load
# CHECK: s_endpgm
# CHECK: .amdhsa_kernel add
# CHECK: .amdhsa_group_segment_fixed_size 0
# GFX942: .amdhsa_accum_offset
# GFX1100: .amdhsa_wavefront_size32 1
# CHECK: .reqd_workgroup_size:
# GFX942-NEXT: - 256
# GFX1100-NEXT: - 128
# GFX1201-NEXT: - 128
@triton.jit
def add(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(z_ptr + at, tl.load(x_ptr + at, mask=mask) + tl.load(y_ptr + at, mask=mask), mask=mask)
