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
  for (tile::LoadOp load : schedule.copies()) {
    StringRef why;
    if (!copyDimension(load, axes, why)) {
      return load.emitOpError("cannot be copied: ") << why;
    }
  }
  return success();
}

namespace {
struct ExpandLoopsPass : impl::ExpandLoopsBase<ExpandLoopsPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (loop->hasAttr(slotsAttr)) {
        loops.push_back(loop);
      }
    });
    if (loops.empty()) {
      return markAllAnalysesPreserved();
    }
    auto &axes = getAnalysis<AxisInfoAnalysis>();
    for (scf::ForOp loop : loops) {
      LoopSchedule schedule = LoopSchedule::read(loop);
      if (failed(schedule.verify()) || failed(verifyCopies(schedule, axes))) {
        return signalPassFailure();
      }
      LoopExpander expander(loop, schedule, axes);
      expander.expand();
      expander.replaceLoop();
    }
  }
};
} // namespace

} // namespace nereid::tilegpu
