"""Sums of rows of N numbers: a row a program in a block that is too large, and ROWS together."""
import triton
import triton.language as tl


@triton.jit
def masked(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * N + i, mask=i < N, other=0)  # masked: masks leave most of the block out
    tl.store(out_ptr + tl.program_id(0), tl.sum(x, axis=0))


@triton.jit
def masked_fixed(x_ptr, out_ptr, N, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r[:, None] * N + i[None, :], mask=i[None, :] < N, other=0)
    tl.store(out_ptr + r, tl.sum(x, axis=1))
