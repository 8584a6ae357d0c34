//===- Statistics.cpp - What a list of times says -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::bench {

double quantile(std::span<const double> sorted, double share) {
  double at = share * double(sorted.size() - 1);
  auto below = size_t(at);
  size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - double(below));
}

static std::vector<double> sortedCopy(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

Summary summarize(std::span<const double> samples) {
  if (samples.empty()) {
    return {};
  }
  std::vector<double> sorted = sortedCopy(samples);
  return {sorted.size(), quantile(sorted, 0.5), sorted.front(),
          quantile(sorted, 0.25), quantile(sorted, 0.75)};
}

/// The number of samples below the median is binomial: 1.96 deviations of it
/// are 0.98 sqrt(n) ranks to each side.
double medianUncertainty(std::span<const double> samples) {
  if (samples.size() < 6) {
    return std::numeric_limits<double>::infinity();
  }
  double n = double(samples.size()), reach = 0.98 * std::sqrt(n);
  auto rank = size_t(std::max(1.0, n / 2 - reach)); // from 1
  std::vector<double> sorted = sortedCopy(samples);
  double low = sorted[rank - 1], high = sorted[sorted.size() - rank];
  double median = quantile(sorted, 0.5);
  return median > 0 ? (high - low) / 2 / median : 0;
}

} // namespace nereid::bench
