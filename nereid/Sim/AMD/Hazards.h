//===- Hazards.h - Instructions that stand too close ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What CDNA leaves to software: a result that another unit reads without
// looking whether it is there. The ISA document asks for a number of other
// instructions between ("Manually Inserted Wait States"); S_NOP counts as many
// as it says. RDNA looks itself for all of these.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_HAZARDS_H
#define NEREID_SIM_AMD_HAZARDS_H

#include "nereid/Sim/AMD/Instruction.h"

#include <optional>

namespace nereid::sim::amd {

class Hazards {
public:
  explicit Hazards(Generation generation) : generation(generation) {}
  void begin();

  struct Found {
    uint32_t instruction;  ///< whose result is read too early
    uint32_t wanted, have; ///< instructions between
    const char *what;
  };
  /// What the instruction reads too early, before it executes.
  std::optional<Found> check(const Instruction &instruction) const;
  /// It has been issued as number `index` of the program.
  void issued(const Instruction &instruction, uint32_t index);

private:
  struct Written {
    uint64_t at = 0;    ///< the wait state in which it was issued; 0: never
    uint32_t index = 0; ///< the instruction
    bool isTrans = false;
    uint8_t passes = 0; ///< wait states for what a matrix instruction writes
  };
  std::optional<Found> checkProducts(const Instruction &instruction) const;
  std::optional<Found> early(const Written &written, uint32_t wanted,
                             const char *what) const;

  const Generation generation;
  uint64_t now = 1; ///< wait states so far
  std::array<Written, vectorRegisterCount> vectors = {};
  std::array<Written, scalarRegisterCount> scalars = {}; ///< by vector units
};

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_HAZARDS_H
