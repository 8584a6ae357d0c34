# Exponentials, roots, conversions, and the grid's size from the hidden arguments.
# RUN: nereid compile %s:numbers --target gfx942 --emit amdgcn --signature '*fp32:16,*i32:16,64' | FileCheck %s
# RUN: nereid compile %s:numbers --target gfx1201 --emit amdgcn --signature '*fp32:16,*i32:16,64' | FileCheck %s
import triton
import triton.language as tl


# CHECK-LABEL: {{^}}numbers:
# CHECK-DAG: v_exp_f32
# CHECK-DAG: v_rsq_f32
# CHECK-DAG: v_cvt_i32_f32
# CHECK: s_endpgm
# CHECK: hidden_block_count_x
@triton.jit
def numbers(x_ptr, z_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    tl.store(z_ptr + at, (tl.exp2(x) + tl.rsqrt(x)).to(tl.int32) + tl.num_programs(0))
