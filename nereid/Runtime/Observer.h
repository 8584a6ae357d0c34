//===- Observer.h - The observers of the runtime ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One object at a time may watch launches, copies, compilations, look-ups in
// the cache, and memory; a context may have another one, which sees what is
// done for that context, instead. nereid/Prof is one, which writes traces.
//
// What it costs. Without an observer a launch loads one word, finds it zero,
// and does nothing else. With one, a launch takes a share in the observer,
// reads the clock twice (four times on host devices) and makes three virtual
// calls (docs/Prof.md); the rest is what the observer does in them.
//
// Threads. The functions of an observer are called on the thread that does the
// work, by several threads at once, without a lock. They must neither
// throw, nor launch, nor call observe and stopObserving. Calls that have begun
// may still arrive after stopObserving; the observer lives until the last of
// them has returned.
//
// Times are those of the observer's clock: by default the system's, which all
// processes share. Texts given as `const char *` live as long as the process.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_OBSERVER_H
#define NEREID_RUNTIME_OBSERVER_H

#include "nereid/ABI/Status.h"
#include "nereid/Machine/Clock.h"
#include "nereid/Runtime/Device.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid {

class Context;

namespace gpu {
class StreamState;
} // namespace gpu

/// What a device does: the programs of a launch, a copy, a fill.
struct Activity {
  enum class Kind : uint8_t { Kernel, Copy, Fill, Graph };
  Kind kind = Kind::Kernel;
  Device device;
  const char *name = "";
  /// A kernel's symbol in the code, and what was compiled in ("BLOCK=64,
  /// num_warps=4").
  const char *symbol = "", *constants = "";
  std::array<int32_t, 3> grid = {0, 0, 0};
  /// For a kernel the bytes of the launch's arrays, each counted once.
  uint64_t bytes = 0;
  gpu::StreamState *stream = nullptr; ///< of a GPU: where it is queued
};

/// From `begin` to `end` of the same piece of work; the observer's to fill in.
struct ActivityMark {
  int64_t beginNs = 0;
  void *events[2] = {nullptr, nullptr};
  uint32_t number = 0;
};

/// Something that took a thread some time.
struct ObservedSlice {
  const char *category = ""; ///< "compile", "stage", "cache", "range"
  std::string name;
  int64_t beginNs = 0, endNs = 0;
  std::vector<std::pair<const char *, std::string>> details;
};

class Observer {
public:
  explicit Observer(SharedClock clock = {}) : clock(std::move(clock)) {}
  virtual ~Observer() = default;

  int64_t now() const { return clock->now(); }

  /// Kernel::launch has returned: what it compiled and chose lies in between.
  virtual void launched(const char *kernel, int64_t beginNs, int64_t endNs) {
    (void)kernel, (void)beginNs, (void)endNs;
  }
  /// Around work. On a host device it is done in between; on a GPU it is
  /// queued, so that an event before it and one after it measure it.
  virtual void begin(const Activity &work, ActivityMark &mark) {
    (void)work, (void)mark;
  }
  virtual void end(const Activity &work, const ActivityMark &mark, bool isOk) {
    (void)work, (void)mark, (void)isOk;
  }
  /// Between begin and end of a host device's work, from `beginNs` to `endNs`,
  /// this thread did a part of it: one of the pool, or the one that launches.
  /// Work that the launching thread does alone is not reported.
  virtual void share(const Activity &work, int64_t beginNs, int64_t endNs) {
    (void)work, (void)beginNs, (void)endNs;
  }
  virtual void slice(ObservedSlice slice) { (void)slice; }
  /// From now on the process's tensors of the device have `used` bytes, and
  /// `cached` are kept for later ones.
  virtual void memory(Device device, uint64_t used, uint64_t cached) {
    (void)device, (void)used, (void)cached;
  }

protected:
  const SharedClock clock;
};

/// From now on it watches the shared context and those that have no observer of
/// their own. False where another one does.
bool observe(std::shared_ptr<Observer> observer);
/// From now on it watches what is done for the context, and the process's
/// observer does not. False where the context has another one.
bool observe(Context &context, std::shared_ptr<Observer> observer);
/// No effect where it does not watch.
void stopObserving(const Observer &observer);
void stopObserving(Context &context, const Observer &observer);

/// The observer of the context that this thread works for; may be null.
std::shared_ptr<Observer> currentObserver();

namespace detail {
/// Observers of contexts, and that of the process.
inline constinit std::atomic<uint32_t> observers = 0;
} // namespace detail

/// Whether somebody watches anything: one load.
inline bool isObserved() {
  return detail::observers.load(std::memory_order_relaxed);
}

/// A part of the program with a name, for readers of the trace: a slice of
/// the category "range" on this thread, around the launches made meanwhile.
class TraceRange {
public:
  explicit TraceRange(std::string_view name) {
    if (isObserved()) {
      open(name);
    }
  }
  ~TraceRange() {
    if (observer) {
      close();
    }
  }
  TraceRange(const TraceRange &) = delete;
  TraceRange &operator=(const TraceRange &) = delete;

private:
  void open(std::string_view name);
  void close();

  std::shared_ptr<Observer> observer;
  std::string name;
  int64_t beginNs = 0;
};

} // namespace nereid

#endif // NEREID_RUNTIME_OBSERVER_H
