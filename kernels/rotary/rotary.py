"""Rotary embedding: pairs of a head's elements turn by an angle of their position."""
import triton
import triton.language as tl


@triton.jit
def rotary_kernel(y_ptr, x_ptr, cos_ptr, sin_ptr, T, H, x_batch, x_position, x_head, direction, half, HALF: tl.constexpr,
                  HEADS: tl.constexpr, INTERLEAVED: tl.constexpr, EXACT: tl.constexpr, REST: tl.constexpr = 0):
    """A program is one position of one batch, HEADS heads at a time, so that the angles are read once.

    A pair is elements (2i, 2i + 1) if INTERLEAVED, else (i, HALF + i). direction: 1, or -1 for the inverse.
    EXACT: HALF is half of what turns, else `half` is, which programs (_, p) share. REST elements of each head behind that
    are copied.
    """
    program = tl.program_id(0)
    t = (program % T).to(tl.int64)
    batch = (program // T).to(tl.int64)
    pairs = tl.arange(0, HALF)
    inside = None
    if EXACT:
        half = HALF
    else:
        pairs += tl.program_id(1) * HALF
        inside = pairs < half
    cos = tl.load(cos_ptr + t * half + pairs, mask=inside).to(tl.float32)[None, :]
    sin = tl.load(sin_ptr + t * half + pairs, mask=inside).to(tl.float32)[None, :] * direction
    first = (pairs * 2 if INTERLEAVED else pairs)[None, :]
    second = 1 if INTERLEAVED else half
    x_ptr += batch * x_batch + t * x_position
    size = 2 * half + REST
    y_ptr += program.to(tl.int64) * H * size
    for start in range(0, H, HEADS):
        heads = (start + tl.arange(0, HEADS)).to(tl.int64)
        exists = (heads < H)[:, None]
        if not EXACT:
            exists = exists & inside[None, :]
        x_ptrs = x_ptr + (heads * x_head)[:, None] + first
        y_ptrs = y_ptr + (heads * size)[:, None] + first
        a = tl.load(x_ptrs, mask=exists).to(tl.float32)
        b = tl.load(x_ptrs + second, mask=exists).to(tl.float32)
        tl.store(y_ptrs, a * cos - b * sin, mask=exists)
        tl.store(y_ptrs + second, b * cos + a * sin, mask=exists)
        if REST > 0:
            behind = 2 * half + tl.arange(0, REST)
            x = tl.load(x_ptr + (heads * x_head)[:, None] + behind[None, :], mask=(heads < H)[:, None])
            tl.store(y_ptr + (heads * size)[:, None] + behind[None, :], x, mask=(heads < H)[:, None])
