//===- GpuSteps.cpp - From Tile to the threads of a GPU -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Pipeline/GpuSteps.h"

#include "nereid/Conversion/TileToTileGPU/TileToTileGPU.h"
#include "nereid/Dialect/TileGPU/Transforms/Passes.h"

namespace nereid {

Status chooseGpuLayouts(mlir::ModuleOp module, const nvptx::NvptxTarget &target,
                        const GpuOptions &options) {
  GpuTargetInfo layouts;
  layouts.warps = options.warps;
  layouts.hasMmaHalf = target.computeCapability >= 80;
  layouts.hasMmaFp8 = target.computeCapability >= 89;
  layouts.hasWarpgroupMma = target.hasWarpgroupMma();
  layouts.fpFusion = options.fpFusion;
  return convertTileToTileGPU(module, layouts);
}

void optimiseGpuTiles(mlir::ModuleOp module, const nvptx::NvptxTarget &target,
                      const GpuOptions &options) {
  if (target.computeCapability < 80) { // no cp.async
    return;
  }
  tilegpu::PipelineLoadsOptions loads;
  loads.stages = options.stages;
  loads.sharedLimit = target.sharedLimit;
  for (auto kernel : module.getOps<mlir::func::FuncOp>()) {
    tilegpu::shareOperands(kernel, target.sharedLimit);
    tilegpu::pipelineLoads(kernel, loads);
    if (target.computeCapability >= 90 && options.stages > 1) {
      tilegpu::prefetchPrograms(kernel, {target.warps, target.blocks});
    }
  }
}

Expected<GpuKernelInfo> makeGpuThreads(mlir::ModuleOp module,
                                       const nvptx::NvptxTarget &target,
                                       const GpuOptions &options) {
  GpuLoweringInfo lowering;
  lowering.computeCapability = target.computeCapability;
  lowering.hasWarpgroupMma = target.hasWarpgroupMma();
  lowering.fpFusion = options.fpFusion;
  return convertTileGPUToLLVM(module, lowering);
}

Status checkSharedMemory(const GpuKernelInfo &info,
                         const nvptx::NvptxTarget &target,
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
