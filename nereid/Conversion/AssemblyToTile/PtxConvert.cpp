//===- PtxConvert.cpp - mov and cvt -----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/AssemblyToTile/PtxTranslator.h"

#include <cmath>

using namespace mlir;
using llvm::StringRef;

namespace nereid::ptx {

bool Translator::move() {
  if (!expect(2, {})) {
    return false;
  }
  return write(read(1));
}

//===----------------------------------------------------------------------===//
// Floats of fewer bits
//===----------------------------------------------------------------------===//

Value Translator::convertFloat(Value real, mlir::Type element,
                               bool towardZero) {
  mlir::Type own = tile::getElement(real.getType());
  mlir::Type to = tile::withElement(real.getType(), element);
  unsigned from = own.getIntOrFloatBitWidth();
  unsigned into = element.getIntOrFloatBitWidth();
  if (own == element) {
    return real;
  }
  if (from == 8 || into == 8 || (towardZero && into < from)) {
    return tile::ConvertFloatOp::create(b, loc, to, real,
                                        towardZero ? tile::Rounding::TowardZero
                                                   : tile::Rounding::Nearest);
  }
  if (from == into) { // f16 and bf16
    return convertFloat(convertFloat(real, b.getF32Type()), element);
  }
  return into < from ? Value(arith::TruncFOp::create(b, loc, to, real))
                     : Value(arith::ExtFOp::create(b, loc, to, real));
}

/// The four bits of e2m1, in an i8: 0, 0.5, 1, 1.5, 2, 3, 4, 6 with a sign,
/// ties to the even code, larger numbers and infinity 6.
Value Translator::packFp4(Value real) {
  real = convertFloat(real, b.getF32Type());
  Value magnitude = make<math::AbsFOp>(real);
  Value code = constant(8, 0);
  struct Step {
    double above;
    bool tieGoesUp;
  };
  for (Step step :
       {Step{0.25, false}, Step{0.75, true}, Step{1.25, false},
        Step{1.75, true}, Step{2.5, false}, Step{3.5, true}, Step{5, false}}) {
    // NaN compares true and ends as 6.
    Value passes = compare(step.tieGoesUp ? arith::CmpFPredicate::UGE
                                          : arith::CmpFPredicate::UGT,
                           magnitude, constantLike(magnitude, step.above));
    code = make<arith::AddIOp>(code, resize(passes, 8));
  }
  Value sign = make<arith::ShRUIOp>(asBits(real), constant(32, 31));
  Value moved = make<arith::ShLIOp>(resize(sign, 8), constant(8, 3));
  return make<arith::OrIOp>(code, moved);
}

/// Exact: the code's exponent and mantissa moved to where f32 has them; the one
/// denormal is 0.5.
Value Translator::unpackFp4(Value bits) {
  Value code = resize(bits, 32);
  Value magnitude = make<arith::AndIOp>(code, constant(32, 7));
  Value moved =
      make<arith::AddIOp>(make<arith::ShLIOp>(magnitude, constant(32, 22)),
                          constant(32, 126u << 23));
  Value isHalf = compare(arith::CmpIPredicate::eq, magnitude, constant(32, 1));
  Value isZero = compare(arith::CmpIPredicate::eq, magnitude, constant(32, 0));
  moved = select(isHalf, constant(32, 126u << 23), moved);
  moved = select(isZero, constant(32, 0), moved);
  Value sign = make<arith::ShLIOp>(make<arith::AndIOp>(code, constant(32, 8)),
                                   constant(32, 28));
  return asFloat(make<arith::OrIOp>(moved, sign), Type{'f', 32, 1});
}

/// Bits of one lane of `to`.
Value Translator::packFloat(Value real, const Type &to) {
  if (to.kind == 'm') {
    return packFp4(real);
  }
  bool towardZero = statement->has("rz");
  if (to.kind == 't') { // ten bits of mantissa, halves away from zero
    Value bits = asBits(convertFloat(real, b.getF32Type()));
    Value isNan = compare(arith::CmpFPredicate::UNO, real, real);
    Value up = make<arith::AddIOp>(bits, constant(32, 0x1000));
    Value cut =
        make<arith::AndIOp>(towardZero ? bits : up, constant(32, 0xffffe000));
    return select(isNan, bits, cut);
  }
  return asBits(convertFloat(real, tile::getElement(ofFloat(to)), towardZero));
}

Value Translator::unpackFloat(Value bits, const Type &from) {
  return from.kind == 'm' ? unpackFp4(bits) : asFloat(bits, from);
}

//===----------------------------------------------------------------------===//
// cvt
//===----------------------------------------------------------------------===//

/// To a whole number: .rni, .rzi, .rmi, .rpi.
Value Translator::rounded(Value real, StringRef mode) {
  if (mode == "rni") {
    return make<math::RoundEvenOp>(real);
  }
  if (mode == "rmi") {
    return make<math::FloorOp>(real);
  }
  return mode == "rpi" ? make<math::CeilOp>(real) : make<math::TruncOp>(real);
}

/// A whole number as an integer: beyond the range its end, NaN 0.
Value Translator::floatToInteger(Value real, const Type &to) {
  if (tile::getElement(real.getType()).getIntOrFloatBitWidth() < 32) {
    real = convertFloat(real, b.getF32Type());
  }
  bool isSigned = to.isSigned();
  double low = isSigned ? -std::ldexp(1.0, to.bits - 1) : 0;
  double high = std::ldexp(1.0, isSigned ? to.bits - 1 : to.bits);
  uint64_t least = isSigned ? uint64_t{1} << (to.bits - 1) : 0;
  uint64_t most = isSigned ? least - 1 : ~uint64_t{0} >> (64 - to.bits);
  Value isLow =
      compare(arith::CmpFPredicate::OLT, real, constantLike(real, low));
  Value isHigh =
      compare(arith::CmpFPredicate::OGE, real, constantLike(real, high));
  Value isNan = compare(arith::CmpFPredicate::UNO, real, real);
  Value outside = make<arith::OrIOp>(make<arith::OrIOp>(isLow, isHigh), isNan);
  Value safe = select(outside, constantLike(real, 0), real);
  mlir::Type type = ofBits(to.bits);
  Value inside = isSigned ? Value(arith::FPToSIOp::create(b, loc, type, safe))
                          : Value(arith::FPToUIOp::create(b, loc, type, safe));
  Value result = select(isHigh, constant(to.bits, most), inside);
  return select(isLow, constant(to.bits, least), result);
}

/// cvt.rn.bf16x2.f32 d, a, b and the like: a is the high part. And the way
/// back, of two lanes at once.
bool Translator::convertPair() {
  const Type &to = type(0), &from = type(1);
  if (!expect(statement->operands.size(),
              {"rn", "rz", "relu", "satfinite", "ftz"}) ||
      to.lanes != 2) {
    return refuse();
  }
  SmallVector<Value> lanes;
  if (from.lanes == 2 && statement->operands.size() == 2) {
    Value source = read(1, from.width());
    for (unsigned lane = 0; lane < 2; ++lane) {
      lanes.push_back(unpackFloat(part(source, lane, 2), from));
    }
  } else if (from.lanes == 1 && statement->operands.size() == 3) {
    lanes = {readFloat(2, from), readFloat(1, from)};
  } else {
    return refuse();
  }
  for (Value &lane : lanes) {
    lane = packFloat(finished(flushed(lane)), to);
  }
  if (to.kind == 'm') {
    Value high = make<arith::ShLIOp>(lanes[1], constant(8, 4));
    return write(make<arith::OrIOp>(lanes[0], high));
  }
  return write(joinParts(lanes));
}

bool Translator::convert() {
  if (statement->types.size() != 2) {
    return refuse();
  }
  const Type &to = type(0), &from = type(1);
  if (to.lanes == 2) {
    return convertPair();
  }
  bool saturates = statement->has("sat");
  if (!from.isFloat() && !to.isFloat()) {
    if (!expect(2, {"sat"})) {
      return false;
    }
    Value x = read(1, from.bits);
    if (!saturates) {
      return write(resize(x, to.bits, from.isSigned()), to.isSigned());
    }
    if (to.bits == 64 || from.bits == 64) {
      return refuse();
    }
    Value wide = resize(x, 64, from.isSigned());
    int64_t least = to.isSigned() ? -(int64_t{1} << (to.bits - 1)) : 0;
    int64_t most = (int64_t{1} << (to.isSigned() ? to.bits - 1 : to.bits)) - 1;
    wide = make<arith::MaxSIOp>(wide, constant(64, least));
    wide = make<arith::MinSIOp>(wide, constant(64, most));
    return write(resize(wide, to.bits), to.isSigned());
  }
  if (!expect(2, {"rn", "rz", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat",
                  "relu", "satfinite"})) {
    return false;
  }
  StringRef integral;
  for (StringRef mode : {"rni", "rzi", "rmi", "rpi"}) {
    integral = statement->has(mode) ? mode : integral;
  }
  if (!from.isFloat()) {
    if (statement->has("rz")) {
      return refuse();
    }
    Value x = read(1, from.bits);
    mlir::Type type = ofFloat(to);
    Value real = from.isSigned()
                     ? Value(arith::SIToFPOp::create(b, loc, type, x))
                     : Value(arith::UIToFPOp::create(b, loc, type, x));
    return write(asBits(finished(real)));
  }
  Value real = flushed(readFloat(1, from));
  if (!to.isFloat()) {
    if (integral.empty()) {
      return refuse();
    }
    return write(floatToInteger(rounded(real, integral), to), to.isSigned());
  }
  if (!integral.empty()) {
    real = rounded(real, integral);
  }
  if (saturates || statement->has("relu")) {
    real = finished(real);
  }
  return write(packFloat(real, to));
}

} // namespace nereid::ptx
