//===- LaneOps.cpp - Element-wise operations on lanes ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/LaneOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::lanes {

Type laneType(Type element) {
  MLIRContext *context = element.getContext();
  if (isa<tile::PtrType>(element)) {
    return LLVM::LLVMPointerType::get(context);
  }
  if (isa<BFloat16Type>(element)) {
    return IntegerType::get(context, 16);
  }
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8) {
    return IntegerType::get(context, 8);
  }
  return element;
}

Type typeLike(Type element, Value like) {
  if (auto vector = dyn_cast<VectorType>(like.getType())) {
    return VectorType::get(vector.getShape(), element);
  }
  return element;
}

bool hasLaneForm(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1) {
    return false;
  }
  if (isa<tile::ConvertFloatOp>(op)) {
    return true;
  }
  return op->hasTrait<OpTrait::Elementwise>() &&
         (isa<arith::ArithDialect>(op->getDialect()) ||
          isa<math::MathDialect>(op->getDialect()));
}

bool isExpensive(Operation *op) {
  if (isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::FloorOp, math::CeilOp,
          math::CopySignOp, math::IsNaNOp, math::IsInfOp, math::IsFiniteOp,
          math::TruncOp, math::RoundEvenOp, math::CtPopOp>(op)) {
    return false;
  }
  return isa<math::MathDialect>(op->getDialect()) ||
         isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp,
             arith::RemSIOp, arith::RemUIOp>(op);
}

//===----------------------------------------------------------------------===//
// Constants and lanes
//===----------------------------------------------------------------------===//

Value LaneOps::splat(Value value, unsigned lanes) {
  if (isVector(value) || lanes == 1) {
    return value;
  }
  if (isa<LLVM::LLVMPointerType>(value.getType())) {
    value = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), value);
  }
  auto type = VectorType::get({lanes}, value.getType());
  if (auto constant = value.getDefiningOp<arith::ConstantOp>()) {
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(type, cast<Attribute>(constant.getValue())));
  }
  return vector::BroadcastOp::create(b, loc, type, value);
}

Value LaneOps::integer(Type type, int64_t value) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  // Of more than 64 bits (the bits of a mask of 128 lanes) -1 is all ones, too.
  TypedAttr attr = IntegerAttr::get(
      element, APInt(element.getWidth(), static_cast<uint64_t>(value),
                     /*isSigned=*/true, /*implicitTrunc=*/true));
  if (auto vector = dyn_cast<VectorType>(type)) {
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  }
  return arith::ConstantOp::create(b, loc, attr);
}

Value LaneOps::real(Type type, double value) {
  TypedAttr attr = FloatAttr::get(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type)) {
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  }
  return arith::ConstantOp::create(b, loc, attr);
}

Value LaneOps::constant(TypedAttr scalar) {
  Type type = laneType(scalar.getType());
  if (auto real = dyn_cast<FloatAttr>(scalar);
      real && type != scalar.getType()) {
    scalar = IntegerAttr::get(type, real.getValue().bitcastToAPInt());
  }
  return arith::ConstantOp::create(b, loc, scalar);
}

Value LaneOps::lanesOf(Type element, ArrayRef<int64_t> values) {
  if (values.size() == 1) {
    return integer(element, values[0]);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  SmallVector<APInt> bits;
  for (int64_t value : values) {
    bits.push_back(APInt(width, static_cast<uint64_t>(value), false, true));
  }
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, element);
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, bits));
}

Value LaneOps::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
Value LaneOps::sub(Value x, Value y) {
  return arith::SubIOp::create(b, loc, x, y);
}
Value LaneOps::mul(Value x, Value y) {
  return arith::MulIOp::create(b, loc, x, y);
}

Value LaneOps::byteOffset(Value address, int64_t bytes) {
  return LLVM::GEPOp::create(b, loc, address.getType(), b.getI8Type(), address,
                             LLVM::GEPArg(static_cast<int32_t>(bytes)));
}

Value LaneOps::shuffle(Value vector, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(b, loc, vector, vector, lanes);
}

Value LaneOps::extract(Value vector, int64_t lane) {
  return isVector(vector)
             ? Value(vector::ExtractOp::create(b, loc, vector, lane))
             : vector;
}

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

