"""Products in float64, for gradients that are checked. Apart from linear.py, which is compiled ahead of time."""
import triton
import triton.language as tl


@triton.jit
def doubles_kernel(y_ptr, a_ptr, b_ptr, M, N, K, a_batch, a_row, a_col, b_batch, b_row, b_col, BLOCK: tl.constexpr,
                   BLOCK_K: tl.constexpr):
    """y = a @ b in float64, [batch, M, N]. Programs (batch * blocks of rows * blocks of columns)."""
    blocks_m = tl.cdiv(M, BLOCK)
    blocks_n = tl.cdiv(N, BLOCK)
    block = tl.program_id(0) // blocks_n
    batch = (block // blocks_m).to(tl.int64)
    rows = (block % blocks_m).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    cols = (tl.program_id(0) % blocks_n).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    ks = tl.arange(0, BLOCK_K).to(tl.int64)
    a_ptrs = a_ptr + batch * a_batch + rows[:, None] * a_row + ks[None, :] * a_col
    b_ptrs = b_ptr + batch * b_batch + ks[:, None] * b_row + cols[None, :] * b_col
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float64)
    for k in range(0, K, BLOCK_K):
        a = tl.load(a_ptrs, mask=(rows < M)[:, None] & (ks < K - k)[None, :], other=0.0)
        b = tl.load(b_ptrs, mask=(ks < K - k)[:, None] & (cols < N)[None, :], other=0.0)
        total = tl.dot(a, b, total, out_dtype=tl.float64)
        a_ptrs += tl.full((), BLOCK_K, tl.int64) * a_col
        b_ptrs += tl.full((), BLOCK_K, tl.int64) * b_row
    y_ptrs = y_ptr + batch * M * N + rows[:, None] * N + cols[None, :]
    tl.store(y_ptrs, total, mask=(rows < M)[:, None] & (cols < N)[None, :])
