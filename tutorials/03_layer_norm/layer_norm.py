# Layer norm, one program a row: mean and variance of the row, then every element
# moved and scaled. Three passes over the data, and only the first touches memory:
# the row stays on the chip.
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(y_ptr, x_ptr, w_ptr, b_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)

    mean = tl.sum(x, axis=0) / N
    # Masked lanes hold 0, not mean: without the tl.where each of them would add
    # mean^2 to the variance.
    centred = tl.where(mask, x - mean, 0.0)
    var = tl.sum(centred * centred, axis=0) / N
    rstd = tl.rsqrt(var + eps)

    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=mask).to(tl.float32)
    tl.store(y_ptr + row * stride + cols, centred * rstd * w + b, mask=mask)


# The same with a bias added first, in the same launch. Adding it in a kernel of
# its own would read and write the whole matrix once more.
@triton.jit
def fused_bias_ln(y_ptr, x_ptr, bias_ptr, w_ptr, b_ptr, eps, N: tl.constexpr):
    row = tl.program_id(0)
    offs = row * N + tl.arange(0, N)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + offs).to(tl.float32) + tl.load(bias_ptr + cols).to(tl.float32)

    # sum(x) and sum(x^2) in one sweep: no pass waits for the mean. The price is
    # cancellation when |mean| is much larger than the spread; after a bias add
    # in a network it is not, and the table's "max diff" keeps an eye on it.
    mean = tl.sum(x, axis=0) / N
    var = tl.sum(x * x, axis=0) / N - mean * mean
    rstd = tl.rsqrt(var + eps)

    gamma = tl.load(w_ptr + cols).to(tl.float32)
    beta = tl.load(b_ptr + cols).to(tl.float32)
    tl.store(y_ptr + offs, (x - mean) * rstd * gamma + beta)


# What the two are compared with: a library's separate operations, one kernel
# each. Every one of them reads and writes the whole matrix (or reads it for a
# number a row).
@triton.jit
def add_bias(t_ptr, x_ptr, bias_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask)
    tl.store(t_ptr + row * N + cols, x + tl.load(bias_ptr + cols, mask=mask), mask=mask)


@triton.jit
def row_mean(mean_ptr, x_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0)
    tl.store(mean_ptr + row, tl.sum(x, axis=0) / N)


@triton.jit
def subtract_mean(t_ptr, x_ptr, mean_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask)
    tl.store(t_ptr + row * N + cols, x - tl.load(mean_ptr + row), mask=mask)


