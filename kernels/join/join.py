"""Tensors one after the other, along a dimension."""
import triton
import triton.language as tl


@triton.jit
def part(ptr, row, column, width, inside):
    """Of elements of y what this part gives; `column` counts from its first one."""
    return tl.load(ptr + row * width + column, mask=inside & (column >= 0) & (column < width), other=0)


@triton.jit
def join_kernel(y_ptr, a_ptr, b_ptr, c_ptr, d_ptr, a_width, b_width, c_width, d_width, n, BLOCK: tl.constexpr):
    """y [rows, width], where a row is one of a, of b, of c and of d."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    width = a_width + b_width + c_width + d_width
    row = at // width
    column = at % width
    y = part(a_ptr, row, column, a_width, at < n)
    column -= a_width
    y = tl.where(column >= 0, part(b_ptr, row, column, b_width, at < n), y)
    if c_ptr is not None:
        column -= b_width
        y = tl.where(column >= 0, part(c_ptr, row, column, c_width, at < n), y)
    if d_ptr is not None:
        column -= c_width
        y = tl.where(column >= 0, part(d_ptr, row, column, d_width, at < n), y)
    tl.store(y_ptr + at, y, mask=at < n)
