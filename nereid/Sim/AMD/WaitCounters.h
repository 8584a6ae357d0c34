//===- WaitCounters.h - Which registers are on their way --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A memory instruction counts up when it is issued and down when it is done. A
// wave that waits until the counter is at most N knows that all but the last N
// are done, if what it counts is done in order; scalar loads are not, and with
// one of them on its way only a wait for 0 says anything.
//
// The simulator gives a loaded value at once, and keeps for each register which
// instruction it waits for: who touches it earlier is reported, whatever the
// order in which a processor would have answered.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_WAITCOUNTERS_H
#define NEREID_SIM_AMD_WAITCOUNTERS_H

#include "nereid/Sim/AMD/Instruction.h"

#include <optional>

namespace nereid::sim::amd {

/// A counter of the hardware; which ones there are is the generation's. CDNA
/// counts stores with loads, and only RDNA 4 counts LDS and scalar loads apart.
enum class Counter : uint8_t { Load, Shared, Scalar, Store, Count };

class WaitCounters {
public:
  explicit WaitCounters(Generation generation) : generation(generation) {}
  void begin();

  /// An instruction that `counter` counts, in order or not. Its number there.
  uint32_t issue(Counter counter, bool inOrder);
  /// These registers are written by the last one issued.
  void expect(Counter counter, const RegisterRange &range,
              uint32_t instruction);
  void wait(Counter counter, uint32_t atMost);
  bool isIdle() const { return outstanding == 0; }
  /// How many are on their way, of those that a wait has not covered.
  uint32_t pending(Counter counter) const;
  /// All of them up to this number are done.
  uint32_t done(Counter counter) const { return of(counter).done; }

  struct Missing {
    RegisterRange range; ///< the first register of it
    uint32_t instruction;
    Counter counter;
    uint32_t after; ///< a wait for at most so many would do
  };
  /// What one may not touch yet in these registers. `writes` by another
  /// instruction of the counter `same`, which is done after it, is allowed.
  std::optional<Missing> check(const RegisterRange &range,
                               std::optional<Counter> same) const;

  static const char *name(Generation generation, Counter counter);
  Counter counterOf(Counter wanted) const;

private:
  struct State {
    uint32_t issued = 0, done = 0, lastOutOfOrder = 0;
  };
  struct Expected {
    uint32_t number = 0, instruction = 0;
    Counter counter = Counter::Load;
  };
  const State &of(Counter counter) const {
    return states[unsigned(counterOf(counter))];
  }
  State &of(Counter counter) { return states[unsigned(counterOf(counter))]; }
  /// FLAT instructions are of two counters, so that a register has two.
  std::array<Expected, 2> &at(bool isVector, unsigned index) {
    return isVector ? vectors[index] : scalars[index];
  }
  void count();

  const Generation generation;
  std::array<State, unsigned(Counter::Count)> states = {};
  std::array<std::array<Expected, 2>, vectorRegisterCount> vectors = {};
  std::array<std::array<Expected, 2>, scalarRegisterCount> scalars = {};
  uint32_t outstanding = 0;
};

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_WAITCOUNTERS_H
