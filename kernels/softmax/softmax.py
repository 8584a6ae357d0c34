"""Softmax over the last dimension, arithmetic in float32.

The block is the row, or ROWS rows: N need not be a power of two, so no column is masked.
"""
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(y_ptr, x_ptr, y_stride, x_stride, N: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    # One division a row; dividing every element would take longer than exp.
    scale = 1.0 / tl.sum(e, axis=0)
    tl.store(y_ptr + row * y_stride + cols, e * scale)


@triton.jit
def softmax_rows_kernel(y_ptr, x_ptr, y_stride, x_stride, M, N: tl.constexpr, ROWS: tl.constexpr):
    """For short rows, of which a program takes ROWS: starting a program costs as much as moving 2 KiB."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    cols = tl.arange(0, N)
    exists = (rows < M)[:, None]
    x = tl.load(x_ptr + rows[:, None] * x_stride + cols[None, :], mask=exists, other=0.0).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=1)[:, None])
    scale = 1.0 / tl.sum(e, axis=1)
    tl.store(y_ptr + rows[:, None] * y_stride + cols[None, :], e * scale[:, None], mask=exists)
