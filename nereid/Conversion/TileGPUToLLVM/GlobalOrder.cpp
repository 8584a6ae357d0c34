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

void GlobalOrder::Pointers::add(Value pointers) {
  several |= !pointers || (any && pointers != same);
  any = true;
  same = pointers;
}

void GlobalOrder::Pointers::add(const Pointers &others) {
  if (others.any) {
    add(others.several ? Value() : others.same);
  }
}

bool GlobalOrder::Pointers::mayBeOfOtherThan(Value pointers) const {
  return any && (several || !pointers || pointers != same);
}

GlobalOrder::Array &GlobalOrder::arrayOf(State &state, Value root) {
  auto *array = llvm::find_if(
      state, [&](const Array &known) { return known.root == root; });
  return array != state.end() ? *array
                              : state.emplace_back(Array{root, {}, {}});
}

bool GlobalOrder::needsBarrier(const Access &access) const {
  return llvm::any_of(pending, [&](const Array &array) {
    bool mayMeet = !access.root || !array.root || access.root == array.root;
    return mayMeet &&
           (array.written.mayBeOfOtherThan(access.pointers) ||
            (access.writes && array.read.mayBeOfOtherThan(access.pointers)));
  });
}

void GlobalOrder::record(const Access &access) {
  Array &array = arrayOf(pending, access.root);
  (access.writes ? array.written : array.read).add(access.pointers);
}

void GlobalOrder::join(State &state, const State &other) {
  for (const Array &from : other) {
    Array &array = arrayOf(state, from.root);
    array.read.add(from.read);
    array.written.add(from.written);
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
