//===- GpuTimes.h - When GPUs did their work --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PROF_GPUTIMES_H
#define NEREID_PROF_GPUTIMES_H

#include "nereid/ABI/Status.h"
#include "nereid/Prof/Records.h"

#include <optional>
#include <vector>

namespace nereid::prof {

/// A kernel, a copy or a fill on a GPU.
struct GpuSlice {
  int64_t beginNs = 0, endNs = 0; ///< of the host's clock
  const char *name = "", *constants = "";
  std::array<int32_t, 3> grid = {0, 0, 0};
  uint64_t bytes = 0;
  Activity::Kind kind = Activity::Kind::Kernel;
  Device device = Device::cuda();
  /// Where it ran; or, on a stream that Nereid has not used, the number that
  /// the source of the times has for it.
  std::optional<uint16_t> lane;
  uint32_t stream = 0;
  uint32_t number = 0; ///< Record::number, where it is known
};

/// One of two sources: NVIDIA's CUPTI, and events around each piece of work.
class GpuTimes {
public:
  virtual ~GpuTimes() = default;

  /// Records again after stop(), and from the beginning.
  virtual Status start() { return Status::success(); }
  virtual void stop() {}

  /// Before what comes first on a lane; once.
  virtual void addLane(uint16_t lane, gpu::StreamState &stream) {
    (void)lane, (void)stream;
  }
  /// Around what is queued, without a lock: thread-safe.
  virtual void begin(const Activity &work, ActivityMark &mark) {
    (void)work, (void)mark;
  }
  virtual void end(const Activity &work, const ActivityMark &mark,
                   const Record &queued) {
    (void)work, (void)mark, (void)queued;
  }
  /// Everything up to now, which is waited for. `queued` is what Nereid queued.
  virtual std::vector<GpuSlice> collect(const std::vector<Record> &queued) = 0;
  /// What is missing, and why.
  virtual std::vector<std::string> notes() const = 0;
};

std::unique_ptr<GpuTimes> timesByEvents(std::shared_ptr<Clock> clock);
/// Fails where CUPTI is not installed, is of a version whose records are not
/// known, or refuses (another profiler uses it).
Expected<std::unique_ptr<GpuTimes>> timesByCupti(std::shared_ptr<Clock> clock);

} // namespace nereid::prof

#endif // NEREID_PROF_GPUTIMES_H
