//===- LaunchCheck.h - The steps of a check ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TOOLS_CHECK_LAUNCHCHECK_H
#define NEREID_TOOLS_CHECK_LAUNCHCHECK_H

#include "DeviceCheck.h"
#include "Reference.h"

#include <deque>
#include <map>

namespace nereid::check {

/// The steps of checkLaunch.
class LaunchCheck {
public:
  /// `launch` must outlive the check.
  explicit LaunchCheck(const CheckedLaunch &launch);
  ~LaunchCheck();

  /// What a device did.
  struct Run {
    Device device;
    const Reference *reference;
    Contents before, after; ///< of the launch's memory
    /// With a changed byte in front of it or after it; -1 if none.
    int64_t damagedRegion = -1;
  };
  /// One of each kind, or the launch's own.
  std::vector<Device> devices() const;
  Run run(Device device);
  void judge(const Run &run, CheckReport &report) const;
  const Arrays &arrays() const;

private:
  class Relaunch;
  std::unique_ptr<Relaunch> relaunch;
  const CheckedLaunch &launch;
  Kernel kernel;
  /// With the values that @triton.autotune chose on a device.
  using Values = std::map<std::string, StaticValue>;
  std::deque<std::pair<Values, Reference>> references;
};

} // namespace nereid::check

#endif // NEREID_TOOLS_CHECK_LAUNCHCHECK_H
