//===- OverlappedLaunches.cpp -----------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/operator/OverlappedLaunches.h"

#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/Stream.h"

#include <optional>
#include <utility>

using namespace nereid;
using namespace nereid::kernels;

static thread_local int guards = 0;
/// Where this thread's guards have launched last: what lies in front on another
/// stream may have written weights.
static thread_local std::optional<std::pair<Device, void *>> last;

/// The next launch is the first after a fence.
static thread_local bool isFenced = false;

OverlappedLaunches::OverlappedLaunches() {
  if (guards++ == 0) {
    last.reset();
    isFenced = false;
  }
}
OverlappedLaunches::~OverlappedLaunches() { --guards; }

void OverlappedLaunches::fence() { isFenced = true; }

bool kernels::areLaunchesOverlapped() { return guards > 0; }

Overlap kernels::overlapOf(Device device) {
  // Forms that were compiled ahead of time do not wait.
  if (guards == 0 || device.isHost() || !hasCompiler()) {
    return Overlap::None;
  }
  std::pair<Device, void *> here(device, Stream::current(device).handle());
  bool follows = std::exchange(last, here) == here;
  bool fenced = std::exchange(isFenced, false);
  return !follows ? Overlap::None : fenced ? Overlap::Fence : Overlap::Early;
}

bool kernels::beginsEarly(Device device) {
  return overlapOf(device) == Overlap::Early;
}
