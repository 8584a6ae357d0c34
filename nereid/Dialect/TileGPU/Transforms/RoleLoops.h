//===- RoleLoops.h - Loops whose operands other warps can copy --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_ROLELOOPS_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_ROLELOOPS_H

#include "nereid/Analysis/TensorMapAccess.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::tilegpu {

/// A load of a loop that becomes a copy by the engine.
struct TileCopy {
  tile::LoadAccess load;
  TensorMapAccess access;
  BufferType buffer; ///< of one tile
  unsigned ring;     ///< whose slots have a tile of it
  mlir::Value map;   ///< the kernel's parameter
};

/// A load in front of the loops that only their products read, in a buffer of
/// its own: a copy into a ring of one slot.
struct OuterCopy {
  TileCopy copy;
  mlir::Operation *store; ///< into `place`, of what is loaded
  AllocOp place, barriers;
};

/// A loop of products, and what of it the other warps do.
struct RoleLoop {
  mlir::scf::ForOp loop;
  llvm::SmallVector<tile::DotOp> products;
  llvm::SmallVector<TileCopy> copies;
  llvm::SmallVector<unsigned> ringBytes; ///< of a slot
  mlir::Value slot, phase;               ///< of the iteration

  mlir::Location loc() { return loop.getLoc(); }
};

/// Loops that say warp_specialize, all of one block, and what of them and of
/// the operations in front of them the engine can copy.
struct KernelRoles {
  llvm::SmallVector<RoleLoop, 0> loops; ///< in order
  /// Each product is a sum that only the next iteration's product needs.
  bool areCarried = true;
  llvm::SmallVector<OuterCopy, 0> outerCopies;
};

/// Nothing where the kernel has none, or, with the reason, where it stays as it
/// is (docs/Reasons.md). Nothing of the kernel is changed.
std::optional<KernelRoles> findRoles(mlir::func::FuncOp kernel,
                                     const TargetInfo &target);

/// Tells why the loop of `op` has no warps that copy.
void reportNoRoles(mlir::Operation *op, llvm::StringRef reason);

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_ROLELOOPS_H
