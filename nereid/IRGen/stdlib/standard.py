# Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Standard functions short enough to say what they do."""

import triton
import triton.language as tl


@triton.jit
def cdiv(x, div):
    """ceil(x / div) for x >= 0, div > 0."""
    return (x + (div - 1)) // div


@triton.jit
def sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def softmax(x, dim: tl.constexpr = None, keep_dims: tl.constexpr = None, ieee_rounding: tl.constexpr = False):
    """exp(x - max) / sum along `dim` (default 0). The axis stays in both
    reductions, so that any axis of any rank broadcasts back."""
    axis: tl.constexpr = 0 if dim is None else dim
    numerator = tl.exp(x - tl.max(x, axis, keep_dims=True))
    return tl.fdiv(numerator, tl.sum(numerator, axis, keep_dims=True), ieee_rounding=ieee_rounding)


@triton.jit
def zeros(shape, dtype):
    return tl.full(shape, 0, dtype)


@triton.jit
def zeros_like(input):
    return tl.full(input.shape, 0, input.dtype)


@triton.jit
def swizzle2d(i, j, size_i, size_j, size_g):
    """Where tile (i, j) of a size_i x size_j grid goes when rows are taken in
    groups of size_g and a group is walked column by column. For 4 x 4 and
    size_g = 2, row-major numbers land as
        0  2  4  6
        1  3  5  7
        8 10 12 14
        9 11 13 15
    """
    linear = i * size_j + j
    group = linear // (size_g * size_j)
    first = group * size_g
    height = tl.minimum(size_i - first, size_g)
    within = linear % (size_g * size_j)
    return first + within % height, within // height


@triton.jit
def _holds(pointer, expected, sem: tl.constexpr, scope: tl.constexpr):
    """Compare-and-swap with the expected value itself reads without changing
    anything."""
    return tl.atomic_cas(pointer, expected, expected, sem=sem, scope=scope) == expected


@triton.jit
def _all_of(seen):
    return seen if len(seen.shape) == 0 else tl.min(seen.to(tl.int32)) == 1


@triton.jit
def _wait_until(pointer, expected, sem: tl.constexpr, scope: tl.constexpr, timeout_ns):
    """tl.atomic_poll. An element that was seen stays seen."""
    if timeout_ns is None:
        seen = _holds(pointer, expected, sem, scope)
        while not _all_of(seen):
            seen = seen | _holds(pointer, expected, sem, scope)
    else:
        begin = tl.extra.cuda.globaltimer()
        seen = _holds(pointer, expected, sem, scope)
        while not (_all_of(seen) | ((tl.extra.cuda.globaltimer() - begin).to(tl.uint64) >= timeout_ns)):
            seen = seen | _holds(pointer, expected, sem, scope)
    return seen
