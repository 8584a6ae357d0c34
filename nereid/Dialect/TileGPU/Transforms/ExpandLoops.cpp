//===- ExpandLoops.cpp - Loops rewritten as their schedules say -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "nereid/Dialect/TileGPU/Transforms/CopyableLoads.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopExpander.h"

using namespace mlir;

namespace nereid::tilegpu {

#define GEN_PASS_DEF_EXPANDLOOPS
#include "nereid/Dialect/TileGPU/Transforms/Passes.h.inc"

/// What a schedule does not say: can its loads be copied at all?
static LogicalResult verifyCopies(const LoopSchedule &schedule,
                                  const AxisInfoAnalysis &axes) {
  for (tile::LoadAccess load : schedule.copies()) {
    StringRef why;
    if (!copyDimension(load, axes, why)) {
      return load.emitOpError("cannot be copied: ") << why;
    }
  }
  return success();
}

/// Loops with a schedule that are inside of no other such loop.
static SmallVector<scf::ForOp> scheduledLoops(func::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (!loop->hasAttr(slotsAttr)) {
      return WalkResult::advance();
    }
    loops.push_back(loop);
    return WalkResult::skip();
  });
  return loops;
}

static LogicalResult expandLoops(ArrayRef<scf::ForOp> loops,
                                 const AxisInfoAnalysis &axes) {
  for (scf::ForOp loop : loops) {
    LoopSchedule schedule = LoopSchedule::read(loop);
    if (failed(schedule.verify()) || failed(verifyCopies(schedule, axes))) {
      return failure();
    }
    LoopExpander expander(loop, schedule, axes);
    expander.expand();
    expander.replaceLoop();
  }
  return success();
}

namespace {
struct ExpandLoopsPass : impl::ExpandLoopsBase<ExpandLoopsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops = scheduledLoops(getOperation());
    if (loops.empty()) {
      return markAllAnalysesPreserved();
    }
    // An outer loop's operations have places, its inner loop's new ones would
    // not: so outer loops first.
    LogicalResult done = expandLoops(loops, getAnalysis<AxisInfoAnalysis>());
    while (succeeded(done) &&
           !(loops = scheduledLoops(getOperation())).empty()) {
      done = expandLoops(loops, AxisInfoAnalysis(getOperation()));
    }
    if (failed(done)) {
      signalPassFailure();
    }
  }
};
} // namespace

} // namespace nereid::tilegpu
