//===- Flow.h - Ways through a code object's instructions -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_COUNTS_FLOW_H
#define NEREID_SIM_AMD_COUNTS_FLOW_H

#include "nereid/Sim/AMD/Simulator.h"

namespace nereid::sim::amd {

/// By instruction, the one that every wave executes which comes to it, also
/// without an active lane: the nearest S_CBRANCH_EXECZ in front that jumps over
/// it, else itself.
std::vector<uint32_t> guardsOf(const Program &program);

/// By instruction: may its address depend on a value that was loaded? What lies
/// in LDS is taken for loaded as well, arguments and spilled registers are not.
std::vector<bool> addressesOfData(const Program &program);

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_COUNTS_FLOW_H
