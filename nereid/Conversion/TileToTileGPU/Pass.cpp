//===- Pass.cpp - The conversion as a pass, for nereid-opt ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToTileGPU/TileToTileGPU.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace nereid {
namespace {

struct TileToTileGPUPass
    : public PassWrapper<TileToTileGPUPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileToTileGPUPass)

  TileToTileGPUPass() = default;
  TileToTileGPUPass(const TileToTileGPUPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tile-to-tilegpu"; }
  StringRef getDescription() const override {
    return "give every tensor a layout over registers, lanes and warps";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tilegpu::TileGPUDialect>();
  }
  void runOnOperation() override {
    GpuTargetInfo target;
    target.warps = warps;
    target.hasMmaHalf = target.hasMmaFp8 = mma;
    target.hasWarpgroupMma = warpgroupMma;
    Status status = convertTileToTileGPU(getOperation(), target);
    if (!status.ok()) {
      getOperation()->emitError(status.failure().message);
      signalPassFailure();
    }
  }

  Option<unsigned> warps{*this, "warps",
                         llvm::cl::desc("warps that run a program"),
                         llvm::cl::init(4)};
  Option<bool> mma{*this, "mma",
                   llvm::cl::desc("the target has matrix instructions"),
                   llvm::cl::init(true)};
  Option<bool> warpgroupMma{
      *this, "warpgroup-mma",
      llvm::cl::desc("four warps multiply from shared memory"),
      llvm::cl::init(false)};
};

} // namespace

void registerTileToTileGPUPass() { PassRegistration<TileToTileGPUPass>(); }

} // namespace nereid
