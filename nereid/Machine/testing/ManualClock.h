//===- ManualClock.h - A clock that tests move ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_MACHINE_TESTING_MANUALCLOCK_H
#define NEREID_MACHINE_TESTING_MANUALCLOCK_H

#include "nereid/Machine/Clock.h"

#include <atomic>

namespace nereid {

/// Stands still unless it is moved. sleep() moves it and returns at once.
class ManualClock final : public Clock {
public:
  /// `stepMs`: each reading moves it by so much, so that loops that wait for
  /// the clock end.
  explicit ManualClock(double stepMs = 0) : stepNs(toNs(stepMs)) {}

  int64_t now() override { return ns.fetch_add(stepNs); }
  void sleep(int64_t duration) override { ns.fetch_add(duration); }
  void advanceMs(double ms) { ns.fetch_add(toNs(ms)); }
  void advanceSeconds(double seconds) { advanceMs(seconds * 1e3); }

private:
  static int64_t toNs(double ms) { return static_cast<int64_t>(ms * 1e6); }
  const int64_t stepNs;
  /// Not 0, which some callers take for "not measured".
  std::atomic<int64_t> ns = 1000000000;
};

} // namespace nereid

#endif // NEREID_MACHINE_TESTING_MANUALCLOCK_H
