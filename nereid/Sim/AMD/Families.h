//===- Families.h - What instructions mean, by family -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_FAMILIES_H
#define NEREID_SIM_AMD_FAMILIES_H

#include "nereid/Sim/AMD/Instruction.h"

#include <span>

namespace nereid::sim::amd {

std::span<const Semantics> scalarFamily();
std::span<const Semantics> scalarFloatFamily();
std::span<const Semantics> controlFamily();
std::span<const Semantics> scalarMemoryFamily();
std::span<const Semantics> integerFamily();
std::span<const Semantics> floatFamily();
std::span<const Semantics> doubleFamily();
std::span<const Semantics> halfFamily();
std::span<const Semantics> packedFamily();
std::span<const Semantics> convertFamily();
std::span<const Semantics> compareFamily();
std::span<const Semantics> laneFamily();
std::span<const Semantics> sharedMemoryFamily();
std::span<const Semantics> globalMemoryFamily();
std::span<const Semantics> bufferFamily();
std::span<const Semantics> matrixFamily();

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_FAMILIES_H
