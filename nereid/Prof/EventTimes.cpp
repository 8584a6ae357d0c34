//===- EventTimes.cpp - Times of GPUs by events ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An event before each piece of work and one after it. A device tells only the
// time between two events, as a float of milliseconds: exact to 0.1 us within a
// second. The first event of a device is waited for, so that its time on the
// host's clock is known; later ones are measured from it, and once a second is
// over, from a younger one that was measured so.
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/GpuTimes.h"

#include "nereid/Runtime/gpu/GpuDevice.h"

#include <algorithm>

namespace nereid::prof {

using gpu::DeviceState;
using gpu::EventHandle;
using gpu::StreamState;

namespace {

/// Of one device.
class Timeline {
public:
  Timeline(DeviceState &device, Clock &clock) : device(device), clock(clock) {}
  ~Timeline();

  /// Records an event; null where that fails.
  EventHandle record(StreamState &stream);
  void add(EventHandle begin, EventHandle end, const Record &queued);
  void collect(std::vector<GpuSlice> &slices);
  size_t lost() {
    std::lock_guard lock(mutex);
    return lostWork;
  }

private:
  struct Pending {
    EventHandle begin, end;
    Record queued;
  };
  bool start(StreamState &stream);
  EventHandle take();
  /// The oldest; false where it is not done, or, with `waits`, has failed.
  bool finishOne(bool waits);
  bool read(const Pending &pending, GpuSlice &slice);

  DeviceState &device;
  Clock &clock; ///< of the host
  std::mutex mutex;
  std::vector<EventHandle> spare;
  std::deque<Pending> pending;
  std::vector<GpuSlice> done;
  EventHandle base = nullptr;
  int64_t baseNs = 0;
  size_t lostWork = 0;
};

class EventTimes : public GpuTimes {
public:
  explicit EventTimes(std::shared_ptr<Clock> clock) : clock(std::move(clock)) {}
  void begin(const Activity &work, ActivityMark &mark) override;
  void end(const Activity &work, const ActivityMark &mark,
           const Record &queued) override;
  std::vector<GpuSlice> collect(const std::vector<Record> &queued) override;
  std::vector<std::string> notes() const override;

private:
  Timeline &of(DeviceState &device);

