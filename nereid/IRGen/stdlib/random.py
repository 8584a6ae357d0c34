# Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counter-based random numbers: Philox4x32-10.

Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
SC 2011. The same (seed, offset) gives the same bits on every target.
"""

import triton
import triton.language as tl

N_ROUNDS_DEFAULT: tl.constexpr = 10
TWO_PI: tl.constexpr = 6.283185307179586


@triton.jit
def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: tl.constexpr = 10):
    """`n_rounds` rounds on the counter c under the key k. Counter and key are
    all uint32 (Philox4x32) or all uint64 (Philox4x64)."""
    is32: tl.constexpr = c0.dtype == tl.uint32
    multiplier0: tl.constexpr = 0xD2511F53 if is32 else 0xD2E7470EE14C6C93
    multiplier1: tl.constexpr = 0xCD9E8D57 if is32 else 0xCA5A826395121157
    weyl0: tl.constexpr = 0x9E3779B9 if is32 else 0x9E3779B97F4A7C15
    weyl1: tl.constexpr = 0xBB67AE85 if is32 else 0xBB67AE8584CAA73B
    m0 = tl.full([], multiplier0, c0.dtype)
    m1 = tl.full([], multiplier1, c0.dtype)
    w0 = tl.full([], weyl0, c0.dtype)
    w1 = tl.full([], weyl1, c0.dtype)
    for _ in tl.static_range(n_rounds):
        high0 = tl.umulhi(c0, m0)
        high1 = tl.umulhi(c2, m1)
        low0 = c0 * m0
        low1 = c2 * m1
        c0 = high1 ^ c1 ^ k0
        c1 = low1
        c2 = high0 ^ c3 ^ k1
        c3 = low0
        k0 = k0 + w0
        k1 = k1 + w1
    return c0, c1, c2, c3


@triton.jit
def philox(seed, c0, c1, c2, c3, n_rounds: tl.constexpr = 10):
    """philox_impl with the key taken from a 64-bit seed: its low and high half
    for 32-bit counters, (seed, 0) for 64-bit ones."""
    key = tl.to_tensor(seed).to(tl.uint64)
    t0 = tl.to_tensor(c0)
    t1 = tl.to_tensor(c1)
    t2 = tl.to_tensor(c2)
    t3 = tl.to_tensor(c3)
    if t0.dtype.primitive_bitwidth == 32:
        return philox_impl(t0.to(tl.uint32, bitcast=True), t1.to(tl.uint32, bitcast=True),
                           t2.to(tl.uint32, bitcast=True), t3.to(tl.uint32, bitcast=True),
                           (key & 0xFFFFFFFF).to(tl.uint32), (key >> 32).to(tl.uint32), n_rounds)
    else:
        tl.static_assert(t0.dtype.primitive_bitwidth == 64, "philox counters are 32 or 64 bits wide")
        return philox_impl(t0.to(tl.uint64, bitcast=True), t1.to(tl.uint64, bitcast=True),
                           t2.to(tl.uint64, bitcast=True), t3.to(tl.uint64, bitcast=True),
                           key, tl.full([], 0, tl.uint64), n_rounds)


@triton.jit
def randint4x(seed, offset, n_rounds: tl.constexpr = 10):
    """Four blocks of uint32 in the shape of `offset`."""
    counter = tl.to_tensor(offset)
    low = counter.to(tl.uint32)
    zero = low * 0
    if counter.dtype.primitive_bitwidth > 32:
        return philox(seed, low, (counter >> 32).to(tl.uint32), zero, zero, n_rounds)
    else:
        return philox(seed, low, zero, zero, zero, n_rounds)


@triton.jit
def randint(seed, offset, n_rounds: tl.constexpr = 10):
    r0, r1, r2, r3 = randint4x(seed, offset, n_rounds)
    return r0


@triton.jit
def uint_to_uniform_float(x):
    """Random bits to [0, 1): the sign is folded away, so that all values are
    k * 2^-31 (2^-63), rounded down a little by the factor to stay below 1."""
    if x.dtype.primitive_bitwidth == 32:
        s = x.to(tl.int32, bitcast=True)
        return tl.where(s < 0, -s - 1, s) * 4.6566127342e-10
    else:
        tl.static_assert(x.dtype.primitive_bitwidth == 64, "uint_to_uniform_float takes 32 or 64 bits")
        s64 = x.to(tl.int64, bitcast=True)
        return tl.where(s64 < 0, -s64 - 1, s64) * 1.0842020432385337e-19


@triton.jit
def rand(seed, offset, n_rounds: tl.constexpr = 10):
    return uint_to_uniform_float(randint(seed, offset, n_rounds))


@triton.jit
def rand4x(seed, offset, n_rounds: tl.constexpr = 10):
    r0, r1, r2, r3 = randint4x(seed, offset, n_rounds)
    return uint_to_uniform_float(r0), uint_to_uniform_float(r1), uint_to_uniform_float(r2), uint_to_uniform_float(r3)


@triton.jit
def pair_uniform_to_normal(u1, u2):
    """Box-Muller. u1 is kept off 0, whose logarithm is infinite."""
    radius = tl.sqrt(-2.0 * tl.log(tl.maximum(1.0e-7, u1)))
    angle = TWO_PI * u2
    return radius * tl.cos(angle), radius * tl.sin(angle)


@triton.jit
def randn(seed, offset, n_rounds: tl.constexpr = 10):
    r0, r1, r2, r3 = randint4x(seed, offset, n_rounds)
    n0, n1 = pair_uniform_to_normal(uint_to_uniform_float(r0), uint_to_uniform_float(r1))
    return n0


@triton.jit
def randn4x(seed, offset, n_rounds: tl.constexpr = 10):
    u0, u1, u2, u3 = rand4x(seed, offset, n_rounds)
    n0, n1 = pair_uniform_to_normal(u0, u1)
    n2, n3 = pair_uniform_to_normal(u2, u3)
    return n0, n1, n2, n3
