//===- CpuTarget.h - LLVM dialect to machine code of a CPU -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last stage of the CPU path: a module of the LLVM dialect becomes a
// relocatable ELF object, and an object becomes callable code of this process.
// docs/TargetCPU.md tells what the module must look like.
//
// Everything here may be called from any thread; two calls need different
// MLIR contexts, or one context that is not changed meanwhile.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TARGET_CPU_CPUTARGET_H
#define NEREID_TARGET_CPU_CPUTARGET_H

#include "nereid/ABI/KernelImage.h"
#include "nereid/ABI/LaunchABI.h"
#include "nereid/ABI/Status.h"
#include "nereid/Support/CpuLevels.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nereid::cpu {

struct EmitOptions {
  /// An LLVM pass pipeline in place of the built-in one (experiments).
  std::string pipeline;
};

/// Position-independent ELF. `module` holds `llvm` operations only and is not
/// changed. Whether a * b + c becomes one rounding is decided by the `contract`
/// flags of its operations, never here.
Expected<std::vector<std::byte>> emitObject(mlir::ModuleOp module,
                                            const CpuTarget &target,
                                            const EmitOptions &options = {},
                                            StageTimes *times = nullptr);
/// The optimised LLVM IR; `llc-22 -O2` makes the same code of it.
Expected<std::string> emitLlvmText(mlir::ModuleOp module,
                                   const CpuTarget &target,
                                   const EmitOptions &options = {},
                                   StageTimes *times = nullptr);
/// Assembly in Intel syntax.
Expected<std::string> emitAssembly(mlir::ModuleOp module,
                                   const CpuTarget &target,
                                   const EmitOptions &options = {},
                                   StageTimes *times = nullptr);

/// A function of the C calling convention to put into an object, as the text
/// that emitLlvmText gives, and the name that others of its program refer to
/// it by: it is visible to them, not to users of a shared library.
struct LibraryFunction {
  std::string llvmText;
  std::string entry; ///< its name in the text
  std::string name;  ///< in the object
};

/// An object file of functions, each for the instruction set that it was made
/// for, and one data symbol, a KernelLibrary (ABI/KernelLibrary.h).
struct LibraryObject {
  std::string symbol;
  std::string index;
  struct Image {
    std::string bytes;
    std::optional<size_t> function; ///< index of `functions`
    /// The place of the code in `blocks`, as LibraryImage has it.
    uint32_t block = 0;
    uint64_t begin = 0, codeSize = 0;
  };
  std::vector<Image> images;
  std::vector<std::string> blocks; ///< packed
  std::vector<LibraryFunction> functions;
};
Expected<std::string> emitLibrary(const LibraryObject &library);

/// Links an object into this process. `entryName` has the type HostEntry. The
/// code may call the C library's memcpy, memmove, memset and math functions; a
/// reference to anything else fails. The code is unmapped with the last copy of
/// HostCode::owner.
Expected<HostCode> loadObject(const std::vector<std::byte> &object,
                              const std::string &entryName);

} // namespace nereid::cpu

#endif // NEREID_TARGET_CPU_CPUTARGET_H
