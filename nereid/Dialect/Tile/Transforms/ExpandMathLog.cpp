//===- ExpandMathLog.cpp - Logarithms and inverse hyperbolic functions ----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); log x = e ln 2 + log(1+f).
// For e != 0 the sum of the two leading terms is kept with its rounding error,
// for e == 0 the leading term is f itself and exact.
//
// Coefficients: minimax.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathFunctions.h"

using namespace nereid::tile::expand;

// (log(1+f) - f) / f^2, and the same for the bases 2 and 10
static constexpr double log32[] = {
    -0x1.fffff8p-2, 0x1.555558p-2,  -0x1.00044cp-2,
    0x1.99a06ep-3,  -0x1.541cf8p-3, 0x1.22ac70p-3,
    -0x1.0fc786p-3, 0x1.071950p-3,  -0x1.32ab88p-4};
static constexpr double log2_32[] = {
    -0x1.715470p-1, 0x1.ec70a0p-2,  -0x1.715b1ap-2,
    0x1.277c1ap-2,  -0x1.ea959cp-3, 0x1.a33d64p-3,
    -0x1.88d778p-3, 0x1.7ca2ecp-3,  -0x1.b956f6p-4};
static constexpr double log10_32[] = {
    -0x1.bcb7aap-3, 0x1.287a78p-3,  -0x1.bcbf74p-4,
    0x1.63cc2ep-4,  -0x1.276226p-4, 0x1.f8efb6p-5,
    -0x1.d8d808p-5, 0x1.c944fap-5,  -0x1.087888p-5};
// (log((1+s)/(1-s)) - 2s) / s^3 in s^2
static constexpr double log64[] = {0x1.5555555555592p-1, 0x1.999999997ff19p-2,
                                   0x1.24924941e1533p-2, 0x1.c71c521454c01p-3,
                                   0x1.74663cec7513fp-3, 0x1.39a1e8e39468fp-3,
                                   0x1.2f03b92b2c2a8p-3};

using Table = llvm::ArrayRef<double>;

namespace {

/// A logarithm's base: log_b(2) = hi + lo, with so few bits in hi that an
/// exponent times it is exact, and log_b(e) = unit + unitLo.
struct Base {
  double hi, lo, unit, unitLo;
  Table table32;
};

} // namespace

/// Moves bits so that the exponent changes at sqrt(1/2) and not at 1.
SplitFloat nereid::tile::expand::splitFloat(Float x) {
  Emitter &e = *x.emitter;
  int64_t sqrtHalf = e.bitsOf(0x1.6a09e667f3bcdp-1);
  Int moved = bits(x) - sqrtHalf;
  Int exponent = moved >> e.mantissaBits();
  int64_t mantissa = (int64_t(1) << e.mantissaBits()) - 1;
  Float significand = fromBits((moved & mantissa) + sqrtHalf);
  return {toFloat(exponent), significand - 1.0};
}

static SplitFloat split(Float x) {
  Emitter &e = *x.emitter;
  Mask denormal = x < e.f(e.pick(0x1p-126, 0x1p-1022));
  SplitFloat parts =
      splitFloat(select(denormal, x * e.pick(0x1p23, 0x1p52), x));
  parts.exponent =
      parts.exponent + select(denormal, e.f(-e.mantissaBits()), e.f(0.0));
  return parts;
}

/// low + log_b(1+f) - f log_b(e), for |f| <= sqrt(2) - 1
static Float addLogTail(Float low, Float f, const Base &base) {
  Emitter &e = *f.emitter;
  if (!e.isDouble()) {
    return fma(f * f, polynomial(f, base.table32), low);
  }
  // In powers of f this would take 40 terms; s = f / (2 + f) is below 0.18.
  // log(1+f) = f - (f^2/2 - s (f^2/2 + R)), R = s^2 log64(s^2).
  Float s = f / (f + 2.0);
  Float square = s * s;
  Float rest = square * polynomial(square, Table(log64));
  Float half = f * f * 0.5;
  Float tail = s * (half + rest) - half;
  return base.unit == 1.0 ? low + tail : fma(tail, base.unit, low);
}

/// exponent log_b(2) + log_b(1+f) + extra / b's unit
static Float logOfParts(const SplitFloat &parts, const Base &base) {
  Float f = parts.f;
  Float leading = f, low = f;
  bool natural = base.unit == 1.0;
  if (!natural) {
    leading = f * base.unit;
    low =
        fma(f, base.unitLo, productError(f, f.emitter->f(base.unit), leading));
  }
  Pair head = fastSum(parts.exponent * base.hi, leading);
  Float tail = head.lo;
  if (!natural) {
    tail = tail + low;
  }
  if (base.lo != 0.0) {
    tail = fma(parts.exponent, base.lo, tail);
  }
  return head.hi + addLogTail(tail, f, base);
}

/// The logarithm's value at 0, below it, at infinity and for NaN.
static Float withSpecialValues(Float x, Float result) {
  Emitter &e = *x.emitter;
  Mask finite = unsignedLess(
      bits(x) - 1, e.bitsOf(std::numeric_limits<double>::infinity()) - 1);
  Float special = select(x == 0.0, -e.inf(), select(x < 0.0, e.nan(), x));
  return select(finite, result, special);
}

