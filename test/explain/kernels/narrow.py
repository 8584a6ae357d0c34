"""Bytes added: of arrays whose length is no multiple of anything, and of padded ones."""
import triton
import triton.language as tl


@triton.jit
def narrow(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)  # narrow: byte a thread where 16 are possible
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(z_ptr + i, x + y, mask=i < n)


@triton.jit
def narrow_fixed(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(z_ptr + i, x + y, mask=i < n)
