//===- TileToCPU.h - Tile IR to loops of short vectors ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One program of a kernel becomes loop nests over short vectors, and a loop
// over programs goes around it. docs/TileToCPU.md tells how.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOCPU_TILETOCPU_H
#define NEREID_CONVERSION_TILETOCPU_TILETOCPU_H

#include "nereid/ABI/Status.h"
#include "nereid/Conversion/Lanes/LaneOps.h"
#include "nereid/Dialect/Tile/Transforms/ExpandMath.h"
#include "nereid/Support/CpuLevels.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nereid {

namespace tocpu {
using namespace lanes;
}

struct CpuKernelInfo {
  std::string entry;         ///< the symbol of the HostEntry
  uint64_t scratchBytes = 0; ///< what LaunchFrame::scratch must hold
  /// One for each argument of the kernel: a store or an atomic reaches it.
  std::vector<bool> writtenParameters;
};

/// Replaces the function with `tile.kernel` in `module` by `<kernel>_entry`, a
/// HostEntry (nereid/ABI/LaunchABI.h): upstream func, scf, arith, math and
/// vector operations, with `llvm` operations for memory. Fails with Unsupported
/// and the operation's location where an operation has no CPU form; the module
/// is then unspecified. `fpFusion`: a * b + c may be rounded once.
Expected<CpuKernelInfo> convertTileToCPU(mlir::ModuleOp module,
                                         const cpu::CpuTarget &target,
                                         bool fpFusion = true);

/// For tile::expandMath, which comes after it.
tile::ExpandMathOptions mathOptionsOf(const cpu::CpuTarget &target);

/// The dialects that convertTileToCPU and convertToLLVM create.
void registerTileToCPUDialects(mlir::DialectRegistry &registry);

} // namespace nereid

#endif // NEREID_CONVERSION_TILETOCPU_TILETOCPU_H
