//===- Regions.cpp - What regions capture and do to memory ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Regions.h"

#include "nereid/Analysis/RootPointer.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace nereid::tocpu {

bool isWrite(Operation *op) {
  return tile::isWriteAccess(op) || isa<tile::BarrierOp, tile::RelaxOp>(op);
}

/// Do two writes conflict with the same loads?
static bool isLike(Operation *x, Operation *y) {
  bool orders = isa<tile::BarrierOp, tile::RelaxOp>(x);
  if (orders || isa<tile::BarrierOp, tile::RelaxOp>(y)) {
    return orders && isa<tile::BarrierOp, tile::RelaxOp>(y);
  }
  Value to = cast<tile::MemoryAccess>(x).getPtr();
  Value other = cast<tile::MemoryAccess>(y).getPtr();
  return rootPointer(to) == rootPointer(other) &&
         tile::getShape(to.getType()) == tile::getShape(other.getType());
}

Regions::Regions(func::FuncOp kernel) : kernel(kernel) {
  kernel.walk([&](Operation *op) {
    if (op == kernel) {
      return;
    }
    for (Value operand : op->getOperands()) {
      capture(op, operand);
    }
    if (op->getNumRegions() != 0 || isMemoryEffectFree(op)) {
      return;
    }
    for (Operation *at = op->getParentOp(); at != kernel;
         at = at->getParentOp()) {
      Facts &outer = facts[at];
      if (outer.touchesMemory) {
        break;
      }
      outer.touchesMemory = true;
    }
    if (isWrite(op)) {
      addWrite(op);
    }
  });
}

/// Tells the levels between the reader and the block that holds the value. A
/// level that knows has informed those around it.
void Regions::capture(Operation *reader, Value value) {
  // A block of constants may get a buffer, which must live as long.
  if (value.getDefiningOp<arith::ConstantOp>() &&
      !isa<RankedTensorType>(value.getType())) {
    return;
  }
  for (Block *at = reader->getBlock(); at != value.getParentBlock();) {
    Operation *level = at->getParentOp();
    if (!facts[level].captured.insert(value)) {
      return;
    }
    at = level->getBlock();
  }
}

void Regions::addWrite(Operation *write) {
  for (Operation *at = write->getParentOp(); at != kernel;
       at = at->getParentOp()) {
    Facts &outer = facts[at];
    if (llvm::any_of(outer.writes,
                     [&](Operation *known) { return isLike(known, write); })) {
      return;
    }
    outer.writes.push_back(write);
  }
}

ArrayRef<Value> Regions::captured(Operation *op) const {
  auto found = facts.find(op);
  return found == facts.end() ? ArrayRef<Value>()
                              : found->second.captured.getArrayRef();
}

bool Regions::touchesMemory(Operation *op) const {
  auto found = facts.find(op);
  return found != facts.end() && found->second.touchesMemory;
}

ArrayRef<Operation *> Regions::writes(Operation *op) const {
  auto found = facts.find(op);
  return found == facts.end() ? ArrayRef<Operation *>()
                              : ArrayRef(found->second.writes);
}

} // namespace nereid::tocpu
