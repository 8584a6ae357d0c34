//===- GlobalAccesses.cpp - Which arrays a program touches ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/GlobalAccesses.h"

#include "nereid/Analysis/RootPointer.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;

namespace nereid {

//===----------------------------------------------------------------------===//
// The pointers of some accesses
//===----------------------------------------------------------------------===//

void GlobalAccesses::Pointers::add(Value pointers) {
  several |= !pointers || (any && pointers != same);
  any = true;
  same = pointers;
}

void GlobalAccesses::Pointers::add(const Pointers &others) {
  if (others.any) {
    add(others.several ? Value() : others.same);
  }
}

void GlobalAccesses::Pointers::leave(Operation *loop) {
  several |=
      any && !several && loop->isAncestor(same.getParentBlock()->getParentOp());
}

bool GlobalAccesses::Pointers::differFrom(const Pointers &others) const {
  return any && others.any &&
         (several || others.several || same != others.same);
}

//===----------------------------------------------------------------------===//
// By array
//===----------------------------------------------------------------------===//

GlobalAccesses GlobalAccesses::of(Operation *op) {
  GlobalAccesses accesses;
  auto access = dyn_cast<tile::MemoryAccess>(op);
  auto copy = dyn_cast<tilegpu::CopyAsyncOp>(op);
  if (!access && !copy) {
    return accesses;
  }
  Value pointers = access ? access.getPtr() : copy.getPointers();
  Array &array = accesses.arrayOf(rootPointer(pointers));
  bool writes = access && access.writes();
  // Where several threads hold an element one of them writes it, and the
  // others must see that.
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  bool isWrittenForOthers =
      writes && (!type || freeThreadBits(tilegpu::layoutOf(type)));
  // And an asynchronous copy is in no order with its thread's own accesses.
  bool isOwn = !isWrittenForOthers && !copy;
  (writes ? array.written : array.read).add(isOwn ? pointers : Value());
  return accesses;
}

GlobalAccesses::Array &GlobalAccesses::arrayOf(Value root) {
  auto *array = llvm::find_if(
      arrays, [&](const Array &known) { return known.root == root; });
  return array != arrays.end() ? *array
                               : arrays.emplace_back(Array{root, {}, {}});
}

void GlobalAccesses::add(const GlobalAccesses &others) {
  for (const Array &from : others.arrays) {
    Array &array = arrayOf(from.root);
    array.read.add(from.read);
    array.written.add(from.written);
  }
}

bool GlobalAccesses::conflictsWith(const GlobalAccesses &after) const {
  return llvm::any_of(arrays, [&](const Array &x) {
    return llvm::any_of(after.arrays, [&](const Array &y) {
      bool mayMeet = !x.root || !y.root || x.root == y.root;
      return mayMeet &&
             (x.written.differFrom(y.read) || x.written.differFrom(y.written) ||
              x.read.differFrom(y.written));
    });
  });
}

void GlobalAccesses::leave(Operation *loop) {
  for (Array &array : arrays) {
    array.read.leave(loop);
    array.written.leave(loop);
  }
}

bool ordersGlobalMemory(Operation *kernel) {
  GlobalAccesses all;
  return kernel
      ->walk([&](Operation *op) {
        auto access = dyn_cast<tile::MemoryAccess>(op);
        bool isForOthers = access && ((access.reads() && access.writes()) ||
                                      access.getIsVolatile());
        GlobalAccesses own = GlobalAccesses::of(op);
        bool conflicts = isForOthers || all.conflictsWith(own);
        bool isRepeated = false;
        for (Operation *loop = op->getParentOp(); loop && loop != kernel;
             loop = loop->getParentOp()) {
          if (isa<LoopLikeOpInterface>(loop)) {
            own.leave(loop);
            isRepeated = true;
          }
        }
        conflicts |= isRepeated && own.conflictsWith(own);
        all.add(own);
        return conflicts ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace nereid
