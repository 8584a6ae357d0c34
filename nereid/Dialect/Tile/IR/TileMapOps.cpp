//===- TileMapOps.cpp - The user's own functions of elements --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"

using namespace mlir;

namespace nereid::tile {

LogicalResult MapOp::verify() {
  if (getSources().empty() || getResults().empty()) {
    return emitOpError("expected at least one source and one result");
  }
  ArrayRef<int64_t> shape = getShape(getSources()[0].getType());
  for (Value value : llvm::concat<Value>(SmallVector<Value>(getSources()),
                                         SmallVector<Value>(getResults()))) {
    if (getShape(value.getType()) != shape) {
      return emitOpError("expected sources and results of one shape, got [")
             << shape << "] and [" << getShape(value.getType()) << "]";
    }
  }
  auto elements = [](TypeRange types) {
    return llvm::map_to_vector(types,
                               [](Type type) { return getElement(type); });
  };
  SmallVector<Type> arguments = elements(getSources().getTypes());
  Block &block = getFunction().front();
  if (TypeRange(block.getArgumentTypes()) != TypeRange(arguments)) {
    return emitOpError("expected arguments (")
           << arguments << "), got (" << block.getArgumentTypes() << ")";
  }
  SmallVector<Type> results = elements(getResults().getTypes());
  auto yield = dyn_cast_if_present<YieldOp>(
      block.mightHaveTerminator() ? block.getTerminator() : nullptr);
  if (!yield || yield.getValues().getTypes() != TypeRange(results)) {
    return emitOpError("expected the region to yield (") << results << ")";
  }
  for (Operation &op : block.without_terminator()) {
    if (!isMemoryEffectFree(&op)) {
      return emitOpError("expected no effect on memory, got '")
             << op.getName() << "'";
    }
  }
  return success();
}

LogicalResult InlineAsmOp::verify() {
  if (getOutputs().empty()) {
    return emitOpError("expected at least one result");
  }
  Type first = getOutputs()[0].getType();
  for (Type type : (*this)->getOperandTypes()) {
    if (getShape(type) != getShape(first)) {
      return emitOpError("expected operands and results of one shape, got [")
             << getShape(type) << "] and [" << getShape(first) << "]";
    }
  }
  for (Type type : (*this)->getResultTypes()) {
    if (getShape(type) != getShape(first)) {
      return emitOpError("expected operands and results of one shape, got [")
             << getShape(type) << "] and [" << getShape(first) << "]";
    }
  }
  return success();
}

void InlineAsmOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!getPure()) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
  }
}

} // namespace nereid::tile
