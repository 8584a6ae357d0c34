//===- HoistLoads.cpp - Loads before the first synchronisation ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction synchronises the threads of a program, and no assembler moves a
// load across that. A layer norm that loads its weights after its sums waits
// for memory twice. Loads that depend on no reduction go before the first one,
// with what their addresses are computed from; as long as a thread does not
// carry more than a few registers for them.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/RootPointer.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace nereid::tilegpu {
namespace {

/// Bytes of all hoisted values of a block that a thread holds.
constexpr unsigned mostBytes = 192;

bool synchronises(Operation *op) {
  return isa<tile::ReduceOp, tile::ScanOp, tile::GatherOp>(op);
}

class Hoister {
public:
  explicit Hoister(Block &block) : block(block) {}

  void run() {
    auto first =
        llvm::find_if(block, [](Operation &op) { return synchronises(&op); });
    if (first == block.end()) {
      return;
    }
    target = &*first;
    for (Operation &op :
         llvm::make_early_inc_range(llvm::make_range(first, block.end()))) {
      if (auto load = dyn_cast<tile::LoadOp>(op)) {
        tryHoist(load);
      } else if (!canPass(&op)) {
        return;
      }
    }
  }

private:
  /// May later loads go before it? Notes what it writes.
  bool canPass(Operation *op) {
    if (isMemoryEffectFree(op) || synchronises(op)) {
      return true;
    }
    auto store = dyn_cast<tile::StoreOp>(op);
    Value root = store ? rootPointer(store.getPtr()) : Value();
    if (root) {
      written.insert(root);
    }
    return root != nullptr;
  }

  bool addSlice(Value value, SetVector<Operation *> &slice) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block || op->isBeforeInBlock(target) ||
        slice.contains(op)) {
      return true;
    }
    if (op == target || op->getNumRegions() || !isMemoryEffectFree(op) ||
        !llvm::all_of(op->getOperands(), [&](Value operand) {
          return addSlice(operand, slice);
        })) {
      return false;
    }
    slice.insert(op); // after its operands
    return true;
  }

  void tryHoist(tile::LoadOp load) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    Value root = rootPointer(load.getPtr());
    if (!type || load.getIsVolatile() || !root || written.contains(root)) {
      return;
    }
    unsigned size = layoutOf(type).registerCount() *
                    tile::getElementBytes(tile::getElement(type));
    SetVector<Operation *> slice;
    if (bytes + size > mostBytes ||
        !llvm::all_of(load->getOperands(),
                      [&](Value v) { return addSlice(v, slice); })) {
      return;
    }
    bytes += size;
    for (Operation *op : slice) {
      op->moveBefore(target);
    }
    load->moveBefore(target);
  }

  Block &block;
  Operation *target = nullptr;
  DenseSet<Value> written;
  unsigned bytes = 0;
};

struct HoistLoadsPass
    : public PassWrapper<HoistLoadsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistLoadsPass)

  StringRef getArgument() const override { return "tilegpu-hoist-loads"; }
  StringRef getDescription() const override {
    return "loads that depend on no reduction go before the first one";
  }
  void runOnOperation() override { hoistLoads(getOperation()); }
};

} // namespace

void hoistLoads(func::FuncOp kernel) {
  kernel.walk([](Block *block) { Hoister(*block).run(); });
}

void registerHoistLoadsPass() { PassRegistration<HoistLoadsPass>(); }

} // namespace nereid::tilegpu
