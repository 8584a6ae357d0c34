# Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libdevice functions of everyday use, on top of the primitives of Tile IR.

All take fp32 and fp64 unless their name says otherwise; the built-ins table
has checked and promoted the arguments. See special.py for gamma and friends.
Where the sign of a zero matters, x * -1.0 changes it; -x is 0 - x.
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice

PI: tl.constexpr = 3.141592653589793
INF: tl.constexpr = float("inf")


@triton.jit
def _bits(x):
    """The bits of a float, as a signed integer."""
    if x.dtype == tl.float64:
        return x.to(tl.int64, bitcast=True)
    else:
        return x.to(tl.int32, bitcast=True)


# --- Exponentials, logarithms, powers -------------------------------------


@triton.jit
def exp10(x):
    """2^p with p = x log2(10), and the rounding error of p put back to first
    order: 2^(p + e) = 2^p (1 + e ln 2)."""
    is64: tl.constexpr = x.dtype == tl.float64
    log2_10: tl.constexpr = 3.321928094887362 if is64 else 3.3219280242919922
    log2_10_low: tl.constexpr = 1.661617516973592e-16 if is64 else 7.059537e-08
    p = x * log2_10
    error = tl.fma(x, tl.full([], log2_10, x.dtype), -p) + x * log2_10_low
    power = libdevice.exp2(p)
    corrected = power + power * (error * 0.6931471805599453)
    return tl.where((power == INF) | (power == 0), power, corrected)


@triton.jit
def rcbrt(x):
    return 1 / libdevice.cbrt(x)


@triton.jit
def _scaled_norm(a, b, c, d):
    """sqrt(a^2 + b^2 + c^2 + d^2) for non-negative operands, divided by the
    largest so that no square overflows. Infinite if any operand is, even
    beside a NaN."""
    largest = tl.maximum(tl.maximum(a, b), tl.maximum(c, d))
    scale = tl.where((largest == 0) | (largest == INF), 1.0, largest).to(a.dtype)
    a = a / scale
    b = b / scale
    c = c / scale
    d = d / scale
    norm = scale * libdevice.sqrt(a * a + b * b + c * c + d * d)
    return tl.where(largest == INF, largest, norm)


@triton.jit
def norm4d(a, b, c, d):
    return _scaled_norm(tl.abs(a), tl.abs(b), tl.abs(c), tl.abs(d))


@triton.jit
def norm3d(a, b, c):
    zero = tl.zeros_like(a)
    return _scaled_norm(tl.abs(a), tl.abs(b), tl.abs(c), zero)


@triton.jit
def hypot(x, y):
    zero = tl.zeros_like(x)
    return _scaled_norm(tl.abs(x), tl.abs(y), zero, zero)


@triton.jit
def rhypot(x, y):
    return 1 / hypot(x, y)


@triton.jit
def rnorm3d(a, b, c):
    return 1 / norm3d(a, b, c)


@triton.jit
def rnorm4d(a, b, c, d):
    return 1 / norm4d(a, b, c, d)


# --- Trigonometry in units of pi ------------------------------------------


@triton.jit
def _half_turns(x):
    """|x| = 2n + k/2 + r with |r| <= 1/4 and k in 0 .. 4, all exact; gives r and
    k. No step overflows, and every |x| above 2^53 is an even number."""
    a = tl.abs(x)
    a = a - 2 * tl.floor(0.5 * a)
    k = libdevice.rint(2 * a)
    return a - 0.5 * k, k


@triton.jit
def sinpi(x):
    """Zero at every integer, with the sign of x."""
    r, quadrant = _half_turns(x)
    s = libdevice.sin(PI * r)
    c = libdevice.cos(PI * r)
    magnitude = tl.where((quadrant == 1) | (quadrant == 3), c, s)
    result = tl.where((quadrant == 2) | (quadrant == 3), -magnitude, magnitude)
    return tl.where(_bits(x) < 0, result * -1.0, result)


@triton.jit
def cospi(x):
    r, quadrant = _half_turns(x)
    s = libdevice.sin(PI * r)
    c = libdevice.cos(PI * r)
    magnitude = tl.where((quadrant == 1) | (quadrant == 3), s, c)
    return tl.where((quadrant == 1) | (quadrant == 2), -magnitude, magnitude)


# --- Rounding, remainders, parts of a number -------------------------------


@triton.jit
def llrint(x):
    return libdevice.rint(x).to(tl.int64)


@triton.jit
def llround(x):
    return libdevice.round(x).to(tl.int64)


@triton.jit
def fmod(x, y):
    return x % y