@triton.jit
def row_rstd(rstd_ptr, t_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    t = tl.load(t_ptr + row * N + cols, mask=cols < N, other=0.0)
    tl.store(rstd_ptr + row, tl.rsqrt(tl.sum(t * t, axis=0) / N + eps))


@triton.jit
def scale_and_shift(y_ptr, t_ptr, rstd_ptr, w_ptr, b_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    t = tl.load(t_ptr + row * N + cols, mask=mask)
    w = tl.load(w_ptr + cols, mask=mask)
    b = tl.load(b_ptr + cols, mask=mask)
    tl.store(y_ptr + row * N + cols, t * tl.load(rstd_ptr + row) * w + b, mask=mask)


# ---- The backward pass ----------------------------------------------------------------------------------------------
# With n = (x - mean) * rstd, y = n * w + b, and g = dy * w, the gradient of n:
#
#     dx = rstd * (g - sum(g) / N - n * sum(g * n) / N)      both sums over the row
#     dw = sum of dy * n over all rows,   db = sum of dy over all rows
#
# mean and rstd depend on x, too; the two subtracted terms are what that does. A row of dx needs that row alone: one
# program a row would do. dw and db need all rows: each program would have to add to the same N numbers.
#
# So a program takes every P-th row of P programs, and keeps its part of dw and db in registers while it goes along. One
# store at the end: P x N numbers, little beside the matrix. mean and rstd are made again from the row, which is read anyway.
@triton.jit
def layer_norm_backward(dx_ptr, dw_parts_ptr, db_parts_ptr, dy_ptr, x_ptr, w_ptr, rows, N, eps, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for each in range(tl.program_id(0), rows, tl.num_programs(0)):
        row = each.to(tl.int64)  # 64 bits: rows * N may exceed 2^31
        x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * N + cols, mask=mask, other=0.0).to(tl.float32)
        centred = tl.where(mask, x - tl.sum(x, axis=0) / N, 0.0)
        rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
        n = centred * rstd
        g = dy * w
        dx = rstd * (g - tl.sum(g, axis=0) / N - n * (tl.sum(g * n, axis=0) / N))
        tl.store(dx_ptr + row * N + cols, dx, mask=mask)
        dw += dy * n
        db += dy
    part = tl.program_id(0) * N + cols
    tl.store(dw_parts_ptr + part, dw, mask=mask)
    tl.store(db_parts_ptr + part, db, mask=mask)


# The parts are added in their order, the same in every run: so the gradients have the same bits in every run. Atomic
# additions would save this kernel, and add in the order in which programs happen to end.
@triton.jit
def add_parts(dw_ptr, db_ptr, dw_parts_ptr, db_parts_ptr, PARTS, N, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < N
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for part in range(PARTS):
        dw += tl.load(dw_parts_ptr + part * N + cols, mask=mask, other=0.0)
        db += tl.load(db_parts_ptr + part * N + cols, mask=mask, other=0.0)
    tl.store(dw_ptr + cols, dw, mask=mask)
    tl.store(db_ptr + cols, db, mask=mask)


# The chain that it is compared with: a kernel for each line of the formula, as a tape of separate operations runs them.
# n and rstd are those of the forward pass, saved: one more matrix that is held until here.
@triton.jit
def times_weight(g_ptr, dy_ptr, w_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    dy = tl.load(dy_ptr + row * N + cols, mask=mask)
    tl.store(g_ptr + row * N + cols, dy * tl.load(w_ptr + cols, mask=mask), mask=mask)


@triton.jit
def row_means(g_mean_ptr, gn_mean_ptr, g_ptr, n_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    g = tl.load(g_ptr + row * N + cols, mask=mask, other=0.0)
    n = tl.load(n_ptr + row * N + cols, mask=mask, other=0.0)
    tl.store(g_mean_ptr + row, tl.sum(g, axis=0) / N)
    tl.store(gn_mean_ptr + row, tl.sum(g * n, axis=0) / N)


@triton.jit
def gradient_of_rows(dx_ptr, g_ptr, n_ptr, g_mean_ptr, gn_mean_ptr, rstd_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    g = tl.load(g_ptr + row * N + cols, mask=mask)
    n = tl.load(n_ptr + row * N + cols, mask=mask)
    g_mean = tl.load(g_mean_ptr + row)
    gn_mean = tl.load(gn_mean_ptr + row)
    tl.store(dx_ptr + row * N + cols, tl.load(rstd_ptr + row) * (g - g_mean - n * gn_mean), mask=mask)


@triton.jit
def column_sums(dw_ptr, db_ptr, dy_ptr, n_ptr, rows, N, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < N
    dw = tl.zeros((BLOCK,), dtype=tl.float32)
    db = tl.zeros((BLOCK,), dtype=tl.float32)
    for each in range(rows):
        at = tl.cast(each, tl.int64) * N + cols
        dy = tl.load(dy_ptr + at, mask=mask, other=0.0)
        dw += dy * tl.load(n_ptr + at, mask=mask, other=0.0)
        db += dy
    tl.store(dw_ptr + cols, dw, mask=mask)
    tl.store(db_ptr + cols, db, mask=mask)


# n and rstd for the chain, outside of the time that is measured.
@triton.jit
def normalized(n_ptr, rstd_ptr, x_ptr, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask, other=0.0)
    centred = tl.where(mask, x - tl.sum(x, axis=0) / N, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    tl.store(n_ptr + row * N + cols, centred * rstd, mask=mask)
    tl.store(rstd_ptr + row, rstd)
