//===- MemoryRows.h - Rows that all memory families have --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_MEMORYROWS_H
#define NEREID_SIM_AMD_MEMORYROWS_H

#include "nereid/Sim/AMD/LaneMemory.h"

namespace nereid::sim::amd {

/// "global": its loads, stores and atomics under the names of CDNA and of RDNA.
std::vector<Semantics> memoryRows(std::string_view prefix, Execute load,
                                  Execute store, Execute update);
/// `detail` of an atomic.
inline Update updateOf(const Instruction &instruction) {
  return Update(instruction.semantics->detail & 0xff);
}
inline uint32_t updateBytes(const Instruction &instruction) {
  return instruction.semantics->detail >> 8;
}
/// Text that lives as long as the program.
std::string_view keep(std::string text);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_MEMORYROWS_H
