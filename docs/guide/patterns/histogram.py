"""Counting: a block's own histogram first, so that one atomic stands for many elements."""
import triton
import triton.language as tl


@triton.jit
def histogram(count_ptr, x_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    counts = tl.histogram(x, BINS, mask=i < n)
    tl.atomic_add(count_ptr + tl.arange(0, BINS), counts)
