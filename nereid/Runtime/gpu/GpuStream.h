//===- GpuStream.h - A queue of work, and its latest -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_GPU_GPUSTREAM_H
#define NEREID_RUNTIME_GPU_GPUSTREAM_H

#include "nereid/Runtime/gpu/GpuDriver.h"

#include <array>
#include <atomic>
#include <memory>
#include <vector>

namespace nereid::gpu {

class DeviceState;
struct LoadedKernel;
struct Capture;

class StreamState : public std::enable_shared_from_this<StreamState> {
public:
  StreamState(DeviceState &device, StreamHandle handle, bool owned,
              bool usesMemory = true);
  ~StreamState();
  StreamState(const StreamState &) = delete;
  StreamState &operator=(const StreamState &) = delete;

  DeviceState &device;
  const StreamHandle handle;
  /// What is being recorded from this stream; null when it runs its work.
  std::atomic<Capture *> capture = nullptr;
  /// False: StreamMemory::None. Blocks of memory know nothing of it.
  const bool usesMemory;
  /// StreamMemory::FreedAfterJoin.
  std::atomic<bool> freesAfterJoin = false;

  /// Waits for all work so far. Tells the failure of a kernel.
  Status synchronize();
  /// Later work waits for what `other` has been given so far. No effect on the
  /// host.
  Status waitFor(StreamState &other);

  /// Do its launches overlap where they ask for it? From 9.0 on; in graphs,
  /// from CUDA 12.3 on. Of cuda devices; HIP has no such launches.
  bool takesDependentLaunches() const;

  /// Notes a launch, for the message when it turns out to have failed: a
  /// handful of plain stores. Of launches that race one may be noted as a mix.
  void remember(const LoadedKernel &kernel, const std::array<int32_t, 3> &grid,
                const uint64_t *slots, size_t count) {
    uint32_t n = launches.load(std::memory_order_relaxed);
    Launch &launch = recent[n % recent.size()];
    launch.kernel.store(&kernel, std::memory_order_relaxed);
    for (size_t i = 0; i < 3; ++i) {
      launch.grid[i].store(grid[i], std::memory_order_relaxed);
    }
    count = count < maxSlots ? count : maxSlots;
    for (size_t i = 0; i < count; ++i) {
      launch.slots[i].store(slots[i], std::memory_order_relaxed);
    }
    launches.store(n + 1, std::memory_order_relaxed);
  }
  /// Before a kernel is unloaded.
  void forget(const LoadedKernel &kernel);
  /// "add[4, 1, 1](x_ptr=0x7f.., n=1000), before it ..."; empty for none.
  std::string describeRecent() const;

private:
  static constexpr size_t maxSlots = 12;
  struct Launch {
    std::atomic<const LoadedKernel *> kernel = nullptr;
    std::atomic<int32_t> grid[3] = {};
    std::atomic<uint64_t> slots[maxSlots] = {};
  };
  std::string describe(const Launch &launch) const;

  const bool owned;
  std::atomic<uint32_t> launches = 0;
  std::array<Launch, 4> recent;
};

} // namespace nereid::gpu

#endif // NEREID_RUNTIME_GPU_GPUSTREAM_H
