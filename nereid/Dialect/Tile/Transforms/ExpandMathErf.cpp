//===- ExpandMathErf.cpp - Error functions --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// erf x = x + x P(x^2) for small x, 1 - erfc x for large. In f32 the latter is
// 1 - 2^p(x). erfc x = e^(-x^2) erfcx(x), with the rounding error of x^2
// carried into the exponential and erfcx a polynomial in (x - 4) / (x + 4),
// which maps all x >= 0 into one interval.
//
// Coefficients: minimax.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathFunctions.h"

using namespace nereid::tile::expand;

// erf x / x - 1 in x^2, x <= 0.92 and x <= 1
static constexpr double erf32[] = {0x1.06eba6p-3, -0x1.8126ecp-2,
                                   0x1.ce1b76p-4, -0x1.b699aep-6,
                                   0x1.478be8p-8, -0x1.3b512ep-11};
static constexpr double erf64[] = {
    0x1.06eba8214db68p-3,   -0x1.812746b0379b4p-2,  0x1.ce2f21a040a5dp-4,
    -0x1.b82ce311f4938p-6,  0x1.565bccf8bc5b7p-8,   -0x1.c02db0351f604p-11,
    0x1.f9a2ba54785f8p-14,  -0x1.f4ca4d7f6c5a2p-17, 0x1.b97ff8a339565p-20,
    -0x1.5c08aa20f2a7bp-23, 0x1.d728c6a688106p-27,  -0x1.abde8d3d94494p-31};
// log2(erfc x), 0.92 <= x <= 4
static constexpr double log2_erfc32[] = {
    0x1.0841b0p-12, -0x1.a129e6p+0, -0x1.d3d3f6p-1, -0x1.3fedacp-3,
    0x1.28dfeep-5,  -0x1.8a5d96p-8, 0x1.489ebap-11, -0x1.fe9860p-16};
// (1 + 2x) erfcx(x) in (x - 4) / (x + 4), x <= 10.7 and x <= 27.3
static constexpr double erfcx32[] = {
    0x1.3ba592p+0,  -0x1.1df19cp-3, 0x1.f7d3a8p-7,  0x1.16e558p-4,
    -0x1.9d8d04p-4, 0x1.8080d0p-4,  -0x1.115478p-4, 0x1.284f54p-5,
    -0x1.04c43cp-6, 0x1.db99eap-8,  0x1.08cd8ep-10};
static constexpr double erfcx64[] = {
    0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fb5b5p-7,
    0x1.16ecefcfa53c3p-4,   -0x1.9ddb23c3dab2ap-4,  0x1.7fee004e15f24p-4,
    -0x1.0fb06dff6cdb1p-4,  0x1.3079edf56b340p-5,   -0x1.096238565b3f3p-6,
    0x1.49c673051609dp-8,   -0x1.8d4abc2ca8c2ep-11, -0x1.a1df9cb41e67fp-13,
    0x1.3be2210a7014dp-13,  -0x1.99490e9875c9bp-16, -0x1.78c459f96811ap-17,
    0x1.7e7f73079735ep-18,  0x1.42a5ce76de3f9p-22,  -0x1.b2ebe589c3153p-21,
    0x1.3c0d581c68644p-24,  0x1.a32965280c6bbp-24,  -0x1.7a7b9fc197017p-26,
    -0x1.61f7adedbff7fp-27, 0x1.36e3d3a0beaeap-28,  0x1.d4ba2d8a88a7ap-30};

using Table = llvm::ArrayRef<double>;

/// erfc of a >= 0; 0 from the clamp on.
static Float erfcOfMagnitude(Float a) {
  Emitter &e = *a.emitter;
  a = clampAbove(a, e.pick(10.7, 27.3));
  Float shifted = a + 4.0;
  Float inverse = 1.0 / shifted;
  Float t = (a - 4.0) * inverse;
  t = fma(fma(-t, shifted, a - 4.0), inverse, t);
  Float p = polynomial(t, e.pick(Table(erfcx32), Table(erfcx64)));
  // p / (1 + 2a), with the rounding error of the divisor.
  Pair divisor = sum(e.f(1.0), a + a);
  inverse = 1.0 / divisor.hi;
  Float g = p * inverse;
  Float rest = fma(-g, divisor.lo, fma(-g, divisor.hi, p));
  g = fma(rest, inverse, g);
  Pair square = product(a, a);
  ReducedExponent reduced = reduceExponent(-square.hi);
  Float expm1 = expm1OfReduced(reduced.r - square.lo);
  return scale(fma(g, expm1, g), reduced.n);
}

Float nereid::tile::expand::expandErfc(Float x) {
  Emitter &e = *x.emitter;
  Float value = erfcOfMagnitude(abs(x));
  return select(x < 0.0, e.f(2.0) - value, value);
}

Float nereid::tile::expand::expandErf(Float x) {
  Emitter &e = *x.emitter;
  Float a = abs(x);
  Float small =
      fma(a, polynomial(a * a, e.pick(Table(erf32), Table(erf64))), a);
  Float large = small;
  if (e.isDouble()) {
    large = 1.0 - erfcOfMagnitude(a);
  } else {
    Float p = polynomial(clampAbove(a, 4.0), Table(log2_erfc32));
    Rounded n = roundProduct(p, 1.0);
    large = fma(-powerOfTwo(n), exp2OfReduced(p - n.value), 1.0);
  }
  return copysign(select(a < e.pick(0.92, 1.0), small, large), x);
}