  const std::shared_ptr<Clock> clock;
  mutable std::mutex mutex; ///< of making timelines
  // By DeviceState::slotOf.
  std::array<std::atomic<Timeline *>, gpu::mostSlots> known = {};
  std::array<std::unique_ptr<Timeline>, gpu::mostSlots> timelines;
};

} // namespace

Timeline::~Timeline() {
  if (!device.makeCurrent().ok()) {
    return;
  }
  for (const Pending &one : pending) {
    spare.insert(spare.end(), {one.begin, one.end});
  }
  spare.push_back(base);
  for (EventHandle event : spare) {
    if (event) {
      device.driver.eventDestroy(event);
    }
  }
}

EventHandle Timeline::take() {
  if (!spare.empty()) {
    EventHandle event = spare.back();
    spare.pop_back();
    return event;
  }
  EventHandle event = nullptr;
  return device.driver.eventCreate(&event, gpu::eventWithTimes) == gpu::Success
             ? event
             : nullptr;
}

/// Many events at once: making one takes as long as recording it.
bool Timeline::start(StreamState &stream) {
  constexpr size_t prepared = 256;
  std::vector<EventHandle> made;
  while (made.size() < prepared) {
    EventHandle event = take();
    if (!event) {
      break;
    }
    made.push_back(event);
  }
  spare = std::move(made);
  EventHandle event = take();
  if (!event || device.driver.eventRecord(event, stream.handle) ||
      device.driver.eventSynchronize(event)) {
    return false;
  }
  base = event;
  baseNs = clock.now();
  return true;
}

EventHandle Timeline::record(StreamState &stream) {
  std::lock_guard lock(mutex);
  device.assumeCurrent();
  if (!base && !start(stream)) {
    return nullptr;
  }
  EventHandle event = take();
  if (event &&
      device.driver.eventRecord(event, stream.handle) != gpu::Success) {
    spare.push_back(event);
    event = nullptr;
  }
  return event;
}

void Timeline::add(EventHandle begin, EventHandle end, const Record &queued) {
  constexpr size_t mostPending = 4096, atOnce = 64;
  std::lock_guard lock(mutex);
  if (!begin || !end) {
    ++lostWork;
    for (EventHandle event : {begin, end}) {
      if (event) {
        spare.push_back(event);
      }
    }
    return;
  }
  pending.push_back({begin, end, queued});
  if (pending.size() > mostPending) {
    for (size_t i = 0; i < atOnce && finishOne(false); ++i) {
    }
  }
}

bool Timeline::read(const Pending &one, GpuSlice &slice) {
  constexpr float farMs = 1000;
  float fromBase = 0, own = 0;
  const gpu::Driver &driver = device.driver;
  if (driver.eventElapsedTime(&fromBase, base, one.begin) ||
      driver.eventElapsedTime(&own, one.begin, one.end)) {
    return false;
  }
  const Record &queued = one.queued;
  slice.beginNs = baseNs + static_cast<int64_t>(double{fromBase} * 1e6);
  slice.endNs = slice.beginNs + static_cast<int64_t>(double{own} * 1e6);
  slice.name = queued.name;
  slice.constants = queued.constants;
  slice.grid = queued.grid;
  slice.bytes = queued.bytes;
  slice.kind = queued.work;
  slice.device = device.place;
  slice.lane = queued.lane;
  slice.number = queued.number;
  if (fromBase > farMs) {
    spare.push_back(std::exchange(base, one.begin));
    baseNs = slice.beginNs;
  }
  return true;
}

bool Timeline::finishOne(bool waits) {
  if (pending.empty()) {
    return false;
  }
  Pending one = pending.front();
  gpu::Result result = waits ? device.driver.eventSynchronize(one.end)
                             : device.driver.eventQuery(one.end);
  if (result == gpu::NotReady) {
    return false;
  }
  pending.pop_front();
  GpuSlice slice;
  if (result == gpu::Success && read(one, slice)) {
    done.push_back(slice);
  } else {
    ++lostWork;
  }
  if (one.begin != base) {
    spare.push_back(one.begin);
  }
  spare.push_back(one.end);
  return true;
}

void Timeline::collect(std::vector<GpuSlice> &slices) {
  std::lock_guard lock(mutex);
  (void)device.makeCurrent().ok(); // what fails here fails below, and is lost
  while (finishOne(true)) {
  }
  slices.insert(slices.end(), done.begin(), done.end());
}

Timeline &EventTimes::of(DeviceState &device) {
  std::atomic<Timeline *> &place = known[DeviceState::slotOf(device.place)];
  if (Timeline *timeline = place.load(std::memory_order_acquire)) {
    return *timeline;
  }
  std::lock_guard lock(mutex);
  std::unique_ptr<Timeline> &own = timelines[DeviceState::slotOf(device.place)];
  if (!own) {
    own = std::make_unique<Timeline>(device, *clock);
    place.store(own.get(), std::memory_order_release);
  }
  return *own;
}

void EventTimes::begin(const Activity &work, ActivityMark &mark) {
  mark.events[0] = of(work.stream->device).record(*work.stream);
}

void EventTimes::end(const Activity &work, const ActivityMark &mark,
                     const Record &queued) {
  Timeline &timeline = of(work.stream->device);
  timeline.add(static_cast<EventHandle>(mark.events[0]),
               timeline.record(*work.stream), queued);
}

std::vector<GpuSlice> EventTimes::collect(const std::vector<Record> &) {
  std::vector<GpuSlice> slices;
  for (std::atomic<Timeline *> &place : known) {
    if (Timeline *timeline = place.load()) {
      timeline->collect(slices);
    }
  }
  return slices;
}

std::vector<std::string> EventTimes::notes() const {
  size_t lost = 0;
  for (const std::atomic<Timeline *> &place : known) {
    if (Timeline *timeline = place.load()) {
      lost += timeline->lost();
    }
  }
  std::vector<std::string> notes;
  if (lost) {
    notes.push_back(std::to_string(lost) +
                    " launches and copies have no slice on their GPU's track: "
                    "its events failed");
  }
  return notes;
}

std::unique_ptr<GpuTimes> timesByEvents(std::shared_ptr<Clock> clock) {
  return std::make_unique<EventTimes>(std::move(clock));
}

} // namespace nereid::prof
