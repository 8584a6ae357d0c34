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
  if (Value value = hardwareMath(op, operands)) {
    return value;
  }
  if (Value value = toInteger(op, operands[0])) {
    return value;
  }
  if (Value value = clamped(op, operands)) {
    return value;
  }
  if (Value value = convertFloat8(op, operands[0])) {
    return value;
  }
  return ops().elementwise(op, operands);
}

/// By way of f32 to 8 bits, and of f16 from them: both are exact. Of doubles
/// the way would round twice.
Value KernelEmitter::convertFloat8(Operation *op, Value x) {
  auto convert = dyn_cast<tile::ConvertFloatOp>(op);
  if (!convert) {
    return {};
  }
  Type from = tile::getElement(convert.getSource().getType());
  Type to = tile::getElement(convert.getType());
  auto isByte = [](Type type) { return type.getIntOrFloatBitWidth() == 8; };
  if (isByte(to) && !isByte(from) && !from.isF64() &&
      convert.getRounding() == tile::Rounding::Nearest) {
    return machine->toFloat8(ops().toF32(x, from), to);
  }
  if (!isByte(from) || isByte(to)) {
    return {};
  }
  Value half = machine->fromFloat8(x, from);
  if (!half || to.isF16()) {
    return half;
  }
  return ops().fromF32(ops().toF32(half, b.getF16Type()), to);
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
    Value last;
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
      if (!last || operands != previous) {
        last = combineLanes(op, operands, i);
      }
      result[r] = last;
      previous = std::move(operands);
    }
    bind(op->getResult(i), std::move(result));
  }
}

/// A constant of several values: an array that every register looks up.
void KernelEmitter::emitTable(arith::ConstantOp op, DenseElementsAttr values) {
  const TileInfo &tile = info(op.getType());
  Type lane = laneType(tile.element);
  unsigned bits = lane.isInteger(1) ? 8 : lane.getIntOrFloatBitWidth();
  Type stored = b.getIntegerType(bits);
  SmallVector<APInt> words;
  auto add = [&](const APInt &word) {
    words.push_back(word.zextOrTrunc(bits));
  };
  if (isa<FloatType>(tile.element)) {
    for (const APFloat &value : values.getValues<APFloat>()) {
      add(value.bitcastToAPInt());
    }
  } else {
    for (const APInt &value : values.getValues<APInt>()) {
      add(value);
    }
  }
  int64_t count = words.size();
  auto module = entry->getParentOfType<ModuleOp>();
  OpBuilder at(module.getBodyRegion());
  at.setInsertionPoint(entry);
  auto global = LLVM::GlobalOp::create(
      at, loc, LLVM::LLVMArrayType::get(stored, count), /*isConstant=*/true,
      LLVM::Linkage::Internal, "nereid_table_" + std::to_string(textCount++),
      DenseElementsAttr::get(RankedTensorType::get({count}, stored), words),
      /*alignment=*/16, /*addrSpace=*/1);
  Value base = LLVM::AddressOfOp::create(b, loc, global);
  Registers result(tile.count());
  for (unsigned r = 0; r < tile.count(); ++r) {
    if (tile.dead[r]) {
      continue;
    }
    Value position = safeRowMajorIndex(tile, r);
    Value address = LLVM::GEPOp::create(b, loc, base.getType(), stored, base,
                                        ArrayRef<LLVM::GEPArg>{position});
    result[r] = fromBits(LLVM::LoadOp::create(b, loc, stored, address), lane);
  }
  bind(op.getResult(), std::move(result));
}

void KernelEmitter::emitConstant(arith::ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense) {
    scalars[op.getResult()] = ops().constant(op.getValue());
    return;
  }
  if (!dense.isSplat()) {
    emitTable(op, dense);
    return;
  }
  Value one = ops().constant(cast<TypedAttr>(dense.getSplatValue<Attribute>()));
  bind(op.getResult(), Registers(info(op.getType()).count(), one));
}

} // namespace nereid::togpu
