//===- FloatFormats.cpp - Conversions of narrow floats --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversions by integer arithmetic on the bits. On x86 bf16 has an instruction
// only with AVX512-BF16, and that one flushes denormals; LLVM calls a library
// function an element otherwise. The f8 formats have none at all.
//
// f32 to a format of m mantissa bits and exponent bias e, rounding to nearest,
// ties to even: where the result is normal, add half a unit in the last place
// (less one if the kept bit is even) and drop 23 - m bits; where it is
// denormal, let the float adder round, by adding a power of two whose unit in
// the last place is the format's smallest step.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/LaneOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cmath>

using namespace mlir;

namespace nereid::lanes {

static Value bitsAs(LaneOps &ops, Type element, Value value) {
  return arith::BitcastOp::create(ops.b, ops.loc, typeLike(element, value),
                                  value);
}

static Value compareU(LaneOps &ops, Value x, Value y) {
  return arith::CmpIOp::create(ops.b, ops.loc, arith::CmpIPredicate::ugt, x, y);
}

/// Of each i32. Of a vector as every other i16: one vpermt2w for 32 of them,
/// where a shift and a truncation take seven instructions.
static Value upperHalf(LaneOps &ops, Value words) {
  auto vector = dyn_cast<VectorType>(words.getType());
  if (!vector) {
    Value upper = arith::ShRUIOp::create(ops.b, ops.loc, words,
                                         ops.integer(words.getType(), 16));
    return arith::TruncIOp::create(ops.b, ops.loc, ops.b.getI16Type(), upper);
  }
  int64_t lanes = vector.getDimSize(0);
  Value halves = LLVM::BitcastOp::create(
      ops.b, ops.loc, VectorType::get({2 * lanes}, ops.b.getI16Type()), words);
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < lanes; ++i) {
    order.push_back(2 * i + 1);
  }
  return ops.shuffle(halves, order);
}

Value LaneOps::halfToFloat(Value bits) {
  if (target.hasF16c) {
    return arith::ExtFOp::create(b, loc, typeLike(b.getF32Type(), bits),
                                 bitsAs(*this, b.getF16Type(), bits));
  }
  // Exponent and mantissa in the place of f32's, scaled by 2^(127 - 15).
  Type i32Type = typeLike(b.getI32Type(), bits);
  Type f32Type = typeLike(b.getF32Type(), bits);
  Value wide = arith::ExtUIOp::create(b, loc, i32Type, bits);
  Value magnitude =
      arith::AndIOp::create(b, loc, wide, integer(i32Type, 0x7fff));
  Value shifted =
      arith::ShLIOp::create(b, loc, magnitude, integer(i32Type, 13));
  Value scaled = arith::MulFOp::create(
      b, loc, arith::BitcastOp::create(b, loc, f32Type, shifted),
      real(f32Type, 0x1p112));
  Value finite = arith::BitcastOp::create(b, loc, i32Type, scaled);
  Value special =
      arith::OrIOp::create(b, loc, shifted, integer(i32Type, 0x7f800000));
  Value result = arith::SelectOp::create(
      b, loc, compareU(*this, magnitude, integer(i32Type, 0x7bff)), special,
      finite);
  Value sign = arith::ShLIOp::create(
      b, loc, arith::AndIOp::create(b, loc, wide, integer(i32Type, 0x8000)),
      integer(i32Type, 16));
  return arith::BitcastOp::create(b, loc, f32Type,
                                  arith::OrIOp::create(b, loc, result, sign));
}

