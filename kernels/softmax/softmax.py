"""Softmax over the last dimension, arithmetic in float32.

The block is the row, or ROWS rows: N need not be a power of two, so no column is masked. Of a row of -inf, where nothing takes
part, y is 0.
"""
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(y_ptr, x_ptr, y_stride, x_stride, N: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32)
    most = tl.max(x, axis=0)
    e = tl.exp(x - tl.where(most == float("-inf"), 0.0, most))
    # One division a row; dividing every element would take longer than exp.
    total = tl.sum(e, axis=0)
    scale = 1.0 / tl.where(total == 0.0, 1.0, total)
    tl.store(y_ptr + row * y_stride + cols, e * scale)


@triton.jit
def softmax_rows_kernel(y_ptr, x_ptr, y_stride, x_stride, M, N: tl.constexpr, ROWS: tl.constexpr):
    """For short rows, ROWS of them a program: starting a program costs as much as moving 2 KiB."""
    first = tl.program_id(0).to(tl.int64) * ROWS
    rows = tl.arange(0, ROWS)
    cols = tl.arange(0, N)
    exists = (rows < tl.minimum(M - first, ROWS).to(tl.int32))[:, None]
    x_ptrs = x_ptr + first * x_stride + rows[:, None].to(tl.int64) * x_stride + cols[None, :]
    x = tl.load(x_ptrs, mask=exists, other=0.0).to(tl.float32)
    most = tl.max(x, axis=1)
    e = tl.exp(x - tl.where(most == float("-inf"), 0.0, most)[:, None])
    total = tl.sum(e, axis=1)
    scale = 1.0 / tl.where(total == 0.0, 1.0, total)
    y_ptrs = y_ptr + first * y_stride + rows[:, None].to(tl.int64) * y_stride + cols[None, :]
    tl.store(y_ptrs, e * scale[:, None], mask=exists)


@triton.jit
def mask_of_row(mask_ptr, row, MIDDLE, INNER, stride_outer, stride_middle, stride_inner):
    """Where the mask's row begins that belongs to row (outer, middle, inner) of x; a stride is 0 where it is broadcast."""
    outer = row // (MIDDLE * INNER)
    return (mask_ptr + outer * stride_outer + row // INNER % MIDDLE * stride_middle + row % INNER * stride_inner)


@triton.jit
def masked(x, scale, mask_ptrs, inside, cols, last, CAUSAL: tl.constexpr):
    """What is normalised: x * scale, with what does not take part at -inf; a boolean mask says what takes part, any other
    is added. `last`: the last column of a causal row."""
    x *= scale
    if mask_ptrs is not None:
        if mask_ptrs.dtype.element_ty == tl.int1:
            x = tl.where(tl.load(mask_ptrs, mask=inside, other=0) != 0, x, float("-inf"))
        else:
            x += tl.load(mask_ptrs, mask=inside, other=0.0).to(tl.float32)
    if CAUSAL:
        x = tl.where(cols <= last, x, float("-inf"))
    return x


@triton.jit
def softmax_forward_kernel(y_ptr, x_ptr, mask_ptr, x_stride, scale, M, MIDDLE, INNER, stride_outer, stride_middle,
                           stride_inner, mask_stride, N: tl.constexpr, LOG: tl.constexpr, CAUSAL: tl.constexpr):
    """y = softmax or, with LOG, its logarithm, of masked and scaled rows. x is made of matrices of M rows. Of a row in which
    nothing takes part y is 0 (-inf)."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32)
    mask_ptrs = None
    if mask_ptr is not None:
        mask_ptrs = mask_of_row(mask_ptr, row, MIDDLE, INNER, stride_outer, stride_middle, stride_inner) + cols * mask_stride
    x = masked(x, scale, mask_ptrs, cols >= 0, cols, row % M + N - M, CAUSAL)
    most = tl.max(x, axis=0)
    x -= tl.where(most == float("-inf"), 0.0, most)
    e = tl.exp(x)
    total = tl.sum(e, axis=0)
    if LOG:
        y = x - tl.where(total == 0.0, 0.0, tl.log(total))
    else:
        y = e * tl.where(total == 0.0, 0.0, 1.0 / total)
    tl.store(y_ptr + row * N + cols, y)


@triton.jit
def softmax_loop_kernel(y_ptr, x_ptr, mask_ptr, x_stride, scale, M, MIDDLE, INNER, stride_outer, stride_middle,
                        stride_inner, mask_stride, N, BLOCK: tl.constexpr, LOG: tl.constexpr, CAUSAL: tl.constexpr):
    """The same for rows of any length: the maximum, and the sum of what is e to the power of differences from it, are kept
    from block to block (Milakov, Gimelshein, arXiv 1805.02867), so that the row is read twice."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    last = row % M + N - M
    mask_row = None
    if mask_ptr is not None:
        mask_row = mask_of_row(mask_ptr, row, MIDDLE, INNER, stride_outer, stride_middle, stride_inner)
    most = float("-inf")
    total = 0.0
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=float("-inf")).to(tl.float32)
        mask_ptrs = None
        if mask_ptr is not None:
            mask_ptrs = mask_row + (start + cols) * mask_stride
        x = tl.where(inside, masked(x, scale, mask_ptrs, inside, start + cols, last, CAUSAL), float("-inf"))
        before = most
        most = tl.maximum(most, tl.max(x, axis=0))
        base = tl.where(most == float("-inf"), 0.0, most)
        total = total * tl.exp(before - base) + tl.sum(tl.exp(x - base), axis=0)
    base = tl.where(most == float("-inf"), 0.0, most)
    if LOG:
        base += tl.where(total == 0.0, 0.0, tl.log(total))
    factor = tl.where(total == 0.0, 0.0, 1.0 / total)
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=float("-inf")).to(tl.float32)
        mask_ptrs = None
        if mask_ptr is not None:
            mask_ptrs = mask_row + (start + cols) * mask_stride
        y = masked(x, scale, mask_ptrs, inside, start + cols, last, CAUSAL) - base
        if not LOG:
            y = tl.exp(y) * factor
        tl.store(y_ptr + row * N + start + cols, y, mask=inside)


