//===- WatchedActivity.h - What observers see -----------------------*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICE_WATCHEDACTIVITY_H
#define NEREID_RUNTIME_DEVICE_WATCHEDACTIVITY_H

#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Observer.h"

#include <exception>

namespace nereid {

/// Room for an observer, of the process or a context.
class ObserverPlace {
public:
  ObserverPlace() = default;
  ~ObserverPlace();
  /// False where there is one.
  bool take(std::shared_ptr<Observer> observer);
  /// No effect where it is not there.
  void leave(const Observer &observer);
  std::shared_ptr<Observer> get() const {
    return isTaken.load(std::memory_order_acquire) ? held.load() : nullptr;
  }

private:
  std::atomic<bool> isTaken = false; ///< a plain load, for most launches
  std::atomic<std::shared_ptr<Observer>> held;
};

/// The observer of the context (null: of the shared one), or null.
std::shared_ptr<Observer> observerOf(const Context::State *context);

/// The text for as long as the process lives; equal texts once.
const char *keptText(std::string_view text);

/// Around a copy or a fill; nothing where there is no observer. One that leaves
/// its scope by an exception has failed.
class WatchedActivity {
public:
  WatchedActivity(Activity::Kind kind, const char *name, Device device,
                  uint64_t bytes, gpu::StreamState *stream = nullptr) {
    if (isObserved()) {
      begin(kind, name, device, bytes, stream);
    }
  }
  ~WatchedActivity() {
    if (observer) {
      observer->end(work, mark, std::uncaught_exceptions() == exceptions);
    }
  }
  WatchedActivity(const WatchedActivity &) = delete;
  WatchedActivity &operator=(const WatchedActivity &) = delete;

private:
  void begin(Activity::Kind kind, const char *name, Device device,
             uint64_t bytes, gpu::StreamState *stream);

  std::shared_ptr<Observer> observer;
  Activity work;
  ActivityMark mark;
  int exceptions = 0;
};

/// A slice of this thread from where it is made to finish(), if somebody
/// watches then.
class WatchedSlice {
public:
  WatchedSlice();

  bool isWatched() const { return beginNs != 0 && isObserved(); }
  void finish(ObservedSlice slice) const;
  int64_t beginNs = 0;
};

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICE_WATCHEDACTIVITY_H
