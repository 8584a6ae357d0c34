//===- GlobalOrder.cpp - Accesses of one program in their order -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/GlobalOrder.h"

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

using namespace mlir;

namespace nereid::togpu {

Value rootPointer(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<tile::AddPtrOp, tile::SplatOp, tile::BroadcastOp, tile::HintOp,
             tile::ExpandDimsOp, tile::PtrCastOp, tile::ReshapeOp,
             tile::TransposeOp, tilegpu::ConvertLayoutOp>(op)) {
      return {};
    }
    pointer = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(pointer);
  Operation *parent = argument.getOwner()->getParentOp();
  if (isa<func::FuncOp>(parent)) {
    return argument;
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop || argument.getArgNumber() == 0) {
    return {};
  }
  unsigned i = argument.getArgNumber() - 1;
  // Through the loop it may become another array.
  Value next = loop.getYieldedValues()[i];
  while (Operation *op = next.getDefiningOp()) {
    if (!isa<tile::AddPtrOp, tile::HintOp>(op)) {
      return {};
    }
    next = op->getOperand(0);
  }
  return next == argument ? rootPointer(loop.getInitArgs()[i]) : Value();
}

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
