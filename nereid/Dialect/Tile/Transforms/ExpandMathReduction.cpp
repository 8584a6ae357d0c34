//===- ExpandMathReduction.cpp - Arguments modulo pi/2 --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/ExpandMathReduction.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace nereid::tile::expand;

static constexpr double twoOverPi = 0x1.45f306dc9c883p-1;

namespace {

/// pi/2 in three parts.
struct HalfPi {
  double first, second, third;
};

} // namespace

/// With FMA, x - n first is exact for any n in range, since the difference has
/// few enough bits. Without, the parts are short, so that n times one is exact.
static const HalfPi &halfPi(const Emitter &e) {
  static const HalfPi single = {0x1.921fb6p0, -0x1.777a5cp-25, -0x1.ee59dap-50};
  static const HalfPi twice = {0x1.921fb54442d18p0, 0x1.1a62633145c07p-54,
                               -0x1.f1976b7ed8fbcp-110};
  static const HalfPi shortTwice = {0x1.921fb544p0, 0x1.0b4611a6p-34,
                                    0x1.3198a2e037073p-69};
  return !e.isDouble() ? single : e.hasFma() ? twice : shortTwice;
}

/// |x| below this takes the fast path: n stays exact in roundProduct, and what
/// the third part leaves out is below the result's precision even where x is
/// closest to a multiple of pi/2.
static double fastLimit(const Emitter &e) {
  return !e.isDouble() ? 0x1p18 : e.hasFma() ? 0x1p29 : 0x1p19;
}

static QuarterTurns subtractInParts(Float x) {
  Emitter &e = *x.emitter;
  const HalfPi &part = halfPi(e);
  Rounded n = roundProduct(x, twoOverPi);
  Float rest = fma(n.value, -part.first, x);
  Float second = e.f(part.second);
  Float product = n.value * second;
  Float hi = rest - product;
  // Exact: either rest is the larger one, or the difference itself is exact.
  Float lo = (rest - hi) - product;
  if (e.hasFma()) {
    lo = lo - productError(n.value, second, product);
  }
  lo = fma(n.value, -part.third, lo);
  if (!e.hasFma()) { // the third part is longer than the last bit of hi
    Pair sum = fastSum(hi, lo);
    return {n.lowBits, sum.hi, sum.lo};
  }
  return {n.lowBits, hi, lo};
}

/// f32 without FMA: two parts in f64 do it, n times the first is exact.
static QuarterTurns subtractInDouble(Float x) {
  Emitter &e = *x.emitter;
  Emitter wide = e.withElement(e.builder.getF64Type());
  Float xWide = convert(x, wide);
  Rounded n = roundProduct(xWide, twoOverPi);
  Float rest = xWide - n.value * 0x1.921fb544p0;
  rest = rest - n.value * 0x1.0b4611a626331p-34;
  Float hi = convert(rest, e);
  Float lo = convert(rest - convert(hi, wide), e);
  Value turns = arith::TruncIOp::create(e.builder, e.location, e.intType,
                                        n.lowBits.value);
  return {e.wrapInt(turns), hi, lo};
}

/// table[index], 0 beyond its end; by selects, since a vector of different
/// addresses has no cheaper form on all targets.
static Int lookUp(Int index, ArrayRef<uint64_t> table) {
  Emitter &e = *index.emitter;
  Int result = e.i(0);
  for (auto [position, word] : llvm::enumerate(table)) {
    result = select(index == static_cast<int64_t>(position),
                    e.i(static_cast<int64_t>(word)), result);
  }
  return result;
}

static Int shiftLeft(Int a, Int count) {
  Emitter &e = *a.emitter;
  return e.wrapInt(
      arith::ShLIOp::create(e.builder, e.location, a.value, count.value));
}
static Int shiftRight(Int a, Int count) {
  Emitter &e = *a.emitter;
  return e.wrapInt(
      arith::ShRUIOp::create(e.builder, e.location, a.value, count.value));
}