/// The formats that are computed in f32.
static bool isNarrowFloat(Type element) {
  return isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

/// `op` with operands of another width, all of one shape.
Value LaneOps::clone(Operation *op, ArrayRef<Value> operands, Type element) {
  OperationState state(loc, op->getName());
  state.addOperands(operands);
  Value like;
  for (Value operand : operands) {
    like = isVector(operand) || !like ? operand : like;
  }
  state.addTypes(typeLike(element, like));
  for (NamedAttribute attr : op->getAttrDictionary()) {
    if (!attr.getName().getValue().starts_with("tile.")) {
      state.attributes.push_back(attr);
    }
  }
  if (target.fpFusion && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op)) {
    state.attributes.set("fastmath",
                         arith::FastMathFlagsAttr::get(
                             op->getContext(), arith::FastMathFlags::contract));
  }
  return b.create(state)->getResult(0);
}

Value LaneOps::elementwise(Operation *op, ArrayRef<Value> given) {
  SmallVector<Value, 4> operands(given);
  unsigned lanes = 1;
  for (Value operand : operands) {
    if (auto vector = dyn_cast<VectorType>(operand.getType())) {
      lanes = vector.getDimSize(0);
    }
  }
  for (auto [i, operand] : llvm::enumerate(operands)) {
    // A select takes one condition for all lanes.
    if (lanes > 1 && !(i == 0 && isa<arith::SelectOp>(op))) {
      operand = splat(operand, lanes);
    }
  }
  Type from = tile::getElement(op->getOperand(0).getType());
  Type to = tile::getElement(op->getResult(0).getType());
  if (isa<arith::ExtFOp, arith::TruncFOp, tile::ConvertFloatOp>(op)) {
    auto convert = dyn_cast<tile::ConvertFloatOp>(op);
    return convertFloat(operands[0], from, to,
                        convert && convert.getRounding() ==
                                       tile::Rounding::TowardZero);
  }
  if (isa<arith::BitcastOp>(op)) {
    if (operands[0].getType() == typeLike(laneType(to), operands[0])) {
      return operands[0];
    }
    return clone(op, operands, laneType(to));
  }
  if (isa<arith::SelectOp>(op)) {
    return arith::SelectOp::create(b, loc, operands[0], operands[1],
                                   operands[2]);
  }
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
    return divide(op, operands[0], operands[1]);
  }
  if (isShift(op)) {
    return shift(op, operands[0], operands[1]);
  }
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op) && to.isF16() &&
      !target.hasF16Extrema) {
    return halfExtremum(op, operands[0], operands[1]);
  }
  // A format without arithmetic of its own: compute in f32, round the result.
  for (auto [i, operand] : llvm::enumerate(operands)) {
    Type element = tile::getElement(op->getOperand(i).getType());
    if (isNarrowFloat(element)) {
      operand = toF32(operand, element);
    }
  }
  if (isa<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp>(op)) {
    return classify(op, operands[0]);
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    return toInteger(op, operands[0]);
  }
  if (isNarrowFloat(to)) {
    return fromF32(clone(op, operands, b.getF32Type()), to);
  }
  return clone(op, operands, to);
}

/// LLVM calls fmaxf for each lane of f16s, and narrows a maximum of what was
/// widened to one of f16s. The first operand wins where it is the better number
/// or the second one is NaN.
Value LaneOps::halfExtremum(Operation *op, Value x, Value y) {
  using P = arith::CmpFPredicate;
  P better = isa<arith::MaxNumFOp>(op) ? P::OGT : P::OLT;
  // LLVM calls a function to compare f16s, too, where no instruction widens
  // them.
  Type half = b.getF16Type();
  Value a = target.hasF16c ? x : toF32(x, half);
  Value c = target.hasF16c ? y : toF32(y, half);
  Value first =
      arith::OrIOp::create(b, loc, arith::CmpFOp::create(b, loc, better, a, c),
                           arith::CmpFOp::create(b, loc, P::UNO, c, c));
  return arith::SelectOp::create(b, loc, first, x, y);
}

/// math.isnan and its like have no conversion to LLVM.
Value LaneOps::classify(Operation *op, Value x) {
  using P = arith::CmpFPredicate;
  if (isa<math::IsNaNOp>(op)) {
    return arith::CmpFOp::create(b, loc, P::UNO, x, x);
  }
  Value magnitude = math::AbsFOp::create(b, loc, x);
  Value infinity = real(x.getType(), std::numeric_limits<double>::infinity());
  return arith::CmpFOp::create(b, loc, isa<math::IsInfOp>(op) ? P::OEQ : P::OLT,
                               magnitude, infinity);
}

Value LaneOps::convert(Value value, Type from, Type to, bool isUnsigned) {
  if (from == to) {
    return value;
  }
  if (isa<FloatType>(from)) {
    return convertFloat(value, from, to, false);
  }
  Type type = typeLike(to, value);
  if (to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth()) {
    return arith::TruncIOp::create(b, loc, type, value);
  }
  return isUnsigned ? Value(arith::ExtUIOp::create(b, loc, type, value))
                    : Value(arith::ExtSIOp::create(b, loc, type, value));
}

