//===- GpuLaunch.h - Programs of a grid on a GPU ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_GPULAUNCH_H
#define NEREID_RUNTIME_LAUNCH_GPULAUNCH_H

#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/launch/LaunchBinding.h"

namespace nereid {

/// One launch, ready to be queued.
struct GpuLaunch {
  const Specialization &specialization;
  const LaunchBinding &binding;
  const uint64_t *slots;
  size_t slotCount;
  const std::array<int32_t, 3> &grid;
};

/// Queues the launch on the device's current stream. One with checks compiled
/// in is waited for, and gives KernelFault. The grid has at least one program.
Status launchOnGpu(const GpuLaunch &launch);

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_GPULAUNCH_H
