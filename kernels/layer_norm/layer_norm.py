"""Layer norm over the last dimension, arithmetic in float32.

The block is the row, or ROWS rows: N need not be a power of two, so no column is masked.
"""
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(y_ptr, x_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, y_stride, x_stride, eps, N: tl.constexpr):
    """y = (x - mean) * rstd * w + b; mean and rstd are kept for the backward, unless their pointers are None.

    Eight bytes a row are no traffic, but each is a sector of 32 bytes to the memory of a GPU, which counts where rows
    are short (docs/decisions/Tiles.md).
    """
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = x - mean
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    if mean_ptr is not None:
        tl.store(mean_ptr + row, mean)
        tl.store(rstd_ptr + row, rstd)
    y = centred * rstd
    if w_ptr is not None:
        y *= tl.load(w_ptr + cols).to(tl.float32)
    if b_ptr is not None:
        y += tl.load(b_ptr + cols).to(tl.float32)
    tl.store(y_ptr + row * y_stride + cols, y)


@triton.jit
def layer_norm_rows_kernel(y_ptr, x_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, y_stride, x_stride, eps, M,
                           N: tl.constexpr, ROWS: tl.constexpr):
    """The same for short rows, ROWS of them a program: it loads w and b once for all of them."""
    first = tl.program_id(0).to(tl.int64) * ROWS
    rows = tl.arange(0, ROWS)
    cols = tl.arange(0, N)
    exists = rows < tl.minimum(M - first, ROWS).to(tl.int32)
    x_ptrs = x_ptr + first * x_stride + rows[:, None].to(tl.int64) * x_stride + cols[None, :]
    x = tl.load(x_ptrs, mask=exists[:, None], other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=1) / N
    centred = x - mean[:, None]
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=1) / N + eps)
    if mean_ptr is not None:
        tl.store(mean_ptr + first + rows, mean, mask=exists)
        tl.store(rstd_ptr + first + rows, rstd, mask=exists)
    y = centred * rstd[:, None]
    if w_ptr is not None:
        y *= tl.load(w_ptr + cols).to(tl.float32)[None, :]
    if b_ptr is not None:
        y += tl.load(b_ptr + cols).to(tl.float32)[None, :]
    y_ptrs = y_ptr + first * y_stride + rows[:, None].to(tl.int64) * y_stride + cols[None, :]
    tl.store(y_ptrs, y, mask=exists[:, None])


@triton.jit
def layer_norm_loop_kernel(y_ptr, x_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, y_stride, x_stride, eps, N,
                           BLOCK: tl.constexpr):
    """The same for rows of any length, BLOCK columns at a time.

    The mean and the sum of squared differences of each block are merged into those of the blocks before
    (Chan, Golub, LeVeque 1979): one reading of the row, and no difference of two large sums.
    """
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mean = 0.0
    squares = 0.0
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        count = tl.minimum(N - start, BLOCK).to(tl.float32)
        block_mean = tl.sum(x, axis=0) / count
        centred = tl.where(inside, x - block_mean, 0.0)
        between = block_mean - mean
        before = start.to(tl.float32)
        mean += between * (count / (before + count))
        squares += tl.sum(centred * centred, axis=0) + between * between * (before * count / (before + count))
    rstd = tl.rsqrt(squares / N + eps)
    if mean_ptr is not None:
        tl.store(mean_ptr + row, mean)
        tl.store(rstd_ptr + row, rstd)
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        y = (x - mean) * rstd
        if w_ptr is not None:
            y *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        if b_ptr is not None:
            y += tl.load(b_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * y_stride + start + cols, y, mask=inside)


