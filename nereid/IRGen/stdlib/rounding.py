# Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libdevice functions that round toward zero ("rz"), down ("rd") or up ("ru").

Each computes the nearest result and the sign of what is missing from it, which
an error-free transformation gives, and takes the neighbour on the other side
where the mode wants it.
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice

INF: tl.constexpr = float("inf")


@triton.jit
def _bits(x):
    if x.dtype == tl.float64:
        return x.to(tl.int64, bitcast=True)
    else:
        return x.to(tl.int32, bitcast=True)


@triton.jit
def _next_up(x):
    """The least number above x. Bits order as magnitudes do."""
    bits = _bits(x)
    stepped = tl.where(x == 0, 1, tl.where(bits < 0, bits - 1, bits + 1))
    up = stepped.to(bits.dtype).to(x.dtype, bitcast=True)
    return tl.where((x == INF) | (x != x), x, up)


@triton.jit
def _directed(nearest, missing, mode: tl.constexpr):
    """`nearest` rounded as `mode` says; `missing` has the sign of the exact
    result minus it. Not for an infinity that is exact."""
    up = _next_up(nearest)
    down = -_next_up(-nearest)
    # Overflow: what is missing from an infinity leads back to finite numbers.
    missing = tl.where(nearest == INF, -1.0, tl.where(nearest == -INF, 1.0, missing))
    if mode == "ru":
        return tl.where(missing > 0, up, nearest)
    if mode == "rd":
        return tl.where(missing < 0, down, nearest)
    is_positive = (nearest > 0) | ((nearest == 0) & (missing > 0))
    toward = tl.where(is_positive & (missing < 0), down, nearest)
    return tl.where((nearest < 0) & (missing > 0), up, toward)


@triton.jit
def _is_finite(x):
    return tl.abs(x) < INF


