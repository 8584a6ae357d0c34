//===- LoopSchedule.h - When each operation of a loop runs ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The expanded loop makes steps. Step t runs stage s of iteration t - s, for
// every stage; within a step smaller orders come first, and equal ones as the
// body has them. docs/Schedules.md tells what follows from a schedule.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPSCHEDULE_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPSCHEDULE_H

#include "nereid/Dialect/TileGPU/Transforms/LoopSlices.h"

#include "llvm/ADT/MapVector.h"

namespace nereid::tilegpu {

/// Is the product's result a sum that goes around the loop, and that only the
/// next iteration's product reads?
bool isSumOfProducts(mlir::scf::ForOp loop, tile::DotOp product);

struct Place {
  unsigned stage = 0, order = 0;
};

class LoopSchedule {
public:
  explicit LoopSchedule(mlir::scf::ForOp loop) : loop(loop) {}
  /// What the attributes of the loop's body say.
  static LoopSchedule read(mlir::scf::ForOp loop);
  /// The inverse; `write` of another schedule's attributes replaces them.
  void write() const;

  /// `op` runs there, and where it was said to run before.
  void run(mlir::Operation *op, Place place);
  /// The result of an asynchronous operation may be used from `place` on.
  void finish(mlir::Operation *op, Place place) { entries[op].done = place; }

  std::optional<Place> placeIn(mlir::Operation *op, unsigned stage) const;
  std::optional<Place> doneAt(mlir::Operation *op) const;
  /// In which the computation runs: the last of all.
  unsigned lastStage() const;
  /// Loads that become copies, in the order in which they start.
  llvm::SmallVector<tile::LoadAccess> copies() const;
  /// Products that a step leaves in flight for the next one.
  bool leavesProducts() const;

  struct Event {
    mlir::Operation *op;
    Place place;
    bool isDone; ///< the end of an asynchronous operation, else a start
  };
  /// Of a step, in order.
  llvm::SmallVector<Event> events() const;

  /// Can it be expanded? An error at the operation where it cannot.
  mlir::LogicalResult verify() const;

  /// Tiles that a copy's buffer holds.
  unsigned slots = 1;

private:
  struct Entry {
    llvm::SmallVector<Place, 2> starts;
    std::optional<Place> done;
  };
  mlir::LogicalResult verifyCopy(tile::LoadAccess load) const;
  mlir::LogicalResult verifyProduct(mlir::Operation *product,
                                    const CopyReaders &readers) const;
  mlir::LogicalResult verifyOperands(mlir::Operation *op, Place place,
                                     const CopyReaders &readers) const;
  mlir::LogicalResult
  verifySlice(const LoopSlice &slice, unsigned stage,
              const llvm::DenseSet<mlir::Operation *> &exempt) const;

  mutable mlir::scf::ForOp loop; // what it points at is not changed
  llvm::MapVector<mlir::Operation *, Entry> entries;
};

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPSCHEDULE_H
