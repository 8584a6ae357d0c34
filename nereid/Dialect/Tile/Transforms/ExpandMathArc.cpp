//===- ExpandMathArc.cpp - Inverse trigonometric functions ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// asin x = x + x^3 P(x^2) below 1/2; above, pi/2 - 2 asin(sqrt((1 - x) / 2)).
// atan x by a polynomial below a limit, above it through 1/x (f32), or through
// (x - 1) / (x + 1) as well (f64).
//
// Coefficients: minimax.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathFunctions.h"

using namespace nereid::tile::expand;

// (asin x - x) / x^3 in x^2, x <= 1/2
static constexpr double asin32[] = {0x1.5555cap-3, 0x1.33016ap-4, 0x1.748a2cp-5,
                                    0x1.8bb534p-6, 0x1.59cc98p-5};
static constexpr double asin64[] = {
    0x1.5555555555387p-3, 0x1.333333336f880p-4,  0x1.6db6db41d4074p-5,
    0x1.f1c72c6d4889ep-6, 0x1.6e89ef7a0e812p-6,  0x1.1c6c27bd76c80p-6,
    0x1.c6f87dccb2c16p-7, 0x1.8ee4a59c73040p-7,  0x1.aab3bb58753b3p-8,
    0x1.40b1d18a1fbbdp-6, -0x1.0af4b357ea2a5p-6, 0x1.05ce4b590b958p-5};
// (atan x - x) / x^3 in x^2, x <= 1 and x <= sqrt(2) - 1
static constexpr double atan32[] = {
    -0x1.5554e6p-2, 0x1.997ae8p-3, -0x1.231bb0p-3, 0x1.b56ac0p-4,
    -0x1.3683a0p-4, 0x1.64d15ep-5, -0x1.0fb1b4p-6, 0x1.85ee84p-9};
static constexpr double atan64[] = {
    -0x1.555555555553dp-2, 0x1.999999999589bp-3,  -0x1.24924922af593p-3,
    0x1.c71c70e700398p-4,  -0x1.745cf8fa0a317p-4, 0x1.3b111b414f2efp-4,
    -0x1.10ebd103370a3p-4, 0x1.df10b2d101308p-5,  -0x1.9cd8ffddb5063p-5,
    0x1.37e547ee4c8e7p-5,  -0x1.258be02cad3a5p-6};

using Table = llvm::ArrayRef<double>;

static constexpr double halfPi = 0x1.921fb54442d18p0;

/// pi/2 = halfPi rounded to the format + this.
static Float halfPiLow(Emitter &e) {
  return e.f(e.pick(-0x1.777a5cp-25, 0x1.1a62633145c07p-54));
}

namespace {

/// asin t = t + tail for t = |x| or sqrt((1 - |x|) / 2), whichever is below
/// 1/2.
struct ArcSine {
  Mask large; ///< |x| > 1/2: the second
  Float t, tail;
};

} // namespace

static ArcSine arcSine(Float x) {
  Emitter &e = *x.emitter;
  Float a = abs(x);
  Mask large = a > 0.5;
  Float half = 0.5 - a * 0.5; // exact there
  Float square = select(large, half, a * a);
  Float t = select(large, sqrt(half), a);
  Float p = polynomial(square, e.pick(Table(asin32), Table(asin64)));
  return {large, t, square * t * p};
}

/// constant - factor (t + tail), for a constant whose low part is `low`.
static Float complement(Float constant, Float low, const ArcSine &arc,
                        double factor) {
  Pair head = fastSum(constant, arc.t * -factor);
  return head.hi + (head.lo + fma(arc.tail, -factor, low));
}

Float nereid::tile::expand::expandAsin(Float x) {
  Emitter &e = *x.emitter;
  ArcSine arc = arcSine(x);
  Float large = complement(e.f(halfPi), halfPiLow(e), arc, 2.0);
  return copysign(select(arc.large, large, arc.t + arc.tail), x);
}

