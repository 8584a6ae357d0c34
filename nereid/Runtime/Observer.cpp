//===- Observer.cpp - The observers of the runtime ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Observer.h"

#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Runtime/device/WatchedActivity.h"
#include "nereid/Runtime/gpu/GpuMemory.h"

#include <mutex>
#include <set>

namespace nereid {

namespace {
/// Never destroyed: static tensors are freed after everything else.
struct Watch {
  ObserverPlace place; ///< the process's
  std::mutex mutex;    ///< of all places
};
Watch &watch() {
  static Watch *instance = new Watch;
  return *instance;
}
} // namespace

static void observeDeviceMemory(Device device, uint64_t used, uint64_t cached) {
  if (std::shared_ptr<Observer> observer = currentObserver()) {
    observer->memory(device, used, cached);
  }
}

/// Under the mutex.
static void countObservers(int change) {
  detail::observers += static_cast<uint32_t>(change);
  gpu::memoryWatcher = isObserved() ? observeDeviceMemory : nullptr;
}

bool ObserverPlace::take(std::shared_ptr<Observer> observer) {
  std::lock_guard lock(watch().mutex);
  if (isTaken || !observer) {
    return !isTaken;
  }
  held.store(std::move(observer));
  isTaken = true;
  countObservers(+1);
  return true;
}

void ObserverPlace::leave(const Observer &observer) {
  std::lock_guard lock(watch().mutex);
  if (held.load().get() == &observer) {
    countObservers(-1);
    isTaken = false;
    held.store(nullptr);
  }
}

ObserverPlace::~ObserverPlace() {
  if (isTaken) {
    std::lock_guard lock(watch().mutex);
    countObservers(-1);
  }
}

bool observe(std::shared_ptr<Observer> observer) {
  return watch().place.take(std::move(observer));
}
bool observe(Context &context, std::shared_ptr<Observer> observer) {
  return context.state().observer.take(std::move(observer));
}

void stopObserving(const Observer &observer) { watch().place.leave(observer); }
void stopObserving(Context &context, const Observer &observer) {
  context.state().observer.leave(observer);
}

std::shared_ptr<Observer> observerOf(const Context::State *context) {
  std::shared_ptr<Observer> own = context ? context->observer.get() : nullptr;
  return own ? own : watch().place.get();
}

std::shared_ptr<Observer> currentObserver() {
  return isObserved() ? observerOf(Context::State::ofThread()) : nullptr;
}

const char *keptText(std::string_view text) {
  static std::mutex mutex;
  static auto *texts = new std::set<std::string, std::less<>>;
  std::lock_guard lock(mutex);
  auto found = texts->find(text);
  if (found == texts->end()) {
    found = texts->emplace(text).first;
  }
  return found->c_str();
}

void TraceRange::open(std::string_view of) {
  observer = currentObserver();
  name = of;
  beginNs = observer ? observer->now() : 0;
}

void TraceRange::close() {
  observer->slice({"range", std::move(name), beginNs, observer->now(), {}});
}

void WatchedActivity::begin(Activity::Kind kind, const char *name,
                            Device device, uint64_t bytes,
                            gpu::StreamState *stream) {
  observer = currentObserver();
  if (!observer) {
    return;
  }
  work.kind = kind;
  work.name = name;
  work.device = device;
  work.bytes = bytes;
  work.stream = stream;
  exceptions = std::uncaught_exceptions();
  observer->begin(work, mark);
}

WatchedSlice::WatchedSlice() {
  if (std::shared_ptr<Observer> observer = currentObserver()) {
    beginNs = observer->now();
  }
}

void WatchedSlice::finish(ObservedSlice slice) const {
  std::shared_ptr<Observer> observer = currentObserver();
  if (beginNs && observer) {
    slice.beginNs = beginNs;
    slice.endNs = observer->now();
    observer->slice(std::move(slice));
  }
}

} // namespace nereid
