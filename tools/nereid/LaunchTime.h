//===- LaunchTime.h - What a launch takes ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_NEREID_LAUNCHTIME_H
#define TOOLS_NEREID_LAUNCHTIME_H

#include "nereid/nereid.h"

#include <functional>

namespace nereid {

/// Milliseconds by the clock, until the device has finished.
double msOf(Device device, const std::function<void()> &f);
/// Milliseconds by the device's own events where it has them: without the cost
/// of starting and waiting.
double launchMs(Device device, const std::function<void()> &launch);

} // namespace nereid

#endif // TOOLS_NEREID_LAUNCHTIME_H
