//===- Lanes.h - Functions of numbers, on 32 lanes --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_LANES_H
#define NEREID_SIM_LANES_H

#include "nereid/Sim/Float.h"
#include "nereid/Sim/Warp.h"

#include <type_traits>
#include <utility>

namespace nereid::sim {

template <typename T>
T fromSlot(uint64_t slot) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(uint32_t(slot));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(slot);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
    return T{uint16_t(slot)};
  } else {
    return T(slot);
  }
}

template <typename T>
uint64_t toSlot(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>) {
    return value.bits;
  } else {
    return std::make_unsigned_t<T>(value);
  }
}

template <typename F>
void forLanes(uint32_t mask, F f) {
  if (mask == allLanes) {
    for (unsigned lane = 0; lane < lanes; ++lane) {
      f(lane);
    }
    return;
  }
  for (; mask; mask &= mask - 1) {
    f(unsigned(std::countr_zero(mask)));
  }
}

/// The lower `bits` ones.
inline uint64_t lowBits(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

/// The active lanes' part of a predicate; noIndex: it is not wanted.
inline void writePredicate(Warp &warp, uint32_t index, uint32_t mask) {
  if (index != noIndex) {
    uint32_t &to = warp.predicates[index];
    to = (to & ~warp.active) | (mask & warp.active);
  }
}

/// Of instructions that change no result.
inline void doNothing(Warp &, const Instruction &) {}

template <auto Function, typename Out, typename... In, size_t... I>
void mapLanesOf(Warp &warp, const Instruction &instruction, Out (*)(In...),
                std::index_sequence<I...>) {
  LaneVector &to = warp.at(instruction.to[0]);
  const LaneVector *from[] = {&warp.at(instruction.from[I])...};
  forLanes(warp.active, [&](unsigned lane) {
    to[lane] = toSlot<Out>(Function(fromSlot<In>((*from[I])[lane])...));
  });
}

/// Out f(In...) of the sources, to the one result.
template <auto Function>
void mapLanes(Warp &warp, const Instruction &instruction) {
  auto map = []<typename Out, typename... In>(Warp &w, const Instruction &i,
                                              Out (*f)(In...)) {
    mapLanesOf<Function>(w, i, f, std::index_sequence_for<In...>());
  };
  map(warp, instruction, Function);
}

template <auto Function, typename A, typename B>
uint32_t compareLanesOf(Warp &warp, const Instruction &instruction,
                        bool (*)(A, B)) {
  const LaneVector &a = warp.at(instruction.from[0]);
  const LaneVector &b = warp.at(instruction.from[1]);
  uint32_t mask = 0;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    mask |= uint32_t(Function(fromSlot<A>(a[lane]), fromSlot<B>(b[lane])))
            << lane;
  }
  return mask;
}

/// The lanes for which bool f(a, b) holds, among all 32.
template <auto Function>
uint32_t compareLanes(Warp &warp, const Instruction &instruction) {
  return compareLanesOf<Function>(warp, instruction, Function);
}

} // namespace nereid::sim

#endif // NEREID_SIM_LANES_H
