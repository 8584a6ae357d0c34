# Layer norm, one program a row: mean and variance of the row, then every element
# moved and scaled. Three passes over the data, of which only the first touches
# memory: the row stays on the chip.
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
