//===- Clock.cpp - Time that passes ---------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/Clock.h"

#include <chrono>
#include <thread>

namespace nereid {

namespace {
class SteadyClock final : public Clock {
public:
  int64_t now() override {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void sleep(int64_t ns) override {
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
  }
};
} // namespace

const std::shared_ptr<Clock> &steadyClock() {
  // Never destroyed: static objects of a program may measure until the end.
  static const auto *clock =
      new std::shared_ptr<Clock>(std::make_shared<SteadyClock>());
  return *clock;
}

} // namespace nereid
