//===- OverlappedLaunches.cpp -----------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/OverlappedLaunches.h"

#include "kernels/operator/OperatorKernel.h"

#include <utility>

using namespace nereid;
using namespace nereid::kernels;

static thread_local int guards = 0;
static thread_local bool isFirst = false;

OverlappedLaunches::OverlappedLaunches() { isFirst = guards++ == 0 || isFirst; }
OverlappedLaunches::~OverlappedLaunches() { --guards; }

bool kernels::beginsEarly(Device device) {
  // Forms that were compiled ahead of time do not wait.
  if (guards == 0 || device.isHost() || !hasCompiler()) {
    return false;
  }
  return !std::exchange(isFirst, false);
}
