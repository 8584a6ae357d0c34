//===- LaneRegions.cpp - Lanes that branches have left out ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/LaneRegions.h"

#include <algorithm>

namespace nereid::sim::amd {

void LaneRegions::begin(uint64_t lanes) {
  allLanes = lanes;
  open.clear();
  hasJustChanged = false;
}

static bool isVector(const Instruction &instruction) {
  switch (instruction.encoding) {
  case Encoding::SOP1:
  case Encoding::SOP2:
  case Encoding::SOPK:
  case Encoding::SOPC:
  case Encoding::SOPP:
  case Encoding::SMEM:
    return false;
  default:
    return true;
  }
}

/// Whether the lanes that are off make a difference to what it does. One that
/// saves the mask is about to take more of them away.
static bool readsMask(const Instruction &instruction) {
  return isVector(instruction) ? !(instruction.semantics->flags & AllLanes)
                               : instruction.name.starts_with("s_and_saveexec");
}

std::optional<LaneRegions::Missing>
LaneRegions::check(const Instruction &instruction, uint32_t index,
                   uint64_t exec) {
  for (Region &region : open) {
    region.isDue |= region.end == index;
  }
  if (!readsMask(instruction)) {
    return std::nullopt;
  }
  for (const Region &region : open) {
    if (region.isDue && region.lanes & ~exec) {
      return Missing{region.instruction, region.lanes & ~exec};
    }
  }
  return std::nullopt;
}

/// A jump around what no lane wants (back, where that lies after what the jump
/// leads to), or back while a lane wants to.
static std::optional<uint32_t> endOf(const Instruction &instruction,
                                     uint32_t index) {
  if (instruction.name == "s_cbranch_execz") {
    return instruction.target;
  }
  if (instruction.name == "s_cbranch_execnz" && instruction.target <= index) {
    return index + 1;
  }
  return std::nullopt;
}

void LaneRegions::executed(const Instruction &instruction, uint32_t index,
                           uint64_t before, uint64_t after) {
  if (after & ~before) {
    // Lanes are back; those of the other way of a branch bring the end of what
    // is still open with their own jump.
    std::erase_if(open, [&](const Region &region) {
      return (region.lanes & ~after) == 0;
    });
    for (Region &region : open) {
      if (region.isDue) {
        region.isDue = false;
        region.end = unknown;
      }
    }
    hasJustChanged = true;
  } else if (after != before) {
    // A mask that is copied back ends what the whole wave has done.
    if (!instruction.name.starts_with("s_mov")) {
      open.push_back({before, index});
    }
    hasJustChanged = true;
  } else if (isVector(instruction)) {
    hasJustChanged = false;
  } else if (auto end = endOf(instruction, index)) {
    if (hasJustChanged && !open.empty() && open.back().end == unknown) {
      open.back().end = *end;
    }
    hasJustChanged = false;
  }
}

} // namespace nereid::sim::amd
