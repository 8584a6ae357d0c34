"""Layer norm over the last dimension: torch.ops.nereid.layer_norm_forward and layer_norm_backward, and what calls them."""
from typing import Optional

import torch
from torch import Tensor

from ._rows import plan_rows, programs_for_sums
from .kernels import layer_norm as kernels

_LOOP_BLOCK = 4096


def _rows(x):
    """x as rows of neighbours, without a copy where its dimensions in front can be one."""
    rows = x.reshape(-1, x.shape[-1])
    return rows if rows.stride(1) == 1 or rows.shape[1] <= 1 else rows.contiguous()


@torch.library.custom_op("nereid::layer_norm_forward", mutates_args=())
def _forward(x: Tensor, weight: Optional[Tensor], bias: Optional[Tensor], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """(y, and of each row its mean and the inverse of its deviation in float32)."""
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    if x.numel() == 0:
        return y, x.new_empty(0, dtype=torch.float32), x.new_empty(0, dtype=torch.float32)
    given = _rows(x)
    count, columns = given.shape
    mean, rstd = (torch.empty(count, device=x.device, dtype=torch.float32) for _ in range(2))
    arguments = (y, given, weight, bias, mean, rstd, columns, given.stride(0), eps)
    rows, warps, loops = plan_rows(columns, x.element_size(), x.is_cuda)
    if loops:
        kernels.layer_norm_loop_kernel[(count, )](*arguments, columns, BLOCK=_LOOP_BLOCK, num_warps=warps)
    elif rows > 1:
        kernels.layer_norm_rows_kernel[(-(-count // rows), )](*arguments, count, N=columns, ROWS=rows, num_warps=warps)
    else:
        kernels.layer_norm_kernel[(count, )](*arguments, N=columns, num_warps=warps)
    return y, mean, rstd


@_forward.register_fake
def _(x, weight, bias, eps):
    statistics = [torch.empty(x.numel() // max(x.shape[-1], 1), device=x.device, dtype=torch.float32) for _ in range(2)]
    return torch.empty_like(x, memory_format=torch.contiguous_format), *statistics


def _column_sums(parts):
    sums = torch.empty(parts.shape[1], device=parts.device, dtype=torch.float32)
    kernels.column_sums_kernel[(-(-parts.shape[1] // 64), 1)](sums, None, parts, None, *parts.shape, BLOCK_M=32, BLOCK_N=64)
    return sums


@torch.library.custom_op("nereid::layer_norm_backward", mutates_args=())
def _backward(dy: Tensor, x: Tensor, weight: Optional[Tensor], mean: Tensor, rstd: Tensor, needs_weight: bool,
              needs_bias: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of x, and in float32 of the weight and the bias; empty where they are not needed."""
    dx = torch.empty_like(x, memory_format=torch.contiguous_format)
    if x.numel() == 0:
        return dx, *(x.new_zeros(x.shape[-1] if needed else 0, dtype=torch.float32) for needed in (needs_weight, needs_bias))
    given, out = _rows(x), _rows(dy)
    count, columns = given.shape
    _, warps, loops = plan_rows(columns, x.element_size(), x.is_cuda, kept=4)
    programs = programs_for_sums(count, x.device, 0 if loops else columns * (x.element_size() + dy.element_size()))
    dw, db = (torch.empty(programs, columns, device=x.device, dtype=torch.float32) if needed else None for needed in (needs_weight, needs_bias))
    strides = columns, out.stride(0), given.stride(0)
    if not loops:
        kernels.layer_norm_backward_kernel[(programs, )](dx, dw, db, out, given, weight, mean, rstd, *strides, count, N=columns,
                                                         AHEAD=3 if x.is_cuda else 1, num_warps=warps)
    else:
        kernels.layer_norm_backward_loop_kernel[(count, )](dx, out, given, weight, mean, rstd, *strides, columns, BLOCK=_LOOP_BLOCK, num_warps=warps)
        if needs_weight or needs_bias:
            kernels.layer_norm_weight_kernel[(-(-columns // 1024), programs)](dw, db, out, given, mean, rstd, *strides[1:], count, columns, BLOCK=1024)
    empty = torch.empty(0, device=x.device, dtype=torch.float32)
    return dx, *(_column_sums(parts) if parts is not None else empty.clone() for parts in (dw, db))


@_backward.register_fake
def _(dy, x, weight, mean, rstd, needs_weight, needs_bias):
    sizes = [x.shape[-1] if needed else 0 for needed in (needs_weight, needs_bias)]
    return torch.empty_like(x, memory_format=torch.contiguous_format), *(torch.empty(n, device=x.device, dtype=torch.float32) for n in sizes)


def _save(ctx, inputs, output):
    x, weight, bias, _ = inputs
    _, mean, rstd = output
    ctx.save_for_backward(x, weight, mean, rstd)
    ctx.bias_type = None if bias is None else bias.dtype
    ctx.mark_non_differentiable(mean, rstd)
    ctx.set_materialize_grads(False)


def _gradients(ctx, dy, *_):
    if dy is None:
        return None, None, None, None
    x, weight, mean, rstd = ctx.saved_tensors
    needs = ctx.needs_input_grad
    dx, dw, db = torch.ops.nereid.layer_norm_backward(dy, x, weight, mean, rstd, needs[1], needs[2])
    return dx, dw.to(weight.dtype) if needs[1] else None, db.to(ctx.bias_type) if needs[2] else None, None


_forward.register_autograd(_gradients, setup_context=_save)


def _check(x, weight, bias):
    if not x.is_floating_point() or x.dtype == torch.float64:
        raise TypeError(f"layer_norm: argument 'x': expected float32, float16 or bfloat16, got {x.dtype}; hint: F.layer_norm takes any dtype")
    if x.ndim == 0:
        raise ValueError("layer_norm: argument 'x': expected one dimension or more, got a number")
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and tuple(given.shape) != (x.shape[-1], ):
            raise ValueError(f"layer_norm: argument '{name}': expected the shape ({x.shape[-1]},), that of x's last dimension, got {tuple(given.shape)}")
        if given is not None and given.device != x.device:
            raise ValueError(f"layer_norm: argument '{name}': expected a tensor on {x.device}, as x, got one on {given.device}")


def layer_norm(x: Tensor, weight: Optional[Tensor] = None, bias: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last dimension, in float32; y has x's dtype. Differentiable in all three
    tensors. weight and bias, of x's last size each, may be left out."""
    _check(x, weight, bias)
    contiguous = [None if given is None else given.contiguous() for given in (weight, bias)]
    return torch.ops.nereid.layer_norm_forward(x, *contiguous, eps)[0]


class TritonLayerNorm(torch.autograd.Function):
    """layer_norm as a function with `apply(x, weight, bias, eps)`."""

    @staticmethod
    def forward(ctx, x, weight, bias, eps=1e-5):
        _check(x, weight, bias)
        output = torch.ops.nereid.layer_norm_forward(x, weight, bias, eps)
        _save(ctx, (x, weight, bias, eps), output)
        return output[0]

    @staticmethod
    def backward(ctx, dy):
        return _gradients(ctx, dy)


def triton_layer_norm(x: Tensor, weight: Tensor, bias: Optional[Tensor] = None, eps: float = 1e-5) -> Tensor:
    """layer_norm, by the name that programs of nanoGPT with kernels know."""
    return layer_norm(x, weight, bias, eps)
