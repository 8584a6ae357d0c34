//===- Fault.h - What a kernel that stops itself is reported as -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_FAULT_FAULT_H
#define NEREID_RUNTIME_FAULT_FAULT_H

#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/launch/LaunchBinding.h"

#include <array>

namespace nereid {

/// The arguments of HostServices::fail, and who called it.
struct Fault {
  uint32_t site = 0;
  int64_t element = 0;
  uint64_t value = 0;
  std::array<int32_t, 3> program = {};
};

struct AddressRange {
  uint64_t begin, end;
};

/// What an access may touch under bounds checking: the launch's tensors, each
/// from its first to its last element in memory.
std::vector<AddressRange> tensorRanges(const LaunchBinding &binding);

/// KernelFault: what happened, where in the source, in which program, and for
/// a bad access the element and the argument.
Failure faultFailure(const LaunchBinding &binding,
                     const Specialization &specialization, const Fault &fault);

/// What device_print writes for a tile: one line an element,
/// `pid (x, y, z) idx (i, j) prefix: value`.
std::string formatPrint(const ImageSite &site,
                        const std::array<int32_t, 3> &program,
                        const void *elements, int64_t count);

} // namespace nereid

#endif // NEREID_RUNTIME_FAULT_FAULT_H
