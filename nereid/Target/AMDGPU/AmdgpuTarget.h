//===- AmdgpuTarget.h - AMD architectures and code objects ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_AMDGPU_AMDGPUTARGET_H
#define NEREID_TARGET_AMDGPU_AMDGPUTARGET_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/Status.h"
#include "nereid/Dialect/TileGPU/IR/TargetInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <string>
#include <string_view>
#include <vector>

namespace nereid::amdgpu {

/// An architecture to generate code objects for.
struct AmdgpuTarget {
  std::string name;         ///< "gfx942"
  tilegpu::TargetInfo info; ///< what passes ask
};

/// Every name that `resolve` takes: CDNA, then RDNA, oldest first.
std::vector<std::string> architectures();

/// InvalidArgument with the list of names for any other.
Expected<AmdgpuTarget> resolve(std::string_view name);
/// Lets kernels of the TileGPU dialect name every architecture.
void registerTargets(mlir::DialectRegistry &registry);
/// Is `name` meant as one ("gfx...")?
bool isArchitecture(std::string_view name);

struct EmitOptions {
  /// LDS of a workgroup in bytes, which the code object states.
  unsigned sharedBytes = 0;
  /// Waves that a SIMD unit should have room for; 0: LLVM chooses. A wave then
  /// has fewer registers, or is given more time to wait in.
  unsigned wavesPerUnit = 0;
};

/// A code object: an ELF file that the driver loads, with the kernel's
/// descriptor and metadata. `module` holds `llvm`, `rocdl` and `amd` operations
/// only; `amd` ones become `llvm`. Thread-safe; links one at a time.
Expected<std::string> emitCodeObject(mlir::ModuleOp module,
                                     const AmdgpuTarget &target,
                                     const EmitOptions &options = {},
                                     StageTimes *times = nullptr);
/// The text of its machine code, as an assembler takes it.
Expected<std::string> emitAssembly(mlir::ModuleOp module,
                                   const AmdgpuTarget &target,
                                   const EmitOptions &options = {},
                                   StageTimes *times = nullptr);
/// The optimised LLVM IR.
Expected<std::string> emitLlvmText(mlir::ModuleOp module,
                                   const AmdgpuTarget &target,
                                   const EmitOptions &options = {},
                                   StageTimes *times = nullptr);

/// Lets a context translate `rocdl` to LLVM IR. Contexts made without it are
/// given it by the functions above, which is not safe while another thread uses
/// the context.
void registerTranslation(mlir::DialectRegistry &registry);

} // namespace nereid::amdgpu

#endif // NEREID_TARGET_AMDGPU_AMDGPUTARGET_H
