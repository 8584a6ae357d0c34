//===- ExpandMathExp.cpp - Exponentials and hyperbolic functions ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x = n ln 2 + r with |r| <= ln 2 / 2; e^x = 2^n e^r. n ln 2 is subtracted in
// two parts, the first of so few bits that n times it is exact.
//
// Coefficients: minimax.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathFunctions.h"

using namespace nereid::tile::expand;

// (e^r - 1 - r) / r^2
static constexpr double exp32[] = {0x1.000000p-1, 0x1.55548ap-3, 0x1.555524p-5,
                                   0x1.123e7cp-7, 0x1.6d043ep-10};
static constexpr double exp64[] = {
    0x1.000000000000cp-1,  0x1.5555555555556p-3,  0x1.555555554fd6dp-5,
    0x1.111111110ffcdp-7,  0x1.6c16c18635d68p-10, 0x1.a01a01ad6ac5cp-13,
    0x1.a019952a526e3p-16, 0x1.71ddfcd53af47p-19, 0x1.28b1852ad818dp-22,
    0x1.af59156433367p-26};
// (2^r - 1) / r
static constexpr double exp2_32[] = {0x1.62e430p-1,  0x1.ebfbe0p-3,
                                     0x1.c6af72p-5,  0x1.3b2a48p-7,
                                     0x1.5f0de0p-10, 0x1.4424e8p-13};
static constexpr double exp2_64[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58fp-3,  0x1.c6b08d704a19bp-5,
    0x1.3b2ab6fba4a57p-7,  0x1.5d87fe7885022p-10, 0x1.430912fa592edp-13,
    0x1.ffcbfce7ce220p-17, 0x1.62c0181a05cdbp-20, 0x1.b524132e7764ep-24,
    0x1.e4fb30ede145dp-28, 0x1.eb0948f16efb0p-32, 0x1.80fd391b7a504p-36};
// (sinh x - x) / x^3 in x^2, |x| <= 1
static constexpr double sinh32[] = {0x1.555556p-3, 0x1.1110e2p-7,
                                    0x1.a02156p-13, 0x1.75a6f6p-19};
static constexpr double sinh64[] = {
    0x1.5555555555555p-3,  0x1.1111111111199p-7,  0x1.a01a01a007b24p-13,
    0x1.71de3a68223ebp-19, 0x1.ae64420b4acebp-26, 0x1.6130abeacb4d8p-33,
    0x1.a6d557bc2b3e7p-41, 0x1.c33be09d11e3dp-48};

using Table = llvm::ArrayRef<double>;

static constexpr double log2e = 0x1.71547652b82fep0;

static double ln2High(Emitter &e) {
  return e.pick(0x1.62e4p-1, 0x1.62e42feep-1);
}
static double ln2Low(Emitter &e) {
  return e.pick(0x1.7f7d1cp-20, 0x1.a39ef35793c76p-33);
}

ReducedExponent nereid::tile::expand::reduceExponent(Float x) {
  Emitter &e = *x.emitter;
  Rounded n = roundProduct(x, log2e);
  Float r = fma(n.value, -ln2High(e), x);
  return {n, fma(n.value, -ln2Low(e), r)};
}

std::pair<Rounded, Pair> nereid::tile::expand::reduceExponent(Pair x) {
  Emitter &e = *x.hi.emitter;
  Rounded n = roundProduct(x.hi, log2e);
  Float head = fma(n.value, -ln2High(e), x.hi); // exact
  return {n, sum(head, fma(n.value, -ln2Low(e), x.lo))};
}

/// e^r
static Float expOfReduced(Float r) {
  Emitter &e = *r.emitter;
  Float q = polynomial(r, e.pick(Table(exp32), Table(exp64)));
  return fma(fma(q, r, 1.0), r, 1.0);
}

Float nereid::tile::expand::expm1OfReduced(Float r) {
  Emitter &e = *r.emitter;
  Float q = polynomial(r, e.pick(Table(exp32), Table(exp64)));
  return fma(r * r, q, r);
}

