"""Rotary embedding: pairs of a head's elements turn by an angle of their position."""
import triton
import triton.language as tl


@triton.jit
def rotary_kernel(y_ptr, x_ptr, cos_ptr, sin_ptr, T, H, x_batch, x_position, x_head, direction, HALF: tl.constexpr,
                  HEADS: tl.constexpr, INTERLEAVED: tl.constexpr):
    """A program is one position of one batch, HEADS heads at a time, so that the angles are read once.

    A pair is elements (2i, 2i + 1) if INTERLEAVED, else (i, HALF + i). direction: 1, or -1 for the inverse.
    """
    program = tl.program_id(0)
    t = program % T
    batch = (program // T).to(tl.int64)
    pairs = tl.arange(0, HALF)
    cos = tl.load(cos_ptr + t * HALF + pairs).to(tl.float32)[None, :]
    sin = tl.load(sin_ptr + t * HALF + pairs).to(tl.float32)[None, :] * direction
    first = (pairs * 2 if INTERLEAVED else pairs)[None, :]
    second: tl.constexpr = 1 if INTERLEAVED else HALF
    x_ptr += batch * x_batch + t.to(tl.int64) * x_position
    y_ptr += program.to(tl.int64) * H * (2 * HALF)
    for start in range(0, H, HEADS):
        heads = start + tl.arange(0, HEADS)
        exists = (heads < H)[:, None]
        x_ptrs = x_ptr + (heads.to(tl.int64) * x_head)[:, None] + first
        y_ptrs = y_ptr + (heads * (2 * HALF))[:, None] + first
        a = tl.load(x_ptrs, mask=exists).to(tl.float32)
        b = tl.load(x_ptrs + second, mask=exists).to(tl.float32)
        tl.store(y_ptrs, a * cos - b * sin, mask=exists)
        tl.store(y_ptrs + second, b * cos + a * sin, mask=exists)
