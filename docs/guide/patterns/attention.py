"""Attention of one head in memory of O(N): the table of N x N weights is never written."""
import triton
import triton.language as tl


@triton.jit
def attention(o_ptr, q_ptr, k_ptr, v_ptr, N, scale, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :], mask=m[:, None] < N, other=0.0)
    largest = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    result = tl.zeros([BLOCK_M, D], tl.float32)
    for start in range(0, N, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + n[None, :] * D + d[:, None], mask=n[None, :] < N, other=0.0)
        v = tl.load(v_ptr + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        score = tl.where(n[None, :] < N, tl.dot(q, k) * scale, -float("inf"))
        # The online softmax, of BLOCK_M rows at once. What was added up so far
        # shrinks by the same factor as the sum.
        higher = tl.maximum(largest, tl.max(score, axis=1))
        weight = tl.exp(score - higher[:, None])
        shrink = tl.exp(largest - higher)
        total = total * shrink + tl.sum(weight, axis=1)
        result = tl.dot(weight.to(v.dtype), v, result * shrink[:, None])
        largest = higher
    tl.store(o_ptr + m[:, None] * D + d[None, :], result / total[:, None], mask=m[:, None] < N)
