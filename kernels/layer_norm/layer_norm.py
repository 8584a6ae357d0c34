"""Layer norm over the last dimension, one program a row, arithmetic in float32.

The block is the row: N need not be a power of two, so there is no mask.
"""
import triton
import triton.language as tl


@triton.jit
def layer_norm_kernel(y_ptr, x_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, y_stride, x_stride, eps, N: tl.constexpr):
    """y = (x - mean) * rstd * w + b; mean and rstd are kept for the backward."""
    row = tl.program_id(0)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = x - mean
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    w = tl.load(w_ptr + cols).to(tl.float32)
    b = tl.load(b_ptr + cols).to(tl.float32)
    tl.store(y_ptr + row * y_stride + cols, centred * rstd * w + b)


@triton.jit
def fused_bias_layer_norm_kernel(y_ptr, x_ptr, bias_ptr, w_ptr, b_ptr, y_stride, x_stride, eps, N: tl.constexpr):
    """y = layer_norm(x + bias). Both sums are taken in one go over the row:
    var = sum(x^2) / N - mean^2, as the formula of seed kernels has it."""
    row = tl.program_id(0)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + row * x_stride + cols).to(tl.float32) + tl.load(bias_ptr + cols).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    var = tl.sum(x * x, axis=0) / N - mean * mean
    rstd = tl.rsqrt(var + eps)
    w = tl.load(w_ptr + cols).to(tl.float32)
    b = tl.load(b_ptr + cols).to(tl.float32)
    tl.store(y_ptr + row * y_stride + cols, (x - mean) * rstd * w + b)
