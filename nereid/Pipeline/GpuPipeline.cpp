//===- GpuPipeline.cpp - From Tile to the threads of a GPU ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/GpuPipeline.h"

#include "nereid/Conversion/TileToTileGPU/Passes.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"
#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;

namespace nereid {

void buildTileGPUPipeline(OpPassManager &pm, const GpuOptions &options) {
  if (options.beginsEarly) {
    pm.addPass(tile::createWaitForLaunches());
  }
  OpPassManager &tiles = pm.nest<func::FuncOp>();
  if (options.has("narrow-comparisons")) {
    tiles.addPass(createNarrowComparisons());
  }
  if (options.has("accumulated-products")) {
    tiles.addPass(createAccumulateProducts({options.fpFusion}));
  }
  pm.addPass(createTileToTileGPU(
      {options.target, options.warps, options.has("matrix-instructions"),
       options.has("shared-rows"), options.has("small-tiles"),
       options.matrixSize}));
  OpPassManager &layouts = pm.nest<func::FuncOp>();
  if (options.has("shared-operands")) {
    layouts.addPass(tilegpu::createShareOperands());
  }
  if (options.has("copies-ahead") && options.tensorMaps) {
    layouts.addPass(tilegpu::createSpecializeWarps({options.stages}));
  }
  if (options.has("copies-ahead")) {
    layouts.addPass(tilegpu::createScheduleLoops(
        {options.stages, /*sharedLimit=*/0, options.has("carried-products")}));
    layouts.addPass(tilegpu::createExpandLoops());
  }
  if (options.has("staged-operands")) {
    layouts.addPass(tilegpu::createStageOperands());
  }
  // One stage asks for nothing ahead of its use.
  if (options.stages > 1 && options.has("prefetch")) {
    layouts.addPass(tilegpu::createPrefetchNextTile());
  }
  if (options.has("registers-for-loads")) {
    layouts.addPass(tilegpu::createRegistersForLoads());
  }
  layouts.addPass(tilegpu::createAllocateShared());
  layouts.addPass(tilegpu::createInsertBarriers());
}

void buildGpuThreadsPipeline(OpPassManager &pm, const GpuOptions &options) {
  pm.addPass(
      createTileGPUToLLVM({options.fpFusion, options.has("streamed-stores"),
                           options.has("looped-products")}));
}

namespace {
/// GpuOptions as text.
struct PipelineText : PassPipelineOptions<PipelineText> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("a GPU that the dialect knows")};
  Option<unsigned> warps{*this, "warps",
                         llvm::cl::desc("warps that run a program"),
                         llvm::cl::init(GpuOptions().warps)};
  Option<unsigned> stages{*this, "stages",
                          llvm::cl::desc("iterations of a loop in flight"),
                          llvm::cl::init(GpuOptions().stages)};
  Option<bool> fpFusion{*this, "fp-fusion",
                        llvm::cl::desc("a * b + c may be rounded once"),
                        llvm::cl::init(GpuOptions().fpFusion)};
  Option<bool> tensorMaps{*this, "tensor-maps",
                          llvm::cl::desc("a launch may make tensor maps"),
                          llvm::cl::init(GpuOptions().tensorMaps)};
  Option<unsigned> matrixSize{*this, "matrix-size",
                              llvm::cl::desc("rows of a matrix instruction"),
                              llvm::cl::init(GpuOptions().matrixSize)};
  ListOption<std::string> disabled{
      *this, "disable", llvm::cl::desc("policies, as NEREID_DISABLE has them")};

  GpuOptions read() const {
    return {target,
            warps,
            stages,
            fpFusion,
            tensorMaps,
            matrixSize,
            std::vector<std::string>(disabled.begin(), disabled.end())};
  }
};
} // namespace

void registerGpuPipelines() {
  PassPipelineRegistration<PipelineText>(
      "tilegpu-pipeline", "From Tile to tiles with layouts, copied ahead",
      [](OpPassManager &pm, const PipelineText &text) {
        buildTileGPUPipeline(pm, text.read());
      });
  PassPipelineRegistration<PipelineText>(
      "gpu-pipeline", "From Tile to what one thread of a GPU does",
      [](OpPassManager &pm, const PipelineText &text) {
        buildTileGPUPipeline(pm, text.read());
        buildGpuThreadsPipeline(pm, text.read());
      });
}

Status checkSharedMemory(const GpuKernelInfo &info,
                         const tilegpu::TargetInfo &target,
                         const std::string &kernel) {
  if (info.sharedBytes <= target.sharedLimit) {
    return Status::success();
  }
  return {ErrorCode::Unsupported,
          "kernel '" + kernel + "' needs " + std::to_string(info.sharedBytes) +
              " bytes of shared memory for a block; " + target.name + " has " +
              std::to_string(target.sharedLimit) + ": use smaller blocks"};
}

tile::ExpandMathOptions gpuMath() {
  tile::ExpandMathOptions math;
  math.hasFma = math.expandsRemainder = true;
  return math;
}

} // namespace nereid
