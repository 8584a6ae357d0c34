"""Sums over one dimension, in float32, in a fixed order."""
import triton
import triton.language as tl


@triton.jit
def inner_sums_kernel(y_ptr, x_ptr, rows, N, part_size, parts, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """y[i, p] = sum of x[i, j] for j in part p, x contiguous. Programs (row blocks, parts)."""
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)
    part = tl.program_id(1)
    begin = part.to(tl.int64) * part_size
    end = tl.minimum(begin + part_size, N)
    cols = tl.arange(0, BLOCK_N)
    exists = row < rows
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(begin, end, BLOCK_N):
        inside = exists[:, None] & (cols < end - start)[None, :]
        total += tl.load(x_ptr + (row * N + start)[:, None] + cols[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + row * parts + part, tl.sum(total, axis=1), mask=exists)


@triton.jit
def outer_sums_kernel(y_ptr, x_ptr, M, N, part_size, parts, column_blocks, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr):
    """y[b, p, j] = sum of x[b, i, j] for i in part p, x contiguous. Programs (b * column blocks, parts)."""
    batch = (tl.program_id(0) // column_blocks).to(tl.int64)
    cols = (tl.program_id(0) % column_blocks) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(1)
    begin = part.to(tl.int64) * part_size
    end = tl.minimum(begin + part_size, M)
    rows = tl.arange(0, BLOCK_M)
    exists = cols < N
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(begin, end, BLOCK_M):
        inside = (rows < tl.minimum(end - start, BLOCK_M).to(tl.int32))[:, None] & exists[None, :]
        row = (batch * M + start + rows) * N
        total += tl.load(x_ptr + row[:, None] + cols[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + (batch * parts + part) * N + cols, tl.sum(total, axis=0), mask=exists)
