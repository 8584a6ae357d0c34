//===- TunerRounds.cpp - Which configuration is the fastest ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Observer.h"
#include "nereid/Tune/Tuner.h"

#include <algorithm>
#include <cmath>

namespace nereid::tune {

/// What may be lost by a choice that is called certain, and how many standard
/// errors are taken for that.
static constexpr double allowedLoss = 0.05, sureDeviations = 3;

static std::string counted(size_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Runs rounds on the machine and adds what they took to the times.
void Tuner::runRounds(size_t count, const std::vector<size_t> &of) {
  TraceRange range(counted(count, "round") + " of " +
                   counted(of.size(), "configuration"));
  std::vector<size_t> contenders, before;
  for (size_t trial : of) {
    contenders.push_back(*entries[trial].contender);
    before.push_back(measurement.samples(contenders.back()).size());
  }
  measurement.rounds(count, contenders);
  for (size_t round = 0; round < count; ++round) {
    PairedTimes::Round samples;
    for (size_t i = 0; i < of.size(); ++i) {
      const std::vector<double> &all = measurement.samples(contenders[i]);
      if (before[i] + round < all.size()) {
        samples.emplace_back(of[i], all[before[i] + round]);
      }
    }
    if (!samples.empty()) {
      times.add(std::move(samples));
    }
  }
}

/// So many, or as many as fit into a third of a second. Takes out of `of` what
/// fails only now.
Status Tuner::rounds(size_t count, std::vector<size_t> &of) {
  double roundMs = 0;
  for (size_t trial : of) {
    roundMs += times.ms(trial);
  }
  constexpr double budgetMs = 333;
  auto most = static_cast<size_t>(budgetMs / std::max(roundMs, 1e-3));
  observer.measuring(of.size());
  runRounds(std::clamp<size_t>(most, 1, count), of);
  observer.measuring(0);
  Status status = Status::success();
  std::erase_if(of, [&](size_t trial) {
    auto failure = measurement.times(*entries[trial].contender).failure;
    if (failure && status.ok()) {
      status = failed(trial, *failure);
    }
    return failure.has_value();
  });
  return status;
}

/// Those that may be the best, the likeliest first: the least that the time of
/// each may be decides, so that one with few times has its turn.
std::vector<size_t> Tuner::contestants(size_t most) const {
  constexpr double deviations = 3, near = 0.005;
  std::vector<size_t> left = standing();
  size_t best = left[0];
  auto least = [&](size_t trial) {
    return times.ms(trial) * std::exp(-deviations * times.uncertainty(trial));
  };
  std::erase_if(left, [&](size_t trial) {
    return trial != best && times.isSafe(best, trial, near, deviations) &&
           times.ms(trial) > (1 + near) * times.ms(best);
  });
  std::stable_sort(left.begin() + 1, left.end(),
                   [&](size_t a, size_t b) { return least(a) < least(b); });
  left.resize(std::min(left.size(), most));
  return left;
}

size_t Tuner::rivalsOf(size_t best) const {
  size_t count = 0;
  for (size_t trial : standing()) {
    count += trial != best &&
             !times.isSafe(best, trial, allowedLoss, sureDeviations);
  }
  return count;
}

/// Rounds, until it is known which is the best, or for some seconds: longer
/// where the machine is noisy. None where all have failed.
Expected<std::optional<size_t>> Tuner::measureInRounds() {
  constexpr size_t mostAtOnce = 16, leastRounds = 4;
  constexpr double usualSeconds = 2, noisySeconds = 4;
  const size_t mostRounds = std::max<size_t>(options.mostRounds, 1);
  double begin = secondsOver();
  bool isStopped = options.isStopped && options.isStopped();
  size_t done = 0, count = isStopped ? 1 : leastRounds;
  while (!standing().empty()) {
    std::vector<size_t> left = contestants(mostAtOnce);
    count = std::min(count, mostRounds - done);
    Status status = rounds(count, left);
    if (!status.ok()) {
      return status;
    }
    tell(true);
    done += count;
    count = std::min<size_t>(2 * count, mostAtOnce);
    std::vector<size_t> best = standing();
    if (best.empty()) {
      break;
    }
    constexpr double known = 0.01;
    double passed = secondsOver() - begin;
    bool isKnown = contestants(2).size() < 2 ||
                   (times.uncertainty(best[0]) < known / 2 &&
                    contestants(mostAtOnce).size() == left.size() &&
                    done >= 2 * mostAtOnce);
    bool isSure = !rivalsOf(best[0]);
    if (isKnown || done >= mostRounds || secondsLeft() <= 0 ||
        passed > (isSure ? usualSeconds : noisySeconds) ||
        (options.isStopped && options.isStopped())) {
      return std::optional<size_t>(best[0]);
    }
  }
  return std::optional<size_t>();
}

} // namespace nereid::tune
