# The loop's last product ends a block, and its sums are copied at the head of the loop, which another way back reaches as well:
# ten wait states stand between. LLVM 22 inserts two of them.
# RUN: nereid compile %S/../../../../test/gpu/amd_kernels.py:attention --target gfx942 --num-warps 2 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,*fp32:16,i32,16,32,32' | FileCheck %s
#
# CHECK-LABEL: {{^}}attention:
# CHECK: v_mfma_f32_16x16x4_f32
# CHECK: {{^}}.LBB0_{{[0-9]+}}:
# CHECK-NEXT: s_nop 1
# CHECK-NEXT: s_nop 7
# CHECK-NEXT: v_mov_b32
