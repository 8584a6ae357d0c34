"""The sum with a residual, with dropout in front, and the norm of the sum: layer norm (CENTRED) or RMS norm.

    sum = residual + dropout(x);  y = (sum - mean) * rstd * w + b

All in one going over the row; arithmetic in float32. The norm is that of the sum as it is stored, so that the backward,
which reads it, is that of the same function. Element (row, column) of x is dropped where tl.rand(seed, offset + row * N +
column) < p.
"""
import triton
import triton.language as tl


@triton.jit
def dropped(x, seed, offset, positions, p, scale):
    """`seed`: a number, or a pointer to it, which may then change between launches of one graph."""
    if seed.dtype.is_ptr():
        seed = tl.load(seed)
    return tl.where(tl.rand(seed, offset + positions) < p, 0.0, x * scale)


@triton.jit
def add_norm_kernel(y_ptr, sum_ptr, x_ptr, residual_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, x_stride, residual_stride,
                    eps, p, scale, seed, offset, N: tl.constexpr, CENTRED: tl.constexpr, DROPS: tl.constexpr,
                    EARLY: tl.constexpr = False):
    """EARLY: the launch may begin before x and the residual are there."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, N)
    if EARLY:
        if w_ptr is not None:
            w = tl.load(w_ptr + cols).to(tl.float32)
        if b_ptr is not None:
            b = tl.load(b_ptr + cols).to(tl.float32)
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
    x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32)
    if DROPS:
        x = dropped(x, seed, offset, row * N + cols, p, scale)
    total = (x + tl.load(residual_ptr + row * residual_stride + cols).to(tl.float32)).to(sum_ptr.dtype.element_ty)
    tl.store(sum_ptr + row * N + cols, total)
    centred = total.to(tl.float32)
    if CENTRED:
        mean = tl.sum(centred, axis=0) / N
        if mean_ptr is not None:
            tl.store(mean_ptr + row, mean)
        centred -= mean
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd)
    y = centred * rstd
    if w_ptr is not None:
        if not EARLY:
            w = tl.load(w_ptr + cols).to(tl.float32)
        y *= w
    if b_ptr is not None:
        if not EARLY:
            b = tl.load(b_ptr + cols).to(tl.float32)
        y += b
    tl.store(y_ptr + row * N + cols, y)


@triton.jit
def add_norm_loop_kernel(y_ptr, sum_ptr, x_ptr, residual_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, x_stride,
                         residual_stride, eps, p, scale, seed, offset, N, BLOCK: tl.constexpr, CENTRED: tl.constexpr,
                         DROPS: tl.constexpr):
    """The same for rows of any length, BLOCK columns at a time. Means and sums of squares are merged from block to block
    as layer_norm_loop_kernel does."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mean = 0.0
    squares = 0.0
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        if DROPS:
            x = dropped(x, seed, offset, row * N + start + cols, p, scale)
        residual = tl.load(residual_ptr + row * residual_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        stored = (x + residual).to(sum_ptr.dtype.element_ty)
        tl.store(sum_ptr + row * N + start + cols, stored, mask=inside)
        total = tl.where(inside, stored.to(tl.float32), 0.0)
        if CENTRED:
            count = tl.minimum(N - start, BLOCK).to(tl.float32)
            block_mean = tl.sum(total, axis=0) / count
            total = tl.where(inside, total - block_mean, 0.0)
            between = block_mean - mean
            before = start.to(tl.float32)
            mean += between * (count / (before + count))
            squares += between * between * (before * count / (before + count))
        squares += tl.sum(total * total, axis=0)
    rstd = tl.rsqrt(squares / N + eps)
    if CENTRED and mean_ptr is not None:
        tl.store(mean_ptr + row, mean)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd)
    # The sums that other threads have stored are read below.
    tl.debug_barrier()
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        y = (tl.load(sum_ptr + row * N + start + cols, mask=inside, other=0.0).to(tl.float32) - mean) * rstd
        if w_ptr is not None:
            y *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        if b_ptr is not None:
            y += tl.load(b_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * N + start + cols, y, mask=inside)


@triton.jit
def add_pairs(a, b, c, d):
    return a + c, b + d


