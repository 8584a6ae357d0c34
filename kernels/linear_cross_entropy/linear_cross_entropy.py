"""The products around a cross-entropy whose logits are never all in memory: cross_entropy.py does the rest."""
import triton
import triton.language as tl


@triton.jit
def chunk_product_kernel(c_ptr, before_ptr, a_ptr, b_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_c,
                         BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, PRECISION: tl.constexpr):
    """C = A @ B + before, summed in float32; before [M, N] is row-major, or None. Programs (block columns * block rows):
    those that run together share columns of B."""
    blocks = tl.cdiv(M, BLOCK_M)
    first = (tl.program_id(0) % blocks).to(tl.int64) * BLOCK_M
    left = (tl.program_id(0) // blocks).to(tl.int64) * BLOCK_N
    rows = tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    ks = tl.arange(0, BLOCK_K)
    a_ptrs = a_ptr + first * stride_am + rows[:, None] * stride_am + ks[None, :] * stride_ak
    b_ptrs = b_ptr + left * stride_bn + ks[:, None] * stride_bk + cols[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=(rows[:, None] < M - first) & (ks[None, :] < K - k), other=0.0)
        b = tl.load(b_ptrs, mask=(ks[:, None] < K - k) & (cols[None, :] < N - left), other=0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION)
        a_ptrs += BLOCK_K * stride_ak
        b_ptrs += BLOCK_K * stride_bk
    inside = (rows[:, None] < M - first) & (cols[None, :] < N - left)
    if before_ptr is not None:
        acc += tl.load(before_ptr + first * N + left + rows[:, None] * N + cols[None, :], mask=inside, other=0.0)
    tl.store(c_ptr + first * stride_c + left + rows[:, None] * stride_c + cols[None, :], acc, mask=inside)
