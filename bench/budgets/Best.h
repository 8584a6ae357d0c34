//===- Best.h - The least time of many batches ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_BUDGETS_BEST_H
#define NEREID_BENCH_BUDGETS_BEST_H

#include "nereid/Machine/Clock.h"

#include <algorithm>
#include <limits>

namespace nereid {

/// Nanoseconds of a call, of the fastest of `batches` of `calls` each: what the
/// code costs; the rest is the machine. `after` is called after each batch,
/// outside of its time.
template <typename F, typename After>
double bestNs(int batches, int calls, F call, After after) {
  Clock &clock = *steadyClock();
  double best = std::numeric_limits<double>::infinity();
  for (int batch = 0; batch < batches; ++batch) {
    int64_t begin = clock.now();
    for (int i = 0; i < calls; ++i) {
      call();
    }
    best = std::min(best, static_cast<double>(clock.now() - begin) / calls);
    after();
  }
  return best;
}
template <typename F>
double bestNs(int batches, int calls, F call) {
  return bestNs(batches, calls, call, [] {});
}

} // namespace nereid

#endif // NEREID_BENCH_BUDGETS_BEST_H
