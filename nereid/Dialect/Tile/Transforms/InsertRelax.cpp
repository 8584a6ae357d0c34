//===- InsertRelax.cpp - Mark the loops that wait for memory to change ----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A spin loop is distinguished from one that merely reads memory by its
// condition: it depends on what the loop itself reads. `while i < n` with loads
// in the body does not; `while tl.atomic_cas(lock, 0, 1) == 1` does.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace nereid::tile {

#define GEN_PASS_DEF_INSERTRELAX
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

static bool readsMemory(Operation *op) {
  return op
      ->walk([](MemoryAccess access) {
        return access.reads() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Does `start` depend on memory that `loop` reads?
static bool dependsOnMemory(Value start, scf::WhileOp loop) {
  SmallVector<Value> work = {start};
  llvm::SmallPtrSet<Value, 16> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second) {
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      // A carried value comes from the body's yield, the body's argument from
      // the condition; anything else is of a region inside or around.
      if (argument.getOwner() == loop.getBeforeBody()) {
        work.push_back(loop.getYieldOp()->getOperand(argument.getArgNumber()));
      } else if (argument.getOwner() == loop.getAfterBody()) {
        work.push_back(
            loop.getConditionOp().getArgs()[argument.getArgNumber()]);
      }
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!loop->isProperAncestor(op)) {
      continue;
    }
    if (readsMemory(op)) {
      return true;
    }
    op->walk([&](Operation *inner) {
      work.append(inner->operand_begin(), inner->operand_end());
    });
  }
  return false;
}

namespace {
struct InsertRelax : impl::InsertRelaxBase<InsertRelax> {
  void runOnOperation() override {
    getOperation().walk([](scf::WhileOp loop) {
      if (dependsOnMemory(loop.getConditionOp().getCondition(), loop)) {
        OpBuilder builder(loop.getYieldOp());
        RelaxOp::create(builder, loop.getLoc());
      }
    });
  }
};
} // namespace

} // namespace nereid::tile
