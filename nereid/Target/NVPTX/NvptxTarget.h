//===- NvptxTarget.h - NVIDIA architectures and PTX -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_NVPTX_NVPTXTARGET_H
#define NEREID_TARGET_NVPTX_NVPTXTARGET_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/Status.h"
#include "nereid/Dialect/TileGPU/IR/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::nvptx {

/// An architecture to generate PTX for.
struct NvptxTarget {
  std::string name;               ///< "sm_90a"
  unsigned computeCapability = 0; ///< 10 * major + minor: 90, 120
  /// The oldest PTX ISA with every instruction Nereid uses there, so that the
  /// oldest driver that knows the architecture can assemble it: "80" for 8.0.
  std::string ptxVersion;
  tilegpu::TargetInfo info; ///< what passes ask
};

/// Every name that `resolve` takes, oldest first.
std::vector<std::string> architectures();

/// "sm_75", ..., "sm_90a". InvalidArgument with the list of names otherwise.
Expected<NvptxTarget> resolve(std::string_view name);
/// Lets kernels of the TileGPU dialect name every architecture.
void registerTargets(mlir::DialectRegistry &registry);
/// Is `name` meant as one ("sm_...")?
bool isArchitecture(std::string_view name);

struct EmitOptions {
  /// Registers of a thread; 0 leaves the choice to the assembler.
  unsigned maxRegisters = 0, minRegisters = 0;
  bool fpFusion = true;
  /// See RecomputeInvariants.h.
  bool recomputesInvariants = true;
};

/// PTX text. `module` holds `llvm`, `nvvm` and `nv` operations only; `nv` ones
/// are printed as assembly, and locations change.
Expected<std::string> emitPtx(mlir::ModuleOp module, const NvptxTarget &target,
                              const EmitOptions &options = {},
                              StageTimes *times = nullptr);
/// The optimised LLVM IR.
Expected<std::string> emitLlvmText(mlir::ModuleOp module,
                                   const NvptxTarget &target,
                                   const EmitOptions &options = {},
                                   StageTimes *times = nullptr);

/// Lets a context translate what `nv` says of assembly to LLVM IR. Contexts
/// made without it are given it by emitPtx, which is not safe while another
/// thread uses the context.
void registerTranslation(mlir::DialectRegistry &registry);

} // namespace nereid::nvptx

#endif // NEREID_TARGET_NVPTX_NVPTXTARGET_H
