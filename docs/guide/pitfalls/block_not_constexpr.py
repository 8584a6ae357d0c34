import triton
import triton.language as tl


@triton.jit
def double(y_ptr, x_ptr, n, BLOCK):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, 2 * x, mask=i < n)
