//===- Cost.h - What something costs, beside its budget ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_COST_H
#define NEREID_BENCH_COST_H

#include "nereid/Bench/Statistics.h"
#include "nereid/Machine/Clock.h"
#include "nereid/Runtime/Context.h"

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace nereid {

inline double millisecondsSince(int64_t start) {
  return static_cast<double>(steadyClock()->now() - start) / 1e6;
}

inline double median(const std::vector<double> &values) {
  return bench::summarize(values).median;
}

inline double median(int count, const std::function<double()> &sample) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(sample());
  }
  return median(values);
}

/// Of a context with nothing in memory; an empty `cache` keeps nothing on disk
/// either.
inline ContextOptions coldOptions(const std::string &cache) {
  ContextOptions options;
  options.cacheDirectory = cache;
  if (cache.empty()) {
    options.cacheBytes = 0;
  }
  return options;
}

/// A table of what was measured, on stdout.
class CostTable {
public:
  CostTable() { std::printf("| what | measured | budget |\n|---|--:|--:|\n"); }
  void add(const std::string &what, double value, const char *unit,
           double budget) {
    bool isOver = value > budget;
    exceeded |= isOver;
    std::printf("| %-52s | %8.3f %s | %8.3f %s |%s\n", what.c_str(), value,
                unit, budget, unit, isOver ? " EXCEEDED" : "");
  }
  bool isExceeded() const { return exceeded; }

private:
  bool exceeded = false;
};

} // namespace nereid

#endif // NEREID_BENCH_COST_H
