//===- GpuPipeline.h - From Tile to the threads of a GPU --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The passes between the Tile passes and the LLVM dialect, in order, for any
// target that the TileGPU dialect knows. The product runs the two halves one
// after the other, so that the tiles with layouts can be looked at and edited;
// nereid-opt runs and prints them too:
//
//   nereid-opt --tilegpu-pipeline="target=sm_90a warps=4 stages=3" k.mlir
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_GPUPIPELINE_H
#define NEREID_PIPELINE_GPUPIPELINE_H

#include "nereid/ABI/Status.h"
#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "nereid/Dialect/Tile/Transforms/ExpandMath.h"
#include "nereid/Dialect/TileGPU/IR/TargetInfo.h"

#include "mlir/Pass/PassManager.h"

namespace nereid {

/// What may differ between two compilations for one target.
struct GpuOptions {
  std::string target; ///< a name that the TileGPU dialect knows
  unsigned warps = 4;
  unsigned stages = 3;
  bool fpFusion = true;
  bool tensorMaps = true;  ///< a launch may make them
  unsigned matrixSize = 0; ///< rows of a matrix instruction; 0: chosen
  /// Words of NEREID_DISABLE (Support/Policies.def): policies to do without.
  std::vector<std::string> disabled;
  bool beginsEarly = false; ///< launch_pdl

  bool has(llvm::StringRef policy) const {
    return !llvm::is_contained(disabled, policy);
  }
};

/// Tiles get layouts, and loads run ahead of their use. `pm` is anchored on a
/// module.
void buildTileGPUPipeline(mlir::OpPassManager &pm, const GpuOptions &options);

/// Tiles with layouts become the registers of threads; `readGpuKernel` then
/// tells what a launch must know.
void buildGpuThreadsPipeline(mlir::OpPassManager &pm,
                             const GpuOptions &options);

/// Makes `--tilegpu-pipeline`, and `--gpu-pipeline` for both halves, known to
/// nereid-opt.
void registerGpuPipelines();

/// Unsupported if a block of `kernel` needs more shared memory than there is.
Status checkSharedMemory(const GpuKernelInfo &info,
                         const tilegpu::TargetInfo &target,
                         const std::string &kernel);

/// Which functions of `math` are expanded before convertToLLVM.
tile::ExpandMathOptions gpuMath();

} // namespace nereid

#endif // NEREID_PIPELINE_GPUPIPELINE_H
