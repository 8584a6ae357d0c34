"""Layer norm with its gradient: the mean and the deviation are kept; gradients of weight and bias are added up by atomics."""
import torch
import triton
import triton.language as tl


@triton.jit
def _layer_norm_fwd_kernel(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, n, eps, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.math.rsqrt(tl.sum(centred * centred, axis=0) / n + eps)
    y = centred * rstd * tl.load(w_ptr + cols, mask=mask)
    if HAS_BIAS:
        y += tl.load(b_ptr + cols, mask=mask)
    tl.store(y_ptr + row * n + cols, y, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def _layer_norm_bwd_kernel(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, n, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    dy = tl.load(dy_ptr + row * n + cols, mask=mask, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + row * n + cols, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_ptr + cols, mask=mask, other=0.0)
    mean, rstd = tl.load(mean_ptr + row), tl.load(rstd_ptr + row)
    xhat = tl.where(mask, (x - mean) * rstd, 0.0)
    g = dy * w
    dx = (g - tl.sum(g, axis=0) / n - xhat * (tl.sum(g * xhat, axis=0) / n)) * rstd
    tl.store(dx_ptr + row * n + cols, dx, mask=mask)
    tl.atomic_add(dw_ptr + cols, dy * xhat, mask=mask)
    if HAS_BIAS:
        tl.atomic_add(db_ptr + cols, dy, mask=mask)


class TritonLayerNorm(torch.autograd.Function):

    @staticmethod
    def forward(ctx, x, weight, bias, eps):
        n = x.shape[-1]
        rows = x.contiguous().view(-1, n)
        y = torch.empty_like(rows)
        mean, rstd = (torch.empty(rows.shape[0], device=x.device) for _ in range(2))
        _layer_norm_fwd_kernel[(rows.shape[0], )](rows, y, weight, bias, mean, rstd, n, eps, HAS_BIAS=bias is not None, BLOCK=triton.next_power_of_2(n))
        ctx.save_for_backward(rows, weight, mean, rstd)
        ctx.has_bias = bias is not None
        return y.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        rows, weight, mean, rstd = ctx.saved_tensors
        n = rows.shape[1]
        dx, dw = torch.empty_like(rows), torch.zeros_like(weight)
        db = torch.zeros_like(weight) if ctx.has_bias else None
        _layer_norm_bwd_kernel[(rows.shape[0], )](dy.contiguous().view(-1, n), rows, weight, mean, rstd, dx, dw, db, n, HAS_BIAS=ctx.has_bias,
                                                  BLOCK=triton.next_power_of_2(n))
        return dx.view_as(dy), dw, db, None


def triton_layer_norm(x, weight, bias=None, eps=1e-5):
    return TritonLayerNorm.apply(x, weight, bias, eps)
