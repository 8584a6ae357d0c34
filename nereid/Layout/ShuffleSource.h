//===- ShuffleSource.h - Where registers get elements from ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A conversion inside a warp, as the registers see it: register r of the target
// in lane 0 of warp 0 takes its element from a register and a lane of the
// source, and every bit of the lane and of the warp changes these.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_LAYOUT_SHUFFLESOURCE_H
#define NEREID_LAYOUT_SHUFFLESOURCE_H

#include "nereid/Layout/ConversionPlan.h"

namespace nereid {

/// Of a plan's `pull`, which must outlive it.
class ShuffleSource {
public:
  explicit ShuffleSource(const LinearLayout &map) : map(map) {}

  uint32_t registerOf(Axis axis, uint32_t value) const {
    return at(axis, value, Axis::Register);
  }
  uint32_t laneOf(Axis axis, uint32_t value) const {
    return at(axis, value, Axis::Lane);
  }
  /// Bits of the thread number that select among source registers: the
  /// register bits that each adds.
  std::vector<std::pair<unsigned, uint32_t>> selectors() const;

private:
  uint32_t at(Axis from, uint32_t value, Axis to) const;

  const LinearLayout &map;
};

/// Does a conversion take a trip through shared memory? Each selecting bit
/// doubles the values to choose from; beyond two, shared memory is cheaper.
bool goesThroughSharedMemory(const ConversionPlan &plan);

} // namespace nereid

#endif // NEREID_LAYOUT_SHUFFLESOURCE_H
