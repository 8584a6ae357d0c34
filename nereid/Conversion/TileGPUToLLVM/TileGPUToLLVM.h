//===- TileGPUToLLVM.h - Tiles with layouts to threads ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One program of a kernel becomes a function that every thread of a block
// runs: a tensor is one SSA value for each live register of its layout.
// docs/TileGPUToLLVM.md tells how.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILEGPUTOLLVM_TILEGPUTOLLVM_H
#define NEREID_CONVERSION_TILEGPUTOLLVM_TILEGPUTOLLVM_H

#include "nereid/ABI/Status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <string>
#include <vector>

namespace nereid {

/// What the conversion must know of the processor.
struct GpuLoweringInfo {
  unsigned computeCapability = 90; ///< 10 * major + minor
  /// Shared memory is read by wgmma too, which sees it after a fence of its
  /// own.
  bool hasWarpgroupMma = false;
  bool fpFusion = true;
};

struct GpuKernelInfo {
  std::string entry;
  unsigned sharedBytes = 0; ///< dynamic, of a block
  bool hasFaultRecord = false;
  /// One for each argument of the kernel: a store or an atomic reaches it.
  std::vector<bool> writtenParameters;
};

/// Replaces the kernel by an `llvm.func` with `nvvm.kernel`, of arith, math,
/// scf and llvm operations on scalars.
Expected<GpuKernelInfo> convertTileGPUToLLVM(mlir::ModuleOp module,
                                             const GpuLoweringInfo &target);

/// The dialects that the conversion creates.
void registerTileGPUToLLVMDialects(mlir::DialectRegistry &registry);

/// Makes the pass `tilegpu-to-llvm` known by name.
void registerTileGPUToLLVMPass();

} // namespace nereid

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_TILEGPUTOLLVM_H
