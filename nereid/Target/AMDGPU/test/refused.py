# What these targets do not have is reported.
# RUN: not nereid compile %s:says --target gfx942 --emit amdgcn --signature '*fp32,64' 2>&1 | FileCheck %s --check-prefix=PRINT
# RUN: not nereid compile %s:says --target gfx943 --emit amdgcn --signature '*fp32,64' 2>&1 | FileCheck %s --check-prefix=NAME
# RUN: not nereid compile %s:says --target gfx942 --emit ptx --signature '*fp32,64' 2>&1 | FileCheck %s --check-prefix=STAGE
# RUN: not nereid compile %s:says --target gfx942 --num-warps 32 --signature '*fp32,64' 2>&1 | FileCheck %s --check-prefix=WARPS
import triton
import triton.language as tl


# PRINT: the GPU target cannot run this kernel: prints on gfx942
# NAME: no GPU architecture 'gfx943'; expected one of gfx90a, gfx942, gfx950, gfx1100, gfx1201
# STAGE: --emit: expected a stage of the target 'gfx942', which are ast, tile, tile-opt, llvm, tilegpu, gpu, amdgcn and hsaco, got 'ptx'
# WARPS: num_warps is 32; expected 1, 2, 4, 8 or 16 for gfx942
@triton.jit
def says(x_ptr, N: tl.constexpr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, N)))
