# Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting along one axis of a block of any shape: a bitonic network.

Elements are sorted as integers whose order is theirs ("keys"): a float's bits
with the magnitude of negatives flipped, NaN above everything. Compare and
exchange is then min and max, exact for every type, and the sorted values come
back bit for bit (NaN as one canonical NaN). A length that is no power of two
is padded with the key that sorts last, and cut again. The network's steps are
run-time loops, so that code does not grow with the block.
"""

import triton
import triton.language as tl


@triton.jit
def _positions(like, axis: tl.constexpr):
    """Every element's own index along `axis`, in the shape of `like`."""
    i = tl.arange(0, like.shape[axis])
    for d in tl.static_range(len(like.shape)):
        if d != axis:
            i = tl.expand_dims(i, d)
    return tl.broadcast_to(i, like.shape)


@triton.jit
def _resize(x, axis: tl.constexpr, size: tl.constexpr):
    """x with `size` elements along `axis`: the first ones, the last repeated."""
    shape: tl.constexpr = x.shape[:axis] + (size, ) + x.shape[axis + 1:]
    index = _positions(tl.full(shape, 0, tl.int1), axis)
    return tl.gather(x, tl.minimum(index, x.shape[axis] - 1), axis)


@triton.jit
def _int_type(x):
    width: tl.constexpr = x.dtype.primitive_bitwidth
    if width == 64:
        return tl.int64
    elif width == 32:
        return tl.int32
    elif width == 16:
        return tl.int16
    else:
        return tl.int8


@triton.jit
def _largest_non_nan(x):
    """The largest magnitude bits of a float type that are no NaN."""
    if x.dtype.is_fp64():
        return 0x7FF0000000000000
    elif x.dtype.is_fp32():
        return 0x7F800000
    elif x.dtype.is_bf16():
        return 0x7F80
    elif x.dtype.is_fp16():
        return 0x7C00
    elif x.dtype == tl.float8e5:
        return 0x7C
    else:
        return 0x7E


@triton.jit
def _to_keys(x):
    if x.dtype.is_floating():
        magnitude: tl.constexpr = (1 << (x.dtype.primitive_bitwidth - 1)) - 1
        bits = x.to(_int_type(x), bitcast=True)
        keys = tl.where(bits < 0, bits ^ magnitude, bits)
        return tl.where((bits & magnitude) > _largest_non_nan(x), magnitude, keys)
    elif x.dtype.is_int1():
        return x.to(tl.int8)
    else:
        return x


@triton.jit
def _from_keys(keys, dtype: tl.constexpr):
    if dtype.is_floating():
        magnitude: tl.constexpr = (1 << (dtype.primitive_bitwidth - 1)) - 1
        return tl.where(keys < 0, keys ^ magnitude, keys).to(dtype, bitcast=True)
    else:
        return keys.to(dtype)


@triton.jit
def _last_key(keys, descending: tl.constexpr):
    if descending:
        return keys.dtype.get_int_min_value()
    else:
        return keys.dtype.get_int_max_value()


@triton.jit
def _compare_exchange(keys, index, distance, ascending, axis: tl.constexpr):
    """Of each pair `distance` apart, the smaller one first where `ascending`."""
    other = tl.gather(keys, index ^ distance, axis)
    is_first = (index & distance) == 0
    return tl.where(is_first == ascending, tl.minimum(keys, other), tl.maximum(keys, other))


@triton.jit
def _merge(keys, log_size: tl.constexpr, descending: tl.constexpr, axis: tl.constexpr):
    index = _positions(keys, axis)
    ascending = tl.full(keys.shape, not descending, tl.int1)
    for step in range(log_size):
        keys = _compare_exchange(keys, index, 1 << (log_size - 1 - step), ascending, axis)
    return keys


@triton.jit
def _sort_keys(keys, log_size: tl.constexpr, descending: tl.constexpr, axis: tl.constexpr):
    """After stage s, runs of 2^s are sorted, upwards and downwards in turn."""
    index = _positions(keys, axis)
    for stage in range(1, log_size + 1):
        ascending = ((index >> stage) & 1) == descending
        for step in range(stage):
            keys = _compare_exchange(keys, index, 1 << (stage - 1 - step), ascending, axis)
    return keys


@triton.jit
def _axis_of(x, dim: tl.constexpr):
    rank: tl.constexpr = len(x.shape)
    tl.static_assert(rank > 0, "a scalar has no axis to sort along")
    if dim is None:
        return rank - 1
    else:
        tl.static_assert(dim >= -rank and dim < rank, "dim is outside the rank of x")
        return dim % rank


@triton.jit
def sort(x, dim: tl.constexpr = None, descending: tl.constexpr = False):
    """x sorted along `dim` (default: the last). NaN counts as the largest."""
    axis: tl.constexpr = _axis_of(x, dim)
    size: tl.constexpr = x.shape[axis]
    log_size: tl.constexpr = tl._log2(triton.next_power_of_2(size))
    keys = _to_keys(x)
    if size == (1 << log_size):
        return _from_keys(_sort_keys(keys, log_size, descending, axis), x.dtype)
    else:
        padded = _resize(keys, axis, 1 << log_size)
        padded = tl.where(_positions(padded, axis) < size, padded, _last_key(keys, descending))
        return _from_keys(_resize(_sort_keys(padded, log_size, descending, axis), axis, size), x.dtype)


@triton.jit
def _at_least_32_bits(x):
    """As tl.max has its result."""
    if x.dtype.primitive_bitwidth >= 32:
        return x
    elif x.dtype.is_floating():
        return x.to(tl.float32)
    else:
        return x.to(tl.int32)


@triton.jit
def topk(x, k: tl.constexpr, dim: tl.constexpr = None, descending: tl.constexpr = True):
    """The k largest elements along `dim`, largest first (descending=False: the
    k smallest, smallest first). With k below the size, elements of less than 32
    bits come back as fp32 or int32."""
    axis: tl.constexpr = _axis_of(x, dim)
    tl.static_assert(k >= 1 and k <= x.shape[axis], "topk: k must be between 1 and the size of the axis")
    best = _resize(sort(x, axis, descending), axis, k)
    if k == x.shape[axis]:
        return best
    else:
        return _at_least_32_bits(best)


@triton.jit
def bitonic_merge(x, dim: tl.constexpr = None, descending: tl.constexpr = False):
    """x sorted along `dim`, where it rises and then falls (or falls and then
    rises). The size of the axis is a power of two."""
    axis: tl.constexpr = _axis_of(x, dim)
    size: tl.constexpr = x.shape[axis]
    log_size: tl.constexpr = tl._log2(triton.next_power_of_2(size))
    tl.static_assert(size == (1 << log_size), "bitonic_merge needs a power of two along dim")
    return _from_keys(_merge(_to_keys(x), log_size, descending, axis), x.dtype)


@triton.jit
def flip(x, dim: tl.constexpr = None):
    """The order of the elements reversed along `dim` (default: the last)."""
    axis: tl.constexpr = _axis_of(x, dim)
    return tl.gather(x, x.shape[axis] - 1 - _positions(x, axis), axis)