@triton.jit
def softmax_backward_kernel(dx_ptr, dy_ptr, y_ptr, dy_stride, scale, N: tl.constexpr, LOG: tl.constexpr):
    """dx = y * (dy - sum(y * dy)) * scale, or of the logarithm (dy - exp(y) * sum(dy)) * scale. What took no part has no
    gradient: its y is 0, or -inf."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, N)
    y = tl.load(y_ptr + row * N + cols).to(tl.float32)
    dy = tl.load(dy_ptr + row * dy_stride + cols).to(tl.float32)
    if LOG:
        dy = tl.where(y == float("-inf"), 0.0, dy)
        dx = dy - tl.exp(y) * tl.sum(dy, axis=0)
    else:
        dx = y * (dy - tl.sum(y * dy, axis=0))
    tl.store(dx_ptr + row * N + cols, dx * scale)


@triton.jit
def softmax_backward_rows_kernel(dx_ptr, dy_ptr, y_ptr, dy_stride, scale, M, N: tl.constexpr, LOG: tl.constexpr,
                                 ROWS: tl.constexpr):
    """The same for short rows, ROWS of them a program."""
    first = tl.program_id(0).to(tl.int64) * ROWS
    rows = tl.arange(0, ROWS)
    cols = tl.arange(0, N)
    exists = (rows < tl.minimum(M - first, ROWS).to(tl.int32))[:, None]
    at = first * N + (rows[:, None] * N + cols[None, :])
    y = tl.load(y_ptr + at, mask=exists, other=0.0).to(tl.float32)
    dy_ptrs = dy_ptr + first * dy_stride + rows[:, None].to(tl.int64) * dy_stride + cols[None, :]
    dy = tl.load(dy_ptrs, mask=exists, other=0.0).to(tl.float32)
    if LOG:
        dy = tl.where(y == float("-inf"), 0.0, dy)
        dx = dy - tl.exp(y) * tl.sum(dy, axis=1)[:, None]
    else:
        dx = y * (dy - tl.sum(y * dy, axis=1)[:, None])
    tl.store(dx_ptr + at, dx * scale, mask=exists)


@triton.jit
def softmax_backward_loop_kernel(dx_ptr, dy_ptr, y_ptr, dy_stride, scale, N, BLOCK: tl.constexpr, LOG: tl.constexpr):
    """The same for rows of any length, which are read twice."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        y = tl.load(y_ptr + row * N + start + cols, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        if LOG:
            sums += tl.where(y == float("-inf"), 0.0, dy)
        else:
            sums += y * dy
    total = tl.sum(sums, axis=0)
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        y = tl.load(y_ptr + row * N + start + cols, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        if LOG:
            dx = tl.where(y == float("-inf"), 0.0, dy) - tl.exp(y) * total
        else:
            dx = y * (dy - total)
        tl.store(dx_ptr + row * N + start + cols, dx * scale, mask=inside)
