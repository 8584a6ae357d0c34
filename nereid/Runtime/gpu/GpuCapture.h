//===- GpuCapture.h - Recorded work that is run again ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_GPUCAPTURE_H
#define NEREID_RUNTIME_GPU_GPUCAPTURE_H

#include "nereid/Runtime/gpu/GpuDevice.h"

#include <mutex>

namespace nereid::gpu {

/// Work that a stream records instead of running it, then a graph of it, and
/// what the graph needs to stay alive.
struct Capture {
  explicit Capture(DeviceState &device) : device(device) {}
  ~Capture();
  Capture(const Capture &) = delete;
  Capture &operator=(const Capture &) = delete;

  DeviceState &device;
  std::shared_ptr<StreamState> stream; ///< of its own; records between the two
  Status begin();
  /// After it, `exec` can be launched.
  Status end();
  /// Gives the recording up.
  void abandon();

  void keep(std::shared_ptr<const void> user) {
    std::lock_guard lock(keptMutex);
    kept.push_back(std::move(user));
  }

  const uint64_t serial = ++made; ///< no other recording has it
  GraphExecHandle exec = nullptr;
  size_t nodes = 0;
  std::vector<BlockNode> blocks; ///< older than the recording, freed during it
  /// By their bytes: allocated by the recording, and free for it again. Of
  /// `kept`; under the lock of the device's memory.
  std::multimap<size_t, std::shared_ptr<void>> idle;

private:
  Expected<GraphHandle> finishRecording();

  static inline std::atomic<uint64_t> made = 0;
  std::mutex keptMutex;
  std::vector<std::shared_ptr<const void>> kept;
};

} // namespace nereid::gpu

#endif // NEREID_RUNTIME_GPU_GPUCAPTURE_H
