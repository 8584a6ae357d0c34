"""Sums and other reductions, by row and by column."""
import triton
import triton.language as tl


@triton.jit
def row_sums(y_ptr, x_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    # One number for each lane of the block; the lanes meet once, after the loop.
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        # `other` is what the lanes without an element hold: what changes no sum.
        total += tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


@triton.jit
def column_sums(y_ptr, x_ptr, rows, columns, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    # A program has neighbouring columns, so that each row gives it a piece of memory in one run.
    n = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, rows, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        mask = (m[:, None] < rows) & (n[None, :] < columns)
        total += tl.load(x_ptr + m[:, None] * columns + n[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(y_ptr + n, tl.sum(total, axis=0), mask=n < columns)


@triton.jit
def row_argmax(index_ptr, x_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=-float("inf"))
    tl.store(index_ptr + row, tl.argmax(x, axis=0))


@triton.jit
def combine_moments(mean_a, square_a, count_a, mean_b, square_b, count_b):
    """Mean, sum of squared distances from it, and count of two sets together (Welford, Chan)."""
    count = count_a + count_b
    # Two empty sets, of lanes without an element, must not divide by zero.
    share = count_b / tl.maximum(count, 1.0)
    delta = mean_b - mean_a
    return mean_a + delta * share, square_a + square_b + delta * delta * count_a * share, count


@triton.jit
def row_moments(mean_ptr, variance_ptr, x_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + i, mask=i < columns, other=0.0).to(tl.float32)
    # A reduction of your own: any function of two sets of values that may be regrouped.
    count = tl.where(i < columns, 1.0, 0.0)
    mean, square, count = tl.reduce((x, tl.zeros_like(x), count), 0, combine_moments)
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, square / count)