Value LaneOps::multiplyExtended(Operation *op, Value x, Value y,
                                unsigned result) {
  if (isVector(x) != isVector(y)) {
    Value like = isVector(x) ? x : y;
    unsigned lanes = cast<VectorType>(like.getType()).getDimSize(0);
    x = splat(x, lanes);
    y = splat(y, lanes);
  }
  if (result == 0) {
    return mul(x, y);
  }
  unsigned width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  Type wide = typeLike(b.getIntegerType(2 * width), x);
  auto extend = [&](Value value) -> Value {
    if (isa<arith::MulSIExtendedOp>(op)) {
      return arith::ExtSIOp::create(b, loc, wide, value);
    }
    return arith::ExtUIOp::create(b, loc, wide, value);
  };
  Value product = mul(extend(x), extend(y));
  Value high = arith::ShRUIOp::create(b, loc, product, integer(wide, width));
  return arith::TruncIOp::create(b, loc, x.getType(), high);
}

//===----------------------------------------------------------------------===//
// Integer division
//
// A block is computed as a whole, with lanes that no mask protects: a zero
// divisor there must not trap, nor let LLVM conclude that the divisor is not
// zero. A divisor of 0 counts as 1, on every executor. x86 has no vector
// division of integers; up to 32 bits, f64 (f32 for 8 bits) holds operands
// exactly and its correctly rounded quotient truncates to the right integer.
//===----------------------------------------------------------------------===//

static bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp>(op);
}

Value LaneOps::divideByFloat(Operation *op, Value x, Value y) {
  unsigned width = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  Type real = typeLike(width <= 8 ? Type(b.getF32Type()) : b.getF64Type(), x);
  Value quotient;
  if (isSignedDivision(op)) {
    Value fx = arith::SIToFPOp::create(b, loc, real, x);
    Value fy = arith::SIToFPOp::create(b, loc, real, y);
    // INT_MIN / -1 leaves the range: through i64 it wraps as the scalar would.
    Type wide = typeLike(width < 32 ? Type(b.getI32Type()) : b.getI64Type(), x);
    Value q = arith::FPToSIOp::create(b, loc, wide,
                                      arith::DivFOp::create(b, loc, fx, fy));
    quotient = arith::TruncIOp::create(b, loc, x.getType(), q);
  } else {
    Value fx = arith::UIToFPOp::create(b, loc, real, x);
    Value fy = arith::UIToFPOp::create(b, loc, real, y);
    quotient = arith::FPToUIOp::create(b, loc, x.getType(),
                                       arith::DivFOp::create(b, loc, fx, fy));
  }
  if (isa<arith::DivSIOp, arith::DivUIOp>(op)) {
    return quotient;
  }
  return sub(x, mul(quotient, y));
}

Value LaneOps::divide(Operation *op, Value x, Value y) {
  Type type = y.getType();
  unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  APInt known;
  bool safe = false;
  if (auto constant = y.getDefiningOp<arith::ConstantOp>()) {
    auto dense = dyn_cast<SplatElementsAttr>(constant.getValue());
    Attribute one = dense ? dense.getSplatValue<Attribute>()
                          : Attribute(constant.getValue());
    if (auto integer = dyn_cast<IntegerAttr>(one)) {
      known = integer.getValue();
      safe = !known.isZero() && !known.isAllOnes();
    }
  }
  if (safe) {
    return clone(op, {x, y}, getElementTypeOrSelf(type));
  }
  Value bad = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y,
                                    integer(type, 0));
  bool byFloat = isVector(x) && width <= 32 && width > 1;
  if (isSignedDivision(op) && !byFloat) {
    // INT_MIN / -1 traps as well. x / -1 is 0 - x, and x % -1 is 0.
    Value minusOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y,
                                           integer(type, -1));
    Value either = arith::OrIOp::create(b, loc, bad, minusOne);
    Value divisor =
        arith::SelectOp::create(b, loc, either, integer(type, 1), y);
    Value result = clone(op, {x, divisor}, getElementTypeOrSelf(type));
    Value other =
        isa<arith::DivSIOp>(op) ? sub(integer(type, 0), x) : integer(type, 0);
    return arith::SelectOp::create(b, loc, minusOne, other, result);
  }
  Value divisor = arith::SelectOp::create(b, loc, bad, integer(type, 1), y);
  return byFloat ? divideByFloat(op, x, divisor)
                 : clone(op, {x, divisor}, getElementTypeOrSelf(type));
}

} // namespace nereid::lanes