@triton.jit
def _two_sum(a, b):
    """a + b and its exact error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@triton.jit
def add(x, y, mode: tl.constexpr):
    s, error = _two_sum(x, y)
    result = _directed(s, error, mode)
    if mode == "rd":
        # x + -x is -0 when rounding down.
        result = tl.where((s == 0) & (_bits(x) < 0) | (s == 0) & (_bits(y) < 0), -0.0, result).to(x.dtype)
    return tl.where(_is_finite(x) & _is_finite(y), result, s)


@triton.jit
def sub(x, y, mode: tl.constexpr):
    # Not -y, which is 0 - y: zeros keep their signs.
    return add(x, y * -1.0, mode)


@triton.jit
def mul(x, y, mode: tl.constexpr):
    p = x * y
    if x.dtype == tl.float32:
        missing = (x.to(tl.float64) * y.to(tl.float64) - p.to(tl.float64)).to(tl.float64)
        missing = tl.where(missing > 0, 1.0, tl.where(missing < 0, -1.0, 0.0))
    else:
        # The error of a tiny product would vanish: the factor of the smaller
        # magnitude, below 1e-135 then, is brought up by 2^1200.
        is_tiny = tl.abs(p) < tl.full([], 1e-270, x.dtype)
        swap = tl.abs(x) > tl.abs(y)
        low = tl.where(swap, y, x)
        high = tl.where(swap, x, y)
        scale = tl.where(is_tiny, 2.5822498780869086e120, 1.0).to(x.dtype)
        missing = tl.fma(low * scale * scale * scale, high, -(p * scale * scale * scale))
    result = _directed(p, missing, mode)
    return tl.where(_is_finite(x) & _is_finite(y), result, p)


@triton.jit
def div(x, y, mode: tl.constexpr):
    q = libdevice.div_rn(x, y)
    if x.dtype == tl.float32:
        rest = x.to(tl.float64) - q.to(tl.float64) * y.to(tl.float64)
        sign = tl.where(y < 0, -1.0, 1.0)
        missing = tl.where(rest > 0, sign, tl.where(rest < 0, -sign, 0.0))
    else:
        scale = tl.where(tl.abs(x) < tl.full([], 1e-270, x.dtype), 2.5822498780869086e120, 1.0).to(x.dtype)
        rest = tl.fma(-(q * scale), y, x * scale)
        missing = tl.where(y < 0, -rest, rest)
    result = _directed(q, missing, mode)
    # A zero divisor and an infinite one leave nothing to round.
    return tl.where(_is_finite(x) & _is_finite(y) & (y != 0) & (x != 0), result, q)


@triton.jit
def rcp(x, mode: tl.constexpr):
    return div(tl.full(x.shape, 1.0, x.dtype), x, mode)


@triton.jit
def sqrt(x, mode: tl.constexpr):
    r = libdevice.sqrt_rn(x)
    if x.dtype == tl.float32:
        rest = x.to(tl.float64) - r.to(tl.float64) * r.to(tl.float64)
        missing = tl.where(rest > 0, 1.0, tl.where(rest < 0, -1.0, 0.0))
    else:
        is_tiny = x < tl.full([], 1e-270, x.dtype)
        scale = tl.where(is_tiny, 2.5822498780869086e120, 1.0).to(x.dtype)
        root = tl.where(is_tiny, 1.6069380442589903e60, 1.0).to(x.dtype)
        missing = tl.fma(-(r * root), r * root, x * scale)
    return tl.where(_is_finite(x) & (x > 0), _directed(r, missing, mode), r)


@triton.jit
def fma(x, y, z, mode: tl.constexpr):
    """float64: the error of a fused multiply-add is a sum of two numbers, and the larger has the
    sign (Boldo and Muller, "Exact and approximated
    error of the FMA")."""
    r = tl.fma(x, y, z)
    if x.dtype == tl.float32:
        product = x.to(tl.float64) * y.to(tl.float64)
        s, error = _two_sum(product, z.to(tl.float64))
        missing = (s - r.to(tl.float64)) + error
        missing = tl.where(missing > 0, 1.0, tl.where(missing < 0, -1.0, 0.0))
        is_zero = (s == 0) & (error == 0)
        is_below = (product < 0) | ((product == 0) & (_bits(x) ^ _bits(y) < 0))
    else:
        u1 = x * y
        u2 = tl.fma(x, y, -u1)
        a1, a2 = _two_sum(z, u2)
        b1, b2 = _two_sum(u1, a1)
        missing = ((b1 - r) + b2) + a2
        is_zero = (r == 0) & (missing == 0)
        is_below = (u1 < 0) | ((u1 == 0) & (_bits(x) ^ _bits(y) < 0))
    result = _directed(r, missing, mode)
    if mode == "rd":
        result = tl.where(is_zero & (is_below | (_bits(z) < 0)), -0.0, result).to(x.dtype)
    return tl.where(_is_finite(x) & _is_finite(y) & _is_finite(z), result, r)


@triton.jit
def narrow(x, mode: tl.constexpr):
    """float64 to float32."""
    nearest = x.to(tl.float32)
    rest = x - nearest.to(tl.float64)
    missing = tl.where(rest > 0, 1.0, tl.where(rest < 0, -1.0, 0.0))
    return tl.where(_is_finite(x), _directed(nearest, missing, mode), nearest)


@triton.jit
def from_integer(x, dtype: tl.constexpr, mode: tl.constexpr):
    """The leading digits that the float has room for, and whether others
    follow."""
    digits: tl.constexpr = 53 if dtype == tl.float64 else 24
    is_signed: tl.constexpr = (x.dtype == tl.int32) | (x.dtype == tl.int64)
    width: tl.constexpr = x.dtype.primitive_bitwidth
    if is_signed:
        magnitude = tl.where(x < 0, ~x, x)
    else:
        magnitude = x
    length = width - libdevice.clz(magnitude)
    shift = tl.maximum(length - digits, 0).to(x.dtype)
    kept = x >> shift
    has_rest = (kept << shift) != x
    if mode == "ru":
        kept += has_rest.to(x.dtype)
    elif (mode == "rz") & is_signed:
        kept += (has_rest & (x < 0)).to(x.dtype)
    one = tl.full(x.shape, 1, tl.uint64)
    return kept.to(dtype) * (one << shift.to(tl.uint64)).to(dtype)
