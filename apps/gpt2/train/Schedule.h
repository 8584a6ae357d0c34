//===- Schedule.h - The learning rate of a step -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_SCHEDULE_H
#define NEREID_APPS_GPT2_TRAIN_SCHEDULE_H

#include "apps/gpt2/Options.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace nereid::gpt2 {

/// A line up to learning_rate over warmup_iters; then, as lr_schedule says,
/// half a cosine or a line down to min_lr at lr_decay_iters, learning_rate for
/// ever, or learning_rate until decay_iters before lr_decay_iters and a line
/// from there on. After lr_decay_iters it is min_lr.
inline double learningRateAt(const Options &o, int64_t step) {
  if (!o.decayLr) {
    return o.learningRate;
  }
  if (step < o.warmupIters) {
    return o.learningRate * double(step + 1) / double(o.warmupIters + 1);
  }
  if (o.lrSchedule == "constant") {
    return o.learningRate;
  }
  int64_t begin = o.warmupIters;
  if (o.lrSchedule == "wsd") {
    constexpr int64_t tenth = 10;
    int64_t decay = o.decayIters ? o.decayIters : o.lrDecayIters / tenth;
    begin = std::max(begin, o.lrDecayIters - decay);
  }
  if (step < begin) {
    return o.learningRate;
  }
  if (step > o.lrDecayIters || o.lrDecayIters == begin) {
    return o.minLr;
  }
  double share = double(step - begin) / double(o.lrDecayIters - begin);
  double left = o.lrSchedule == "cosine"
                    ? 0.5 * (1 + std::cos(std::numbers::pi * share))
                    : 1 - share;
  return o.minLr + left * (o.learningRate - o.minLr);
}

/// Processes ask each other for signals so many steps apart: that costs little
/// of short steps, and a stop waits for a second or one step.
inline int64_t stepsBetweenQuestions(int64_t microSteps,
                                     double millisecondsOfStep) {
  constexpr int64_t mostMicroSteps = 10;
  constexpr double longest = 1000;
  int64_t most = mostMicroSteps / std::max<int64_t>(microSteps, 1);
  double fit = longest / std::max(millisecondsOfStep, 1.0);
  return std::max<int64_t>(std::min(most, int64_t(fit)), 1);
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_SCHEDULE_H
