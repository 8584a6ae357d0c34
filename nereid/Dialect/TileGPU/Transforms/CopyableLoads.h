//===- CopyableLoads.h - Which loads can be copied ahead --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ScheduleLoops asks of a loop and its loads, and reports those that stay
// where they are.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_COPYABLELOADS_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_COPYABLELOADS_H

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace nereid::tilegpu {

/// The dimension along which pieces of 4 to 16 bytes of a load can be copied;
/// absent, with the reason, where there is none.
std::optional<unsigned> copyDimension(tile::LoadAccess load,
                                      const AxisInfoAnalysis &axes,
                                      llvm::StringRef &why);

/// Loads of `body` that `value` is computed from, element by element.
void addSources(mlir::Value value, mlir::Block &body,
                llvm::SetVector<mlir::Operation *> &loads);

/// What in a loop's body may write what a later iteration reads through
/// `pointers`; null if there is none.
mlir::Operation *writerOf(mlir::Block &body, mlir::Value pointers);

/// A loop without loops.
bool isInnermost(mlir::scf::ForOp loop);

void reportStays(tile::LoadAccess load, const llvm::Twine &reason,
                 const llvm::Twine &hint = "");

/// How far ahead a loop's copies run.
struct StagesChosen {
  unsigned copies = 0, asked = 0, distance = 0;
  unsigned slotBytes = 0; ///< of all copies, a stage
  unsigned needed = 0;    ///< bytes of shared memory that one more stage needs
  unsigned sharedLimit = 0; ///< of a block
};
void reportStages(mlir::scf::ForOp loop, const StagesChosen &s);

/// Of loops with loads that ScheduleLoops does not look at.
void reportLoopsNotSeen(mlir::func::FuncOp kernel, const TargetInfo &target);

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_COPYABLELOADS_H
