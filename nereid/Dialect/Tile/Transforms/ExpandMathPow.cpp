//===- ExpandMathPow.cpp - Powers and roots -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x^y = 2^(y log2 |x|). The exponent reaches 128 (1024 in f64), so log2 needs
// some 8 (11) bits more than the format has: f32 takes it in f64, f64 in pairs
// of floats.
//
// Coefficients: minimax.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathFunctions.h"

using namespace nereid::tile::expand;

// 2 log2(e) (atanh s - s) / s^3 in s^2, to 2^-36
static constexpr double pow32[] = {0x1.ec709d4511bc8p-1, 0x1.2777675276e04p-1,
                                   0x1.a5965837ca854p-2, 0x1.5c624383d97b3p-2};
// (atanh s - s - s^3/3) / s^5 in s^2
static constexpr double pow64[] = {0x1.9999999999b30p-3, 0x1.2492492457d6bp-3,
                                   0x1.c71c722d64ed4p-4, 0x1.745ce9e3e13b0p-4,
                                   0x1.3b1eebf2ae6ffp-4, 0x1.0f7febc9ec793p-4,
                                   0x1.0e42988d406edp-4};

using Table = llvm::ArrayRef<double>;

namespace {

/// y as an integer, where it is one.
struct Parity {
  Mask isInteger, isOdd;
};

} // namespace

/// From 2^24 (2^53) on all floats are even integers, so clamping changes
/// neither answer; the order of the comparisons turns a NaN into a number.
static Parity parityOf(Float y) {
  Emitter &e = *y.emitter;
  Float limit = e.f(e.pick(0x1p30, 0x1p62));
  Float clamped = select(y < limit, y, limit);
  clamped = select(-limit < clamped, clamped, -limit);
  Int integer = toInt(clamped);
  return {toFloat(integer) == clamped, testBit(integer, 0)};
}

/// |x| for an x of the normal range, its exponent's correction in `shift`.
static Float normalized(Float a, Float &shift) {
  Emitter &e = *a.emitter;
  Mask denormal = a < e.f(e.pick(0x1p-126, 0x1p-1022));
  shift = select(denormal, e.f(-e.mantissaBits()), e.f(0.0));
  return select(denormal, a * e.pick(0x1p23, 0x1p52), a);
}

/// 2^(y log2 a) for finite a > 0 in f32.
static Float powerSingle(Float a, Float y) {
  Emitter &e = *a.emitter;
  Emitter wide = e.withElement(e.builder.getF64Type());
  Float shift = a;
  SplitFloat parts = splitFloat(normalized(a, shift));
  Float f = convert(parts.f, wide);
  Float exponent = convert(parts.exponent + shift, wide);
  Float s = f / (f + 2.0);
  Float square = s * s;
  Float q = polynomial(square, wide.f(2 * 0x1.71547652b82fep0), Table(pow32));
  Float log2 = fma(s, q, exponent);
  // Far beyond overflow and underflow, where infinities have not come up yet.
  Float power = convert(y, wide) * log2;
  power = clampBelow(clampAbove(power, 160.0), -160.0);
  Rounded n = roundProduct(power, 1.0);
  Float r = convert(power - n.value, e);
  return scale(exp2OfReduced(r), roundProduct(convert(n.value, e), 1.0));
}

/// log2(1 + f) 's natural part: log(1 + f) = 2 atanh(f / (2 + f)) as a pair.
static Pair logPair(Float f) {
  Emitter &e = *f.emitter;
  Pair below = fastSum(e.f(2.0), f);
  Float inverse = 1.0 / below.hi;
  Float s = f * inverse;
  Pair back = product(s, below.hi);
  Float slow = ((f - back.hi) - back.lo - s * below.lo) * inverse;
  Pair square = product(s, s);
  square.lo = square.lo + (s + s) * slow;
  Float tail = square.hi * polynomial(square.hi, Table(pow64));
  Pair third = fastSum(e.f(0x1.5555555555555p-2), tail);
  third.lo = third.lo + 0x1.5555555555555p-56;
  Pair u = product(square.hi, third.hi); // (atanh s - s) / s
  u.lo = u.lo + (square.hi * third.lo + square.lo * third.hi);
  Pair v = product(s, u.hi);
  v.lo = v.lo + (s * u.lo + slow * u.hi);
  Pair sum = fastSum(s, v.hi);
  sum.lo = sum.lo + (slow + v.lo);
  return {sum.hi + sum.hi, sum.lo + sum.lo};
}

