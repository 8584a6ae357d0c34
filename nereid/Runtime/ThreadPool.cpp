//===- ThreadPool.cpp - The threads that run programs ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/ThreadPool.h"

#include "nereid/Runtime/Context.h"
#include "nereid/Support/Host.h"
#include "nereid/Support/Knobs.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

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
  std::unique_ptr<Pool> owned;
};
} // namespace

static int defaultThreads() {
  return static_cast<int>(knobs().numThreads.value_or(availableCores()));
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
  h.owned.reset(); // two controls at once would give the smaller of both
  h.owned = std::make_unique<Pool>(count > 0 ? std::min(count, 4096)
                                             : defaultThreads());
  h.current = h.owned.get();
}

int numThreads() { return pool().threads; }

void parallelRanges(int64_t count, int64_t grain, RangeBody body) {
  Pool &p = pool();
  if (count <= grain || p.threads == 1) {
    if (count > 0) {
      body(0, count);
    }
    return;
  }
  p.arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<int64_t>(0, count, static_cast<size_t>(grain)),
        [&](const tbb::blocked_range<int64_t> &range) {
          body(range.begin(), range.end());
        });
  });
}

} // namespace nereid