static const Base &naturalBase(Emitter &e) {
  static const Base single = {0x1.62e4p-1, 0x1.7f7d1cp-20, 1, 0, log32};
  static const Base twice = {0x1.62e42feep-1, 0x1.a39ef35793c76p-33, 1, 0, {}};
  return e.isDouble() ? twice : single;
}

static const Base &binaryBase(Emitter &e) {
  static const Base single = {1, 0, 0x1.715476p0, 0x1.4ae0cp-26, log2_32};
  static const Base twice = {
      1, 0, 0x1.71547652b82fep0, 0x1.777d0ffda0d24p-56, {}};
  return e.isDouble() ? twice : single;
}

static const Base &decimalBase(Emitter &e) {
  static const Base single = {0x1.344p-2, 0x1.3509f8p-18, 0x1.bcb7b2p-2,
                              -0x1.5b235ep-27, log10_32};
  static const Base twice = {0x1.34413509f8p-2,
                             -0x1.80433b83b532ap-44,
                             0x1.bcb7b1526e50ep-2,
                             0x1.95355baaafad3p-57,
                             {}};
  return e.isDouble() ? twice : single;
}

Float nereid::tile::expand::expandLog(Float x) {
  return withSpecialValues(x, logOfParts(split(x), naturalBase(*x.emitter)));
}
Float nereid::tile::expand::expandLog2(Float x) {
  return withSpecialValues(x, logOfParts(split(x), binaryBase(*x.emitter)));
}
Float nereid::tile::expand::expandLog10(Float x) {
  return withSpecialValues(x, logOfParts(split(x), decimalBase(*x.emitter)));
}

/// Parts of 1 + x: f = x 2^-e + (2^-e - 1) in one rounding (1 + x itself would
/// lose the low bits of a small x). A quarter of x, since 2^-e may be below the
/// normal range when e is largest.
static SplitFloat splitOnePlus(Float x, Float onePlus) {
  Emitter &e = *x.emitter;
  int64_t sqrtHalf = e.bitsOf(0x1.6a09e667f3bcdp-1);
  Int exponent = (bits(onePlus) - sqrtHalf) >> e.mantissaBits();
  Float four = fromBits((e.i(e.exponentBias() + 2) - exponent)
                        << e.mantissaBits()); // 4 * 2^-exponent
  Float f = fma(x * 0.25, four, fma(four, 0.25, -1.0));
  return {toFloat(exponent), f};
}

Float nereid::tile::expand::expandLog1p(Float x) {
  Emitter &e = *x.emitter;
  Float onePlus = x + 1.0;
  SplitFloat parts = splitOnePlus(x, onePlus);
  Float result = withSpecialValues(onePlus, logOfParts(parts, naturalBase(e)));
  return select(abs(x) < e.f(e.pick(0x1p-25, 0x1p-54)), x, result);
}

/// log(1 + y) below `large`, log(2 a) from it on, where 2 a may overflow.
static Float logOnePlusOrTwice(Mask large, Float y, Float a) {
  Emitter &e = *y.emitter;
  SplitFloat near = splitOnePlus(y, y + 1.0);
  SplitFloat far = splitFloat(a);
  SplitFloat parts = {select(large, far.exponent + 1.0, near.exponent),
                      select(large, far.f, near.f)};
  return logOfParts(parts, naturalBase(e));
}

/// log(1 + a + a^2 / (1 + sqrt(1 + a^2))) for a = |x|, which loses nothing for
/// small a; log(2 a) for large.
Float nereid::tile::expand::expandAsinh(Float x) {
  Emitter &e = *x.emitter;
  Float a = abs(x);
  Mask large = a > 0x1p30;
  Float near = clampAbove(a, 0x1p30);
  Float square = near * near;
  Float y = near + square / (sqrt(square + 1.0) + 1.0);
  Float result = logOnePlusOrTwice(large, y, a);
  result = select(a < e.inf(), result, a);
  result = select(a < e.f(e.pick(0x1p-13, 0x1p-28)), a, result);
  return copysign(result, x);
}

/// log(1 + t + sqrt(2 t + t^2)) for t = x - 1.
Float nereid::tile::expand::expandAcosh(Float x) {
  Emitter &e = *x.emitter;
  Mask large = x > 0x1p30;
  Float t = clampAbove(x, 0x1p30) - 1.0;
  Float y = t + sqrt(fma(t, t, t + t));
  Float result = logOnePlusOrTwice(large, y, x);
  // The root of a negative number has made a NaN, which the bit operations of
  // the logarithm do not carry on.
  result = select(x >= 1.0, result, e.nan());
  return select(x < e.inf(), result, x + y);
}

/// log(1 + 2 a / (1 - a)) / 2 for a = |x|.
Float nereid::tile::expand::expandAtanh(Float x) {
  Emitter &e = *x.emitter;
  Float a = abs(x);
  Float y = (a + a) / (1.0 - a);
  Float onePlus = y + 1.0;
  Float result = withSpecialValues(onePlus, logOfParts(splitOnePlus(y, onePlus),
                                                       naturalBase(e))) *
                 0.5;
  result = select(a < e.f(e.pick(0x1p-13, 0x1p-28)), a, result);
  return copysign(result, x);
}
