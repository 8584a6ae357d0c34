//===- ThreadPool.cpp - The threads that run programs ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/device/ThreadPool.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <atomic>
#include <latch>
#include <mutex>
#include <optional>
#include <system_error>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <thread>
#include <vector>

namespace nereid {
namespace {
struct Pool {
  // Without the control, oneTBB never has more workers than cores, whatever
  // the arena asks for.
  tbb::global_control limit;
  tbb::task_arena arena;
  int threads;

  explicit Pool(int count)
      : limit(tbb::global_control::max_allowed_parallelism,
              static_cast<size_t>(count)),
        arena(count), threads(count) {}
};

struct PoolHolder {
  std::mutex mutex;
  std::atomic<Pool *> current = nullptr;
  std::atomic<bool> tried = false; ///< whether its threads can be had
  std::unique_ptr<Pool> owned;
};
} // namespace

/// What is asked for, up to what the machine has use for.
static int threadsOf(int64_t asked, const char *by) {
  Machine now;
  now.cores = availableCores();
  int most = now.mostThreads();
  if (asked > most) {
    warnOnce(std::string(by) + ": expected at most " + std::to_string(most) +
             " threads, eight times the cores that this process may use, got " +
             std::to_string(asked) + "; takes " + std::to_string(most));
    return most;
  }
  return static_cast<int>(asked);
}

static int defaultThreads() {
  return threadsOf(knobs().numThreads.value_or(availableCores()),
                   "NEREID_NUM_THREADS");
}

// Never destroyed: kernels may still run while static objects die.
static PoolHolder &holder() {
  static PoolHolder *instance = new PoolHolder;
  return *instance;
}

static Pool &pool() {
  PoolHolder &h = holder();
  if (Pool *p = h.current.load(std::memory_order_acquire)) {
    return *p;
  }
  std::lock_guard lock(h.mutex);
  if (!h.owned) {
    h.owned = std::make_unique<Pool>(defaultThreads());
    h.current.store(h.owned.get(), std::memory_order_release);
  }
  return *h.owned;
}

void setNumThreads(int count) {
  PoolHolder &h = holder();
  std::lock_guard lock(h.mutex);
  h.current = nullptr;
  h.tried = false;
  h.owned.reset(); // two controls at once would give the smaller of both
  h.owned = std::make_unique<Pool>(count > 0 ? threadsOf(count, "setNumThreads")
                                             : defaultThreads());
  h.current = h.owned.get();
}

int numThreads() { return pool().threads; }

namespace {
/// A thread's own neighbourhood of the whole.
struct alignas(64) Share {
  std::atomic<int64_t> next;
  int64_t end;

  /// Half of what is left: long runs through memory first, and a tail short
  /// enough for others to help with. False if nothing is left.
  bool take(int64_t grain, int64_t &begin, int64_t &stop) {
    begin = next.load(std::memory_order_relaxed);
    do {
      if (begin >= end) {
        return false;
      }
      stop = std::min(end, begin + std::max(grain, (end - begin) / 2));
    } while (
        !next.compare_exchange_weak(begin, stop, std::memory_order_relaxed));
    return true;
  }
};
} // namespace

/// Threads that can be had beside this one, up to `wanted`. oneTBB cannot go on
/// when the system refuses it a worker (ulimit -u, a container's limit), so
/// they are made on trial, all at once, before it asks.
static int threadsToHave(int wanted) {
  std::vector<std::thread> threads;
  std::latch done(1);
  try {
    while (static_cast<int>(threads.size()) < wanted) {
      threads.emplace_back([&done] { done.wait(); });
    }
  } catch (const std::system_error &) {
  }
  done.count_down();
  for (std::thread &thread : threads) {
    thread.join();
  }
  return static_cast<int>(threads.size());
}

/// The pool, for work that wakes its threads: the first time it is made smaller
/// when there are not as many.
static Pool &awakePool() {
  PoolHolder &h = holder();
  if (h.tried.load(std::memory_order_acquire)) {
    return pool();
  }
  int wanted = pool().threads;
  std::lock_guard lock(h.mutex);
  if (!h.tried.load(std::memory_order_relaxed)) {
    int have = threadsToHave(wanted - 1) + 1;
    if (have < wanted) {
      warnOnce("only " + std::to_string(have) + " of " +
               std::to_string(wanted) +
               " threads can be had (ulimit -u, or a container's limit)");
      h.current = nullptr;
      h.owned.reset();
      h.owned = std::make_unique<Pool>(have);
      h.current = h.owned.get();
    }
    h.tried.store(true, std::memory_order_release);
  }
  return *h.owned;
}

// Every thread goes through a contiguous share of its own, the same one at
// every launch, and then helps the others. tbb::auto_partitioner deals shares
// to whoever comes first: 1 to 4 % slower where a tensor stays in the caches.
void parallelRanges(int64_t count, int64_t grain, RangeBody body) {
  if (count <= grain || pool().threads == 1) {
    if (count > 0) {
      body(0, count);
    }
    return;
  }
  Pool &p = awakePool();
  if (p.threads == 1) {
    body(0, count);
    return;
  }
  int64_t parts = std::min<int64_t>(p.threads, (count + grain - 1) / grain);
  std::vector<Share> shares(static_cast<size_t>(parts));
  for (int64_t i = 0; i < parts; ++i) {
    shares[i].next = count / parts * i + std::min(i, count % parts);
    shares[i].end = count / parts * (i + 1) + std::min(i + 1, count % parts);
  }
  p.arena.execute([&] {
    tbb::parallel_for(
        int64_t{0}, parts,
        [&](int64_t own) {
          for (int64_t i = 0; i < parts; ++i) {
            Share &share = shares[(own + i) % parts];
            int64_t begin, end;
            while (share.take(grain, begin, end)) {
              body(begin, end);
            }
          }
        },
        tbb::static_partitioner());
  });
}

} // namespace nereid
