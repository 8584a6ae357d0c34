//===- ThreadPool.cpp - The threads that run programs ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/device/ThreadPool.h"

#include "nereid/Machine/Machine.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Support/Log.h"

#include <algorithm>
#include <latch>
#include <pthread.h>
#include <set>
#include <system_error>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <thread>
#include <vector>

namespace nereid {
namespace {

/// oneTBB's threads that have worked for a pool and have not ended. A worker
/// that has done nothing yet is not among them.
constinit std::atomic<int> liveWorkers = 0;

/// What this thread is to the pools, from its first loop to its end.
class Role {
public:
  ~Role() {
    if (role == Worker) {
      --liveWorkers;
    }
  }
  void calls() { role = role == None ? Caller : role; }
  void works() {
    if (role == None) {
      role = Worker;
      ++liveWorkers;
    }
  }

private:
  enum { None, Caller, Worker } role = None;
};
thread_local Role roleOfThread;

/// How many workers oneTBB may have, for all pools.
///
/// Without a control it never has more of them than cores, whatever an arena
/// asks for; of several controls it heeds the smallest. So there is one, for
/// the largest arena.
///
/// It cannot go on when the system refuses it a worker (ulimit -u, a
/// container's limit). So threads are made on trial before it asks. All pools
/// share its workers: only what no pool has had is tried.
class WorkerLimit {
public:
  /// For an arena of so many threads, its caller among them, or of as many as
  /// there can be, which is the result.
  int add(int wanted) {
    std::lock_guard lock(mutex);
    if (wanted - 1 > had) {
      had = std::max(had, workersToHave(wanted - 1));
    }
    int threads = std::min(wanted, had + 1);
    arenas.insert(threads);
    update();
    return threads;
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

  /// Workers there can be at once, up to `wanted`: those that live, and beside
  /// them threads that are made and ended here.
  int workersToHave(int wanted) {
    std::vector<std::thread> threads;
    std::latch done(1);
    auto there = [&] { return static_cast<int>(threads.size()) + liveWorkers; };
    try {
      while (there() < wanted) {
        threads.emplace_back([&done] { done.wait(); });
        ++tried;
      }
    } catch (const std::system_error &) {
    }
    int most = std::min(wanted, there());
    done.count_down();
    for (std::thread &thread : threads) {
      thread.join();
    }
    return most;
  }

public:
  std::atomic<int64_t> tried = 0; ///< threads made on trial

private:
  std::mutex mutex;
  std::multiset<int> arenas;
  int had = 0; ///< most workers that there could be at once
  int limit = 0;
  std::unique_ptr<tbb::global_control> control;
};
} // namespace

// Never destroyed: kernels may still run while static objects die.
static WorkerLimit &workerLimit() {
  static WorkerLimit *instance = new WorkerLimit;
  return *instance;
}

/// In a child that fork made of a process whose pools had work: oneTBB counts
/// on workers that are not there, and leaves everything to the caller.
static constinit std::atomic<bool> isForked = false;

static void watchForks() {
  [[maybe_unused]] static const int status =
      ::pthread_atfork(nullptr, nullptr, [] { isForked = true; });
}

struct ThreadPool::Arena {
  tbb::task_arena arena;
  /// Fewer than the arena has slots for where there cannot be as many. Others
  /// may read it meanwhile: the arena stays.
  std::atomic<int> threads;

  explicit Arena(int count) : arena(count), threads(count) {}
  ~Arena() {
    if (isAwake) {
      workerLimit().remove(threads);
    }
  }

  /// Before the first work that wakes its threads.
  void wake() {
    std::call_once(woken, [this] {
      watchForks();
      int wanted = threads, have = workerLimit().add(wanted);
      isAwake = true;
      if (have < wanted) {
        threads = have;
        warnOnce("only " + std::to_string(have) + " of " +
                 std::to_string(wanted) +
                 " threads can be started (ulimit -u, or a container's limit)");
      }
    });
  }

private:
  std::once_flag woken;
  bool isAwake = false;
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
  owned.reset();
  owned = std::make_unique<Arena>(count > 0 ? threadsOf(count, "setNumThreads")
                                            : threadsOfSettings());
  current = owned.get();
}

int ThreadPool::threads() { return arena().threads; }

int64_t ThreadPool::threadsTried() { return workerLimit().tried; }

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

/// With threads of its own, which cost more than the pool's. Where none can be
/// started, the caller does all: a thread that calls `work` helps with every
/// share.
template <typename Work>
static void runOnNewThreads(int64_t parts, const Work &work) {
  std::vector<std::thread> threads;
  try {
    for (int64_t i = 1; i < parts; ++i) {
      threads.emplace_back(work, i);
    }
  } catch (const std::system_error &) {
  }
  work(0);
  for (std::thread &thread : threads) {
    thread.join();
  }
}

// Every thread goes through a contiguous share of its own, the same one at
// every launch, and then helps the others. tbb::auto_partitioner deals shares
// to the first thread that asks, and is slower where a tensor stays in the
// caches (docs/decisions/Host.md).
void ThreadPool::runRanges(int64_t count, int64_t grain, RangeBody body,
                           const SharesWatch *watch) {
  if (count <= grain || threads() == 1) {
    if (count > 0) {
      body(0, count);
    }
    return;
  }
  Arena &p = arena();
  p.wake();
  int threads = p.threads;
  if (threads == 1) {
    body(0, count);
    return;
  }
  roleOfThread.calls();
  int64_t parts = std::min<int64_t>(threads, (count + grain - 1) / grain);
  std::vector<Share> shares(static_cast<size_t>(parts));
  for (int64_t i = 0; i < parts; ++i) {
    shares[i].next = count / parts * i + std::min(i, count % parts);
    shares[i].end = count / parts * (i + 1) + std::min(i + 1, count % parts);
  }
  Context::State *context = Context::State::ofThread();
  auto work = [&](int64_t own) {
    // A worker, or a thread that waits for work of another context.
    roleOfThread.works();
    ContextScope scope(context);
    int64_t beginNs = watch ? watch->observer.now() : 0;
    bool isIdle = true;
    for (int64_t i = 0; i < parts; ++i) {
      Share &share = shares[(own + i) % parts];
      int64_t begin, end;
      while (share.take(grain, begin, end)) {
        body(begin, end);
        isIdle = false;
      }
    }
    if (watch && !isIdle) {
      watch->observer.share(watch->work, beginNs, watch->observer.now());
    }
  };
  if (isForked) [[unlikely]] {
    runOnNewThreads(parts, work);
    return;
  }
  p.arena.execute([&] {
    tbb::parallel_for(int64_t{0}, parts, work, tbb::static_partitioner());
  });
}

} // namespace nereid
