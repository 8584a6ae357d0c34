//===- Elementwise.cpp - Register by register -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Emitter.h"

using namespace mlir;

namespace nereid::togpu {

/// `ptr + sext(offset) * bytes`.
Value KernelEmitter::addPointer(tile::AddPtrOp op, Value pointer,
                                Value offset) {
  auto type = cast<tile::PtrType>(tile::getElement(op.getType()));
  unsigned bytes = tile::getElementBytes(type.getPointee());
  if (offset.getType().getIntOrFloatBitWidth() < 64) {
    offset = arith::ExtSIOp::create(b, loc, b.getI64Type(), offset);
  }
  return LLVM::GEPOp::create(b, loc, pointer.getType(),
                             b.getIntegerType(8 * bytes), pointer,
                             ArrayRef<LLVM::GEPArg>{offset});
}

/// One element of result `result`.
Value KernelEmitter::combineLanes(Operation *op, ArrayRef<Value> operands,
                                  unsigned result) {
  if (auto add = dyn_cast<tile::AddPtrOp>(op)) {
    return addPointer(add, operands[0], operands[1]);
  }
  if (isa<tile::PtrCastOp, tile::HintOp>(op)) {
    return operands[0];
  }
  Type lane = laneType(tile::getElement(op->getResult(0).getType()));
  if (isa<tile::IntToPtrOp>(op)) {
    return LLVM::IntToPtrOp::create(b, loc, lane, operands[0]);
  }
  if (isa<tile::PtrToIntOp>(op)) {
    return LLVM::PtrToIntOp::create(b, loc, lane, operands[0]);
  }
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op)) {
    return ops().multiplyExtended(op, operands[0], operands[1], result);
  }
  return ops().elementwise(op, operands);
}

void KernelEmitter::emitElementwise(Operation *op) {
  if (!isa<RankedTensorType>(op->getResult(0).getType())) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(scalar(operand));
    }
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      scalars[op->getResult(i)] = combineLanes(op, operands, i);
    }
    return;
  }
  const TileInfo &tile = info(op->getResult(0).getType());
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    Registers result(tile.count());
    SmallVector<Value> previous;
    for (unsigned r = 0; r < tile.count(); ++r) {
      if (tile.dead[r]) {
        continue;
      }
      SmallVector<Value> operands;
      for (Value operand : op->getOperands()) {
        operands.push_back(isa<RankedTensorType>(operand.getType())
                               ? regs(operand)[r]
                               : scalar(operand));
      }
      // A splat is one value: compute it once.
      result[r] = r && operands == previous ? result[r - 1]
                                            : combineLanes(op, operands, i);
      previous = std::move(operands);
    }
    bind(op->getResult(i), std::move(result));
  }
}

void KernelEmitter::emitConstant(arith::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense) {
    scalars[op.getResult()] = ops().constant(op.getValue());
    return;
  }
  Value one = ops().constant(cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  bind(op.getResult(), Registers(info(op.getType()).count(), one));
}

} // namespace nereid::togpu
