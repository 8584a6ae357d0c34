//===- Recording.cpp - The observer of a Profiler -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/Recording.h"

#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/device/HostMemory.h"
#include "nereid/Runtime/gpu/GpuDevice.h"

#include <map>
#include <unistd.h>

namespace nereid::prof {

static uint64_t nextId() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

Recording::Recording(ProfilerOptions options)
    : Observer(std::move(options.clock)), id(nextId()),
      left(options.mostRecords), missing(0) {}

//===----------------------------------------------------------------------===//
// On and off
//===----------------------------------------------------------------------===//

void Recording::start(Context *context) {
  std::lock_guard lock(control);
  if (on) {
    return;
  }
  if (context ? !observe(*context, shared_from_this())
              : !observe(shared_from_this())) {
    raise({ErrorCode::InvalidArgument,
           context ? "another observer watches this context already, by "
                     "ContextOptions::observer or a Profiler; stop it first"
                   : "another Profiler records already; stop it first",
           {}});
  }
  if (context) { // it may go before this stops
    watched.reset(new Context(context->handle()));
  }
  on = true;
  memory(Device::cpu(), hostMemoryUse(), 0);
  if (GpuTimes *times = gpu) {
    (void)times->start().ok(); // what it lacks then is in its notes
  }
}

void Recording::stop() {
  std::lock_guard lock(control);
  if (!on) {
    return;
  }
  if (watched) {
    stopObserving(*watched, *this);
    watched.reset();
  } else {
    stopObserving(*this);
  }
  on = false;
  if (GpuTimes *times = gpu) {
    times->stop();
  }
}

/// When the first work is queued, on `device`: a program that uses no GPU loads
/// nothing.
void Recording::chooseGpuTimes(Device device) {
  std::call_once(gpuTimesChosen, [this, device] {
    Expected<std::unique_ptr<GpuTimes>> cupti =
        device.kind() == Device::Kind::Cuda
            ? timesByCupti(clock)
            : Failure{ErrorCode::Unsupported, "CUPTI knows no hip devices", {}};
    std::lock_guard lock(mutex);
    if (cupti.ok()) {
      gpuTimes = std::move(*cupti);
    } else {
      whyEvents = cupti.failure().message;
      gpuTimes = timesByEvents(clock);
    }
    gpu = gpuTimes.get();
  });
}

//===----------------------------------------------------------------------===//
// What is reported
//===----------------------------------------------------------------------===//

namespace {
/// Of the calling thread.
struct Mine {
  uint64_t recording = 0;
  ThreadRecords *records = nullptr;
};
constinit thread_local Mine known;
} // namespace

ThreadRecords &Recording::mine() {
  if (known.recording != id) [[unlikely]] {
    known = {id, &addThread()};
  }
  return *known.records;
}

/// A thread that took part in another recording meanwhile comes back to its
/// records.
ThreadRecords &Recording::addThread() {
  std::lock_guard lock(mutex);
  int64_t tid = ::gettid();
  for (const auto &thread : threads) {
    if (thread->tid == tid) {
      return *thread;
    }
  }
  return *threads.emplace_back(std::make_unique<ThreadRecords>(left));
}

void Recording::add(const Record &record) {
  if (!mine().add(record)) [[unlikely]] {
    missing.fetch_add(1, std::memory_order_relaxed);
  }
}

void Recording::launched(const char *kernel, int64_t beginNs, int64_t endNs) {
  add({beginNs,
       endNs,
       kernel,
       "",
       "",
       0,
       {},
       0,
       Record::Kind::Launch,
       Activity::Kind::Kernel,
       0});
}

/// Work that is recorded into a graph does not run.
static bool isCaptured(const Activity &work) {
  return work.stream && work.stream->capture.load(std::memory_order_relaxed);
}

void Recording::begin(const Activity &work, ActivityMark &mark) {
  if (work.stream && !isCaptured(work)) {
    chooseGpuTimes(work.device);
    bool isNew = false;
    uint16_t lane = lanes.find(work.device, work.stream, isNew);
    GpuTimes &times = *gpu.load(std::memory_order_relaxed);
    if (isNew) [[unlikely]] {
      times.addLane(lane, *work.stream);
      gpu::Memory::Use use = work.stream->device.memory.use();
      memory(work.device, use.usedBytes, use.cachedBytes);
    }
    times.begin(work, mark);
    mark.number = queued.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  mark.beginNs = now();
}

void Recording::end(const Activity &work, const ActivityMark &mark, bool isOk) {
  if (work.stream && !mark.number) {
    return;
  }
  (void)isOk; // a launch that fails has taken its time, too
  bool isNew = false;
  Record record = {mark.beginNs,
                   now(),
                   work.name,
                   work.symbol,
                   work.constants,
                   work.bytes,
                   work.grid,
                   lanes.find(work.device, work.stream, isNew),
                   work.stream ? Record::Kind::QueuedActivity
                               : Record::Kind::HostWork,
                   work.kind,
                   mark.number};
  if (work.stream) {
    gpu.load(std::memory_order_relaxed)->end(work, mark, record);
  }
  add(record);
}

void Recording::share(const Activity &work, int64_t beginNs, int64_t endNs) {
  bool isNew = false;
  add({beginNs,
       endNs,
       work.name,
       work.symbol,
       work.constants,
       0,
       {},
       lanes.find(work.device, nullptr, isNew),
       Record::Kind::Share,
       work.kind,
       0});
}

void Recording::slice(ObservedSlice slice) {
  mine().addSlice(std::move(slice));
}

void Recording::memory(Device device, uint64_t used, uint64_t cached) {
  int64_t ns = now();
  std::lock_guard lock(mutex);
  memorySamples.push_back({device, ns, used, cached});
}

//===----------------------------------------------------------------------===//
// The trace
//===----------------------------------------------------------------------===//

std::vector<std::string> Recording::notes() const {
  std::vector<std::string> notes;
  std::lock_guard lock(mutex);
  if (!whyEvents.empty()) {
    notes.push_back("times of GPUs are those of events around each launch and "
                    "copy, which takes longer than with CUPTI: " +
                    whyEvents);
  }
  if (gpuTimes) {
    std::vector<std::string> more = gpuTimes->notes();
    notes.insert(notes.end(), more.begin(), more.end());
  }
  if (size_t count = missing) {
    notes.push_back(std::to_string(count) +
                    " records of launches and work are missing: there is room "
                    "for so many only (ProfilerOptions::mostRecords)");
  }
  return notes;
}

namespace {

/// Makes tracks as they are first needed.
class TraceMaker {
public:
  TraceMaker(const LaneTable &lanes, Trace &trace);

  void addThread(const ThreadRecords &thread);
  void addGpu(const std::vector<GpuSlice> &slices);
  size_t processOf(Device device);

private:
  size_t track(size_t process, int64_t tid, const std::string &name,
               bool isDevice);
  void addRecord(const ThreadRecords &thread, const Record &record);

  const LaneTable &lanes;
  Trace &trace;
  std::map<std::pair<size_t, int64_t>, size_t> tracks;
  std::map<std::string, size_t> processes; ///< of devices
};

} // namespace

TraceMaker::TraceMaker(const LaneTable &lanes, Trace &trace)
    : lanes(lanes), trace(trace) {
  trace.processes.push_back({::getpid(), "host"});
}

/// Numbers that no process of the host has (the kernel's limit is 2^22), and
/// that are the same in every process.
size_t TraceMaker::processOf(Device device) {
  constexpr int64_t first = 5000000;
  auto [found, isNew] = processes.emplace(device.str(), trace.processes.size());
  if (isNew) {
    int64_t pid = device == Device::cpu()      ? first
                  : device == Device::interp() ? first + 1
                  : device.kind() == Device::Kind::Cuda
                      ? first + 2 + device.index()
                      : first + 2 + gpu::maxDevices + device.index();
    trace.processes.push_back({pid, device.str()});
  }
  return found->second;
}

size_t TraceMaker::track(size_t process, int64_t tid, const std::string &name,
                         bool isDevice) {
  auto [found, isNew] =
      tracks.emplace(std::pair(process, tid), trace.tracks.size());
  if (isNew) {
    trace.tracks.push_back({process, tid, name, isDevice});
  }
  return found->second;
}

static const char *categoryOf(Activity::Kind kind) {
  switch (kind) {
  case Activity::Kind::Kernel:
    return "kernel";
  case Activity::Kind::Copy:
    return "copy";
  case Activity::Kind::Fill:
    return "fill";
  case Activity::Kind::Graph:
    return "graph";
  }
  return "";
}

void TraceMaker::addRecord(const ThreadRecords &thread, const Record &record) {
  // Above all numbers of threads (the kernel's limit is 2^22).
  constexpr int64_t firstOfShares = 10000000;
  TraceSlice slice;
  slice.beginNs = record.beginNs;
  slice.endNs = record.endNs;
  slice.name = record.name;
  switch (record.kind) {
  case Record::Kind::Launch:
    slice.category = "launch";
    slice.track = track(0, thread.tid, thread.name, false);
    break;
  case Record::Kind::HostWork:
    slice.category = categoryOf(record.work);
    slice.track = track(processOf(lanes.get(record.lane).device), thread.tid,
                        "launched by " + thread.name, true);
    slice.constants = record.constants;
    slice.grid = record.grid;
    slice.bytes = record.bytes;
    break;
  case Record::Kind::Share:
    slice.category = "share";
    slice.track =
        track(processOf(lanes.get(record.lane).device),
              firstOfShares + thread.tid, "programs on " + thread.name, true);
    break;
  case Record::Kind::QueuedActivity:
    slice.category = "queue";
    slice.track = track(0, thread.tid, thread.name, false);
    slice.number = record.number;
    break;
  }
  trace.slices.push_back(slice);
}

void TraceMaker::addThread(const ThreadRecords &thread) {
  thread.forEachRecord(
      [&](const Record &record) { addRecord(thread, record); });
  thread.forEachSlice([&](const ObservedSlice &one) {
    TraceSlice slice;
    slice.track = track(0, thread.tid, thread.name, false);
    slice.beginNs = one.beginNs;
    slice.endNs = one.endNs;
    slice.name = one.name.c_str();
    slice.category = one.category;
    slice.details = &one.details;
    trace.slices.push_back(slice);
  });
}

void TraceMaker::addGpu(const std::vector<GpuSlice> &slices) {
  constexpr int64_t firstForeign = 1000000;
  std::vector<bool> isShown;
  for (const GpuSlice &one : slices) {
    size_t process = processOf(one.device);
    int64_t tid = one.lane ? *one.lane + 1 : firstForeign + one.stream;
    TraceSlice slice;
    slice.track =
        track(process, tid,
              one.lane ? "stream " + std::to_string(*one.lane + 1)
                       : "stream " + std::to_string(one.stream) + " of others",
              true);
    slice.beginNs = one.beginNs;
    slice.endNs = one.endNs;
    slice.name = one.name;
    slice.category = categoryOf(one.kind);
    slice.constants = one.constants;
    slice.grid = one.grid;
    slice.bytes = one.bytes;
    slice.number = one.number;
    if (one.number >= isShown.size()) {
      isShown.resize(one.number + size_t{1});
    }
    isShown[one.number] = true;
    trace.slices.push_back(slice);
  }
  // An arrow needs both ends.
  for (TraceSlice &slice : trace.slices) {
    if (slice.number >= isShown.size() || !isShown[slice.number]) {
      slice.number = 0;
    }
  }
}

Trace Recording::trace() {
  std::lock_guard lock(control);
  std::vector<const ThreadRecords *> all;
  Trace trace;
  TraceMaker maker(lanes, trace);
  std::vector<Record> queuedRecords;
  {
    std::lock_guard lock(mutex);
    for (const auto &thread : threads) {
      all.push_back(thread.get());
    }
    for (const MemorySample &sample : memorySamples) {
      trace.memory.push_back({maker.processOf(sample.device), sample.ns,
                              sample.used, sample.cached});
    }
  }
  for (const ThreadRecords *thread : all) {
    maker.addThread(*thread);
    thread->forEachRecord([&](const Record &record) {
      if (record.kind == Record::Kind::QueuedActivity) {
        queuedRecords.push_back(record);
      }
    });
  }
  if (GpuTimes *times = gpu) {
    maker.addGpu(times->collect(queuedRecords));
  }
  trace.notes = notes();
  return trace;
}

} // namespace nereid::prof
