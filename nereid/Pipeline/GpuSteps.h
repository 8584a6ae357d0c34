//===- GpuSteps.h - From Tile to the threads of a GPU -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversions between the Tile passes and PTX, with what each is told of
// the architecture, in this order. The compiler keeps a text and a time after
// each; the fuzzer verifies.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PIPELINE_GPUSTEPS_H
#define NEREID_PIPELINE_GPUSTEPS_H

#include "nereid/ABI/Status.h"
#include "nereid/Conversion/TileGPUToLLVM/TileGPUToLLVM.h"
#include "nereid/Dialect/Tile/Transforms/ExpandMath.h"
#include "nereid/Target/NVPTX/NvptxTarget.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid {

struct GpuOptions {
  unsigned warps = 4;
  unsigned stages = 3;
  bool fpFusion = true;
};

/// Gives every tile a layout.
Status chooseGpuLayouts(mlir::ModuleOp module, const nvptx::NvptxTarget &target,
                        const GpuOptions &options);

/// Starts the loads of loops ahead of their use, where there are asynchronous
/// copies, and those of later programs, where there are bulk prefetches.
void optimiseGpuTiles(mlir::ModuleOp module, const nvptx::NvptxTarget &target,
                      const GpuOptions &options);

/// Tiles become the registers of threads.
Expected<GpuKernelInfo> makeGpuThreads(mlir::ModuleOp module,
                                       const nvptx::NvptxTarget &target,
                                       const GpuOptions &options);

/// Unsupported if a block of `kernel` needs more shared memory than there is.
Status checkSharedMemory(const GpuKernelInfo &info,
                         const nvptx::NvptxTarget &target,
                         const std::string &kernel);

/// Which functions of `math` are expanded before convertToLLVM.
tile::ExpandMathOptions gpuMath();

} // namespace nereid

#endif // NEREID_PIPELINE_GPUSTEPS_H
