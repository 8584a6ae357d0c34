"""Columns and memory order: reductions and scans along the slow dimension, transposition, moving windows."""

import triton
import triton.language as tl


@triton.jit
def sum_partials_kernel(y_ptr, x_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Sums over the rows of [M, N], BLOCK_N columns a program."""
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        inside = (rows < M)[:, None] & (columns < N)[None, :]
        total += tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=inside, other=0.0)
    tl.store(y_ptr + columns, tl.sum(total, axis=0), mask=columns < N)


@triton.jit
def compose(a, x, b, y):
    return a * b, b * x + y


@triton.jit
def recurrence_kernel(h_ptr, a_ptr, x_ptr, T, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    """h[t] = a[t] * h[t - 1] + x[t] over [T, D] of each batch: a scan along axis 0 of each piece, carried on."""
    channels = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    base = tl.program_id(0) * T * D
    carried = tl.zeros([BLOCK_D], tl.float32)
    last = (tl.arange(0, BLOCK_T) == BLOCK_T - 1)[:, None]
    for start in range(0, T, BLOCK_T):
        steps = start + tl.arange(0, BLOCK_T)
        places = base + steps[:, None] * D + channels[None, :]
        a = tl.load(a_ptr + places)
        x = tl.load(x_ptr + places)
        decay, state = tl.associative_scan((a, x), 0, compose)
        state += decay * carried[None, :]
        tl.store(h_ptr + places, state)
        carried = tl.sum(tl.where(last, state, 0.0), axis=0)


@triton.jit
def transpose_kernel(y_ptr, x_ptr, M, N, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=inside)
    tl.store(y_ptr + columns[:, None] * M + rows[None, :], tl.trans(x), mask=tl.trans(inside))


@triton.jit
def cumulative_sum_kernel(y_ptr, x_ptr, N, BLOCK: tl.constexpr):
    """Along rows of any length, in pieces."""
    row = tl.program_id(0)
    carried = 0.0
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + columns, mask=columns < N, other=0.0)
        tl.store(y_ptr + row * N + columns, tl.cumsum(x, axis=0) + carried, mask=columns < N)
        carried += tl.sum(x, axis=0)


@triton.jit
def causal_convolution_kernel(y_ptr, x_ptr, w_ptr, T, D, WIDTH: tl.constexpr, BLOCK_T: tl.constexpr,
                              BLOCK_D: tl.constexpr):
    """Depthwise: y[t, d] = silu(sum over i < WIDTH of x[t - i, d] * w[d, i]), of each batch [T, D]."""
    steps = tl.program_id(1) * BLOCK_T + tl.arange(0, BLOCK_T)
    channels = tl.program_id(2) * BLOCK_D + tl.arange(0, BLOCK_D)
    base = tl.program_id(0) * T * D
    total = tl.zeros([BLOCK_T, BLOCK_D], tl.float32)
    for i in tl.static_range(WIDTH):
        at = steps - i
        inside = ((at >= 0) & (at < T))[:, None] & (channels < D)[None, :]
        x = tl.load(x_ptr + base + at[:, None] * D + channels[None, :], mask=inside, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + channels * WIDTH + i, mask=channels < D, other=0.0).to(tl.float32)
        total += x * w[None, :]
    inside = (steps < T)[:, None] & (channels < D)[None, :]
    tl.store(y_ptr + base + steps[:, None] * D + channels[None, :], total * tl.sigmoid(total), mask=inside)


@triton.jit
def batch_statistics_kernel(mean_ptr, variance_ptr, x_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Mean and variance of each column of [M, N], in one pass over sums and sums of squares."""
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros([BLOCK_N], tl.float32)
    squares = tl.zeros([BLOCK_N], tl.float32)
    for start in range(0, M, BLOCK_M):
        rows = start + tl.arange(0, BLOCK_M)
        inside = (rows < M)[:, None] & (columns < N)[None, :]
        x = tl.load(x_ptr + rows[:, None] * N + columns[None, :], mask=inside, other=0.0).to(tl.float32)
        total += tl.sum(x, axis=0)
        squares += tl.sum(x * x, axis=0)
    mean = total / M
    tl.store(mean_ptr + columns, mean, mask=columns < N)
    tl.store(variance_ptr + columns, squares / M - mean * mean, mask=columns < N)
