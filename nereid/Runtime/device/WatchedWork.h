//===- WatchedWork.h - What observers are told -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICE_WATCHEDWORK_H
#define NEREID_RUNTIME_DEVICE_WATCHEDWORK_H

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

/// Who watches what is done for the context (null: for the shared one), if
/// anybody does.
std::shared_ptr<Observer> observerOf(const Context::State *context);

/// The text for as long as the process lives; equal texts once.
const char *keptText(std::string_view text);

/// Around a copy or a fill; nothing where nobody watches. One that leaves its
/// scope by an exception has failed.
class WatchedWork {
public:
  WatchedWork(ObservedWork::Kind kind, const char *name, Device device,
              uint64_t bytes, cuda::StreamState *stream = nullptr) {
    if (isObserved()) {
      begin(kind, name, device, bytes, stream);
    }
  }
  ~WatchedWork() {
    if (observer) {
      observer->end(work, mark, std::uncaught_exceptions() == exceptions);
    }
  }
  WatchedWork(const WatchedWork &) = delete;
  WatchedWork &operator=(const WatchedWork &) = delete;

private:
  void begin(ObservedWork::Kind kind, const char *name, Device device,
             uint64_t bytes, cuda::StreamState *stream);

  std::shared_ptr<Observer> observer;
  ObservedWork work;
  WorkMark mark;
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

#endif // NEREID_RUNTIME_DEVICE_WATCHEDWORK_H
