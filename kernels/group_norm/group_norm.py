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


# With channels last: lines of all channels are read as they lie, and a group's numbers are made of its channels'. A
# program of one group would read a part of each line, and all lines once for each group.


@triton.jit
def lines_of(C, S, share, BLOCK_C: tl.constexpr):
    """Which lines of a sample, and which channels: programs (samples * parts of `share` lines * blocks of channels)."""
    blocks = tl.cdiv(C, BLOCK_C)
    parts = tl.cdiv(S, share)
    part = tl.program_id(0) // blocks
    channels = tl.program_id(0) % blocks * BLOCK_C + tl.arange(0, BLOCK_C)
    first = part % parts * share
    return (part // parts).to(tl.int64), part.to(tl.int64), channels, first, min(first + share, S)


@triton.jit
def line_sums_kernel(mean_ptr, squares_ptr, x_ptr, C, S, share, BLOCK_C: tl.constexpr, BLOCK_S: tl.constexpr):
    """mean [parts of all samples, C], and the sums of squares of what is between x and them. Tiles are merged one by one."""
    sample, part, channels, first, last = lines_of(C, S, share, BLOCK_C)
    exists = channels < C
    x_ptr += sample * S * C
    ss = tl.arange(0, BLOCK_S)
    mean = tl.zeros((BLOCK_C,), dtype=tl.float32)
    squares = tl.zeros((BLOCK_C,), dtype=tl.float32)
    before = 0.0
    for s in range(first, last, BLOCK_S):
        here = (ss < last - s)[:, None] & exists[None, :]
        x = tl.load(x_ptr + (s + ss).to(tl.int64)[:, None] * C + channels[None, :], mask=here, other=0.0).to(tl.float32)
        count = tl.minimum(last - s, BLOCK_S).to(tl.float32)
        tile_mean = tl.sum(x, axis=0) / count
        centred = tl.where(here, x - tile_mean[None, :], 0.0)
        between = tile_mean - mean
        mean += between * (count / (before + count))
        squares += tl.sum(centred * centred, axis=0) + between * between * (before * count / (before + count))
        before += count
    tl.store(mean_ptr + part * C + channels, mean, mask=exists)
    tl.store(squares_ptr + part * C + channels, squares, mask=exists)


@triton.jit
def parts_of_group(C, S, share, CHANNELS, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """Programs (samples * groups): how many parts a sample has, the group's first channel, parts, channels of a block, and where
    what line_sums_kernel stored of them lies."""
    groups = C // CHANNELS
    first = tl.program_id(0) % groups * CHANNELS
    parts = tl.cdiv(S, share)
    rows = tl.arange(0, PARTS)
    cols = tl.arange(0, BLOCK)
    at = (tl.program_id(0) // groups).to(tl.int64) * parts * C + (rows * C)[:, None] + (first + cols)[None, :]
    return parts, first, rows, cols, at


@triton.jit
def line_groups_kernel(mean_ptr, rstd_ptr, means_ptr, squares_ptr, eps, C, S, share, CHANNELS, PARTS: tl.constexpr,
                       BLOCK: tl.constexpr):
    """Of a group of a sample, from its channels' in PARTS parts at most."""
    parts, first, rows, cols, at = parts_of_group(C, S, share, CHANNELS, PARTS, BLOCK)
    counts = tl.maximum(tl.minimum(S - rows * share, share), 0).to(tl.float32)[:, None]
    total = tl.to_tensor(S).to(tl.float32) * CHANNELS
    sums = tl.zeros((PARTS, BLOCK), dtype=tl.float32)
    for c in range(0, CHANNELS, BLOCK):
        here = (rows < parts)[:, None] & (cols < CHANNELS - c)[None, :]
        sums += tl.load(means_ptr + at + c, mask=here, other=0.0) * (counts / total)
    mean = tl.sum(sums)
    sums = tl.zeros((PARTS, BLOCK), dtype=tl.float32)
    for c in range(0, CHANNELS, BLOCK):
        here = (rows < parts)[:, None] & (cols < CHANNELS - c)[None, :]
        between = tl.where(here, tl.load(means_ptr + at + c, mask=here, other=0.0) - mean, 0.0)
        sums += tl.load(squares_ptr + at + c, mask=here, other=0.0) + between * between * counts
    tl.store(mean_ptr + tl.program_id(0), mean)
    tl.store(rstd_ptr + tl.program_id(0), tl.rsqrt(tl.sum(sums) / total + eps))


@triton.jit
def line_norm_kernel(y_ptr, x_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, C, S, share, CHANNELS, BLOCK_C: tl.constexpr,
                     BLOCK_S: tl.constexpr):
    sample, part, channels, first, last = lines_of(C, S, share, BLOCK_C)
    exists = channels < C
    group = sample * (C // CHANNELS) + channels // CHANNELS
    factor = tl.load(rstd_ptr + group, mask=exists, other=0.0)
    added = -tl.load(mean_ptr + group, mask=exists, other=0.0)
    if w_ptr is not None:
        factor *= tl.load(w_ptr + channels, mask=exists, other=0.0).to(tl.float32)
    added *= factor
    if b_ptr is not None:
        added += tl.load(b_ptr + channels, mask=exists, other=0.0).to(tl.float32)
    ss = tl.arange(0, BLOCK_S)
    for s in range(first, last, BLOCK_S):
        here = (ss < last - s)[:, None] & exists[None, :]
        at = (sample * S + s + ss)[:, None] * C + channels[None, :]
        x = tl.load(x_ptr + at, mask=here, other=0.0).to(tl.float32)
        tl.store(y_ptr + at, x * factor[None, :] + added[None, :], mask=here)


@triton.jit
def line_sums_backward_kernel(dw_ptr, db_ptr, dy_ptr, x_ptr, mean_ptr, rstd_ptr, C, S, share, CHANNELS,
                              BLOCK_C: tl.constexpr, BLOCK_S: tl.constexpr):
    """dw and db [parts of all samples, C]."""
    sample, part, channels, first, last = lines_of(C, S, share, BLOCK_C)
    exists = channels < C
    group = sample * (C // CHANNELS) + channels // CHANNELS
    mean = tl.load(mean_ptr + group, mask=exists, other=0.0)
    rstd = tl.load(rstd_ptr + group, mask=exists, other=0.0)
    ss = tl.arange(0, BLOCK_S)
    dw = tl.zeros((BLOCK_S, BLOCK_C), dtype=tl.float32)
    db = tl.zeros((BLOCK_S, BLOCK_C), dtype=tl.float32)
    for s in range(first, last, BLOCK_S):
        here = (ss < last - s)[:, None] & exists[None, :]
        at = (sample * S + s + ss)[:, None] * C + channels[None, :]
        x = tl.load(x_ptr + at, mask=here, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + at, mask=here, other=0.0).to(tl.float32)
        dw += dy * (x - mean[None, :])
        db += dy
    tl.store(dw_ptr + part * C + channels, tl.sum(dw, axis=0) * rstd, mask=exists)
    tl.store(db_ptr + part * C + channels, tl.sum(db, axis=0), mask=exists)


@triton.jit
def line_groups_backward_kernel(mean_g_ptr, mean_gx_ptr, dw_ptr, db_ptr, w_ptr, C, S, share, CHANNELS, PARTS: tl.constexpr,
                                BLOCK: tl.constexpr):
    """The means of a group: of g and of g * x' (group_norm_backward_kernel)."""
    parts, first, rows, cols, at = parts_of_group(C, S, share, CHANNELS, PARTS, BLOCK)
    sums_g = tl.zeros((PARTS, BLOCK), dtype=tl.float32)
    sums_gx = tl.zeros((PARTS, BLOCK), dtype=tl.float32)
    for c in range(0, CHANNELS, BLOCK):
        here = (rows < parts)[:, None] & (cols < CHANNELS - c)[None, :]
        g = tl.load(db_ptr + at + c, mask=here, other=0.0)
        gx = tl.load(dw_ptr + at + c, mask=here, other=0.0)
        if w_ptr is not None:
            w = tl.load(w_ptr + first + c + cols, mask=cols < CHANNELS - c, other=0.0).to(tl.float32)[None, :]
            g *= w
            gx *= w
        sums_g += g
        sums_gx += gx
    count = tl.to_tensor(S).to(tl.float32) * CHANNELS
    tl.store(mean_g_ptr + tl.program_id(0), tl.sum(sums_g) / count)
    tl.store(mean_gx_ptr + tl.program_id(0), tl.sum(sums_gx) / count)


@triton.jit
def line_norm_backward_kernel(dx_ptr, dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, mean_g_ptr, mean_gx_ptr, C, S, share, CHANNELS,
                              BLOCK_C: tl.constexpr, BLOCK_S: tl.constexpr):
    sample, part, channels, first, last = lines_of(C, S, share, BLOCK_C)
    exists = channels < C
    group = sample * (C // CHANNELS) + channels // CHANNELS
    mean = tl.load(mean_ptr + group, mask=exists, other=0.0)
    rstd = tl.load(rstd_ptr + group, mask=exists, other=0.0)
    mean_g = tl.load(mean_g_ptr + group, mask=exists, other=0.0)
    slope = tl.load(mean_gx_ptr + group, mask=exists, other=0.0) * rstd
    w = tl.full((BLOCK_C,), 1.0, dtype=tl.float32)
    if w_ptr is not None:
        w = tl.load(w_ptr + channels, mask=exists, other=0.0).to(tl.float32)
    ss = tl.arange(0, BLOCK_S)
    for s in range(first, last, BLOCK_S):
        here = (ss < last - s)[:, None] & exists[None, :]
        at = (sample * S + s + ss)[:, None] * C + channels[None, :]
        x = tl.load(x_ptr + at, mask=here, other=0.0).to(tl.float32)
        g = tl.load(dy_ptr + at, mask=here, other=0.0).to(tl.float32) * w[None, :]
        dx = rstd[None, :] * (g - mean_g[None, :] - (x - mean[None, :]) * slope[None, :])
        tl.store(dx_ptr + at, dx, mask=here)