/// 2^(y log2 a) for finite a > 0 in f64.
static Float powerDouble(Float a, Float y) {
  Emitter &e = *a.emitter;
  Float shift = a;
  SplitFloat parts = splitFloat(normalized(a, shift));
  Pair natural = logPair(parts.f);
  Float unit = e.f(0x1.71547652b82fep0);
  Pair log2 = product(natural.hi, unit);
  log2.lo = log2.lo + (natural.lo * unit + natural.hi * 0x1.777d0ffda0d24p-56);
  Pair head = fastSum(parts.exponent + shift, log2.hi);
  head.lo = head.lo + log2.lo;
  head = fastSum(head.hi, head.lo);
  // |y| above this makes every a but 1 overflow or underflow.
  Float bounded = clampBelow(clampAbove(y, 0x1p70), -0x1p70);
  Pair power = product(bounded, head.hi);
  power.lo = power.lo + bounded * head.lo;
  Float high = clampBelow(clampAbove(power.hi, 1100.0), -1100.0);
  Float low = select(high == power.hi, power.lo, e.f(0.0));
  Rounded n = roundProduct(high, 1.0);
  return scale(exp2OfReduced((high - n.value) + low), n);
}

Float nereid::tile::expand::expandPow(Float x, Float y) {
  Emitter &e = *x.emitter;
  Float a = abs(x);
  Mask regular = (a > 0.0) & (a < e.inf()) & !(a == 1.0);
  Float base = select(regular, a, e.f(2.0));
  Float result = e.isDouble() ? powerDouble(base, y) : powerSingle(base, y);
  // |x| = 1 gives 1; 0 and infinity go with the sign of y.
  Mask zero = a == 0.0;
  Float extreme = select(zero ^ (y < 0.0), e.f(0.0), e.inf());
  extreme = select(a == 1.0, e.f(1.0), extreme);
  result = select(regular, result, extreme);
  Parity parity = parityOf(y);
  Mask negative = bits(x) < 0;
  result = select(negative & parity.isOdd & parity.isInteger, -result, result);
  Mask imaginary = (x < 0.0) & (a < e.inf()) & !parity.isInteger;
  result = select(imaginary | isNan(x) | isNan(y), e.nan(), result);
  return select((y == 0.0) | (x == 1.0), e.f(1.0), result);
}

/// r = a^(-1/3) from a third of the bits, two steps of third order with
/// h = 1 - a r^3, then a r^2 and one correction by the exact residual.
Float nereid::tile::expand::expandCbrt(Float x) {
  Emitter &e = *x.emitter;
  Float magnitude = abs(x);
  Mask small = magnitude < e.f(e.pick(0x1p-80, 0x1p-900));
  // An eighth, so that y^3 below cannot overflow.
  Float a =
      magnitude * select(small, e.f(e.pick(0x1p72, 0x1p144)), e.f(0x1p-3));
  // bits(a^(-1/3)) = 4/3 bias - bits(a) / 3 in units of the last place, less
  // a constant that balances the error.
  double unit = e.pick(0x1p23, 0x1p52);
  double center = (4.0 / 3.0 * e.exponentBias() - 0.0633) * unit;
  Float third = toFloat(bits(a)) * (-1.0 / 3.0) + center;
  Float r = fromBits(toInt(third));
  for (int step = 0; step < e.pick(2, 3); ++step) {
    Float h = fma(-(a * r), r * r, 1.0);
    r = fma(r * h, fma(h, 2.0 / 9.0, 1.0 / 3.0), r);
  }
  Float inverseSquare = r * r; // a^(-2/3)
  Float y = a * inverseSquare;
  Pair square = product(y, y);
  Pair cube = product(square.hi, y);
  Float residual = (cube.hi - a) + (cube.lo + square.lo * y);
  y = fma(residual * inverseSquare, -1.0 / 3.0, y);
  y = y * select(small, e.f(e.pick(0x1p-24, 0x1p-48)), e.f(2.0));
  Mask regular = (magnitude > 0.0) & (magnitude < e.inf());
  return select(regular, copysign(y, x), x + x);
}

/// y = 1 / sqrt(x) has two roundings; one Newton step with the residual of
/// x y^2 computed exactly leaves one. A NaN comes up at 0 and infinity, where y
/// is right.
Float nereid::tile::expand::expandRsqrt(Float x) {
  Float y = 1.0 / sqrt(x);
  Pair xy = product(x, y);
  Pair one = product(xy.hi, y);
  Float residual = ((1.0 - one.hi) - one.lo) - xy.lo * y;
  Float better = fma(y * 0.5, residual, y);
  return select(isNan(better), y, better);
}