@triton.jit
def remainder(x, y):
    """IEEE 754 remainder: x - n y with n the integer nearest to x / y, even in
    a tie. After fmod by 2y at most two exact subtractions are left; where 2y
    would overflow |x| is below it anyway."""
    is64: tl.constexpr = x.dtype == tl.float64
    largest: tl.constexpr = 8.98846567431158e307 if is64 else 1.7014117331926443e38
    smallest: tl.constexpr = 4.450147717014403e-308 if is64 else 2.350988701644575e-38
    p = tl.abs(y)
    r = tl.abs(x)
    r = tl.where(p <= largest, r % (p + p), r)
    is_tiny = p < smallest
    half = 0.5 * p
    above = tl.where(is_tiny, r + r > p, r > half)
    r2 = tl.where(above, r - p, r)
    still = tl.where(is_tiny, r2 + r2 >= p, r2 >= half)
    r3 = tl.where(above & still, r2 - p, r2)
    invalid = (x != x) | (y != y) | (p == 0) | (tl.abs(x) == INF)
    signed = tl.where(_bits(x) < 0, r3 * -1.0, r3)
    return tl.where(invalid, float("nan"), signed)


@triton.jit
def fdim(x, y):
    return tl.where(x <= y, 0.0, x - y)


@triton.jit
def _power_of_two(n, dtype: tl.constexpr):
    """2^n for a normal result."""
    if dtype == tl.float64:
        return ((n.to(tl.int64) + 1023) << 52).to(tl.float64, bitcast=True)
    else:
        return ((n + 127) << 23).to(tl.float32, bitcast=True)


@triton.jit
def ldexp(x, n):
    """x 2^n, rounded once. Three factors cover every n that matters; downwards
    a factor keeps the mantissa's width in hand, so that only the last
    multiplication can round."""
    is64: tl.constexpr = x.dtype == tl.float64
    up: tl.constexpr = 1023 if is64 else 127
    down: tl.constexpr = 969 if is64 else 102
    for _ in tl.static_range(2):
        step = tl.where(n > up, up, tl.where(n < -up + 1, -down, 0))
        x = x * _power_of_two(step, x.dtype)
        n = n - step
    n = tl.minimum(tl.maximum(n, -up + 1), up)
    return x * _power_of_two(n, x.dtype)


@triton.jit
def scalbn(x, n):
    return ldexp(x, n)


@triton.jit
def _exponent(x):
    """floor(log2 |x|) for finite x other than 0."""
    if x.dtype == tl.float64:
        is_small = tl.abs(x) < 2.2250738585072014e-308
        biased = (_bits(tl.where(is_small, x * 18014398509481984.0, x)) >> 52) & 0x7FF
        return biased.to(tl.int32) - tl.where(is_small, 1023 + 54, 1023)
    else:
        is_small32 = tl.abs(x) < 1.1754943508222875e-38
        biased32 = (_bits(tl.where(is_small32, x * 33554432.0, x)) >> 23) & 0xFF
        return biased32 - tl.where(is_small32, 127 + 25, 127)


@triton.jit
def ilogb(x):
    """INT_MIN for 0 and NaN, INT_MAX for an infinity."""
    e = _exponent(x)
    e = tl.where(tl.abs(x) == INF, 2147483647, e)
    return tl.where((x == 0) | (x != x), -2147483648, e)


@triton.jit
def logb(x):
    e = _exponent(x).to(x.dtype)
    e = tl.where(x == 0, -INF, e)
    return tl.where((x != x) | (tl.abs(x) == INF), x * x, e)


@triton.jit
def nextafter(x, y):
    """The neighbour of x towards y: one up or down in the bits, which order as
    the magnitudes do."""
    bits = _bits(x)
    sign = tl.where(_bits(y) < 0, -1, 1)
    away = (x < y) == (x > 0)
    stepped = tl.where(away, bits + 1, bits - 1).to(x.dtype, bitcast=True)
    if x.dtype == tl.float64:
        tiny = tl.full(x.shape, 1, tl.int64).to(tl.float64, bitcast=True)
    else:
        tiny = tl.full(x.shape, 1, tl.int32).to(tl.float32, bitcast=True)
    result = tl.where(x == 0, sign * tiny, stepped)
    result = tl.where(x == y, y, result)
    return tl.where((x != x) | (y != y), x + y, result)


@triton.jit
def signbit(x):
    return (_bits(x) < 0).to(tl.int32)


@triton.jit
def saturatef(x):
    """x clamped to [0, 1]; NaN gives 0."""
    return tl.minimum(tl.maximum(x, 0.0), 1.0)


# --- Shorthands of fp32 ----------------------------------------------------
# The language allows an approximation here; these are the full functions.


