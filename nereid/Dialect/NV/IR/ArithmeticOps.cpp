//===- ArithmeticOps.cpp - Conversions, approximations --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/NV/IR/NV.h"

using namespace mlir;

namespace nereid::nv {

LogicalResult FloatToIntOp::verify() {
  auto target = dyn_cast<IntegerType>(getTarget());
  if (!target || target.isSignless() ||
      !llvm::is_contained({8u, 16u, 32u, 64u}, target.getWidth())) {
    return emitOpError("expects a target of si8 to si64 or ui8 to ui64, got ")
           << getTarget();
  }
  unsigned bits = std::max(target.getWidth(), 16u);
  if (!getResult().getType().isInteger(bits)) {
    return emitOpError() << "expects " << target << " in i" << bits << ", got "
                         << getResult().getType();
  }
  return success();
}

LogicalResult PackFloatsOp::verify() {
  if (!getTarget().isF16() && !getTarget().isBF16()) {
    return emitOpError("expects f16 or bf16, got ") << getTarget();
  }
  return success();
}

static LogicalResult verifyFloat8(Operation *op, Type type) {
  if (!isa<Float8E4M3FNType, Float8E5M2Type>(type)) {
    return op->emitOpError("expects f8E4M3FN or f8E5M2, got ") << type;
  }
  return success();
}

LogicalResult PackFloat8Op::verify() {
  return verifyFloat8(*this, getTarget());
}

LogicalResult UnpackFloat8Op::verify() {
  return verifyFloat8(*this, getSource());
}

LogicalResult PackSaturatedOp::verify() {
  Type target = getTarget();
  if (!target.isSignedInteger(8) && !target.isUnsignedInteger(8)) {
    return emitOpError("expects si8 or ui8, got ") << target;
  }
  return success();
}

void UserAssemblyOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!getPure()) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

} // namespace nereid::nv
