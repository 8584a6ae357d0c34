//===- GlobalOrder.cpp - Accesses of one program in their order -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/GlobalOrder.h"

#include "nereid/Analysis/RootPointer.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;

namespace nereid::togpu {

bool GlobalOrder::isAccess(Operation *op) {
  return isa<tile::LoadOp, tile::StoreOp, tile::AtomicRMWOp, tile::AtomicCASOp,
             tilegpu::CopyAsyncOp>(op);
}

GlobalOrder::Access GlobalOrder::accessOf(Operation *op) {
  Value pointers = op->getOperand(0);
  bool writes = !isa<tile::LoadOp, tilegpu::CopyAsyncOp>(op);
  // Where several threads hold an element one of them writes it, and the
  // others must see that.
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  // And an asynchronous copy is in no order with its thread's own accesses.
  if ((writes && (!type || freeThreadBits(tilegpu::layoutOf(type)))) ||
      isa<tilegpu::CopyAsyncOp>(op)) {
    pointers = {};
  }
  return {rootPointer(op->getOperand(0)), pointers, writes};
}

bool GlobalOrder::needsBarrier(const Access &access) const {
  return llvm::any_of(pending, [&](const Access &before) {
    if (!access.writes && !before.writes) {
      return false;
    }
    bool mayMeet = !access.root || !before.root || access.root == before.root;
    bool sameThreads = access.pointers && access.pointers == before.pointers;
    return mayMeet && !sameThreads;
  });
}

void GlobalOrder::record(const Access &access) {
  if (!llvm::is_contained(pending, access)) {
    pending.push_back(access);
  }
}

void GlobalOrder::enterLoop(Operation *loop) {
  loop->walk([&](Operation *op) {
    if (isAccess(op)) {
      Access access = accessOf(op);
      access.pointers = {};
      record(access);
    }
  });
}

} // namespace nereid::togpu
