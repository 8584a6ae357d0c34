"""Two-dimensional tiles: a row's condition and a column's in every mask, rows in a loop over tiles of columns."""

import triton
import triton.language as tl


@triton.jit
def scale_kernel(y_ptr, x_ptr, w_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """y = x * w, w [N]: a load, a product, a store."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        places = rows[:, None] * stride + columns[None, :]
        x = tl.load(x_ptr + places, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
        tl.store(y_ptr + places, x * w[None, :], mask=inside)


@triton.jit
def fill_kernel(y_ptr, w_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """y = w in every row: stores alone."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        w = tl.load(w_ptr + columns, mask=columns < N)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        tl.store(y_ptr + rows[:, None] * stride + columns[None, :], tl.broadcast_to(w[None, :], [ROWS, BLOCK]),
                 mask=inside)


@triton.jit
def row_sum_kernel(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        total += tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(y_ptr + rows, tl.sum(total, axis=1), mask=rows < M)


@triton.jit
def column_sum_kernel(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """A program sums BLOCK columns over all rows."""
    columns = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, M, ROWS):
        rows = start + tl.arange(0, ROWS)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=inside, other=0.0).to(tl.float32)
        total += tl.sum(x, axis=0)
    tl.store(y_ptr + columns, total, mask=columns < N)


@triton.jit
def layer_norm_kernel(y_ptr, x_ptr, w_ptr, b_ptr, M, N, stride, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Three passes over the row: the mean, the variance, the result."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        total += tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=1) / N
    squares = tl.zeros([ROWS, BLOCK], tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=inside, other=0.0).to(tl.float32)
        x = tl.where(inside, x - mean[:, None], 0.0)
        squares += x * x
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=1) / N + eps)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        places = rows[:, None] * stride + columns[None, :]
        x = tl.load(x_ptr + places, mask=inside, other=0.0).to(tl.float32)
        w = tl.load(w_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)
        tl.store(y_ptr + places, (x - mean[:, None]) * rstd[:, None] * w[None, :] + b[None, :], mask=inside)


@triton.jit
def softmax_kernel(y_ptr, x_ptr, M, N, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The largest and the sum of exponentials in one pass, the result in a second."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    largest = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        x = tl.load(x_ptr + rows[:, None] * stride + columns[None, :], mask=inside, other=-1e30).to(tl.float32)
        larger = tl.maximum(largest, tl.max(x, axis=1))
        total = total * tl.exp(largest - larger) + tl.sum(tl.exp(x - larger[:, None]), axis=1)
        largest = larger
    for start in range(0, N, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        inside = (rows[:, None] < M) & (columns[None, :] < N)
        places = rows[:, None] * stride + columns[None, :]
        x = tl.load(x_ptr + places, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + places, tl.exp(x - largest[:, None]) / total[:, None], mask=inside)