@triton.jit
def add_norm_backward_kernel(dx_ptr, dresidual_ptr, dw_parts_ptr, db_parts_ptr, dy_ptr, dsum_ptr, sum_ptr, w_ptr,
                             mean_ptr, rstd_ptr, dy_stride, dsum_stride, sum_stride, p, scale, seed, offset, M,
                             N: tl.constexpr, AHEAD: tl.constexpr, CENTRED: tl.constexpr, DROPS: tl.constexpr):
    """dresidual = dsum + the norm's gradient, dx = dropout(dresidual), and this program's part of dw and db: program i
    takes the rows i, i + programs, ... dx_ptr is None where dx is dresidual."""
    cols = tl.arange(0, N)
    if w_ptr is not None:
        w = tl.load(w_ptr + cols).to(tl.float32)
    dw = tl.zeros((N,), dtype=tl.float32)
    db = tl.zeros((N,), dtype=tl.float32)
    for each in tl.range(tl.program_id(0), M, tl.num_programs(0), num_stages=AHEAD):
        row = each.to(tl.int64)
        total = tl.load(sum_ptr + row * sum_stride + cols).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_stride + cols).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        if CENTRED:
            total -= tl.load(mean_ptr + row)
        normal = total * rstd
        g = dy
        if w_ptr is not None:
            g = dy * w
        if CENTRED:
            sum_g, sum_gx = tl.reduce((g, g * normal), 0, add_pairs)
            g -= sum_g / N
        else:
            sum_gx = tl.sum(g * normal, axis=0)
        d = (g - normal * (sum_gx / N)) * rstd
        if dsum_ptr is not None:
            d += tl.load(dsum_ptr + row * dsum_stride + cols).to(tl.float32)
        tl.store(dresidual_ptr + row * N + cols, d)
        if dx_ptr is not None:
            if DROPS:
                d = dropped(d, seed, offset, row * N + cols, p, scale)
            tl.store(dx_ptr + row * N + cols, d)
        dw += dy * normal
        db += dy
    part = tl.program_id(0) * N
    if dw_parts_ptr is not None:
        tl.store(dw_parts_ptr + part + cols, dw)
    if db_parts_ptr is not None:
        tl.store(db_parts_ptr + part + cols, db)


@triton.jit
def add_norm_backward_loop_kernel(dx_ptr, dresidual_ptr, dy_ptr, dsum_ptr, sum_ptr, w_ptr, mean_ptr, rstd_ptr, dy_stride,
                                  dsum_stride, sum_stride, p, scale, seed, offset, N, BLOCK: tl.constexpr,
                                  CENTRED: tl.constexpr, DROPS: tl.constexpr):
    """dx and dresidual of rows of any length, which are read twice."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mean = 0.0
    if CENTRED:
        mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    sums_g = tl.zeros((BLOCK,), dtype=tl.float32)
    sums_gx = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        total = tl.load(sum_ptr + row * sum_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        g = tl.load(dy_ptr + row * dy_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        if w_ptr is not None:
            g *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        sums_g += g
        sums_gx += g * ((total - mean) * rstd)
    mean_g = 0.0
    if CENTRED:
        mean_g = tl.sum(sums_g, axis=0) / N
    mean_gx = tl.sum(sums_gx, axis=0) / N
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        total = tl.load(sum_ptr + row * sum_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        g = tl.load(dy_ptr + row * dy_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        if w_ptr is not None:
            g *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        d = (g - mean_g - (total - mean) * rstd * mean_gx) * rstd
        if dsum_ptr is not None:
            d += tl.load(dsum_ptr + row * dsum_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        tl.store(dresidual_ptr + row * N + start + cols, d, mask=inside)
        if dx_ptr is not None:
            if DROPS:
                d = dropped(d, seed, offset, row * N + start + cols, p, scale)
            tl.store(dx_ptr + row * N + start + cols, d, mask=inside)


@triton.jit
def add_norm_weight_kernel(dw_parts_ptr, db_parts_ptr, dy_ptr, sum_ptr, mean_ptr, rstd_ptr, dy_stride, sum_stride, M, N,
                           BLOCK: tl.constexpr, CENTRED: tl.constexpr):
    """Parts of dw and db, BLOCK columns a program: program (c, p) takes the rows p, p + programs, ..."""
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < N
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for each in range(tl.program_id(1), M, tl.num_programs(1)):
        row = each.to(tl.int64)
        total = tl.load(sum_ptr + row * sum_stride + cols, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_stride + cols, mask=inside, other=0.0).to(tl.float32)
        if CENTRED:
            total -= tl.load(mean_ptr + row)
        dw += dy * (total * tl.load(rstd_ptr + row))
        db += dy
    part = tl.program_id(1).to(tl.int64) * N
    if dw_parts_ptr is not None:
        tl.store(dw_parts_ptr + part + cols, dw, mask=inside)
    if db_parts_ptr is not None:
        tl.store(db_parts_ptr + part + cols, db, mask=inside)