Float nereid::tile::expand::expm1OfReduced(Pair r) {
  Emitter &e = *r.hi.emitter;
  Float q = polynomial(r.hi, e.pick(Table(exp32), Table(exp64)));
  return fma(r.hi * r.hi, q, r.lo) + r.hi;
}

static Rounded minusOne(const Rounded &n) {
  return {n.value - 1.0, n.lowBits - 1};
}

/// Beyond the clamps the result is infinite or zero; within, every step stays
/// finite, also where the result is denormal.
Float nereid::tile::expand::expandExp(Float x) {
  Emitter &e = *x.emitter;
  x = clampAbove(x, e.pick(89.0, 710.0));
  x = clampBelow(x, e.pick(-104.0, -746.0));
  ReducedExponent reduced = reduceExponent(x);
  return scale(expOfReduced(reduced.r), reduced.n);
}

Float nereid::tile::expand::exp2OfReduced(Float r) {
  Emitter &e = *r.emitter;
  Float q = polynomial(r, e.pick(Table(exp2_32), Table(exp2_64)));
  return fma(q, r, 1.0);
}

Float nereid::tile::expand::expandExp2(Float x) {
  Emitter &e = *x.emitter;
  x = clampAbove(x, e.pick(129.0, 1025.0));
  x = clampBelow(x, e.pick(-151.0, -1076.0));
  Rounded n = roundProduct(x, 1.0);
  return scale(exp2OfReduced(x - n.value), n);
}

/// 2^n (e^r - 1) + (2^n - 1) with half of 2^n, which is representable for the
/// largest n; below the lower clamp the result is -1.
Float nereid::tile::expand::expandExpm1(Float x) {
  Emitter &e = *x.emitter;
  Float clamped = clampAbove(x, e.pick(88.8, 709.9));
  clamped = clampBelow(clamped, -60.0);
  ReducedExponent reduced = reduceExponent(clamped);
  Float half = powerOfTwo(minusOne(reduced.n));
  Float result = fma(half, expm1OfReduced(reduced.r), half - 0.5) * 2.0;
  // Keeps -0 and the last bit of denormals.
  return select(abs(x) < e.f(e.pick(0x1p-25, 0x1p-54)), x, result);
}

/// e^a / 2 for a >= 0 that may pass the overflow threshold of e^a.
static Float halfExp(Float a) {
  Emitter &e = *a.emitter;
  a = clampAbove(a, e.pick(89.5, 710.6));
  ReducedExponent reduced = reduceExponent(a);
  return scale(expOfReduced(reduced.r), minusOne(reduced.n));
}

Float nereid::tile::expand::expandSinh(Float x) {
  Emitter &e = *x.emitter;
  Float a = abs(x);
  Float square = a * a;
  Float q = polynomial(square, e.pick(Table(sinh32), Table(sinh64)));
  Float small = fma(a * square, q, a);
  Float half = halfExp(a);
  Float large = half - 0.25 / half;
  return copysign(select(a < 1.0, small, large), x);
}

Float nereid::tile::expand::expandCosh(Float x) {
  Float half = halfExp(abs(x));
  return half + 0.25 / half;
}

/// (e^2a - 1) / (e^2a + 1) for a = |x|: one formula for small and large
/// arguments, since e^2a - 1 has a small relative error for both. The quotient
/// takes in the rounding error of the divisor.
Float nereid::tile::expand::expandTanh(Float x) {
  Emitter &e = *x.emitter;
  Float a = clampAbove(abs(x), e.pick(9.5, 22.0));
  ReducedExponent reduced = reduceExponent(a + a);
  Float power = powerOfTwo(reduced.n);
  Float expm1 = fma(power, expm1OfReduced(reduced.r), power - 1.0);
  return copysign(quotient({expm1, e.f(0.0)}, sum(e.f(2.0), expm1)), x);
}
