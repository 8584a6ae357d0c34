//===- PeakMemory.cpp - The most that tensors held ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/PeakMemory.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/Tensor.h"

using namespace nereid;
using namespace nereid::bench;

namespace {

class Watcher : public Observer {
public:
  explicit Watcher(Device device) : device(device) {}

  void memory(Device of, uint64_t bytes, uint64_t) override {
    if (of == device) {
      used = bytes;
      uint64_t seen = most;
      while (bytes > seen && !most.compare_exchange_weak(seen, bytes)) {
      }
    }
  }

  const Device device;
  std::atomic<uint64_t> used = 0, most = 0;
};

/// From construction to destruction, also where the work throws.
struct Watching {
  explicit Watching(const std::shared_ptr<Watcher> &watcher)
      : watcher(watcher) {
    if (!observe(watcher)) {
      raise({ErrorCode::InvalidArgument,
             "memory cannot be counted while a Profiler records; stop it first",
             {}});
    }
  }
  ~Watching() { stopObserving(*watcher); }
  Watching(const Watching &) = delete;

  std::shared_ptr<Watcher> watcher;
};

} // namespace

MemoryUse bench::memoryOf(Device device, const std::function<void()> &work) {
  // The reference executor's tensors are the host's.
  auto watcher =
      std::make_shared<Watcher>(device.isHost() ? Device::cpu() : device);
  Watching watching(watcher);
  // Changes are reported: after this one it is known what there was before.
  (void)empty({1}, f32, device);
  uint64_t before = watcher->used;
  watcher->most = before;
  work();
  return {watcher->most - before,
          static_cast<int64_t>(watcher->used.load() - before)};
}
