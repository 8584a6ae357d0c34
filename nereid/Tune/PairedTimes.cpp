//===- PairedTimes.cpp - Times of a machine that others use too -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/PairedTimes.h"

#include "nereid/Bench/Statistics.h"

#include <algorithm>
#include <cmath>

namespace nereid::tune {

/// The quantile that counts, and the samples from which on ranks say how sure
/// it is.
static constexpr double counted = 0.15;
static constexpr size_t enough = 6;

void PairedTimes::add(const Round &round) {
  for (const auto &[trial, ms] : round) {
    if (trial >= trials.size()) {
      trials.resize(trial + 1);
    }
    trials[trial].samples.emplace_back(rounds, std::max(ms, 1e-9));
  }
  ++rounds;
  isSolved = false;
}

PairedTimes::Estimate
PairedTimes::estimateOf(std::vector<double> samples) const {
  if (samples.empty()) {
    return {};
  }
  std::sort(samples.begin(), samples.end());
  double n = double(samples.size());
  Estimate result{bench::quantile(samples, counted), 0};
  constexpr double few = 1.9; // times as unsure as normal samples' mean
  result.uncertainty = few * noise_ / std::sqrt(n);
  if (samples.size() >= enough) {
    // How many samples lie below the quantile is binomial.
    constexpr double deviations = 1.96, least = 0.001;
    double reach = deviations * std::sqrt(n * counted * (1 - counted));
    double low = std::max(n * counted - reach, 0.0);
    double high = std::min(n * counted + reach, n - 1);
    double width =
        std::log(samples[size_t(std::ceil(high))] / samples[size_t(low)]);
    result.uncertainty = std::max(least, width / 2 / deviations);
  }
  return result;
}

void PairedTimes::solve() const {
  if (isSolved) {
    return;
  }
  isSolved = true;
  constexpr size_t few = 3;
  constexpr double longer = 1.3;
  std::vector<double> apart;
  size_t disturbed = 0;
  for (Trial &trial : trials) {
    if (trial.samples.size() < few) {
      continue;
    }
    std::vector<double> samples = all(size_t(&trial - trials.data()));
    std::sort(samples.begin(), samples.end());
    double ms = bench::quantile(samples, counted);
    for (double sample : samples) {
      apart.push_back(std::fabs(std::log(sample / ms)));
      disturbed += sample > longer * ms;
    }
  }
  // Before anything is known, samples may be off by a third.
  constexpr double unknown = 0.3, least = 0.002, tenth = 1.645;
  std::sort(apart.begin(), apart.end());
  noise_ = apart.size() < enough
               ? unknown
               : std::max(least, bench::quantile(apart, 0.9) / tenth);
  disturbed_ = apart.empty() ? 0 : double(disturbed) / double(apart.size());
  for (Trial &trial : trials) {
    trial.estimate = estimateOf(all(size_t(&trial - trials.data())));
  }
}

double PairedTimes::ms(size_t trial) const {
  solve();
  return trial < trials.size() ? trials[trial].estimate.ms : Estimate().ms;
}

double PairedTimes::uncertainty(size_t trial) const {
  solve();
  return trial < trials.size() ? trials[trial].estimate.uncertainty
                               : Estimate().uncertainty;
}

size_t PairedTimes::samples(size_t trial) const {
  return trial < trials.size() ? trials[trial].samples.size() : 0;
}

std::vector<double> PairedTimes::all(size_t trial) const {
  std::vector<double> result;
  if (trial < trials.size()) {
    for (const auto &[round, ms] : trials[trial].samples) {
      result.push_back(ms);
    }
  }
  return result;
}

double PairedTimes::noise() const {
  solve();
  return noise_;
}

double PairedTimes::disturbed() const {
  solve();
  return disturbed_;
}

bool PairedTimes::isSafe(size_t fast, size_t slow, double share,
                         double deviations) const {
  solve();
  Estimate a = trials[fast].estimate, b = trials[slow].estimate;
  std::vector<double> ofFast, ofSlow;
  auto other = trials[slow].samples.begin(), end = trials[slow].samples.end();
  for (const auto &[round, ms] : trials[fast].samples) {
    while (other != end && other->first < round) {
      ++other;
    }
    if (other != end && other->first == round) {
      ofFast.push_back(ms);
      ofSlow.push_back(other->second);
    }
  }
  if (ofFast.size() >= enough) {
    a = estimateOf(std::move(ofFast));
    b = estimateOf(std::move(ofSlow));
  }
  // A load may be harder on one of two: by up to a fifth, where it is always
  // there.
  constexpr double harder = 0.4, most = 0.2;
  double systematic = std::min(harder * disturbed_, most);
  return std::log(b.ms / a.ms) + std::log1p(share) >=
         deviations * std::hypot(a.uncertainty, b.uncertainty) + systematic;
}

} // namespace nereid::tune
