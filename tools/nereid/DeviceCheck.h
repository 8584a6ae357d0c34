//===- DeviceCheck.h - One launch on every device, compared -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_NEREID_DEVICECHECK_H
#define NEREID_TOOLS_NEREID_DEVICECHECK_H

#include "nereid/nereid.h"

namespace nereid {

/// Runs the launch on copies of its arrays, once on each device of this
/// machine, and prints a line for each array and device against the reference
/// executor. Integers must be equal; floats may differ by `tolerance` (0: 64
/// units of the dtype's precision) of the array's largest element. Throws
/// when one differs by more.
void checkDevices(const Kernel &kernel, const Grid &grid,
                  std::span<const LaunchArgument> arguments, double tolerance);

} // namespace nereid

#endif // NEREID_TOOLS_NEREID_DEVICECHECK_H
