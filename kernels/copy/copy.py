"""Copies with strides, converting: what an expression is compiled for where there is a compiler."""
import triton
import triton.language as tl


@triton.jit
def copy_kernel(y_ptr, x_ptr, n0, n1, n2, columns, y0, y1, y2, y3, x0, x1, x2, x3, BLOCK_M: tl.constexpr,
                BLOCK_N: tl.constexpr):
    """y and x are [n0, n1, n2, columns], of strides y0 ... y3 and x0 ... x3."""
    blocks = tl.cdiv(columns, BLOCK_N)
    program = tl.program_id(0).to(tl.int64)
    row = program // blocks * BLOCK_M + tl.arange(0, BLOCK_M)
    col = (program % blocks * BLOCK_N + tl.arange(0, BLOCK_N))[None, :]
    inside = (row < tl.to_tensor(n0).to(tl.int64) * n1 * n2)[:, None] & (col < columns)
    rest = row // n2
    i2 = row - rest * n2
    i0 = rest // n1
    i1 = rest - i0 * n1
    x = tl.load(x_ptr + ((i0 * x0 + i1 * x1 + i2 * x2)[:, None] + col * x3), mask=inside)
    tl.store(y_ptr + ((i0 * y0 + i1 * y1 + i2 * y2)[:, None] + col * y3), x.to(y_ptr.dtype.element_ty), mask=inside)
