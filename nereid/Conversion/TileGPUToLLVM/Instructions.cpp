//===- Instructions.cpp - Whose instructions a target runs ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileGPUToLLVM/Instructions.h"

namespace nereid::togpu {

const InstructionSet *instructionsOf(const tilegpu::TargetInfo &target) {
  static const InstructionSet sets[] = {nvInstructionSet()};
  for (const InstructionSet &set : sets) {
    if (set.name == target.instructions) {
      return &set;
    }
  }
  return nullptr;
}

} // namespace nereid::togpu
