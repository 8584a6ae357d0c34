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
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"

#include <string>
#include <vector>

namespace nereid {

#define GEN_PASS_DECL
#include "nereid/Conversion/TileGPUToLLVM/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "nereid/Conversion/TileGPUToLLVM/Passes.h.inc"

struct GpuKernelInfo {
  std::string entry;
  unsigned threads = 0;       ///< of a block
  unsigned sharedBytes = 0;   ///< dynamic, of a block
  unsigned registers = 0;     ///< of a thread, at least
  unsigned mostRegisters = 0; ///< that a thread starts with; 0: no limit
  bool hasFaultRecord = false;
  /// One for each argument of the kernel: a store or an atomic reaches it.
  std::vector<bool> writtenParameters;
  /// Of the parameters after those, in order.
  std::vector<tilegpu::TensorMapSourceAttr> tensorMaps = {};
};

/// What the pass `tilegpu-to-llvm` has left on the kernel of `module`. Internal
/// where there is none.
Expected<GpuKernelInfo> readGpuKernel(mlir::ModuleOp module);

/// The dialects of the processor's instructions, which convertToLLVM leaves as
/// they are.
llvm::ArrayRef<llvm::StringRef> machineDialects();

/// The dialects that the conversion creates.
void registerTileGPUToLLVMDialects(mlir::DialectRegistry &registry);

} // namespace nereid

#endif // NEREID_CONVERSION_TILEGPUTOLLVM_TILEGPUTOLLVM_H