Value LaneOps::toF32(Value value, Type element) {
  Type i32Type = typeLike(b.getI32Type(), value);
  Type f32Type = typeLike(b.getF32Type(), value);
  if (element.isF32()) {
    return value;
  }
  if (element.isF64()) {
    return arith::TruncFOp::create(b, loc, f32Type, value);
  }
  if (element.isF16()) {
    return target.hasF16c ? Value(arith::ExtFOp::create(b, loc, f32Type, value))
                          : halfToFloat(bitsAs(*this, b.getI16Type(), value));
  }
  if (element.isBF16()) {
    Value wide = arith::ExtUIOp::create(b, loc, i32Type, value);
    Value bits = arith::ShLIOp::create(b, loc, wide, integer(i32Type, 16));
    return arith::BitcastOp::create(b, loc, f32Type, bits);
  }
  if (isa<Float8E5M2Type>(element)) { // the upper half of an f16
    Type i16Type = typeLike(b.getI16Type(), value);
    Value wide = arith::ExtUIOp::create(b, loc, i16Type, value);
    return halfToFloat(
        arith::ShLIOp::create(b, loc, wide, integer(i16Type, 8)));
  }
  // E4M3FN: bias 7, no infinity, NaN is all ones.
  Value wide = arith::ExtUIOp::create(b, loc, i32Type, value);
  Value magnitude = arith::AndIOp::create(b, loc, wide, integer(i32Type, 0x7f));
  Value shifted =
      arith::ShLIOp::create(b, loc, magnitude, integer(i32Type, 20));
  Value scaled = arith::MulFOp::create(
      b, loc, arith::BitcastOp::create(b, loc, f32Type, shifted),
      real(f32Type, 0x1p120));
  Value isNan = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                      magnitude, integer(i32Type, 0x7f));
  Value result = arith::SelectOp::create(
      b, loc, isNan, integer(i32Type, 0x7fc00000),
      arith::BitcastOp::create(b, loc, i32Type, scaled));
  Value sign = arith::ShLIOp::create(
      b, loc, arith::AndIOp::create(b, loc, wide, integer(i32Type, 0x80)),
      integer(i32Type, 24));
  return arith::BitcastOp::create(b, loc, f32Type,
                                  arith::OrIOp::create(b, loc, result, sign));
}

/// The low bits of an i32 that hold the number in the small format.
Value LaneOps::smallFloat(Value value, unsigned mantissa, int bias,
                          uint32_t largest, uint32_t nan, bool towardZero,
                          bool saturate) {
  Type i32Type = typeLike(b.getI32Type(), value);
  Type f32Type = value.getType();
  unsigned drop = 23 - mantissa;
  Value bits = arith::BitcastOp::create(b, loc, i32Type, value);
  Value magnitude =
      arith::AndIOp::create(b, loc, bits, integer(i32Type, 0x7fffffff));
  // Normal results.
  Value rounded = magnitude;
  if (!towardZero) {
    Value odd = arith::AndIOp::create(
        b, loc,
        arith::ShRUIOp::create(b, loc, magnitude, integer(i32Type, drop)),
        integer(i32Type, 1));
    rounded =
        add(add(magnitude, integer(i32Type, (1ll << (drop - 1)) - 1)), odd);
  }
  Value normal =
      sub(arith::ShRUIOp::create(b, loc, rounded, integer(i32Type, drop)),
          integer(i32Type, static_cast<int64_t>(127 - bias) << mantissa));
  // Denormal results: steps of 2^(1 - bias - mantissa).
  Value absolute = arith::BitcastOp::create(b, loc, f32Type, magnitude);
  Value denormal;
  if (towardZero) {
    Value steps = arith::MulFOp::create(
        b, loc, absolute, real(f32Type, std::ldexp(1.0, bias - 1 + mantissa)));
    Value inRange =
        arith::MinNumFOp::create(b, loc, steps, real(f32Type, 65536.0));
    denormal = arith::FPToSIOp::create(b, loc, i32Type, inRange);
  } else {
    Value magic = real(
        f32Type, std::ldexp(1.0, 1 - bias - static_cast<int>(mantissa) + 23));
    Value sum = arith::AddFOp::create(b, loc, absolute, magic);
    denormal = sub(arith::BitcastOp::create(b, loc, i32Type, sum),
                   arith::BitcastOp::create(b, loc, i32Type, magic));
  }
  int64_t smallestNormal = static_cast<int64_t>(128 - bias) << 23;
  Value isNormal =
      compareU(*this, magnitude, integer(i32Type, smallestNormal - 1));
  Value result = arith::SelectOp::create(b, loc, isNormal, normal, denormal);
  // Too large: the largest finite number, or infinity (largest + 1).
  if (saturate) {
    Value over = compareU(*this, result, integer(i32Type, largest));
    result = arith::SelectOp::create(
        b, loc, arith::AndIOp::create(b, loc, isNormal, over),
        integer(i32Type, largest), result);
  } else {
    Value over = compareU(*this, result, integer(i32Type, largest));
    Value overflow = integer(i32Type, largest + 1);
    if (towardZero) { // only an infinity stays one
      overflow = arith::SelectOp::create(
          b, loc,
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, magnitude,
                                integer(i32Type, 0x7f800000)),
          overflow, integer(i32Type, largest));
    }
    result = arith::SelectOp::create(
        b, loc, arith::AndIOp::create(b, loc, isNormal, over), overflow,
        result);
  }
  Value isNan = compareU(*this, magnitude, integer(i32Type, 0x7f800000));
  result =
      arith::SelectOp::create(b, loc, isNan, integer(i32Type, nan), result);
  unsigned signShift = 31 - (largest > 0xff ? 15 : 7);
  Value sign = arith::AndIOp::create(
      b, loc, arith::ShRUIOp::create(b, loc, bits, integer(i32Type, signShift)),
      integer(i32Type, largest > 0xff ? 0x8000 : 0x80));
  return arith::OrIOp::create(b, loc, result, sign);
}

