//===- Recording.h - The observer of a Profiler -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_PROF_RECORDING_H
#define NEREID_PROF_RECORDING_H

#include "nereid/Prof/GpuTimes.h"
#include "nereid/Prof/Profiler.h"
#include "nereid/Prof/Records.h"
#include "nereid/Prof/Trace.h"

namespace nereid::prof {

class Recording : public Observer,
                  public std::enable_shared_from_this<Recording> {
public:
  explicit Recording(ProfilerOptions options);

  /// Null: what is done in the process, and for no context with its own.
  void start(Context *context);
  void stop();
  bool isOn() const { return on; }
  Trace trace();
  std::vector<std::string> notes() const;

  void launched(const char *kernel, int64_t beginNs, int64_t endNs) override;
  void begin(const Activity &work, ActivityMark &mark) override;
  void end(const Activity &work, const ActivityMark &mark, bool isOk) override;
  void share(const Activity &work, int64_t beginNs, int64_t endNs) override;
  void slice(ObservedSlice slice) override;
  void memory(Device device, uint64_t used, uint64_t cached) override;

private:
  struct MemorySample {
    Device device;
    int64_t ns;
    uint64_t used, cached;
  };

  ThreadRecords &mine();
  ThreadRecords &addThread();
  void add(const Record &record);
  void chooseGpuTimes(Device device);

  const uint64_t id; ///< of all recordings of the process
  std::atomic<bool> on = false;
  std::atomic<size_t> left;    ///< records that there is room for
  std::atomic<size_t> missing; ///< those that there was none for
  std::atomic<uint32_t> queued = 0;
  LaneTable lanes;
  mutable std::mutex mutex; ///< of what follows
  std::vector<std::unique_ptr<ThreadRecords>> threads;
  std::vector<MemorySample> memorySamples;
  std::once_flag gpuTimesChosen;
  std::unique_ptr<GpuTimes> gpuTimes;
  std::atomic<GpuTimes *> gpu = nullptr;
  std::string whyEvents;
  std::mutex control; ///< start, stop and trace, one at a time
  /// The context that it watches, while it does: that of the process is empty.
  std::shared_ptr<Context> watched;
};

} // namespace nereid::prof

#endif // NEREID_PROF_RECORDING_H
