# Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tl.dot_scaled: products of microscaling formats (OCP MX) by their meaning.

Operands become 16-bit floats, are multiplied by the scales of their groups, and
go to tl.dot. Powers of two as factors round nothing but denormals.
"""

import triton
import triton.language as tl


@triton.jit
def _unpack(x, is_last: tl.constexpr):
    """Two elements a byte, the first in the low half, along the last axis or
    the one before it."""
    pair = tl.join(x & 15, x >> 4)
    rank: tl.constexpr = len(x.shape)
    rows: tl.constexpr = x.shape[rank - 2]
    columns: tl.constexpr = x.shape[rank - 1]
    if rank == 2:
        if is_last:
            return pair.reshape(rows, 2 * columns)
        else:
            return tl.permute(pair, (0, 2, 1)).reshape(2 * rows, columns)
    else:
        if is_last:
            return pair.reshape(x.shape[0], rows, 2 * columns)
        else:
            return tl.permute(pair, (0, 1, 3, 2)).reshape(x.shape[0], 2 * rows, columns)


@triton.jit
def _from_e2m1(code, dtype: tl.constexpr):
    """0, 0.5, 1, 1.5, 2, 3, 4, 6 with a sign: exponent and mantissa moved to
    where the wider format has them. 0.5 is the one denormal."""
    mantissa: tl.constexpr = 7 if dtype == tl.bfloat16 else 10
    bias: tl.constexpr = 126 if dtype == tl.bfloat16 else 14
    wide = code.to(tl.uint16)
    magnitude = wide & 7
    half = tl.full(code.shape, bias << mantissa, tl.uint16)
    bits = (magnitude << (mantissa - 1)) + half
    bits = tl.where(magnitude == 0, tl.zeros_like(half), tl.where(magnitude == 1, half, bits))
    return (bits | ((wide & 8) << 12)).to(tl.uint16).to(dtype, bitcast=True)


@triton.jit
def _scale(scale, dtype: tl.constexpr):
    """A byte is an exponent (e8m0)."""
    if scale.dtype == tl.float8e4nv:
        return scale.to(dtype)
    else:
        if dtype == tl.bfloat16:
            return (scale.to(tl.uint16) << 7).to(tl.uint16).to(tl.bfloat16, bitcast=True)
        else:
            return (scale.to(tl.uint32) << 23).to(tl.float32, bitcast=True).to(tl.float16)


@triton.jit
def _spread(scale, k: tl.constexpr):
    """Each scale for all elements of its group: [rows, k]."""
    rank: tl.constexpr = len(scale.shape)
    groups: tl.constexpr = scale.shape[rank - 1]
    rows: tl.constexpr = scale.shape[rank - 2]
    size: tl.constexpr = k // groups
    if rank == 2:
        return tl.broadcast_to(scale[:, :, None], (rows, groups, size)).reshape(rows, k)
    else:
        batches: tl.constexpr = scale.shape[0]
        return tl.broadcast_to(scale[:, :, :, None], (batches, rows, groups, size)).reshape(batches, rows, k)


@triton.jit
def _swap(x):
    if len(x.shape) == 2:
        return tl.trans(x)
    else:
        return tl.permute(x, (0, 2, 1))


@triton.jit
def _operand(x, scale, format: tl.constexpr, dtype: tl.constexpr, k_is_last: tl.constexpr, k_pack: tl.constexpr, fast_math: tl.constexpr):
    if format == "e2m1":
        values = _from_e2m1(_unpack(x, k_is_last == k_pack), dtype)
    elif format == "e4m3":
        values = x.to(tl.float8e4nv, bitcast=True).to(dtype)
    elif format == "e5m2":
        values = x.to(tl.float8e5, bitcast=True).to(dtype)
    elif format == "bf16":
        values = x.to(tl.bfloat16, bitcast=True).to(dtype)
    else:
        values = x.to(tl.float16, bitcast=True).to(dtype)
    if scale is None:
        return values
    else:
        rank: tl.constexpr = len(values.shape)
        k: tl.constexpr = values.shape[rank - 1] if k_is_last else values.shape[rank - 2]
        factor = _spread(_scale(scale, dtype), k)
        factor = factor if k_is_last else _swap(factor)
        product = values * factor
        if fast_math or scale.dtype == tl.float8e4nv:
            return product
        else:
            is_nan = _spread((scale == 255).to(tl.int8), k)
            is_nan = is_nan if k_is_last else _swap(is_nan)
            return tl.where(is_nan != 0, tl.full(product.shape, float("nan"), dtype), product)


@triton.jit
def dot_scaled(lhs, lhs_scale, lhs_format: tl.constexpr, rhs, rhs_scale, rhs_format: tl.constexpr, acc,
               fast_math: tl.constexpr, lhs_k_pack: tl.constexpr, rhs_k_pack: tl.constexpr):
    has_half: tl.constexpr = (lhs_format == "fp16") | (rhs_format == "fp16")
    dtype: tl.constexpr = tl.float16 if has_half else tl.bfloat16
    a = _operand(lhs, lhs_scale, lhs_format, dtype, True, lhs_k_pack, fast_math)
    b = _operand(rhs, rhs_scale, rhs_format, dtype, False, rhs_k_pack, fast_math)
    return tl.dot(a, b, acc, out_dtype=tl.float32)
