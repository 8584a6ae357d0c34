//===- Observer.cpp - Who watches what the runtime does ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Observer.h"

#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Runtime/cuda/CudaMemory.h"
#include "nereid/Runtime/device/WatchedWork.h"

#include <mutex>
#include <set>

namespace nereid {

namespace {
/// Never destroyed: static tensors are freed after everything else.
struct Watch {
  std::atomic<std::shared_ptr<Observer>> observer;
  std::mutex mutex; ///< of changes
  std::mutex counting;
};
Watch &watch() {
  static Watch *instance = new Watch;
  return *instance;
}
} // namespace

static void tellDeviceMemory(int device, uint64_t used, uint64_t cached) {
  if (std::shared_ptr<Observer> observer = currentObserver()) {
    observer->memory(Device::cuda(device), used, cached);
  }
}

void detail::countObservers(int change) {
  std::lock_guard lock(watch().counting);
  observers += static_cast<uint32_t>(change);
  cuda::memoryWatcher = observers.load() ? tellDeviceMemory : nullptr;
}

bool observe(std::shared_ptr<Observer> observer) {
  std::lock_guard lock(watch().mutex);
  if (watch().observer.load()) {
    return false;
  }
  watch().observer.store(std::move(observer));
  detail::countObservers(+1);
  return true;
}

void stopObserving(const Observer &observer) {
  std::lock_guard lock(watch().mutex);
  if (watch().observer.load().get() == &observer) {
    detail::countObservers(-1);
    watch().observer.store(nullptr);
  }
}

std::shared_ptr<Observer> observerOf(const Context::State *context) {
  return context && context->observer ? context->observer
                                      : watch().observer.load();
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

void WatchedWork::begin(ObservedWork::Kind kind, const char *name,
                        Device device, uint64_t bytes,
                        cuda::StreamState *stream) {
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
