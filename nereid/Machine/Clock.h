//===- Clock.h - Time that passes -------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What measures or waits takes a Clock in its options. The default is the
// system's; a test gives a ManualClock (testing/ManualClock.h) and says itself
// how long everything takes, so that its verdict depends on no machine.
//
// Files that have no options to take one from (bench/, deadlines of sockets)
// read std::chrono.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_MACHINE_CLOCK_H
#define NEREID_MACHINE_CLOCK_H

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace nereid {

/// Thread-safe.
class Clock {
public:
  virtual ~Clock() = default;
  /// Nanoseconds since some moment. Never decreases.
  virtual int64_t now() = 0;
  /// Returns when at least so many nanoseconds have passed.
  virtual void sleep(int64_t ns) = 0;

  double millisecondsSince(int64_t beginNs) {
    return static_cast<double>(now() - beginNs) / 1e6;
  }
  double secondsSince(int64_t beginNs) {
    return static_cast<double>(now() - beginNs) / 1e9;
  }
};

/// std::chrono::steady_clock, which on Linux all processes share.
const std::shared_ptr<Clock> &steadyClock();

/// What options hold: a clock that is never null. It is the system's unless
/// another is given, and where null is.
class SharedClock {
public:
  SharedClock() : clock(steadyClock()) {}
  SharedClock(std::nullptr_t) : SharedClock() {}
  template <std::derived_from<Clock> Given>
  SharedClock(const std::shared_ptr<Given> &given)
      : clock(given ? std::shared_ptr<Clock>(given) : steadyClock()) {}

  Clock &operator*() const { return *clock; }
  Clock *operator->() const { return clock.get(); }
  operator const std::shared_ptr<Clock> &() const { return clock; }

private:
  std::shared_ptr<Clock> clock;
};

} // namespace nereid

#endif // NEREID_MACHINE_CLOCK_H
