# What a kernel knows of its target.
# RUN: nereid compile %s:asks --target gfx942 --emit tile --signature '*i32,True,"gfx942",64' | FileCheck %s
# RUN: nereid compile %s:asks --target gfx1201 --emit tile --signature '*i32,False,"gfx1201",32' | FileCheck %s
import triton
import triton.language as tl


# CHECK: tile.store
@triton.jit
def asks(z_ptr, CDNA3: tl.constexpr, ARCH: tl.constexpr, LANES: tl.constexpr):
    tl.static_assert(tl.target_info.is_hip())
    tl.static_assert(not tl.target_info.is_cuda())
    tl.static_assert(not tl.target_info.cuda_capability_geq(7, 0))
    tl.static_assert(tl.target_info.is_hip_cdna3() == CDNA3)
    tl.static_assert(not tl.target_info.is_hip_cdna4())
    tl.static_assert(tl.target_info.current_target().backend == "hip")
    tl.static_assert(tl.target_info.current_target().arch == ARCH)
    tl.static_assert(tl.target_info.current_target().warp_size == LANES)
    tl.store(z_ptr, 1)