/// The upper 64 of the 128 bits (a, b) << count, for 0 <= count < 64.
static Int funnelLeft(Int a, Int b, Int count) {
  Emitter &e = *a.emitter;
  return shiftLeft(a, count) |
         shiftRight(shiftRightLogical(b, 1), e.i(63) - count);
}

/// The first bits of 2/pi, after a word of zeros.
static constexpr uint64_t twoOverPiBits[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0,
    0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b,
    0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

/// Bits [32 first, 32 first + 64) of twoOverPiBits for first = 1 + index, so
/// after a half word of zeros.
static uint64_t overlappingWord(unsigned index) {
  unsigned first = index + 1;
  uint64_t word = twoOverPiBits[first / 2];
  return first % 2 == 0 ? word
                        : word << 32 | twoOverPiBits[first / 2 + 1] >> 32;
}

/// quarters / 2^62 in quarter turns, as an integer and a rest of at most half.
static Int roundQuarters(Int quarters, Int &rest) {
  Int turns = shiftRightLogical(quarters + (int64_t(1) << 61), 62);
  rest = quarters - (turns << 62);
  return turns;
}

/// x = m 2^(exponent - 150) with 24 bits of m. The bits of 2/pi before bit
/// exponent - 152 give multiples of 4 quarter turns; of the next 96, m times
/// them gives 2 bits of turns and 94 of fraction; 62 of these are kept. The
/// nearest that an f32 comes to a multiple of pi/2 is 2^-30.
static QuarterTurns multiplySingle(Float x) {
  Emitter &e = *x.emitter;
  Emitter wide = e.withElement(e.builder.getF64Type());
  Value widened = arith::ExtUIOp::create(e.builder, e.location, wide.intType,
                                         bits(abs(x)).value);
  Int word = wide.wrapInt(widened);
  Int exponent = shiftRightLogical(word, 23);
  Int m = (word & 0x7fffff) + 0x800000;
  Int skip = exponent - 120; // 32 zeros in front
  Int index = shiftRightLogical(skip, 5), count = skip & 31;
  uint64_t upper[5], lower[5];
  for (unsigned k = 0; k < 5; ++k) {
    upper[k] = overlappingWord(k);
    lower[k] = overlappingWord(k + 2);
  }
  Int a = lookUp(index, upper), b = lookUp(index, lower);
  Int window = funnelLeft(a, b, count);
  Int below = shiftRightLogical(shiftLeft(b, count), 32);
  Int quarters = m * window + shiftRightLogical(m * below, 32);
  Int rest = quarters;
  Int turns = roundQuarters(quarters, rest);
  Float r = toFloat(rest) * 0x1.921fb54442d18p-62;
  Mask negative = wide.wrapMask((bits(x) < 0).value);
  r = select(negative, -r, r);
  turns = select(negative, wide.i(0) - turns, turns);
  Float hi = convert(r, e);
  Float lo = convert(r - convert(hi, wide), e);
  Value narrow =
      arith::TruncIOp::create(e.builder, e.location, e.intType, turns.value);
  return {e.wrapInt(narrow), hi, lo};
}

/// The upper 64 bits of a * m, for m below 2^53.
static Int multiplyHigh(Int a, Int m) {
  constexpr int64_t low = 0xffffffff;
  Int ah = shiftRightLogical(a, 32), al = a & low;
  Int mh = shiftRightLogical(m, 32), ml = m & low;
  Int middle = ah * ml + shiftRightLogical(al * ml, 32);
  Int other = al * mh + (middle & low);
  return ah * mh + shiftRightLogical(middle, 32) + shiftRightLogical(other, 32);
}

/// 1 where a < b, unsigned.
static Int carry(Int a, Int b) {
  Emitter &e = *a.emitter;
  Value less = arith::CmpIOp::create(
      e.builder, e.location, arith::CmpIPredicate::ult, a.value, b.value);
  return select(e.wrapMask(less), e.i(1), e.i(0));
}

/// As multiplySingle with 53 bits of m and 192 bits of 2/pi, of whose product
/// 128 are kept: the nearest that an f64 comes to a multiple is 2^-61.
static QuarterTurns multiplyDouble(Float x) {
  Emitter &e = *x.emitter;
  Int word = bits(abs(x));
  Int exponent = shiftRightLogical(word, 52);
  Int m = (word & ((int64_t(1) << 52) - 1)) + (int64_t(1) << 52);
  Int skip = exponent - 1013; // 64 zeros in front
  Int index = shiftRightLogical(skip, 6), count = skip & 63;
  ArrayRef<uint64_t> table(twoOverPiBits);
  Int word0 = lookUp(index, table.slice(0, 17));
  Int word1 = lookUp(index, table.slice(1, 17));
  Int word2 = lookUp(index, table.slice(2, 17));
  Int word3 = lookUp(index, table.slice(3, 17));
  Int a = funnelLeft(word0, word1, count);
  Int b = funnelLeft(word1, word2, count);
  Int c = funnelLeft(word2, word3, count);
  Int low = m * b;
  Int lowest = multiplyHigh(c, m);
  Int fraction = low + lowest;
  Int quarters = m * a + multiplyHigh(b, m) + carry(fraction, lowest);
  Int rest = quarters;
  Int turns = roundQuarters(quarters, rest);
  // rest * 2^-62 + fraction * 2^-126, in two floats.
  Float head = toFloat(rest);
  Float tail = toFloat(rest - toInt(head)) * 0x1p-62 +
               toFloat(shiftRightLogical(fraction, 11)) * 0x1p-115;
  Pair sum = fastSum(head * 0x1p-62, tail);
  Pair r = product(sum.hi, e.f(0x1.921fb54442d18p0));
  Float lo = fma(sum.hi, 0x1.1a62633145c07p-54,
                 fma(sum.lo, 0x1.921fb54442d18p0, r.lo));
  Mask negative = bits(x) < 0;
  Float hi = select(negative, -r.hi, r.hi);
  return {select(negative, e.i(0) - turns, turns), hi,
          select(negative, -lo, lo)};
}

/// Any lane?
static Value anyOf(Mask mask) {
  Emitter &e = *mask.emitter;
  if (!isa<VectorType>(mask.value.getType())) {
    return mask.value;
  }
  return vector::ReductionOp::create(e.builder, e.location,
                                     vector::CombiningKind::OR, mask.value);
}

QuarterTurns nereid::tile::expand::reduceToQuarterTurn(Float x) {
  Emitter &e = *x.emitter;
  QuarterTurns fast =
      !e.isDouble() && !e.hasFma() ? subtractInDouble(x) : subtractInParts(x);
  Mask large = !(abs(x) < e.f(fastLimit(e))); // and NaN
  auto branch = scf::IfOp::create(
      e.builder, e.location, TypeRange{e.intType, e.floatType, e.floatType},
      anyOf(large),
      /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(e.builder);
    e.builder.setInsertionPointToStart(branch.thenBlock());
    QuarterTurns slow = e.isDouble() ? multiplyDouble(x) : multiplySingle(x);
    slow.hi = select(abs(x) < e.inf(), slow.hi, e.nan());
    scf::YieldOp::create(e.builder, e.location,
                         ValueRange{select(large, slow.turns, fast.turns).value,
                                    select(large, slow.hi, fast.hi).value,
                                    select(large, slow.lo, fast.lo).value});
    e.builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(
        e.builder, e.location,
        ValueRange{fast.turns.value, fast.hi.value, fast.lo.value});
  }
  return {e.wrapInt(branch.getResult(0)), e.wrap(branch.getResult(1)),
          e.wrap(branch.getResult(2))};
}
