//===- LaunchTime.cpp - What a launch takes --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchTime.h"

#include <chrono>

namespace nereid {

double msOf(Device device, const std::function<void()> &f) {
  auto start = std::chrono::steady_clock::now();
  f();
  synchronize(device);
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

double launchMs(Device device, const std::function<void()> &launch) {
  if (device.isHost()) {
    return msOf(device, launch);
  }
  Event start(device), end(device);
  start.record();
  launch();
  end.record();
  return end.millisecondsSince(start);
}

} // namespace nereid
