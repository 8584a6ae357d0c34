//===- ExpandMathErf.cpp - Error functions --------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f32: erf x = 1 - (1 - d/8)^8, where d / x is a polynomial: no case, no
// division, no exponential. 1 - (1 - u)^2 = 2u - u^2, so that three steps
// s - c s^2 give erf from d; near 1 they damp the errors of d.
//
// f64: x + x P(x^2) for small x, 1 - erfc x for large. erfc x = e^(-x^2)
// erfcx(x), with the rounding error of x^2 carried into the exponential and
// erfcx a polynomial in (x - 4) / (x + 4), which maps all x >= 0 into one
// interval.
//
// Coefficients: minimax.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathFunctions.h"

using namespace nereid::tile::expand;

// erf x / x - 1 in x^2, x <= 0.92 and x <= 1; f32 for erfc
static constexpr double erf32[] = {0x1.06eba6p-3, -0x1.8126ecp-2,
                                   0x1.ce1b76p-4, -0x1.b699aep-6,
                                   0x1.478be8p-8, -0x1.3b512ep-11};
static constexpr double erf64[] = {
    0x1.06eba8214db68p-3,   -0x1.812746b0379b4p-2,  0x1.ce2f21a040a5dp-4,
    -0x1.b82ce311f4938p-6,  0x1.565bccf8bc5b7p-8,   -0x1.c02db0351f604p-11,
    0x1.f9a2ba54785f8p-14,  -0x1.f4ca4d7f6c5a2p-17, 0x1.b97ff8a339565p-20,
    -0x1.5c08aa20f2a7bp-23, 0x1.d728c6a688106p-27,  -0x1.abde8d3d94494p-31};
// 8 (1 - erfc(x)^(1/8)) / x, x <= 3.93; its value at 0 is in two parts.
static constexpr double eighth_erf32[] = {
    0x1.20dd74p+0, 0x1.c358c4p-25,  0x1.1d34bcp-1,
    0x1.11cfcap-6, -0x1.afd3eep-5,  -0x1.87716ep-10,
    0x1.0cf11ap-8, -0x1.74f6e6p-11, 0x1.429fbcp-15};
// (1 + 2x) erfcx(x) in (x - 4) / (x + 4), x <= 10.7 and x <= 27.3; the lowest
// coefficient, in two parts, is in the code.
static constexpr double erfcx32[] = {
    -0x1.1df1b0p-3, 0x1.f7f552p-7,   0x1.16edfep-4,  -0x1.9dd8a2p-4,
    0x1.7fe0dap-4,  -0x1.0fd3e0p-4,  0x1.30db60p-5,  -0x1.06383cp-6,
    0x1.4d5974p-8,  -0x1.21d1fep-10, -0x1.4c6b54p-11};
static constexpr double erfcx64[] = {
    -0x1.1df1ad154a28fp-3,  0x1.f7f5df66fd6cbp-7,   0x1.16ecefcfa545fp-4,
    -0x1.9ddb23c3e8944p-4,  0x1.7fee004e106bbp-4,   -0x1.0fb06dfe55335p-4,
    0x1.3079edf6c4388p-5,   -0x1.09623882a44e3p-6,  0x1.49c672735e50cp-8,
    -0x1.8d4a9c3c3b414p-11, -0x1.a1df18d5a23b5p-13, 0x1.3be06a13cd7b3p-13,
    -0x1.995a89a42f56ep-16, -0x1.788d52c9d4a81p-17, 0x1.7f32603543bf3p-18,
    0x1.3bb495ef25c2cp-22,  -0x1.bb5e2b5a8f82ap-21, 0x1.3f1f6dbae2d6dp-24,
    0x1.d9a122e3dfad6p-24,  -0x1.2ebc80576a4d0p-26, -0x1.e3fdfad7f2f17p-27,
    0x1.da9e48064918cp-30,  0x1.4e36b6a9ea260p-30};

using Table = llvm::ArrayRef<double>;

/// erfc of a >= 0; 0 from the clamp on.
static Float erfcOfMagnitude(Float a) {
  Emitter &e = *a.emitter;
  a = clampAbove(a, e.pick(10.7, 27.3));
  Float shifted = a + 4.0;
  Float inverse = 1.0 / shifted;
  Float t = (a - 4.0) * inverse;
  t = fma(fma(-t, shifted, a - 4.0), inverse, t);
  Float p = t * polynomial(t, e.pick(Table(erfcx32), Table(erfcx64)));
  Pair sumOfTerms =
      fastSum(e.f(e.pick(0x1.3ba592p+0, 0x1.3ba5916e9fd7fp+0)),
              p + e.pick(-0x1.1f60f8p-25, -0x1.a18bd48ec45acp-55));
  Float g = quotient(sumOfTerms, sum(e.f(1.0), a + a));
  Pair square = product(a, a);
  auto [n, r] = reduceExponent(Pair{-square.hi, -square.lo});
  return scale(fma(g, expm1OfReduced(r), g), n);
}

/// Near 0 the derivative of erfcx is large, and (1 - x) - x P(x^2) the better
/// form: its first difference loses next to nothing.
Float nereid::tile::expand::expandErfc(Float x) {
  Emitter &e = *x.emitter;
  Float a = abs(x);
  Float value = erfcOfMagnitude(a);
  value = select(x < 0.0, e.f(2.0) - value, value);
  Float p = polynomial(x * x, e.pick(Table(erf32), Table(erf64)));
  return select(a < 0.75, fma(-x, p, 1.0 - x), value);
}

/// erf of a >= 0 in f32. From 3.93 on it is 1 - 2^-25 or more: 1.
///
/// With d = 8u, two steps to s = 2 (1 - (1 - u)^4) are d - d^2 q, q quadratic
/// in d. d itself is c a + rest with c the lowest coefficient, and what is
/// subtracted goes to the rest first: c a + ... is rounded once.
static Float erfBySteps(Float a) {
  Table coefficients = eighth_erf32;
  double lowest = coefficients.front();
  a = clampAbove(a, 3.93);
  Float rest = a * polynomial(a, coefficients.drop_front());
  Float d = fma(a, lowest, rest);
  Float q = fma(fma(d, 0x1p-11, -0x1p-6), d, 0.1875);
  rest = fma(-d, d * q, rest);
  Float s = fma(a, lowest, rest);
  return fma(s * -0.25, s, s);
}

Float nereid::tile::expand::expandErf(Float x) {
  Float a = abs(x);
  if (!x.emitter->isDouble()) {
    return copysign(erfBySteps(a), x);
  }
  Float small = fma(a, polynomial(a * a, Table(erf64)), a);
  return copysign(select(a < 1.0, small, 1.0 - erfcOfMagnitude(a)), x);
}
