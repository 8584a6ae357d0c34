# The loop's last product ends a block, and its sums are copied at the head of the loop, which another way back reaches as well:
# ten wait states stand between. LLVM 22 inserts two of them.
# RUN: nereid compile %s:attention --target gfx942 --num-warps 2 --emit amdgcn --signature '*fp32:16,*fp32:16,*fp32:16,*fp32:16,i32,16,32,32' | FileCheck %s
import triton
import triton.language as tl


# CHECK-LABEL: {{^}}attention:
# CHECK: v_mfma_f32_16x16x4_f32
# CHECK: {{^}}.LBB0_{{[0-9]+}}:
# CHECK-NEXT: s_nop 1
# CHECK-NEXT: s_nop 7
# CHECK-NEXT: v_mov_b32
@triton.jit
def attention(q_ptr, k_ptr, v_ptr, z_ptr, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m, d, j = tl.arange(0, M), tl.arange(0, D), tl.arange(0, N)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    total, most = tl.zeros((M,), tl.float32), tl.full((M,), -float("inf"), tl.float32)
    sums = tl.zeros((M, D), tl.float32)
    for start in range(0, n, N):
        at = start + j
        k = tl.load(k_ptr + at[:, None] * D + d[None, :], mask=at[:, None] < n, other=0.0)
        v = tl.load(v_ptr + at[:, None] * D + d[None, :], mask=at[:, None] < n, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * 0.25
        scores = tl.where(at[None, :] < n, scores, -float("inf"))
        larger = tl.maximum(most, tl.max(scores, axis=1))
        weights = tl.exp(scores - larger[:, None])
        change = tl.exp(most - larger)
        total = total * change + tl.sum(weights, axis=1)
        sums = sums * change[:, None] + tl.dot(weights, v, input_precision="ieee")
        most = larger
    tl.store(z_ptr + m[:, None] * D + d[None, :], sums / total[:, None])
