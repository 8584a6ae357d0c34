//===- CuptiTimes.cpp - Times of GPUs by CUPTI ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CUPTI collects on its own: a launch does nothing for it. It hands over
// buffers of records on a thread of its own.
//
// What ran is matched with what was queued afterwards. Work of a stream runs in
// the order in which it was queued, so the records of a stream, by their begin,
// and what Nereid queued there, by its time, are walked side by side: a kernel
// is the next one queued with its symbol and grid, before it began. What is
// left over on one side was not launched by Nereid, or was dropped by CUPTI.
//
// CUPTI has a clock of its own. It is compared with the host's at the start and
// at each collection, and times between are interpolated.
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/Cupti.h"
#include "nereid/Prof/GpuTimes.h"

#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Runtime/gpu/GpuDevice.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>

namespace nereid::prof {

using cupti::Library;

namespace {

/// As CUPTI tells it, in its own time.
struct RawSlice {
  uint64_t begin, end;
  const char *name;
  std::array<int32_t, 3> grid;
  uint64_t bytes;
  Activity::Kind kind;
  uint32_t device, stream;
};

/// What both clocks show at one moment.
struct ClockPair {
  uint64_t cupti = 0;
  int64_t host = 0;
};

class CuptiTimes : public GpuTimes {
public:
  CuptiTimes(const Library &library, std::shared_ptr<Clock> clock)
      : library(library), clock(std::move(clock)) {}
  ~CuptiTimes() override { stop(); }

  Status start() override;
  void stop() override;
  void addLane(uint16_t lane, gpu::StreamState &stream) override;
  std::vector<GpuSlice> collect(const std::vector<Record> &queued) override;
  std::vector<std::string> notes() const override;

private:
  static void requestBuffer(uint8_t **buffer, size_t *bytes, size_t *most);
  static void completeBuffer(gpu::ContextHandle, uint32_t, uint8_t *buffer,
                             size_t, size_t validBytes);
  void take(const cupti::Activity *activity);
  void finishWork();
  ClockPair readClocks() const;
  int64_t hostTime(uint64_t cuptiNs) const;

