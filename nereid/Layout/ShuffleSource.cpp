//===- ShuffleSource.cpp - Where registers take their elements from -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/ShuffleSource.h"

namespace nereid {

uint32_t ShuffleSource::at(Axis from, uint32_t value, Axis to) const {
  for (auto [axis, index] : map.apply({{from, value}})) {
    if (axis == to) {
      return index;
    }
  }
  return 0;
}

std::vector<std::pair<unsigned, uint32_t>> ShuffleSource::selectors() const {
  std::vector<std::pair<unsigned, uint32_t>> found;
  unsigned first = 0;
  for (Axis axis : {Axis::Lane, Axis::Warp}) {
    for (unsigned i = 0; i < map.inputBits(axis); ++i) {
      if (uint32_t r = registerOf(axis, 1u << i)) {
        found.push_back({first + i, r});
      }
    }
    first += map.inputBits(Axis::Lane);
  }
  return found;
}

bool goesThroughSharedMemory(const ConversionPlan &plan) {
  return plan.kind == ConversionPlan::Kind::Shared ||
         ShuffleSource(plan.pull).selectors().size() > 2;
}

} // namespace nereid