@triton.jit
def fast_dividef(x, y):
    return tl.fdiv(x, y)


@triton.jit
def fast_exp10f(x):
    return exp10(x)


@triton.jit
def fast_sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def fast_gelu(x):
    """x Phi(x) in the tanh form of Hendrycks and Gimpel, 2016."""
    return 0.5 * x * (1 + libdevice.tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)))


# --- Arithmetic whose rounding the name tells ------------------------------


@triton.jit
def add_rn(x, y):
    return x + y


@triton.jit
def sub_rn(x, y):
    return x - y


@triton.jit
def mul_rn(x, y):
    return x * y


@triton.jit
def rcp_rn(x):
    return tl.fdiv(tl.full([], 1, x.dtype), x, ieee_rounding=True)


@triton.jit
def rsqrt_rn(x):
    """Through fp64, whose two roundings are invisible in fp32."""
    return (1 / libdevice.sqrt(x.to(tl.float64))).to(tl.float32)


# --- Integers --------------------------------------------------------------


@triton.jit
def ffs(x):
    """One plus the index of the lowest set bit; 0 for 0."""
    return tl.where(x == 0, 0, libdevice._ctz(x) + 1)


@triton.jit
def _swap_bits(x, mask, distance):
    return ((x >> distance) & mask) | ((x & mask) << distance)


@triton.jit
def brev(x):
    """The bits in reverse order: neighbours swapped, then pairs, ..."""
    if x.dtype.primitive_bitwidth == 64:
        u = x.to(tl.uint64, bitcast=True)
        u = _swap_bits(u, 0x5555555555555555, 1)
        u = _swap_bits(u, 0x3333333333333333, 2)
        u = _swap_bits(u, 0x0F0F0F0F0F0F0F0F, 4)
        u = _swap_bits(u, 0x00FF00FF00FF00FF, 8)
        u = _swap_bits(u, 0x0000FFFF0000FFFF, 16)
        return ((u >> 32) | (u << 32)).to(x.dtype, bitcast=True)
    else:
        v = x.to(tl.uint32, bitcast=True)
        v = _swap_bits(v, 0x55555555, 1)
        v = _swap_bits(v, 0x33333333, 2)
        v = _swap_bits(v, 0x0F0F0F0F, 4)
        v = _swap_bits(v, 0x00FF00FF, 8)
        return ((v >> 16) | (v << 16)).to(x.dtype, bitcast=True)


@triton.jit
def _byte_of(low, high, selector):
    wide = (high.to(tl.uint64) << 32) | low.to(tl.uint64)
    return ((wide >> ((selector & 7).to(tl.uint64) * 8)) & 0xFF).to(tl.uint32)


@triton.jit
def byte_perm(x, y, s):
    """Byte i of the result is byte (s >> 4i) & 7 of the eight bytes y:x."""
    low = x.to(tl.uint32, bitcast=True)
    high = y.to(tl.uint32, bitcast=True)
    select = s.to(tl.uint32, bitcast=True)
    b0 = _byte_of(low, high, select)
    b1 = _byte_of(low, high, select >> 4)
    b2 = _byte_of(low, high, select >> 8)
    b3 = _byte_of(low, high, select >> 12)
    return (b0 | (b1 << 8) | (b2 << 16) | (b3 << 24)).to(x.dtype, bitcast=True)


@triton.jit
def mul24(x, y):
    """The product of the low 24 bits of each, sign-extended if signed."""
    return ((x << 8) >> 8) * ((y << 8) >> 8)


@triton.jit
def sad(x, y, z):
    return z + tl.where(x > y, x - y, y - x).to(z.dtype, bitcast=True)


@triton.jit
def hadd(x, y):
    """floor((x + y) / 2) without overflow."""
    return (x & y) + ((x ^ y) >> 1)


@triton.jit
def rhadd(x, y):
    """ceil((x + y) / 2) without overflow."""
    return (x | y) - ((x ^ y) >> 1)


@triton.jit
def double2loint(x):
    return _bits(x).to(tl.int32)


@triton.jit
def double2hiint(x):
    return (_bits(x) >> 32).to(tl.int32)


@triton.jit
def hiloint2double(high, low):
    bits = (high.to(tl.int64) << 32) | low.to(tl.uint32, bitcast=True).to(tl.int64)
    return bits.to(tl.float64, bitcast=True)


@triton.jit
def rcp64h(x):
    """Zeros in the low word, as the instruction leaves it."""
    bits = (1.0 / x).to(tl.uint64, bitcast=True)
    return ((bits >> 32) << 32).to(tl.float64, bitcast=True)
