//===- AllocateShared.cpp - Places of buffers and scratch -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Analysis/SharedAllocation.h"

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_ALLOCATESHARED
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

/// Is every buffer freed in its block, after its allocation?
static LogicalResult checkFrees(func::FuncOp kernel) {
  auto result = kernel.walk([](AllocOp alloc) {
    auto frees = llvm::make_filter_range(
        alloc->getUsers(), [](Operation *user) { return isa<FreeOp>(user); });
    bool isFreed = llvm::hasSingleElement(frees) &&
                   (*frees.begin())->getBlock() == alloc->getBlock();
    if (!isFreed) {
      alloc.emitOpError("expects one tilegpu.free in its block");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

static void writeDown(func::FuncOp kernel, const SharedAllocation &allocation) {
  OpBuilder b(kernel.getContext());
  for (auto &[op, offsets] : allocation.offsets) {
    if (auto alloc = dyn_cast<AllocOp>(op)) {
      alloc.setOffset(offsets[0]);
    } else {
      op->setAttr(scratchAttr,
                  ScratchAttr::get(b.getContext(), offsets,
                                   /*behindBarrier=*/{}, Warps::All));
    }
  }
  kernel->setAttr(sharedBytesAttr, b.getI32IntegerAttr(allocation.bytes));
}

namespace {
struct AllocateSharedPass : impl::AllocateSharedBase<AllocateSharedPass> {
  using AllocateSharedBase::AllocateSharedBase;

  void runOnOperation() override {
    func::FuncOp kernel = getOperation();
    const TargetInfo *target = targetOf(kernel);
    if (!target || failed(checkFrees(kernel))) {
      return signalPassFailure();
    }
    writeDown(kernel,
              allocateShared(kernel, sharedLimit ? sharedLimit.getValue()
                                                 : target->sharedLimit));
  }
};
} // namespace

} // namespace nereid::tilegpu
