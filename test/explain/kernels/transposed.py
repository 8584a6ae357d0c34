"""A matrix transposed: by single rows, and by tiles."""
import triton
import triton.language as tl


@triton.jit
def transposed(x_ptr, y_ptr, M, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + col)
    tl.store(y_ptr + col * M + row, x)  # transposed: neighbouring threads are not neighbours in memory


@triton.jit
def transposed_fixed(x_ptr, y_ptr, M, N, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    col = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row[:, None] * N + col[None, :])
    tl.store(y_ptr + col[:, None] * M + row[None, :], tl.trans(x))
