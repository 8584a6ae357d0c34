"""Random numbers without a state: Philox makes them of a seed and an element's index."""
import triton
import triton.language as tl


@triton.jit
def dropout(y_ptr, x_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    # The same seed and index give the same number on every device and for every
    # BLOCK: the backward pass makes the mask again instead of reading it.
    keep = tl.rand(seed, i) > p
    tl.store(y_ptr + i, tl.where(keep, x / (1 - p), 0.0), mask=i < n)
