//===- LoopExpander.h - A loop rewritten as its schedule says ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With D steps from the copies' stage to the last one, and D + 1 slots,
//
//   start the copies of iterations 0 .. D-1             (a group each)
//   for i:
//     wait for all groups but the D-1 youngest: iteration i is there, and
//       everyone has read slot i-1
//     in the schedule's order:
//       start the copies of iteration i + D into the slot of i-1
//       compute on slot i
//
// Copies are started only for iterations that the loop has. What their stage
// computes runs for all; values that it hands from one iteration to the next
// are carried D iterations ahead of those of the computation.
//
// Products that are done in the next step still read slot i-1 when it begins.
// Where the copies overwrite it, they come after the wait for those products
// and a second barrier.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPEXPANDER_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPEXPANDER_H

#include "nereid/Analysis/AxisInfo.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopSchedule.h"

#include "mlir/IR/IRMapping.h"

namespace nereid::tilegpu {

class LoopExpander {
public:
  /// A schedule that verifies.
  LoopExpander(mlir::scf::ForOp loop, const LoopSchedule &schedule,
               const AxisInfoAnalysis &axes);

  /// Makes the new loop, and what belongs to it, in front of the old one.
  void expand();
  /// What `expand` made.
  llvm::iterator_range<mlir::Block::iterator> made();
  /// The new loop instead of the old one, or only the old one again.
  void replaceLoop();
  void undo();

private:
  /// A stage of copies, and of what their addresses and masks come from.
  struct Ahead {
    unsigned stage, distance; ///< to the last stage
    LoopSlice slice;
    llvm::SmallVector<mlir::Value> carried; ///< as of its next iteration
    mlir::Value slot;                       ///< that a step's copies go to
    mlir::IRMapping map;                    ///< of a step
    mlir::Value condition;                  ///< does it have the iteration?
    bool hasBegun = false;                  ///< in the step
  };

  void allocate();
  void startFirstCopies();
  mlir::Value slotAhead(mlir::Value slot, unsigned distance);
  void emitStep(mlir::Value slot);
  void begin(Ahead &ahead, mlir::Value first, unsigned distance);
  void emitAhead(Ahead &ahead, mlir::Operation *op);
  void end(Ahead &ahead);
  void emitComputation(mlir::Operation *op, mlir::Value slot);
  void emitDone(mlir::Operation *op, mlir::Value slot);
  void emitOlderProductsDone(Place done);
  mlir::Value readAs(mlir::Value value, const TileLayout &layout,
                     mlir::IRMapping &map, mlir::Value slot);
  mlir::Operation *clone(mlir::Operation *op, mlir::IRMapping &map);
  mlir::Value constant(int64_t value);
  mlir::Value stepped(mlir::Value from, unsigned count);
  mlir::Value yielded(unsigned i) { return loop.getYieldedValues()[i]; }
  mlir::Value bufferOf(tile::LoadAccess load) const { return buffers.at(load); }
  /// Is the value a product's that the next step waits for?
  bool isLeftInFlight(mlir::Value value) const {
    mlir::Operation *from = value.getDefiningOp();
    std::optional<Place> done = from ? schedule.doneAt(from) : std::nullopt;
    return done && done->stage > last;
  }

  mlir::scf::ForOp loop;
  mlir::Block &body;
  const LoopSchedule &schedule;
  const AxisInfoAnalysis &axes;
  mlir::OpBuilder b;
  unsigned last;
  llvm::SmallVector<tile::LoadAccess> copies; ///< in the order of their starts
  CopyReaders readers;
  LoopSlice computation;
  llvm::SmallVector<Ahead> aheads; ///< by stage
  llvm::SmallVector<LoopSchedule::Event> events;
  llvm::DenseMap<mlir::Operation *, mlir::Value> buffers;
  mlir::IRMapping map; ///< of the computation, in a step
  mlir::Operation *before;
  mlir::scf::ForOp expanded;
  llvm::SmallVector<mlir::Value> results; ///< of what the computation carries
};

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_LOOPEXPANDER_H