Value LaneOps::fromF32(Value value, Type element, bool towardZero) {
  Type i32Type = typeLike(b.getI32Type(), value);
  if (element.isF32()) {
    return value;
  }
  if (element.isF64()) {
    return arith::ExtFOp::create(b, loc, typeLike(b.getF64Type(), value),
                                 value);
  }
  if (element.isBF16()) {
    if (target.hasBf16 && !towardZero) {
      return bitsAs(
          *this, b.getI16Type(),
          arith::TruncFOp::create(b, loc, typeLike(element, value), value));
    }
    Value bits = arith::BitcastOp::create(b, loc, i32Type, value);
    Value rounded = bits;
    if (!towardZero) {
      Value upper = arith::ShRUIOp::create(b, loc, bits, integer(i32Type, 16));
      Value odd = arith::AndIOp::create(b, loc, upper, integer(i32Type, 1));
      rounded = add(add(bits, integer(i32Type, 0x7fff)), odd);
    }
    Value isNan =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, value, value);
    Value quiet =
        arith::OrIOp::create(b, loc, bits, integer(i32Type, 0x400000));
    return upperHalf(*this,
                     arith::SelectOp::create(b, loc, isNan, quiet, rounded));
  }
  if (element.isF16()) {
    if (target.hasF16c && !towardZero) {
      return arith::TruncFOp::create(b, loc, typeLike(element, value), value);
    }
    Value result = smallFloat(value, 10, 15, 0x7bff, 0x7e00, towardZero, false);
    Value bits = arith::TruncIOp::create(
        b, loc, typeLike(b.getI16Type(), value), result);
    return arith::BitcastOp::create(b, loc, typeLike(element, value), bits);
  }
  bool e5m2 = isa<Float8E5M2Type>(element);
  Value result = e5m2 ? smallFloat(value, 2, 15, 0x7b, 0x7f, towardZero, true)
                      : smallFloat(value, 3, 7, 0x7e, 0x7f, towardZero, true);
  return arith::TruncIOp::create(b, loc, typeLike(b.getI8Type(), value),
                                 result);
}

/// `rounded`, one step toward zero where its value `back` exceeds `source`.
Value LaneOps::stepTowardZero(Value rounded, Value back, Value source,
                              Type bits) {
  Type type = typeLike(bits, rounded);
  Value tooFar = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT,
                                       math::AbsFOp::create(b, loc, back),
                                       math::AbsFOp::create(b, loc, source));
  Value pattern = arith::BitcastOp::create(b, loc, type, rounded);
  Value less = sub(pattern, integer(type, 1));
  Value result = arith::SelectOp::create(b, loc, tooFar, less, pattern);
  return arith::BitcastOp::create(b, loc, rounded.getType(), result);
}

Value LaneOps::convertFloat(Value value, Type from, Type to, bool towardZero) {
  if (from == to) {
    return value;
  }
  if (!from.isF64()) {
    Value wide = toF32(value, from);
    return fromF32(wide, to, towardZero);
  }
  // f64: round to odd on the way through f32, so that the second rounding sees
  // on which side of a tie the value lies.
  Value nearest =
      arith::TruncFOp::create(b, loc, typeLike(b.getF32Type(), value), value);
  if (to.isF32() && !towardZero) {
    return nearest;
  }
  Value back = arith::ExtFOp::create(b, loc, value.getType(), nearest);
  Value truncated = stepTowardZero(nearest, back, value, b.getI32Type());
  if (to.isF32()) {
    return truncated;
  }
  Type i32Type = typeLike(b.getI32Type(), value);
  Value inexact = arith::CmpFOp::create(
      b, loc, arith::CmpFPredicate::ONE,
      arith::ExtFOp::create(b, loc, value.getType(), truncated), value);
  Value bits = arith::BitcastOp::create(b, loc, i32Type, truncated);
  Value odd = arith::OrIOp::create(b, loc, bits, integer(i32Type, 1));
  Value sticky = arith::BitcastOp::create(
      b, loc, typeLike(b.getF32Type(), value),
      arith::SelectOp::create(b, loc, inexact, odd, bits));
  return fromF32(sticky, to, towardZero);
}

} // namespace nereid::lanes
