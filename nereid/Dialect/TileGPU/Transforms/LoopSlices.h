//===- LoopSlices.h - What of a loop's body is needed where -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop whose loads are copied ahead is computed in parts: addresses and masks
// as long before their iteration as the copies start, everything else in it.
// The schedule is made of these parts, checked against them, and expanded by
// them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPSLICES_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPSLICES_H

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "llvm/ADT/SetVector.h"

namespace nereid::tilegpu {

/// Operations of a body, and numbers of the loop's carried values, in the order
/// in which they were found.
struct LoopSlice {
  llvm::SetVector<mlir::Operation *> ops;
  llvm::SetVector<unsigned> carried;
};

/// Adds what `value` is computed from. Null, or what cannot be computed before
/// its iteration; the slice is then of no use.
mlir::Operation *addAhead(LoopSlice &slice, mlir::scf::ForOp loop,
                          mlir::Value value);

/// The readers of the loads that a loop copies ahead, and how they read.
class CopyReaders {
public:
  CopyReaders(mlir::scf::ForOp loop, llvm::ArrayRef<tile::LoadAccess> copies);

  /// The load whose result `value` is, if it is copied.
  tile::LoadAccess copyOf(mlir::Value value) const;
  /// A conversion that becomes a read of a buffer.
  bool isRead(mlir::Operation *op) const;
  /// An operand that a product reads from a buffer itself.
  bool isReadInPlace(mlir::OpOperand &use) const;
  /// Is what a copied load is, or is a transpose of, read in place by products
  /// alone? What is also in registers a product may take from there, through
  /// shared memory of its own.
  bool isOnlyReadInPlace(mlir::Value value) const;
  /// Does the computation use a copied load as it was loaded?
  bool isComputedOn(mlir::OpOperand &use, const LoopSlice &computation) const;

private:
  mlir::Block &body;
  llvm::SmallPtrSet<mlir::Operation *, 4> copies;
};

/// What the iteration itself computes: all that results and effects need, but
/// not the addresses and masks of the copies.
LoopSlice computationOf(mlir::scf::ForOp loop, const CopyReaders &readers);

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPSLICES_H
