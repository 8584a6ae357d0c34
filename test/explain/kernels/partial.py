"""One number of each record of eight: from records, and from an array of its own."""
import triton
import triton.language as tl


@triton.jit
def partial(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i * 8 + 3, mask=i < n)  # partial: neighbouring threads are not neighbours in memory
    tl.store(y_ptr + i, x * 2, mask=i < n)


@triton.jit
def partial_fixed(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + 3 * n + i, mask=i < n)
    tl.store(y_ptr + i, x * 2, mask=i < n)
