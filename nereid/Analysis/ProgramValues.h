//===- ProgramValues.h - Integers of one program of a launch ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of one program the numbers of most indices and masks are known before it
// runs: they come from its place in the grid, the launch's integers, ranges and
// loops. ProgramValues computes them, element by element. What depends on
// loaded values is unknown, and so is what lies in a branch or loop that
// depends on them. Nothing is assumed: numbers of any sign wrap as their types
// do, and what the language leaves undefined is unknown.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_PROGRAMVALUES_H
#define NEREID_ANALYSIS_PROGRAMVALUES_H

#include "nereid/ABI/KernelCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <functional>
#include <optional>

namespace nereid {

/// Integers, with the sign extended to 64 bits (i1: 0 or 1), or addresses, as
/// bytes past the array argument `root`. One element stands for all where
/// they are equal; else they are row-major.
struct KnownValue {
  std::vector<int64_t> elements;
  mlir::Value root;

  int64_t at(size_t i) const { return elements[elements.size() == 1 ? 0 : i]; }
};

/// A load, store or atomic that runs for certain, with known addresses and
/// mask; `mask` is null where there is none.
struct KnownAccess {
  mlir::Operation *op;
  size_t count; ///< of elements
  const KnownValue &pointers;
  const KnownValue *mask;
};

class ProgramValues {
public:
  /// `work` counts down by the elements that are computed; when it is used up,
  /// `run` ends. Both must outlive the object.
  ProgramValues(const LaunchFacts &launch, std::array<int32_t, 3> program,
                int64_t &work,
                std::function<void(const KnownAccess &)> onAccess)
      : launch(launch), program(program), work(work),
        onAccess(std::move(onAccess)) {}
  virtual ~ProgramValues() = default;

  void run(mlir::func::FuncOp kernel);

protected:
  using Maybe = std::optional<KnownValue>;
  const KnownValue *get(mlir::Value value) const;

  // What runs, in its order. An operation without flow, when its result is
  // known or known to be unknown:
  virtual void onOperation(mlir::Operation *) {}
  /// Values that a loop or a branch hands on; `isAgain`: to its next iteration.
  virtual void onCopy(mlir::ValueRange, mlir::ValueRange, bool /*isAgain*/) {}
  /// A loop or branch whose iterations or path are unknown.
  virtual void onUnknown(mlir::Operation *) {}

  /// Blocks whose elements only move, by `op`.
  static Maybe moved(mlir::Operation *op, const KnownValue &from,
                     int64_t &work);

private:
  void set(mlir::Value value, Maybe known);
  /// The only element; nothing for blocks and the unknown.
  std::optional<int64_t> scalar(mlir::Value value) const;
  /// Known values of some results or arguments, to others.
  void copy(mlir::ValueRange from, mlir::ValueRange to, bool isAgain = false);
  void setAll(mlir::ValueRange values, const std::vector<Maybe> &to);
  std::vector<Maybe> getAll(mlir::ValueRange values) const;

  void run(mlir::Block &block);
  void run(mlir::Operation *op);
  void runFor(mlir::scf::ForOp loop);
  void runWhile(mlir::scf::WhileOp loop);
  void runIf(mlir::scf::IfOp branch);
  void recordAccess(mlir::Operation *op);

  Maybe evaluate(mlir::Operation *op);
  Maybe evaluateInteger(mlir::Operation *op);
  Maybe select(mlir::Operation *op);
  Maybe advance(mlir::Operation *op);

  const LaunchFacts &launch;
  const std::array<int32_t, 3> program;
  int64_t &work;
  const std::function<void(const KnownAccess &)> onAccess;
  llvm::DenseMap<mlir::Value, KnownValue> known;
};

} // namespace nereid

#endif // NEREID_ANALYSIS_PROGRAMVALUES_H
