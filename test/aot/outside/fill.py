import triton
import triton.language as tl

VALUE: tl.constexpr = 1


@triton.jit
def fill(y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, i * 0 + VALUE, mask=i < n)
