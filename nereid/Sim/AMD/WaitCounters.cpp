//===- WaitCounters.cpp - Which registers are on their way ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/WaitCounters.h"

#include <algorithm>

namespace nereid::sim::amd {

Counter WaitCounters::counterOf(Counter wanted) const {
  if (wanted == Counter::Store && generation == Generation::Cdna) {
    return Counter::Load;
  }
  if (wanted == Counter::Scalar && generation != Generation::Rdna4) {
    return Counter::Shared;
  }
  return wanted;
}

const char *WaitCounters::name(Generation generation, Counter counter) {
  if (generation == Generation::Rdna4) {
    constexpr const char *names[] = {"loadcnt", "dscnt", "kmcnt", "storecnt"};
    return names[unsigned(counter)];
  }
  constexpr const char *names[] = {"vmcnt", "lgkmcnt", "lgkmcnt", "vscnt"};
  return names[unsigned(counter)];
}

void WaitCounters::begin() {
  states = {};
  vectors = {};
  scalars = {};
  outstanding = 0;
}

void WaitCounters::count() {
  outstanding = 0;
  for (const State &state : states) {
    outstanding += state.issued - state.done;
  }
}

uint32_t WaitCounters::issue(Counter counter, bool inOrder) {
  State &state = of(counter);
  ++state.issued;
  ++outstanding;
  if (!inOrder) {
    state.lastOutOfOrder = state.issued;
  }
  return state.issued;
}

void WaitCounters::expect(Counter counter, const RegisterRange &range,
                          uint32_t instruction) {
  counter = counterOf(counter);
  for (unsigned i = 0; i < range.count; ++i) {
    auto &both = at(range.isVector, range.first + i);
    // What is done already makes room; else the same counter's earlier one.
    auto isDone = [&](const Expected &one) {
      return one.number <= of(one.counter).done;
    };
    Expected &slot =
        isDone(both[0]) || both[0].counter == counter ? both[0] : both[1];
    slot = {of(counter).issued, instruction, counter};
  }
}

void WaitCounters::wait(Counter counter, uint32_t atMost) {
  State &state = of(counter);
  if (state.issued - state.done <= atMost) {
    return;
  }
  bool isOrdered = state.lastOutOfOrder <= state.done;
  if (atMost == 0 || isOrdered) {
    state.done = state.issued - atMost;
  }
  count();
}

uint32_t WaitCounters::pending(Counter counter) const {
  return of(counter).issued - of(counter).done;
}

std::optional<WaitCounters::Missing>
WaitCounters::check(const RegisterRange &range,
                    std::optional<Counter> same) const {
  for (unsigned i = 0; i < range.count; ++i) {
    const auto &both =
        range.isVector ? vectors[range.first + i] : scalars[range.first + i];
    for (const Expected &one : both) {
      const State &state = of(one.counter);
      if (one.number <= state.done ||
          (same && counterOf(*same) == one.counter &&
           state.lastOutOfOrder <= state.done)) {
        continue;
      }
      bool isOrdered = state.lastOutOfOrder <= state.done;
      return Missing{{range.isVector, uint16_t(range.first + i), 1},
                     one.instruction,
                     one.counter,
                     isOrdered ? state.issued - one.number : 0};
    }
  }
  return std::nullopt;
}

} // namespace nereid::sim::amd
