import triton
import triton.language as tl


@triton.jit
def take(y_ptr, x_ptr, index_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(index_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.load(x_ptr + index, mask=i < n), mask=i < n)
