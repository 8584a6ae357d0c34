//===- ExpandMathTrig.cpp - Sine, cosine and tangent ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x = n pi/2 + r with |r| <= pi/4, r in two floats; then a polynomial for sine
// and cosine of r, exchanged and negated by the low bits of n.
//
// Arguments up to 2^18 (f32) and 2^29 (f64) subtract n times pi/2 in three
// parts (Cody and Waite). Beyond, in a branch that is rarely taken, x is
// multiplied with the bits of 2/pi that matter for its exponent (Payne and
// Hanek): the product modulo 4 in integers is n and the fraction.
//
// Coefficients: minimax.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathFunctions.h"
#include "nereid/Dialect/Tile/Transforms/ExpandMathReduction.h"

using namespace nereid::tile::expand;

// (sin x - x) / x^3 and (cos x - 1 + x^2/2) / x^4 in x^2, |x| <= pi/4
static constexpr double sin32[] = {-0x1.555546p-3, 0x1.110770p-7,
                                   -0x1.994f52p-13};
static constexpr double cos32[] = {0x1.55554ap-5, -0x1.6c0c1ap-10,
                                   0x1.99e0eep-16};
static constexpr double sin64[] = {
    -0x1.5555555555548p-3, 0x1.111111110f716p-7,   -0x1.a01a019be3261p-13,
    0x1.71de354df4f29p-19, -0x1.ae5e447eb1b45p-26, 0x1.5d88f35f34ef2p-33};
static constexpr double cos64[] = {
    0x1.555555555554bp-5,   -0x1.6c16c16c15003p-10, 0x1.a01a019c8b2efp-16,
    -0x1.27e4f7ed08f68p-22, 0x1.1ee9d79ba9b02p-29,  -0x1.8fa3c93721c79p-37};

using Table = llvm::ArrayRef<double>;

/// r + (lo + r^3 S(r^2)), not yet added.
static Pair sinPair(const QuarterTurns &q) {
  Emitter &e = *q.hi.emitter;
  Float square = q.hi * q.hi;
  Float s = polynomial(square, e.pick(Table(sin32), Table(sin64)));
  return {q.hi, fma(square * q.hi, s, q.lo)};
}

/// (1 - r^2/2) + (r^4 C(r^2) - r lo), the first difference with its error.
static Pair cosPair(const QuarterTurns &q) {
  Emitter &e = *q.hi.emitter;
  Float square = q.hi * q.hi;
  Float half = square * 0.5;
  Float head = 1.0 - half;
  Float rest = fma(-q.hi, q.lo, (1.0 - head) - half);
  Float c = polynomial(square, e.pick(Table(cos32), Table(cos64)));
  return {head, fma(square * square, c, rest)};
}

static Float rounded(Pair pair) { return pair.hi + pair.lo; }

/// Negates `a` where bit 1 of `turns` is set.
static Float negateByTurns(Float a, Int turns) {
  Emitter &e = *a.emitter;
  int width = e.element.getWidth();
  return fromBits(bits(a) ^ ((turns & 2) << (width - 2)));
}

/// -0, denormals and everything that rounds to x.
static Float keepTiny(Float x, Float result) {
  Emitter &e = *x.emitter;
  return select(abs(x) < e.f(e.pick(0x1p-13, 0x1p-28)), x, result);
}

std::pair<Float, Float> nereid::tile::expand::expandSincos(Float x) {
  QuarterTurns q = reduceToQuarterTurn(x);
  Float s = rounded(sinPair(q)), c = rounded(cosPair(q));
  Mask odd = testBit(q.turns, 0);
  Float sine = negateByTurns(select(odd, c, s), q.turns);
  Float cosine = negateByTurns(select(odd, s, c), q.turns + 1);
  return {keepTiny(x, sine), cosine};
}

Float nereid::tile::expand::expandSin(Float x) {
  QuarterTurns q = reduceToQuarterTurn(x);
  Mask odd = testBit(q.turns, 0);
  Float result = select(odd, rounded(cosPair(q)), rounded(sinPair(q)));
  return keepTiny(x, negateByTurns(result, q.turns));
}

Float nereid::tile::expand::expandCos(Float x) {
  QuarterTurns q = reduceToQuarterTurn(x);
  Mask odd = testBit(q.turns, 0);
  Float result = select(odd, rounded(sinPair(q)), rounded(cosPair(q)));
  return negateByTurns(result, q.turns + 1);
}

/// sin / cos, or -cos / sin after an odd number of quarter turns.
Float nereid::tile::expand::expandTan(Float x) {
  QuarterTurns q = reduceToQuarterTurn(x);
  Pair s = sinPair(q), c = cosPair(q);
  s = fastSum(s.hi, s.lo);
  c = fastSum(c.hi, c.lo);
  Mask odd = testBit(q.turns, 0);
  Float ratio = quotient(select(odd, Pair{-c.hi, -c.lo}, s), select(odd, s, c));
  return keepTiny(x, ratio);
}
