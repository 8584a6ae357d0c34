"""RMS norm over the last dimension, arithmetic in float32. Its backward is that of add_norm.py, without a sum.

The block is the row, or ROWS rows: N need not be a power of two, so no column is masked.
"""
import triton
import triton.language as tl


@triton.jit
def rms_norm_kernel(y_ptr, x_ptr, w_ptr, rstd_ptr, y_stride, x_stride, eps, N: tl.constexpr):
    """y = x * rstd * w; rstd is kept for the backward, unless its pointer is None."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=0) / N + eps)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd)
    y = x * rstd
    if w_ptr is not None:
        y *= tl.load(w_ptr + cols).to(tl.float32)
    tl.store(y_ptr + row * y_stride + cols, y)


@triton.jit
def rms_norm_rows_kernel(y_ptr, x_ptr, w_ptr, rstd_ptr, y_stride, x_stride, eps, M, N: tl.constexpr,
                         ROWS: tl.constexpr):
    """The same for short rows, ROWS of them a program: it loads w once for all of them."""
    first = tl.program_id(0).to(tl.int64) * ROWS
    rows = tl.arange(0, ROWS)
    cols = tl.arange(0, N)
    exists = rows < tl.minimum(M - first, ROWS).to(tl.int32)
    x_ptrs = x_ptr + first * x_stride + rows[:, None].to(tl.int64) * x_stride + cols[None, :]
    x = tl.load(x_ptrs, mask=exists[:, None], other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(x * x, axis=1) / N + eps)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + first + rows, rstd, mask=exists)
    y = x * rstd[:, None]
    if w_ptr is not None:
        y *= tl.load(w_ptr + cols).to(tl.float32)[None, :]
    y_ptrs = y_ptr + first * y_stride + rows[:, None].to(tl.int64) * y_stride + cols[None, :]
    tl.store(y_ptrs, y, mask=exists[:, None])


@triton.jit
def rms_norm_parts_kernel(parts_ptr, x_ptr, x_stride, N, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Sum of squares of SIZE columns: program (row, part), [rows, parts]."""
    row = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * SIZE
    end = tl.minimum(first + SIZE, N)
    cols = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(first, end, BLOCK):
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=cols < end - start, other=0.0).to(tl.float32)
        squares += x * x
    tl.store(parts_ptr + row * tl.num_programs(1) + tl.program_id(1), tl.sum(squares, axis=0))


@triton.jit
def rms_norm_of_parts_kernel(y_ptr, x_ptr, parts_ptr, w_ptr, rstd_ptr, y_stride, x_stride, eps, N, SIZE: tl.constexpr,
                             PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """y of the columns of a part."""
    row = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * SIZE
    end = tl.minimum(first + SIZE, N)
    cols = tl.arange(0, BLOCK)
    rstd = tl.rsqrt(tl.sum(tl.load(parts_ptr + row * PARTS + tl.arange(0, PARTS)), axis=0) / N + eps)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd, mask=first == 0)
    for start in range(first, end, BLOCK):
        inside = cols < end - start
        y = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=0.0).to(tl.float32) * rstd
        if w_ptr is not None:
            y *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * y_stride + start + cols, y, mask=inside)


@triton.jit
def rms_norm_loop_kernel(y_ptr, x_ptr, w_ptr, rstd_ptr, y_stride, x_stride, eps, N, BLOCK: tl.constexpr):
    """The same for rows of any length, BLOCK columns at a time."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=cols < N - start, other=0.0).to(tl.float32)
        squares += x * x
    rstd = tl.rsqrt(tl.sum(squares, axis=0) / N + eps)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd)
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        y = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=0.0).to(tl.float32) * rstd
        if w_ptr is not None:
            y *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * y_stride + start + cols, y, mask=inside)
