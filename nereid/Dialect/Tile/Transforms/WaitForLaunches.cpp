//===- WaitForLaunches.cpp - Kernels that begin early wait ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Kernel.h"
#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"

using namespace mlir;

namespace nereid::tile {

#define GEN_PASS_DEF_WAITFORLAUNCHES
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

namespace {
struct WaitForLaunches : impl::WaitForLaunchesBase<WaitForLaunches> {
  void runOnOperation() override {
    bool saysItself =
        getOperation()
            .walk([](GridDependencyOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    auto kernel = findKernel(getOperation());
    if (saysItself || !kernel.ok()) {
      return;
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&kernel->getBody().front());
    GridDependencyOp::create(builder, kernel->getLoc(), GridDependency::Wait);
  }
};
} // namespace

} // namespace nereid::tile
