"""Group norm over a part of the channels and all positions of a sample, in both memory orders, arithmetic in float32.

Element (sample, channel, position) lies at (sample * C + channel) * S + position, or, with LAST, at
(sample * S + position) * C + channel. A program takes a group of a sample in tiles of BLOCK_C channels by BLOCK_S positions,
whose second dimension is the one that neighbours lie along.
"""
import triton
import triton.language as tl


@triton.jit
def tile(channels, positions, C, S, LAST: tl.constexpr):
    """Offsets in the sample."""
    if LAST:
        return positions[:, None].to(tl.int64) * C + channels[None, :]
    else:
        return channels[:, None].to(tl.int64) * S + positions[None, :]


@triton.jit
def inside(has_channel, has_position, LAST: tl.constexpr):
    if LAST:
        return has_position[:, None] & has_channel[None, :]
    else:
        return has_channel[:, None] & has_position[None, :]


@triton.jit
def spread(of_channels, LAST: tl.constexpr):
    """A value a channel as a tile that broadcasts."""
    if LAST:
        return of_channels[None, :]
    else:
        return of_channels[:, None]


@triton.jit
def group_norm_kernel(y_ptr, x_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, eps, C, S, CHANNELS, BLOCK_C: tl.constexpr,
                      BLOCK_S: tl.constexpr, LAST: tl.constexpr):
    """y = (x - mean) * rstd * w + b, of a group of CHANNELS. Tiles' means and sums of squares are merged one by one, so that
    the group is read twice, and no two large sums are subtracted."""
    groups = C // CHANNELS
    group = tl.program_id(0) % groups
    sample = (tl.program_id(0) // groups).to(tl.int64)
    first = group * CHANNELS
    x_ptr += sample * C * S
    y_ptr += sample * C * S
    cs = tl.arange(0, BLOCK_C)
    ss = tl.arange(0, BLOCK_S)
    mean = 0.0
    squares = 0.0
    before = 0.0
    for c in range(0, CHANNELS, BLOCK_C):
        for s in range(0, S, BLOCK_S):
            here = inside(cs < CHANNELS - c, ss < S - s, LAST)
            x = tl.load(x_ptr + tile(first + c + cs, s + ss, C, S, LAST), mask=here, other=0.0).to(tl.float32)
            count = tl.minimum(CHANNELS - c, BLOCK_C).to(tl.float32) * tl.minimum(S - s, BLOCK_S)
            tile_mean = tl.sum(x) / count
            centred = tl.where(here, x - tile_mean, 0.0)
            between = tile_mean - mean
            mean += between * (count / (before + count))
            squares += tl.sum(centred * centred) + between * between * (before * count / (before + count))
            before += count
    rstd = tl.rsqrt(squares / before + eps)
    if mean_ptr is not None:
        place = tl.program_id(0)
        tl.store(mean_ptr + place, mean)
        tl.store(rstd_ptr + place, rstd)
    for c in range(0, CHANNELS, BLOCK_C):
        channels = first + c + cs
        factor = tl.full((BLOCK_C,), 1.0, tl.float32) * rstd
        if w_ptr is not None:
            factor *= tl.load(w_ptr + channels, mask=cs < CHANNELS - c, other=0.0).to(tl.float32)
        added = -mean * factor
        if b_ptr is not None:
            added += tl.load(b_ptr + channels, mask=cs < CHANNELS - c, other=0.0).to(tl.float32)
        for s in range(0, S, BLOCK_S):
            here = inside(cs < CHANNELS - c, ss < S - s, LAST)
            at = tile(channels, s + ss, C, S, LAST)
            x = tl.load(x_ptr + at, mask=here, other=0.0).to(tl.float32)
            tl.store(y_ptr + at, x * spread(factor, LAST) + spread(added, LAST), mask=here)


@triton.jit
def group_norm_backward_kernel(dx_ptr, dw_parts_ptr, db_parts_ptr, dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, C, S, CHANNELS,
                               BLOCK_C: tl.constexpr, BLOCK_S: tl.constexpr, LAST: tl.constexpr):
    """dx of a group, and the sample's parts of dw and db: of each channel the sums of dy * x' and of dy, which also make the
    two means of

        dx = rstd * (g - mean(g) - x' * mean(g * x'))  with  x' = (x - mean) * rstd,  g = dy * w
    """
    groups = C // CHANNELS
    group = tl.program_id(0) % groups
    sample = (tl.program_id(0) // groups).to(tl.int64)
    first = group * CHANNELS
    x_ptr += sample * C * S
    dy_ptr += sample * C * S
    dx_ptr += sample * C * S
    mean = tl.load(mean_ptr + tl.program_id(0))
    rstd = tl.load(rstd_ptr + tl.program_id(0))
    cs = tl.arange(0, BLOCK_C)
    ss = tl.arange(0, BLOCK_S)
    sum_g = 0.0
    sum_gx = 0.0
    for c in range(0, CHANNELS, BLOCK_C):
        channels = first + c + cs
        exists = cs < CHANNELS - c
        dw = tl.zeros((BLOCK_C,), dtype=tl.float32)
        db = tl.zeros((BLOCK_C,), dtype=tl.float32)
        for s in range(0, S, BLOCK_S):
            here = inside(exists, ss < S - s, LAST)
            at = tile(channels, s + ss, C, S, LAST)
            x = tl.load(x_ptr + at, mask=here, other=0.0).to(tl.float32)
            dy = tl.load(dy_ptr + at, mask=here, other=0.0).to(tl.float32)
            # Positions are dimension 0 of a tile with LAST, else 1.
            dw += tl.sum(dy * ((x - mean) * rstd), axis=0 if LAST else 1)
            db += tl.sum(dy, axis=0 if LAST else 1)
        if dw_parts_ptr is not None:
            tl.store(dw_parts_ptr + sample * C + channels, dw, mask=exists)
        if db_parts_ptr is not None:
            tl.store(db_parts_ptr + sample * C + channels, db, mask=exists)
        if w_ptr is not None:
            w = tl.load(w_ptr + channels, mask=exists, other=0.0).to(tl.float32)
            dw *= w
            db *= w
        sum_g += tl.sum(db, axis=0)
        sum_gx += tl.sum(dw, axis=0)
    count = tl.to_tensor(S).to(tl.float32) * CHANNELS
    mean_g = sum_g / count
    mean_gx = sum_gx / count
    for c in range(0, CHANNELS, BLOCK_C):
        channels = first + c + cs
        w = tl.full((BLOCK_C,), 1.0, tl.float32)
        if w_ptr is not None:
            w = tl.load(w_ptr + channels, mask=cs < CHANNELS - c, other=0.0).to(tl.float32)
        for s in range(0, S, BLOCK_S):
            here = inside(cs < CHANNELS - c, ss < S - s, LAST)
            at = tile(channels, s + ss, C, S, LAST)
            x = tl.load(x_ptr + at, mask=here, other=0.0).to(tl.float32)
            g = tl.load(dy_ptr + at, mask=here, other=0.0).to(tl.float32) * spread(w, LAST)
            dx = rstd * (g - mean_g - (x - mean) * rstd * mean_gx)
            tl.store(dx_ptr + at, dx, mask=here)
