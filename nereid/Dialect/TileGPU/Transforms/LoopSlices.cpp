//===- LoopSlices.cpp - What of a loop's body is needed where -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/LoopSlices.h"

#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"

using namespace mlir;

namespace nereid::tilegpu {

Operation *addAhead(LoopSlice &slice, scf::ForOp loop, Value value) {
  Block *body = loop.getBody();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != body || argument.getArgNumber() == 0) {
      return nullptr;
    }
    unsigned i = argument.getArgNumber() - 1;
    return slice.carried.insert(i)
               ? addAhead(slice, loop, loop.getYieldedValues()[i])
               : nullptr;
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != body || !slice.ops.insert(op)) {
    return nullptr;
  }
  // It runs also for iterations that do not come.
  if (op->getNumRegions() || !isMemoryEffectFree(op) || !isSpeculatable(op)) {
    return op;
  }
  for (Value operand : op->getOperands()) {
    if (Operation *culprit = addAhead(slice, loop, operand)) {
      return culprit;
    }
  }
  return nullptr;
}

CopyReaders::CopyReaders(scf::ForOp loop, ArrayRef<tile::LoadAccess> copies)
    : body(*loop.getBody()) {
  for (tile::LoadAccess load : copies) {
    this->copies.insert(load);
  }
}

tile::LoadAccess CopyReaders::copyOf(Value value) const {
  auto load = value.getDefiningOp<tile::LoadAccess>();
  return load && copies.contains(load) ? load : nullptr;
}

bool CopyReaders::isRead(Operation *op) const {
  auto convert = dyn_cast<ConvertLayoutOp>(op);
  return convert && op->getBlock() == &body &&
         copyOf(sourceOf(convert.getSource()));
}

bool CopyReaders::isReadInPlace(OpOperand &use) const {
  return isWarpgroupProduct(use.getOwner()) && use.getOperandNumber() < 2 &&
         use.getOwner()->getBlock() == &body && copyOf(untransposed(use.get()));
}

bool CopyReaders::isOnlyReadInPlace(Value value) const {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    return isReadInPlace(use) || (isa<tile::TransposeOp>(user) &&
                                  isOnlyReadInPlace(user->getResult(0)));
  });
}

bool CopyReaders::isComputedOn(OpOperand &use,
                               const LoopSlice &computation) const {
  Operation *user = body.findAncestorOpInBlock(*use.getOwner());
  if (user == body.getTerminator()) {
    return computation.carried.contains(use.getOperandNumber());
  }
  return computation.ops.contains(user) && !isRead(use.getOwner()) &&
         !isReadInPlace(use);
}

namespace {
class Computation {
public:
  Computation(scf::ForOp loop, const CopyReaders &readers)
      : loop(loop), body(*loop.getBody()), readers(readers) {}

  LoopSlice find();

private:
  void add(Value value);
  void add(Operation *op);

  scf::ForOp loop;
  Block &body;
  const CopyReaders &readers;
  LoopSlice slice;
};
} // namespace

void Computation::add(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() == &body && argument.getArgNumber() > 0 &&
        slice.carried.insert(argument.getArgNumber() - 1)) {
      add(loop.getYieldedValues()[argument.getArgNumber() - 1]);
    }
    return;
  }
  if (Operation *op = body.findAncestorOpInBlock(*value.getDefiningOp())) {
    add(op);
  }
}

void Computation::add(Operation *op) {
  if (!slice.ops.insert(op) ||
      (op->getNumResults() && readers.copyOf(op->getResult(0))) ||
      readers.isRead(op)) {
    return; // the copy's addresses are computed ahead
  }
  op->walk([&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands()) {
      if (!readers.isReadInPlace(operand)) {
        add(operand.get());
      }
    }
  });
}

LoopSlice Computation::find() {
  for (auto [i, result] : llvm::enumerate(loop.getResults())) {
    if (!result.use_empty() && slice.carried.insert(i)) {
      add(loop.getYieldedValues()[i]);
    }
  }
  for (Operation &op : body.without_terminator()) {
    auto load = dyn_cast<tile::LoadAccess>(op);
    bool isRemovable =
        isMemoryEffectFree(&op) || (load && !load.getIsVolatile());
    if (!isRemovable) {
      add(&op);
    }
  }
  return std::move(slice);
}

LoopSlice computationOf(scf::ForOp loop, const CopyReaders &readers) {
  return Computation(loop, readers).find();
}

} // namespace nereid::tilegpu
