//===- Hazards.h - Where the threads of a program must meet -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two accesses by different threads that may touch the same bytes, one of them
// a write, need a barrier between them on every path. The walk goes over the
// structured program once and keeps, for every region, the accesses that its
// beginning reaches without a barrier and those that reach its end so
// (docs/TileGPUResources.md). A derived class says where shared memory
// conflicts, and places the barriers; or learns what no barrier separates.
//
// Accesses are kept as a union of spans of shared memory and a summary for each
// global array: the walk takes time linear in the program's length.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_HAZARDS_H
#define NEREID_ANALYSIS_HAZARDS_H

#include "nereid/Analysis/GlobalAccesses.h"
#include "nereid/Analysis/Scratch.h"
#include "nereid/Analysis/Spans.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid {

class HazardWalk {
public:
  virtual ~HazardWalk() = default;
  void run(mlir::func::FuncOp kernel);

  /// scratchOf, asked once.
  llvm::ArrayRef<ScratchPiece> piecesOf(mlir::Operation *op);

protected:
  /// A buffer, by its alloc, or a piece of an operation's scratch: in bytes, or
  /// in whatever else tells two of them apart.
  virtual Span spanOf(mlir::Operation *owner, unsigned piece) = 0;
  /// Must a barrier lie between the reads and the writes that follow?
  virtual bool conflict(const Spans &read, const Spans &written) = 0;
  /// No barrier lies between them.
  virtual void leaveUnordered(const Spans &read, const Spans &written) {}
  /// A derived class that does not need all of them may forget some, for the
  /// sake of time.
  virtual void forget(Spans &pending, Spans &exposed) {}

  virtual void placeBefore(mlir::Operation *op) {}
  /// Inside an operation, before a piece of its scratch is written.
  virtual void placeBeforePiece(mlir::Operation *op, unsigned piece) {}
  virtual void placeAtStart(mlir::Block &block) {}
  virtual void placeAtEnd(mlir::Block &block) {}

private:
  struct Accesses {
    GlobalAccesses global;
    /// There is a barrier between what an operation writes to shared memory and
    /// what it reads there. So only reads can be pending, only writes exposed.
    Spans shared;
    void add(const Accesses &others) {
      global.add(others.global);
      shared.add(others.shared);
    }
    void clear() {
      global.clear();
      shared.clear();
    }
  };
  struct Flow {
    Accesses pending;    ///< since the last barrier
    Accesses exposed;    ///< before the first barrier of the region
    bool through = true; ///< is there a path from its beginning without one?
    void meet() {
      pending.clear();
      through = false;
    }
  };

  bool mustMeet(const Accesses &before, const Accesses &after);
  void reach(Flow &flow, const Accesses &next,
             llvm::function_ref<void()> place);
  void write(Flow &flow, mlir::Operation *owner, unsigned piece,
             llvm::function_ref<void()> place);
  void visit(mlir::Block &block, Flow &flow);
  void visit(mlir::Operation *op, Flow &flow);
  void visitTrips(mlir::Operation *op, Flow &flow);
  void visitFor(mlir::scf::ForOp loop, Flow &flow);
  void visitIf(mlir::scf::IfOp branch, Flow &flow);
  void visitWhile(mlir::scf::WhileOp loop, Flow &flow);
  Flow visitAlone(mlir::Block &block, mlir::Operation *loop);

  llvm::DenseMap<mlir::Operation *, std::vector<ScratchPiece>> pieces;
};

} // namespace nereid

#endif // NEREID_ANALYSIS_HAZARDS_H
