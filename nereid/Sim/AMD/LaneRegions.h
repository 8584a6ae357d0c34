//===- LaneRegions.h - Lanes that branches have left out --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wave takes both ways of a branch, each with the exec mask of the lanes that
// want it, and a jump around a way that no lane wants. Where the jump leads to
// (or what follows the jump back of a loop) is where the lanes that were left
// out belong again: what reads the exec mask there with some of them missing
// comes from a restore that is not there.
//
// Lanes that stay out to the end of the kernel are no fault: nothing reads the
// mask after the place where they would come back.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_LANEREGIONS_H
#define NEREID_SIM_AMD_LANEREGIONS_H

#include "nereid/Sim/AMD/Instruction.h"

#include <optional>

namespace nereid::sim::amd {

class LaneRegions {
public:
  /// Of a wave that begins with these lanes.
  void begin(uint64_t lanes);

  struct Missing {
    uint32_t instruction; ///< that left them out
    uint64_t lanes;
  };
  /// What the mask lacks for instruction number `index`, before it executes.
  std::optional<Missing> check(const Instruction &instruction, uint32_t index,
                               uint64_t exec);
  /// It has been executed, with the mask before and after.
  void executed(const Instruction &instruction, uint32_t index, uint64_t before,
                uint64_t after);
  /// The lanes that the wave began with.
  uint64_t all() const { return allLanes; }

private:
  static constexpr uint32_t unknown = ~0u;
  struct Region {
    uint64_t lanes;       ///< that belong again at its end
    uint32_t instruction; ///< that left some of them out
    uint32_t end = unknown;
    bool isDue = false; ///< its end was reached
  };
  std::vector<Region> open;
  uint64_t allLanes = 0;
  /// The mask has changed, and no vector instruction followed.
  bool hasJustChanged = false;
};

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_LANEREGIONS_H
