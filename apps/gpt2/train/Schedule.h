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
/// from there on. Behind lr_decay_iters it is min_lr.
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

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_SCHEDULE_H
