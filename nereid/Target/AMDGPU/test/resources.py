# A code object says what its kernel takes; LDS has the size that the kernel needs.
# RUN: nereid compile %s:total --target gfx90a --emit hsaco -o %t.90a -v --signature '*fp32:16,*fp32:16,1024' 2>&1 | FileCheck %s --check-prefix=GFX90A
# RUN: nereid compile %s:total --target gfx1201 --emit hsaco -o %t.1201 -v --signature '*fp32:16,*fp32:16,1024' 2>&1 | FileCheck %s --check-prefix=GFX1201
import triton
import triton.language as tl


# GFX90A: total [gfx90a]: {{[0-9]+}} VGPRs, {{[0-9]+}} SGPRs, 0 and 0 spilled, 16 bytes of LDS, 0 bytes of scratch a lane; 32 of 32 waves of a processor
# GFX1201: total [gfx1201]: {{[0-9]+}} VGPRs, {{[0-9]+}} SGPRs, 0 and 0 spilled, 16 bytes of LDS, 0 bytes of scratch a lane; 64 of 64 waves of a processor
@triton.jit
def total(x_ptr, z_ptr, N: tl.constexpr):
    tl.store(z_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, N)), axis=0))
