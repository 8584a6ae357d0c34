//===- TileToTileGPU.h - Who holds which element ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives every tensor of a kernel a layout. docs/TileToTileGPU.md tells how the
// layouts are chosen.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOTILEGPU_TILETOTILEGPU_H
#define NEREID_CONVERSION_TILETOTILEGPU_TILETOTILEGPU_H

#include "nereid/ABI/Status.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid {

/// What the passes on TileGPU may ask of a processor. They never ask its name.
struct GpuTargetInfo {
  unsigned warps = 4; ///< of a program; a power of two
  /// Matrix instructions for these operands exist.
  bool hasMmaHalf = false; ///< f16, bf16, tf32, i8, f64
  bool hasMmaFp8 = false;
  /// Four warps multiply together, from shared memory (f16, bf16).
  bool hasWarpgroupMma = false;
  /// a * b + c may be rounded once, products included.
  bool fpFusion = true;
};

/// Rewrites the kernel of `module` in place. Fails with Unsupported, naming the
/// operation, where there is no GPU form.
Status convertTileToTileGPU(mlir::ModuleOp module, const GpuTargetInfo &target);

/// Makes the pass `tile-to-tilegpu` known by name.
void registerTileToTileGPUPass();

} // namespace nereid

#endif // NEREID_CONVERSION_TILETOTILEGPU_TILETOTILEGPU_H
