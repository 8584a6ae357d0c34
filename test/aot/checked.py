import triton
import triton.language as tl


@triton.jit
def checked(y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.device_assert(i < n, "too many")
    tl.store(y_ptr + i, i)
