"""Running sums along one dimension."""
import triton
import triton.language as tl


@triton.jit
def widened(x, WIDE: tl.constexpr):
    """What is summed in: float32, float64, or int64."""
    if WIDE == "double":
        x = x.to(tl.float64)
    elif WIDE == "signed":
        x = x.to(tl.int64)
    else:
        x = x.to(tl.float32)
    return x


@triton.jit
def inner_cumsum_kernel(y_ptr, x_ptr, rows, N, WIDE: tl.constexpr, REVERSE: tl.constexpr, BLOCK_M: tl.constexpr,
                        BLOCK_N: tl.constexpr):
    """y[i, j] = x[i, 0] + ... + x[i, j]; REVERSE: from the last one on. Contiguous; blocks of a row hand on their sum."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    exists = row < rows
    carry = widened(tl.zeros((BLOCK_M,), dtype=tl.float32), WIDE)
    begin = tl.cast(0, tl.int64)  # the last start, and a block more, may be beyond 2^31
    for start in range(begin, N, BLOCK_N):
        inside = exists[:, None] & (cols < N - start)[None, :]
        at = start + cols
        if REVERSE:
            at = N - 1 - at
        at = (row * N)[:, None] + at[None, :]
        x = widened(tl.load(x_ptr + at, mask=inside, other=0), WIDE)
        tl.store(y_ptr + at, tl.cumsum(x, 1) + carry[:, None], mask=inside)
        carry += tl.sum(x, axis=1)


@triton.jit
def outer_cumsum_kernel(y_ptr, x_ptr, M, N, column_blocks, WIDE: tl.constexpr, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    """The same along the middle of x[b, i, j]. Programs (b * column blocks)."""
    batch = (tl.program_id(0) // column_blocks).to(tl.int64)
    cols = (tl.program_id(0) % column_blocks).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    exists = cols < N
    total = widened(tl.zeros((BLOCK,), dtype=tl.float32), WIDE)
    for i in range(0, M):
        row = i
        if REVERSE:
            row = M - 1 - i
        at = (batch * M + row) * N + cols
        total += widened(tl.load(x_ptr + at, mask=exists, other=0), WIDE)
        tl.store(y_ptr + at, total, mask=exists)
