//===- ThreadPool.h - The threads that run programs -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One oneTBB arena of so many slots, the calling thread being one of them. Work
// is handed out in contiguous ranges and stolen when a thread runs dry, so that
// programs of unequal cost balance.
//
// The process has a pool; a context with settings of its own has another. The
// workers are oneTBB's, which all pools share: there are as many as the largest
// pool has use for.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_DEVICE_THREADPOOL_H
#define NEREID_RUNTIME_DEVICE_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>

namespace nereid {
class Observer;
struct Activity;
struct Knobs;
} // namespace nereid

namespace nereid {

/// A reference to a callable void(int64_t begin, int64_t end).
class RangeBody {
public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, RangeBody>)
  RangeBody(const F &function)
      : object(&function), call([](const void *f, int64_t b, int64_t e) {
          (*static_cast<const F *>(f))(b, e);
        }) {}
  void operator()(int64_t begin, int64_t end) const {
    call(object, begin, end);
  }

private:
  const void *object;
  void (*call)(const void *, int64_t, int64_t);
};

/// The observer of what each thread does of some work.
struct SharesWatch {
  Observer &observer;
  const Activity &work;
};

class ThreadPool {
public:
  /// A pool of as many threads as the settings say when it is first used.
  /// `settings` must outlive it; null: those of the process.
  explicit ThreadPool(const Knobs *settings);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  static ThreadPool &ofProcess();

  /// Fewer from the first loop on where there cannot be as many.
  int threads();
  /// By all pools so far, to see whether there can be as many; for tests.
  static int64_t threadsTried();
  /// From now on so many; 0: what the settings say.
  void setThreads(int count);
  /// Calls body on disjoint ranges that cover [0, count), on all threads, none
  /// shorter than `grain` except the last ones. Returns when all are done. The
  /// body must not throw; its thread works for the caller's context. Start-up
  /// costs some microseconds: small work is better done by the caller itself.
  void runRanges(int64_t count, int64_t grain, RangeBody body,
                 const SharesWatch *watch = nullptr);

private:
  struct Arena;
  Arena &arena();
  int threadsOfSettings() const;

  const Knobs *settings;
  std::mutex mutex;
  std::atomic<Arena *> current = nullptr;
  std::unique_ptr<Arena> owned;
};

/// On the pool of the context that the calling thread works for.
void parallelRanges(int64_t count, int64_t grain, RangeBody body);

} // namespace nereid

#endif // NEREID_RUNTIME_DEVICE_THREADPOOL_H
