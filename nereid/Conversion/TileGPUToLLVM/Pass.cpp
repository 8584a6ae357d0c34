//===- Pass.cpp - The conversion as a pass, for nereid-opt ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"

#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace nereid {
namespace {

struct TileGPUToLLVMPass
    : public PassWrapper<TileGPUToLLVMPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TileGPUToLLVMPass)

  TileGPUToLLVMPass() = default;
  TileGPUToLLVMPass(const TileGPUToLLVMPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "tilegpu-to-llvm"; }
  StringRef getDescription() const override {
    return "tiles with layouts to what one thread does";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registerTileGPUToLLVMDialects(registry);
  }
  void runOnOperation() override {
    GpuLoweringInfo target;
    target.computeCapability = computeCapability;
    target.hasWarpgroupMma = warpgroupMma;
    auto info = convertTileGPUToLLVM(getOperation(), target);
    if (!info.ok()) {
      getOperation()->emitError(info.failure().message);
      signalPassFailure();
    }
  }

  Option<unsigned> computeCapability{
      *this, "cc", llvm::cl::desc("10 * major + minor"), llvm::cl::init(90)};
  Option<bool> warpgroupMma{
      *this, "warpgroup-mma",
      llvm::cl::desc("four warps multiply from shared memory"),
      llvm::cl::init(false)};
};

} // namespace

void registerTileGPUToLLVMPass() { PassRegistration<TileGPUToLLVMPass>(); }

} // namespace nereid