  const Library &library;
  const std::shared_ptr<Clock> clock; ///< of the host
  bool isOn = false;
  ClockPair first, last;
  mutable std::mutex mutex;
  std::vector<RawSlice> raw;
  /// (device, CUPTI's stream) to lane.
  std::map<std::pair<uint32_t, uint32_t>, uint16_t> lanes;
  std::vector<gpu::DeviceState *> devices;
  size_t dropped = 0;
};

/// CUPTI's functions take no argument of ours; guarded by `activeMutex`.
std::mutex activeMutex;
CuptiTimes *active = nullptr;
const Library *activeLibrary = nullptr;

} // namespace

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

void CuptiTimes::requestBuffer(uint8_t **buffer, size_t *bytes, size_t *most) {
  constexpr size_t bufferBytes = size_t{1} << 20; // 5000 kernels
  *buffer = static_cast<uint8_t *>(std::malloc(bufferBytes));
  *bytes = *buffer ? bufferBytes : 0;
  *most = 0; // as many as fit
}

void CuptiTimes::completeBuffer(gpu::ContextHandle, uint32_t, uint8_t *buffer,
                                size_t, size_t validBytes) {
  {
    std::lock_guard lock(activeMutex);
    cupti::Activity *record = nullptr;
    while (active && validBytes &&
           activeLibrary->getNextRecord(buffer, validBytes, &record) ==
               cupti::Success) {
      active->take(record);
    }
  }
  std::free(buffer);
}

static const char *copyName(uint8_t kind) {
  return kind == cupti::HostToDevice   ? "copy from the host"
         : kind == cupti::DeviceToHost ? "copy to the host"
         : kind == cupti::Peer         ? "copy between devices"
                                       : "copy";
}

/// Members may lie at odd addresses of the buffer.
template <typename T>
static T readAs(const cupti::Activity *activity) {
  T record;
  std::memcpy(&record, activity, sizeof(record));
  return record;
}

void CuptiTimes::take(const cupti::Activity *activity) {
  RawSlice slice = {};
  switch (activity->kind) {
  case cupti::ConcurrentKernel: {
    auto kernel = readAs<cupti::KernelActivity>(activity);
    slice = {kernel.start,
             kernel.end,
             keptText(kernel.name ? kernel.name : "kernel"),
             {kernel.grid[0], kernel.grid[1], kernel.grid[2]},
             0,
             Activity::Kind::Kernel,
             kernel.deviceId,
             kernel.streamId};
    break;
  }
  case cupti::Memcpy:
  case cupti::Memcpy2: {
    auto copy = readAs<cupti::MemcpyActivity>(activity);
    uint8_t kind =
        activity->kind == cupti::Memcpy2 ? uint8_t{cupti::Peer} : copy.copyKind;
    slice = {
        copy.start,           copy.end,      copyName(kind), {}, copy.bytes,
        Activity::Kind::Copy, copy.deviceId, copy.streamId};
    break;
  }
  case cupti::Memset: {
    auto fill = readAs<cupti::MemsetActivity>(activity);
    slice = {fill.start,           fill.end,      "fill",       {}, fill.bytes,
             Activity::Kind::Fill, fill.deviceId, fill.streamId};
    break;
  }
  default:
    return;
  }
  if (!slice.begin || slice.end < slice.begin) {
    ++dropped; // not complete, or its times are lost
    return;
  }
  std::lock_guard lock(mutex);
  raw.push_back(slice);
}

//===----------------------------------------------------------------------===//
// Starting and stopping
//===----------------------------------------------------------------------===//

static constexpr int kinds[] = {cupti::ConcurrentKernel, cupti::Memcpy,
                                cupti::Memcpy2, cupti::Memset};

Status CuptiTimes::start() {
  auto refused = [&](cupti::Result result) {
    return Status{ErrorCode::Unsupported,
                  library.name + " refuses: " + library.describe(result)};
  };
  cupti::Result result =
      library.registerCallbacks(requestBuffer, completeBuffer);
  if (result != cupti::Success) {
    return refused(result);
  }
  {
    std::lock_guard lock(activeMutex);
    active = this;
    activeLibrary = &library;
  }
  isOn = true;
  for (int kind : kinds) {
    result = library.enable(kind);
    if (result != cupti::Success) {
      stop();
      return refused(result);
    }
  }
  if (!first.host) {
    first = last = readClocks();
  }
  return Status::success();
}

/// Records of work that is done are flushed; what comes later is thrown away.
void CuptiTimes::stop() {
  if (!isOn) {
    return;
  }
  isOn = false;
  finishWork();
  for (int kind : kinds) {
    library.disable(kind);
  }
  library.flushAll(cupti::flushForced);
  last = readClocks();
  std::lock_guard lock(activeMutex);
  active = nullptr;
}

void CuptiTimes::finishWork() {
  std::vector<gpu::DeviceState *> all;
  {
    std::lock_guard lock(mutex);
    all = devices;
  }
  for (gpu::DeviceState *device : all) {
    (void)device->synchronize().ok(); // a fault is its launch's to tell
  }
}

void CuptiTimes::addLane(uint16_t lane, gpu::StreamState &stream) {
  if (stream.device.isHip()) {
    return; // another vendor's, beside those that this records
  }
  uint32_t id = 0;
  cupti::Result result =
      library.getStreamId(stream.device.context, stream.handle, 0, &id);
  std::lock_guard lock(mutex);
  if (result == cupti::Success) {
    lanes[{static_cast<uint32_t>(stream.device.place.index()), id}] = lane;
  }
  if (std::find(devices.begin(), devices.end(), &stream.device) ==
      devices.end()) {
    devices.push_back(&stream.device);
  }
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

/// The reading of CUPTI's clock that took least, halfway between two of the
/// host's.
ClockPair CuptiTimes::readClocks() const {
  ClockPair best;
  int64_t least = INT64_MAX;
  for (int i = 0; i < 16; ++i) {
    uint64_t ns = 0;
    int64_t before = clock->now();
    library.getTimestamp(&ns);
    int64_t took = clock->now() - before;
    if (took < least) {
      least = took;
      best = {ns, before + took / 2};
    }
  }
  return best;
}

int64_t CuptiTimes::hostTime(uint64_t cuptiNs) const {
  auto since = static_cast<double>(static_cast<int64_t>(cuptiNs - first.cupti));
  auto cuptiSpan = static_cast<double>(last.cupti - first.cupti);
  auto hostSpan = static_cast<double>(last.host - first.host);
  // Clocks that differ by more than a thousandth are not clocks of one time;
  // spans below a millisecond say nothing of their rates.
  double rate = cuptiSpan > 1e6 ? hostSpan / cuptiSpan : 1;
  rate = rate > 0.999 && rate < 1.001 ? rate : 1;
  return first.host + static_cast<int64_t>(since * rate);
}

//===----------------------------------------------------------------------===//
// What ran, and what was queued
//===----------------------------------------------------------------------===//

/// Of one lane, both in order of time.
static void match(std::vector<GpuSlice *> &ran,
                  const std::vector<const Record *> &queued) {
  constexpr int64_t clockErrorNs = 20000;
  size_t next = 0;
  for (GpuSlice *slice : ran) {
    for (size_t i = next; i < queued.size(); ++i) {
      const Record &record = *queued[i];
      if (record.beginNs > slice->beginNs + clockErrorNs) {
        break;
      }
      bool isSame = slice->kind == Activity::Kind::Kernel
                        ? record.work == slice->kind &&
                              record.grid == slice->grid &&
                              !std::strcmp(record.symbol, slice->name)
                        : record.work == slice->kind;
      if (!isSame) {
        continue;
      }
      slice->number = record.number;
      if (slice->kind == Activity::Kind::Kernel) {
        slice->name = record.name;
        slice->constants = record.constants;
        slice->bytes = record.bytes;
        next = i + 1;
      } else {
        next = i; // a large copy is several of the driver's
      }
      break;
    }
  }
}

std::vector<GpuSlice> CuptiTimes::collect(const std::vector<Record> &queued) {
  if (isOn) {
    finishWork();
    library.flushAll(0);
    last = readClocks();
  }
  size_t more = 0; // since the last call
  library.getDropped(nullptr, 0, &more);
  std::vector<GpuSlice> slices;
  std::map<uint16_t, std::vector<const Record *>> queuedBy;
  for (const Record &record : queued) {
    queuedBy[record.lane].push_back(&record);
  }
  std::lock_guard lock(mutex);
  dropped += more;
  std::sort(raw.begin(), raw.end(), [](const RawSlice &a, const RawSlice &b) {
    return a.begin < b.begin;
  });
  slices.reserve(raw.size());
  std::map<uint16_t, std::vector<GpuSlice *>> ranBy;
  for (const RawSlice &one : raw) {
    GpuSlice slice;
    slice.beginNs = hostTime(one.begin);
    slice.endNs = slice.beginNs + static_cast<int64_t>(one.end - one.begin);
    slice.name = one.name;
    slice.grid = one.grid;
    slice.bytes = one.bytes;
    slice.kind = one.kind;
    slice.device = Device::cuda(static_cast<int>(one.device));
    slice.stream = one.stream;
    auto lane = lanes.find({one.device, one.stream});
    if (lane != lanes.end()) {
      slice.lane = lane->second;
    }
    slices.push_back(slice);
    if (slice.lane) {
      ranBy[*slice.lane].push_back(&slices.back());
    }
  }
  for (auto &[lane, ran] : ranBy) {
    std::vector<const Record *> &records = queuedBy[lane];
    std::sort(records.begin(), records.end(),
              [](const Record *a, const Record *b) {
                return std::pair(a->beginNs, a->number) <
                       std::pair(b->beginNs, b->number);
              });
    match(ran, records);
  }
  return slices;
}

std::vector<std::string> CuptiTimes::notes() const {
  std::vector<std::string> notes;
  std::lock_guard lock(mutex);
  if (dropped) {
    notes.push_back(std::to_string(dropped) +
                    " kernels and copies have no slice: CUPTI dropped them");
  }
  return notes;
}

Expected<std::unique_ptr<GpuTimes>> timesByCupti(std::shared_ptr<Clock> clock) {
  Expected<const Library *> library = cupti::load();
  if (!library.ok()) {
    return library.failure();
  }
  auto times = std::make_unique<CuptiTimes>(**library, std::move(clock));
  Status status = times->start();
  if (!status.ok()) {
    return status.failure();
  }
  return std::unique_ptr<GpuTimes>(std::move(times));
}

} // namespace nereid::prof
