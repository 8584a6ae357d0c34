//===- Machine.h - The state of one executing thread ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_MACHINE_H
#define NEREID_INTERP_MACHINE_H

#include "nereid/ABI/AccessWatch.h"
#include "nereid/ABI/LaunchABI.h"
#include "nereid/Interp/Oracle.h"
#include "nereid/Interp/Program.h"

#include <mutex>
#include <optional>

namespace nereid::interp {

/// Runs the programs of a grid one after the other. Handlers read operands
/// with `in` and write results through `out`; nothing else is mutable.
class Machine {
public:
  /// `oracle` is filled in the mode Float64WithBounds and may be null in the
  /// others. `stepLimit`: give up a program after so many steps, 0 for never.
  Machine(const Program &program, FloatMode mode, LaunchFrame &frame,
          Oracle *oracle = nullptr, uint64_t stepLimit = 0);

  /// Program `linear` of the frame's grid. False if it met the step limit.
  bool runProgram(int64_t linear);

  const TileValue &in(const Step &step, unsigned i) const {
    return slots[step.operands[i]];
  }
  /// Result `i`, of its static type, sized; its elements are to be written.
  TileValue &out(const Step &step, unsigned i = 0);
  TileValue &slot(unsigned index) { return slots[index]; }
  const TileValue &slot(unsigned index) const { return slots[index]; }

  /// The steps of a region, after its arguments were set.
  void execute(const Code &code);
  /// Copies the values of slots `from` to slots `to`, all at once: the two
  /// lists may share slots (a loop that swaps its carried values).
  void move(llvm::ArrayRef<unsigned> from, llvm::ArrayRef<unsigned> to);
  /// The step limit was met: loops end, and steps do nothing.
  bool stopped() const { return isStopped; }

  bool tracksErrors() const { return mode == FloatMode::Float64WithBounds; }
  /// `value` as an operation of this element type leaves it.
  double rounded(const Element &element, double value) const {
    return mode == FloatMode::Declared ? round(*element.format, value) : value;
  }
  FloatMode floatMode() const { return mode; }
  /// Control flow, or where a store goes, hung on less than the errors of its
  /// operands.
  void noteUndecided() { oracle->undecided = true; }
  /// The operation does what the dialect leaves undefined. Only noted in the
  /// mode Float64WithBounds.
  void noteUndefined(const Step &step);
  Oracle &bounds() { return *oracle; }
  /// A new operation accesses memory.
  void beginAccess() {
    if (tracksErrors()) {
      oracle->log.beginOperation();
    }
  }
  /// Index of the running program in the grid.
  int64_t programIndex() const { return running; }

  LaunchFrame &frame() { return launch; }
  /// A call of HostServices::fail that is due once the program has been left:
  /// that call does not return, and the executor's own values must be gone.
  struct Fault {
    uint32_t site;
    int64_t element;
    uint64_t value;
  };
  void raise(Fault fault) {
    raised = fault;
    isStopped = true;
  }
  const std::optional<Fault> &fault() const { return raised; }
  /// Gets every access, and says when the work is enough; may be null.
  AccessWatch *watch = nullptr;
  /// What keeps other programs out; a program that waits lets go of it.
  std::unique_lock<std::mutex> *turn = nullptr;
  /// Lanes that a scalar region is run on at once; 1 outside of one.
  int64_t lanes = 1;
  /// In the region of a reduction or a scan, which another executor may run in
  /// another order: a NaN that comes up here may not come up there.
  bool isCombining = false;
  /// With isCombining, a magnitude a lane that the partial results of other
  /// orders may reach: (a + b) + c may be small and exact where a + (b + c) is
  /// neither. Empty where no order rounds.
  std::vector<double> orderReach;

private:
  void spreadUnknown(const Step &step);
  void reportWork(const Step &step);

  const Program &program;
  FloatMode mode;
  LaunchFrame &launch;
  Oracle *oracle;
  uint64_t stepLimit, stepsTaken = 0;
  int64_t running = 0;
  bool isStopped = false;
  std::optional<Fault> raised;
  std::vector<TileValue> slots;
  std::vector<TileValue> staging; ///< of `move`
};

} // namespace nereid::interp

#endif // NEREID_INTERP_MACHINE_H