/// pi/2 - asin x; 2 asin(...) for x > 1/2, pi minus that for x < -1/2.
Float nereid::tile::expand::expandAcos(Float x) {
  Emitter &e = *x.emitter;
  ArcSine arc = arcSine(x);
  Float left = complement(e.f(2 * halfPi), halfPiLow(e) * 2.0, arc, 2.0);
  Float right = (arc.t + arc.tail) * 2.0;
  ArcSine same = {arc.large, copysign(arc.t, x), copysign(arc.tail, x)};
  Float middle = complement(e.f(halfPi), halfPiLow(e), same, 1.0);
  return select(arc.large, select(x < 0.0, left, right), middle);
}

/// atan of 0 <= numerator <= denominator, or of the plain ratio; 0/0 is not
/// handled.
static Float atanOfRatio(Float numerator, Float denominator) {
  Emitter &e = *numerator.emitter;
  if (!e.isDouble()) {
    Float t = numerator / denominator;
    Float square = t * t;
    return fma(square * t, polynomial(square, Table(atan32)), t);
  }
  // atan(n/d) = pi/4 + atan((n - d) / (n + d)), these with their errors.
  Mask upper = denominator * 0x1.a827999fcef32p-2 < numerator;
  Pair top = fastSum(-denominator, numerator);
  Pair bottom = fastSum(denominator, numerator);
  Float zero = e.f(0.0);
  top = {select(upper, top.hi, numerator), select(upper, top.lo, zero)};
  bottom = {select(upper, bottom.hi, denominator),
            select(upper, bottom.lo, zero)};
  Float t = top.hi / bottom.hi;
  Pair back = product(t, bottom.hi);
  Float rest = (top.hi - back.hi) - back.lo + (top.lo - t * bottom.lo);
  rest = select(upper, rest / bottom.hi, zero);
  Float square = t * t;
  Float tail = fma(square * t, polynomial(square, Table(atan64)), rest);
  Float shifted = e.f(halfPi / 2) + (t + (tail + halfPiLow(e) * 0.5));
  return select(upper, shifted, t + tail);
}

Float nereid::tile::expand::expandAtan(Float x) {
  Emitter &e = *x.emitter;
  Float a = abs(x);
  Mask inverted = a > 1.0;
  // 1/a underflows to 0 for infinity only.
  Float value =
      atanOfRatio(select(inverted, e.f(1.0), a), select(inverted, a, e.f(1.0)));
  Float complement = e.f(halfPi) - (value - halfPiLow(e));
  return copysign(select(inverted, complement, value), x);
}

/// The angle of the smaller over the larger magnitude, then the octant.
Float nereid::tile::expand::expandAtan2(Float y, Float x) {
  Emitter &e = *x.emitter;
  Float ax = abs(x), ay = abs(y);
  Mask steep = ax < ay;
  Float numerator = select(steep, ax, ay), denominator = select(steep, ay, ax);
  if (e.isDouble()) { // whose ratio takes sums and residuals of the two
    Float factor =
        select(denominator > 0x1p1000, e.f(0x1p-2),
               select(denominator < 0x1p-900, e.f(0x1p110), e.f(1.0)));
    numerator = numerator * factor;
    denominator = denominator * factor;
  }
  // 0/0 counts as 0 and inf/inf as 1.
  Mask zero = denominator == 0.0, infinite = numerator == e.inf();
  Float value = atanOfRatio(select(infinite, e.f(1.0), numerator),
                            select(zero | infinite, e.f(1.0), denominator));
  Float low = halfPiLow(e);
  value = select(steep, e.f(halfPi) - (value - low), value);
  Mask left = bits(x) < 0;
  value = select(left, e.f(2 * halfPi) - (value - low * 2.0), value);
  Float result = copysign(value, y);
  return select(isNan(x) | isNan(y), e.nan(), result);
}
