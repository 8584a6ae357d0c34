//===- Statistics.h - What a list of times says ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_BENCH_STATISTICS_H
#define NEREID_BENCH_STATISTICS_H

#include <cstddef>
#include <span>
#include <vector>

namespace nereid::bench {

/// A summary of samples in any unit; all zeros for none.
struct Summary {
  size_t samples = 0;
  double median = 0, least = 0;
  double lowerQuartile = 0, upperQuartile = 0;

  /// The distance of the quartiles, as a share of the median: half of the
  /// samples are as near to each other as this.
  double spread() const {
    return median ? (upperQuartile - lowerQuartile) / median : 0;
  }
};

Summary summarize(std::span<const double> samples);

/// Takes sorted samples, at least one: 0 is the least, 1 the largest; between
/// two samples it is interpolated.
double quantile(std::span<const double> sorted, double share);

/// Half of the interval that holds the true median with 95 %, as a share of the
/// median: by the samples' ranks, whatever their distribution is. Infinite
/// where there are too few (6).
double medianUncertainty(std::span<const double> samples);

} // namespace nereid::bench

#endif // NEREID_BENCH_STATISTICS_H
