//===- ToInteger.cpp - Floats to integers, for every float ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Toward zero, then to the nearest end of the type's range; NaN gives 0. LLVM's
// fptosi is poison outside of the range, and its saturating intrinsic is taken
// apart into scalars on x86, so that the range is kept here: two minima and
// maxima, and a selection where the largest integer is no float.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/LaneOps.h"

using namespace mlir;

namespace nereid::lanes {

Value LaneOps::toInteger(Operation *op, Value x) {
  using P = arith::CmpFPredicate;
  Type type = x.getType();
  Type integer = tile::getElement(op->getResult(0).getType());
  unsigned width = integer.getIntOrFloatBitWidth();
  bool isSigned = isa<arith::FPToSIOp>(op);
  const llvm::fltSemantics &format =
      cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics();
  APInt largest =
      isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  APFloat high(format), low(format);
  bool isExact = high.convertFromAPInt(largest, isSigned,
                                       APFloat::rmTowardZero) == APFloat::opOK;
  low.convertFromAPInt(isSigned ? APInt::getSignedMinValue(width)
                                : APInt::getZero(width),
                       isSigned, APFloat::rmTowardZero);
  auto bound = [&](const APFloat &value) {
    bool inexact;
    APFloat wide = value;
    wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return real(type, wide.convertToDouble());
  };
  auto select = [&](P predicate, Value a, Value b, Value chosen,
                    Value other) -> Value {
    Value condition = arith::CmpFOp::create(this->b, loc, predicate, a, b);
    return arith::SelectOp::create(this->b, loc, condition, chosen, other);
  };
  // An ordered comparison with 0 takes NaN to the unsigned lower end.
  Value inRange = isSigned ? select(P::ORD, x, x, x, real(type, 0)) : x;
  inRange = select(P::OGT, inRange, bound(low), inRange, bound(low));
  inRange = select(P::OLT, inRange, bound(high), inRange, bound(high));
  if (width < 32) {
    Type wide = typeLike(b.getI32Type(), x);
    return arith::TruncIOp::create(
        b, loc, typeLike(integer, x),
        arith::FPToSIOp::create(b, loc, wide, inRange));
  }
  Value result = clone(op, {inRange}, integer);
  return isExact
             ? result
             : select(P::OGT, x, bound(high),
                      this->integer(result.getType(), largest.getSExtValue()),
                      result);
}

} // namespace nereid::lanes
