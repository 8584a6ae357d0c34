//===- PairedTimes.h - Times of a machine that others use too ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever else a machine does makes a run longer, never shorter: by a factor
// where memory and clocks are shared, by milliseconds where a thread has to
// wait for its core. So a configuration's time is a low quantile of its
// samples, as long as these are not few: a sole sample of a quiet moment says
// no more than one of a busy moment.
//
// How far the time may be from the truth is said by the samples' ranks,
// whatever their distribution is. Two configurations are compared by the rounds
// that both were in: these saw the same load.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TUNE_PAIREDTIMES_H
#define NEREID_TUNE_PAIREDTIMES_H

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace nereid::tune {

class PairedTimes {
public:
  using Round = std::vector<std::pair<size_t, double>>; ///< trial, ms
  void add(const Round &round);

  /// Milliseconds where nothing disturbs; infinity: no sample.
  double ms(size_t trial) const;
  /// A standard error of its logarithm.
  double uncertainty(size_t trial) const;
  size_t samples(size_t trial) const;
  std::vector<double> all(size_t trial) const;
  /// The noise of one sample, as a share: a standard deviation.
  double noise() const;
  /// The share of samples that something disturbed.
  double disturbed() const;

  /// Is `slow` so surely the slower one, or so near to `fast`, that a share
  /// (0.05) is all that can be lost by taking `fast`?
  bool isSafe(size_t fast, size_t slow, double share, double deviations) const;

private:
  struct Estimate {
    double ms = std::numeric_limits<double>::infinity();
    double uncertainty = std::numeric_limits<double>::infinity();
  };
  struct Trial {
    std::vector<std::pair<size_t, double>> samples; ///< round, ms
    Estimate estimate;
  };
  Estimate estimateOf(std::vector<double> samples) const;
  void solve() const;

  size_t rounds = 0;
  mutable std::vector<Trial> trials;
  mutable double noise_ = 0, disturbed_ = 0;
  mutable bool isSolved = false;
};

} // namespace nereid::tune

#endif // NEREID_TUNE_PAIREDTIMES_H
