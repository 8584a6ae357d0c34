//===- LaunchJudge.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/testing/LaunchJudge.h"
#include "tools/check/DeviceCheck.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::kernels;

std::unique_ptr<LaunchJudge> LaunchJudge::make(Device device) {
  return std::make_unique<LaunchJudge>(device);
}

std::string LaunchJudge::judge(const OperatorLaunch &launch) const {
  check::CheckedLaunch checked;
  // The device's is the operator's own, which may be of a library.
  checked.load = [&](Context &context) {
    return &context == &Context::shared() ? launch.kernel
                                          : launch.compile(context);
  };
  checked.grid = launch.grid;
  checked.arguments = launch.arguments;
  checked.devices = {device};
  for (size_t i = 0; i < reachable.size(); ++i) {
    checked.reachable.push_back(
        {"reachable " + std::to_string(i), reachable[i]});
  }
  check::CheckReport report = check::checkLaunch(checked);
  return report.passed() ? "" : report.text();
}

void LaunchJudge::launching(const OperatorLaunch &launch) {
  std::string wrong = judge(launch);
  EXPECT_EQ(wrong, "") << launch.kernel.name();
}
