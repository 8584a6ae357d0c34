//===- HostLaunch.h - Programs of a grid on the CPU's threads ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_LAUNCH_HOSTLAUNCH_H
#define NEREID_RUNTIME_LAUNCH_HOSTLAUNCH_H

#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/launch/LaunchBinding.h"

namespace nereid {
struct SharesWatch;

/// One launch, ready to run.
struct HostLaunch {
  Specialization &specialization;
  const LaunchBinding &binding;
  const uint64_t *slots;
  std::array<int32_t, 3> grid;
  uint32_t flags = 0; ///< LaunchFlags
  /// In program order on the calling thread, as the reference executor does.
  bool sequential = false;
  /// The observer of what each thread does; may be null.
  const SharesWatch *watch = nullptr;
};

/// Returns when every program has run, or KernelFault. The grid has at least
/// one program.
Status runOnHost(const HostLaunch &launch);

/// Bytes of a launch's tensors, each counted once.
uint64_t distinctBytes(const LaunchBinding &binding);

} // namespace nereid

#endif // NEREID_RUNTIME_LAUNCH_HOSTLAUNCH_H
