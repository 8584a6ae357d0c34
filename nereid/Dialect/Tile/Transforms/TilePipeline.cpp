//===- TilePipeline.cpp - What every target runs first --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace nereid::tile {

void buildTilePipeline(OpPassManager &pm, const TilePipelineOptions &options) {
  OpPassManager &kernel = pm.nest<func::FuncOp>();
  // Before anything moves: a check stands where the source has the access.
  if (options.checkBounds || options.checkNan) {
    InsertChecksOptions checks;
    checks.bounds = options.checkBounds;
    checks.nan = options.checkNan;
    kernel.addPass(createInsertChecks(checks));
  }
  kernel.addPass(createSimplifyTiles());
  kernel.addPass(createCountLoops());
  kernel.addPass(createScalarizeInduction());
  kernel.addPass(createSimplifyTiles());
  kernel.addPass(createLoopInvariantCodeMotionPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createInsertRelax());
  kernel.addPass(createAssignSites());
}

void registerTilePipelines() {
  PassPipelineRegistration<>("tile-pipeline",
                             "The target-neutral passes, in order",
                             [](OpPassManager &pm) { buildTilePipeline(pm); });
}

} // namespace nereid::tile