@triton.jit
def fused_bias_layer_norm_kernel(y_ptr, x_ptr, bias_ptr, w_ptr, b_ptr, y_stride, x_stride, eps, N: tl.constexpr):
    """y = layer_norm(x + bias). The row stays in registers, so that the second sum is of squared differences:
    sum(x^2) / N - mean^2 loses all digits of the variance where the mean is 1000 times the deviation."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32) + tl.load(bias_ptr + cols).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = x - mean
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    y = centred * rstd
    if w_ptr is not None:
        y *= tl.load(w_ptr + cols).to(tl.float32)
    if b_ptr is not None:
        y += tl.load(b_ptr + cols).to(tl.float32)
    tl.store(y_ptr + row * y_stride + cols, y)


@triton.jit
def fused_bias_layer_norm_loop_kernel(y_ptr, x_ptr, bias_ptr, w_ptr, b_ptr, y_stride, x_stride, eps, N,
                                      BLOCK: tl.constexpr):
    """The same for rows of any length, which are read twice; blocks are merged as in layer_norm_loop_kernel."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mean = 0.0
    squares = 0.0
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        x += tl.load(bias_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        count = tl.minimum(N - start, BLOCK).to(tl.float32)
        block_mean = tl.sum(x, axis=0) / count
        centred = tl.where(inside, x - block_mean, 0.0)
        between = block_mean - mean
        before = start.to(tl.float32)
        mean += between * (count / (before + count))
        squares += tl.sum(centred * centred, axis=0) + between * between * (before * count / (before + count))
    rstd = tl.rsqrt(squares / N + eps)
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        x += tl.load(bias_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        y = (x - mean) * rstd
        if w_ptr is not None:
            y *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        if b_ptr is not None:
            y += tl.load(b_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * y_stride + start + cols, y, mask=inside)


@triton.jit
def add_pairs(a, b, c, d):
    return a + c, b + d


@triton.jit
def layer_norm_backward_kernel(dx_ptr, dw_parts_ptr, db_parts_ptr, dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr,
                               dx_stride, dy_stride, x_stride, M, N: tl.constexpr, AHEAD: tl.constexpr = 1):
    """dx, and this program's part of dw and db: program i takes the rows i, i + programs, ... and
    keeps their sums in registers. column_sums_kernel adds the parts up. AHEAD - 1 rows are fetched ahead.

        dx = rstd * (g - mean(g) - x' * mean(g * x'))  with  x' = (x - mean) * rstd,  g = dy * w
    """
    cols = tl.arange(0, N)
    if w_ptr is not None:
        w = tl.load(w_ptr + cols).to(tl.float32)
    dw = tl.zeros((N,), dtype=tl.float32)
    db = tl.zeros((N,), dtype=tl.float32)
    for each in tl.range(tl.program_id(0), M, tl.num_programs(0), num_stages=AHEAD):
        row = each.to(tl.int64)
        x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_stride + cols).to(tl.float32)
        mean = tl.load(mean_ptr + row)
        rstd = tl.load(rstd_ptr + row)
        normal = (x - mean) * rstd
        g = dy
        if w_ptr is not None:
            g = dy * w
        sum_g, sum_gx = tl.reduce((g, g * normal), 0, add_pairs)
        dx = (g - sum_g / N - normal * (sum_gx / N)) * rstd
        tl.store(dx_ptr + row * dx_stride + cols, dx)
        dw += dy * normal
        db += dy
    part = tl.program_id(0) * N
    if dw_parts_ptr is not None:
        tl.store(dw_parts_ptr + part + cols, dw)
    if db_parts_ptr is not None:
        tl.store(db_parts_ptr + part + cols, db)


@triton.jit
def layer_norm_backward_loop_kernel(dx_ptr, dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_stride, dy_stride, x_stride, N,
                                    BLOCK: tl.constexpr):
    """dx of rows of any length, which are read twice."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    sums_g = tl.zeros((BLOCK,), dtype=tl.float32)
    sums_gx = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        g = tl.load(dy_ptr + row * dy_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        if w_ptr is not None:
            g *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        sums_g += g
        sums_gx += g * ((x - mean) * rstd)
    sum_g = tl.sum(sums_g, axis=0)
    sum_gx = tl.sum(sums_gx, axis=0)
    for start in range(0, N, BLOCK):
        inside = cols < N - start
        x = tl.load(x_ptr + row * x_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        g = tl.load(dy_ptr + row * dy_stride + start + cols, mask=inside, other=0.0).to(tl.float32)
        if w_ptr is not None:
            g *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        dx = (g - sum_g / N - (x - mean) * rstd * (sum_gx / N)) * rstd
        tl.store(dx_ptr + row * dx_stride + start + cols, dx, mask=inside)


@triton.jit
def layer_norm_weight_kernel(dw_parts_ptr, db_parts_ptr, dy_ptr, x_ptr, mean_ptr, rstd_ptr, dy_stride, x_stride, M, N,
                             BLOCK: tl.constexpr):
    """Parts of dw and db, BLOCK columns a program: program (c, p) takes the rows p, p + programs, ..."""
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = cols < N
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for each in range(tl.program_id(1), M, tl.num_programs(1)):
        row = each.to(tl.int64)
        x = tl.load(x_ptr + row * x_stride + cols, mask=inside, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * dy_stride + cols, mask=inside, other=0.0).to(tl.float32)
        dw += dy * ((x - tl.load(mean_ptr + row)) * tl.load(rstd_ptr + row))
        db += dy
    part = tl.program_id(1).to(tl.int64) * N
    if dw_parts_ptr is not None:
        tl.store(dw_parts_ptr + part + cols, dw, mask=inside)
    if db_parts_ptr is not None:
        tl.store(db_parts_ptr + part + cols, db, mask=inside)


@triton.jit
def column_sums(y_ptr, x_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    cols = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = tl.arange(0, BLOCK_M)
    x_ptrs = x_ptr + (rows.to(tl.int64) * N)[:, None] + cols[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, M, BLOCK_M):
        total += tl.load(x_ptrs, mask=(rows[:, None] < M - start) & (cols[None, :] < N), other=0.0)
        x_ptrs += tl.to_tensor(N).to(tl.int64) * BLOCK_M
    tl.store(y_ptr + cols, tl.sum(total, axis=0), mask=cols < N)


@triton.jit
def column_sums_kernel(y_ptr, second_y_ptr, x_ptr, second_x_ptr, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """y[j] = sum over i of x[i, j], row-major; the programs (_, 1) do the same for the second pair."""
    if second_y_ptr is None:
        column_sums(y_ptr, x_ptr, M, N, BLOCK_M, BLOCK_N)
    elif tl.program_id(1) == 0:
        column_sums(y_ptr, x_ptr, M, N, BLOCK_M, BLOCK_N)
    else:
        column_sums(second_y_ptr, second_x_ptr, M, N, BLOCK_M, BLOCK_N)
