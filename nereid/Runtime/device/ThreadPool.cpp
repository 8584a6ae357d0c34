//===- ThreadPool.cpp - The threads that run programs ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/device/ThreadPool.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <latch>
#include <set>
#include <system_error>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <thread>
#include <vector>

namespace nereid {
namespace {
/// Without a control, oneTBB never has more workers than cores, whatever an
/// arena asks for; of several it heeds the smallest. So there is one, for the
/// largest arena.
class WorkerLimit {
public:
  void add(int threads) {
    std::lock_guard lock(mutex);
    arenas.insert(threads);
    update();
  }
  void remove(int threads) {
    std::lock_guard lock(mutex);
    arenas.erase(arenas.find(threads));
    update();
  }

private:
  void update() {
    int most = arenas.empty() ? 0 : *arenas.rbegin();
    if (most == limit) {
      return;
    }
    limit = most;
    control.reset();
    if (most) {
      control = std::make_unique<tbb::global_control>(
          tbb::global_control::max_allowed_parallelism,
          static_cast<size_t>(most));
    }
  }

  std::mutex mutex;
  std::multiset<int> arenas;
  int limit = 0;
  std::unique_ptr<tbb::global_control> control;
};
} // namespace

// Never destroyed: kernels may still run while static objects die.
static WorkerLimit &workerLimit() {
  static WorkerLimit *instance = new WorkerLimit;
  return *instance;
}

struct ThreadPool::Arena {
  tbb::task_arena arena;
  int threads;

  explicit Arena(int count) : arena(count), threads(count) {
    workerLimit().add(count);
  }
  ~Arena() { workerLimit().remove(threads); }
};

ThreadPool::ThreadPool(const Knobs *settings) : settings(settings) {}
ThreadPool::~ThreadPool() = default;

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

int ThreadPool::threadsOfSettings() const {
  const Knobs &now = settings ? *settings : processKnobs();
  return threadsOf(now.numThreads.value_or(availableCores()),
                   "NEREID_NUM_THREADS");
}

// Never destroyed: kernels may still run while static objects die.
ThreadPool &ThreadPool::ofProcess() {
  static ThreadPool *instance = new ThreadPool(nullptr);
  return *instance;
}

ThreadPool::Arena &ThreadPool::arena() {
  if (Arena *arena = current.load(std::memory_order_acquire)) {
    return *arena;
  }
  std::lock_guard lock(mutex);
  if (!owned) {
    owned = std::make_unique<Arena>(threadsOfSettings());
    current.store(owned.get(), std::memory_order_release);
  }
  return *owned;
}

void ThreadPool::setThreads(int count) {
  std::lock_guard lock(mutex);
  current = nullptr;
  tried = false;
  owned.reset();
  owned = std::make_unique<Arena>(count > 0 ? threadsOf(count, "setNumThreads")
                                            : threadsOfSettings());
  current = owned.get();
}

int ThreadPool::threads() { return arena().threads; }

static ThreadPool &poolOfThread() {
  Context::State *context = Context::State::ofThread();
  return context ? context->pool() : ThreadPool::ofProcess();
}

void setNumThreads(int count) { ThreadPool::ofProcess().setThreads(count); }
int numThreads() { return poolOfThread().threads(); }

void parallelRanges(int64_t count, int64_t grain, RangeBody body) {
  poolOfThread().runRanges(count, grain, body);
}

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

/// The arena, for work that wakes its threads: the first time it is made
/// smaller when there are not as many.
ThreadPool::Arena &ThreadPool::awakeArena() {
  if (tried.load(std::memory_order_acquire)) {
    return arena();
  }
  int wanted = threads();
  std::lock_guard lock(mutex);
  if (!tried.load(std::memory_order_relaxed)) {
    int have = threadsToHave(wanted - 1) + 1;
    if (have < wanted) {
      warnOnce("only " + std::to_string(have) + " of " +
               std::to_string(wanted) +
               " threads can be had (ulimit -u, or a container's limit)");
      current = nullptr;
      owned.reset();
      owned = std::make_unique<Arena>(have);
      current = owned.get();
    }
    tried.store(true, std::memory_order_release);
  }
  return *owned;
}

// Every thread goes through a contiguous share of its own, the same one at
// every launch, and then helps the others. tbb::auto_partitioner deals shares
// to whoever comes first: 1 to 4 % slower where a tensor stays in the caches.
void ThreadPool::runRanges(int64_t count, int64_t grain, RangeBody body) {
  if (count <= grain || threads() == 1) {
    if (count > 0) {
      body(0, count);
    }
    return;
  }
  Arena &p = awakeArena();
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
  Context::State *context = Context::State::ofThread();
  p.arena.execute([&] {
    tbb::parallel_for(
        int64_t{0}, parts,
        [&](int64_t own) {
          // A worker, or a thread that waits for work of another context.
          ContextScope scope(context);
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
