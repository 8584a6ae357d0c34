//===- DeviceCheck.h - One launch on every device, judged -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every element that a device leaves in the launch's memory is compared with
// the reference executor's: a float may differ by the running error bound of
// its own computation, which holds for any order of a sum, for fused products
// and for what math functions are allowed; an integer, and what the kernel does
// not write, not at all. Elements that depend on a rounding (a comparison
// within the errors of its operands) or on a free order are undecided: counted,
// not judged. Before a device runs, what the kernel overwrites is filled with
// the complement of what is expected there: an element that is not written
// shows.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_CHECK_DEVICECHECK_H
#define NEREID_TOOLS_CHECK_DEVICECHECK_H

#include "Arrays.h"

#include "nereid/Runtime/Kernel.h"

#include <functional>

namespace nereid::check {

struct CheckedLaunch {
  /// The kernel, in a context that outlives the check.
  std::function<Kernel(Context &)> load;
  Grid grid;
  std::span<const LaunchArgument> arguments;
  /// Memory that no argument is, but that addresses in an argument lead to.
  std::vector<NamedTensor> reachable;
  /// Allowed beyond the bounds, relative to an array's largest number.
  double tolerance = 0;
  /// To be judged; empty: one of each kind that this machine has.
  std::vector<Device> devices;
};

/// One array on one device.
struct ArrayReport {
  std::string name, type, device;
  bool isArgument = true; ///< else it is reported only where it is wrong
  int64_t elements = 0, wrong = 0, undecided = 0;
  double largestDifference = 0;
  double largestShare = 0;          ///< of its bound that a difference takes
  std::vector<std::string> samples; ///< of what is wrong
};

struct CheckReport {
  std::vector<ArrayReport> arrays;
  /// What is not wrong, but may explain what is: arrays that overlap.
  std::vector<std::string> notes;
  bool passed() const;
  /// A line a note, a line an array and device, and one for each sample.
  std::string text() const;
};

/// Throws what the launch throws, and KernelFault where the kernel leaves its
/// arrays.
CheckReport checkLaunch(const CheckedLaunch &launch);

} // namespace nereid::check

#endif // NEREID_TOOLS_CHECK_DEVICECHECK_H
