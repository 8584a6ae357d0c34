//===- Shifts.cpp - Shifts by the width and more --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The language's shifts clamp: by the width or more a left shift and a logical
// right shift give 0, an arithmetic one the sign. To LLVM such a result is
// poison, which spreads over a word that the element is packed into. The forms
// here are those that LLVM's code generators turn into one instruction where
// the processor clamps: vectors of 32 and 64 bits on AVX2, of 16 on AVX-512.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/LaneOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::lanes {

bool isShift(Operation *op) {
  return isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op);
}

/// The greatest of a constant's elements, if it is one.
static std::optional<APInt> greatest(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant) {
    return std::nullopt;
  }
  if (auto integer = dyn_cast<IntegerAttr>(constant.getValue())) {
    return integer.getValue();
  }
  auto dense = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!dense || dense.empty()) {
    return std::nullopt;
  }
  APInt most = *dense.value_begin<APInt>();
  for (const APInt &one : dense.getValues<APInt>()) {
    most = llvm::APIntOps::umax(most, one);
  }
  return most;
}

Value LaneOps::shift(Operation *op, Value x, Value amount) {
  Type type = x.getType();
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.getIntOrFloatBitWidth();
  std::optional<APInt> most = greatest(amount);
  if (most && most->ult(width)) {
    return clone(op, {x, amount}, element);
  }
  if (isa<arith::ShRSIOp>(op)) {
    Value clamped =
        arith::MinUIOp::create(b, loc, amount, integer(type, width - 1));
    return clone(op, {x, clamped}, element);
  }
  Value isInside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                         amount, integer(type, width));
  return arith::SelectOp::create(
      b, loc, isInside, clone(op, {x, amount}, element), integer(type, 0));
}

} // namespace nereid::lanes
