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
def mean_and_squares(x_ptr, first, end, BLOCK: tl.constexpr):
    """Of columns from `first` to `end`, BLOCK at a time: their mean, and the sum of squared differences from it.

    The mean and the sum of squared differences of each block are merged into those of the blocks before
    (Chan, Golub, LeVeque 1979): one reading of the row, and no difference of two large sums.
    """
    cols = tl.arange(0, BLOCK)
    mean = 0.0
    squares = 0.0
    for start in range(first, end, BLOCK):
        inside = cols < end - start
        x = tl.load(x_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        count = tl.minimum(end - start, BLOCK).to(tl.float32)
        block_mean = tl.sum(x, axis=0) / count
        centred = tl.where(inside, x - block_mean, 0.0)
        between = block_mean - mean
        before = (start - first).to(tl.float32)
        mean += between * (count / (before + count))
        squares += tl.sum(centred * centred, axis=0) + between * between * (before * count / (before + count))
    return mean, squares


@triton.jit
def normalize(y_ptr, x_ptr, w_ptr, b_ptr, mean, rstd, first, end, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    for start in range(first, end, BLOCK):
        inside = cols < end - start
        x = tl.load(x_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        y = (x - mean) * rstd
        if w_ptr is not None:
            y *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        if b_ptr is not None:
            y += tl.load(b_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + start + cols, y, mask=inside)


@triton.jit
def layer_norm_loop_kernel(y_ptr, x_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, y_stride, x_stride, eps, N,
                           BLOCK: tl.constexpr):
    """The same for rows of any length, BLOCK columns at a time."""
    row = tl.program_id(0).to(tl.int64)
    mean, squares = mean_and_squares(x_ptr + row * x_stride, 0, N, BLOCK)
    rstd = tl.rsqrt(squares / N + eps)
    if mean_ptr is not None:
        tl.store(mean_ptr + row, mean)
        tl.store(rstd_ptr + row, rstd)
    normalize(y_ptr + row * y_stride, x_ptr + row * x_stride, w_ptr, b_ptr, mean, rstd, 0, N, BLOCK)


@triton.jit
def layer_norm_parts_kernel(parts_ptr, x_ptr, x_stride, N, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Mean and sum of squared differences of SIZE columns: program (row, part), [rows, parts, 2]."""
    row = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * SIZE
    end = tl.minimum(first + SIZE, N)
    mean, squares = mean_and_squares(x_ptr + row * x_stride, first, end, BLOCK)
    part_ptr = parts_ptr + 2 * (row * tl.num_programs(1) + tl.program_id(1))
    tl.store(part_ptr, mean)
    tl.store(part_ptr + 1, squares)


@triton.jit
def layer_norm_of_parts_kernel(y_ptr, x_ptr, parts_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, y_stride, x_stride, eps, N,
                               SIZE: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    """y of the columns of a part. Each program of a row merges all its parts, in the same order."""
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    parts = tl.arange(0, PARTS)
    part_ptrs = parts_ptr + 2 * (row * PARTS + parts)
    counts = (tl.minimum((parts + 1) * SIZE, N) - parts * SIZE).to(tl.float32)
    means = tl.load(part_ptrs)
    # Differences from one of the means: sums of the means themselves would round where they are large.
    base = tl.load(parts_ptr + 2 * row * PARTS)
    mean = base + tl.sum((means - base) * counts, axis=0) / N
    between = means - mean
    squares = tl.sum(tl.load(part_ptrs + 1) + between * between * counts, axis=0)
    rstd = tl.rsqrt(squares / N + eps)
    if mean_ptr is not None:
        tl.store(mean_ptr + row, mean, mask=part == 0)
        tl.store(rstd_ptr + row, rstd, mask=part == 0)
    normalize(y_ptr + row * y_stride, x_ptr + row * x_stride, w_ptr, b_ptr, mean, rstd, part * SIZE,
              tl.minimum((part + 1) * SIZE, N), BLOCK)


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
def sums_of_gradients(x_ptr, dy_ptr, w_ptr, mean, rstd, first, end, BLOCK: tl.constexpr):
    """Of g and of g * x' (layer_norm_backward_kernel), over columns from `first` to `end`."""
    cols = tl.arange(0, BLOCK)
    sums_g = tl.zeros((BLOCK,), dtype=tl.float32)
    sums_gx = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(first, end, BLOCK):
        inside = cols < end - start
        x = tl.load(x_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        g = tl.load(dy_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        if w_ptr is not None:
            g *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        sums_g += g
        sums_gx += g * ((x - mean) * rstd)
    return tl.sum(sums_g, axis=0), tl.sum(sums_gx, axis=0)


@triton.jit
def gradients_of_columns(dx_ptr, x_ptr, dy_ptr, w_ptr, mean, rstd, sum_g, sum_gx, first, end, N, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    for start in range(first, end, BLOCK):
        inside = cols < end - start
        x = tl.load(x_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        g = tl.load(dy_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        if w_ptr is not None:
            g *= tl.load(w_ptr + start + cols, mask=inside, other=0.0).to(tl.float32)
        dx = (g - sum_g / N - (x - mean) * rstd * (sum_gx / N)) * rstd
        tl.store(dx_ptr + start + cols, dx, mask=inside)


@triton.jit
def layer_norm_backward_loop_kernel(dx_ptr, dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_stride, dy_stride, x_stride, N,
                                    BLOCK: tl.constexpr):
    """dx of rows of any length, which are read twice."""
    row = tl.program_id(0).to(tl.int64)
    mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    x_ptr += row * x_stride
    dy_ptr += row * dy_stride
    sum_g, sum_gx = sums_of_gradients(x_ptr, dy_ptr, w_ptr, mean, rstd, 0, N, BLOCK)
    gradients_of_columns(dx_ptr + row * dx_stride, x_ptr, dy_ptr, w_ptr, mean, rstd, sum_g, sum_gx, 0, N, N, BLOCK)


@triton.jit
def layer_norm_backward_parts_kernel(parts_ptr, dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dy_stride, x_stride, N,
                                     SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Both sums of SIZE columns: program (row, part), [rows, parts, 2]. Without means it is the backward of RMS norm."""
    row = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * SIZE
    mean = 0.0
    if mean_ptr is not None:
        mean = tl.load(mean_ptr + row)
    sum_g, sum_gx = sums_of_gradients(x_ptr + row * x_stride, dy_ptr + row * dy_stride, w_ptr, mean,
                                      tl.load(rstd_ptr + row), first, tl.minimum(first + SIZE, N), BLOCK)
    part_ptr = parts_ptr + 2 * (row * tl.num_programs(1) + tl.program_id(1))
    tl.store(part_ptr, sum_g)
    tl.store(part_ptr + 1, sum_gx)


@triton.jit
def layer_norm_backward_of_parts_kernel(dx_ptr, dy_ptr, x_ptr, parts_ptr, w_ptr, mean_ptr, rstd_ptr, dx_stride,
                                        dy_stride, x_stride, N, SIZE: tl.constexpr, PARTS: tl.constexpr,
                                        BLOCK: tl.constexpr):
    """dx of the columns of a part."""
    row = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * SIZE
    part_ptrs = parts_ptr + 2 * (row * PARTS + tl.arange(0, PARTS))
    mean = 0.0
    sum_g = 0.0
    if mean_ptr is not None:
        mean = tl.load(mean_ptr + row)
        sum_g = tl.sum(tl.load(part_ptrs), axis=0)
    gradients_of_columns(dx_ptr + row * dx_stride, x_ptr + row * x_stride, dy_ptr + row * dy_stride, w_ptr, mean,
                         tl.load(rstd_ptr + row), sum_g, tl.sum(tl.load(part_ptrs + 1), axis=0), first,
                         tl.minimum(first + SIZE, N), N, BLOCK)


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
