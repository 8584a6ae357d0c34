//===- Schedule.h - The learning rate of a step -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_TRAIN_SCHEDULE_H
#define NEREID_APPS_GPT2_TRAIN_SCHEDULE_H

#include "apps/gpt2/Options.h"

#include <cmath>
#include <numbers>

namespace nereid::gpt2 {

/// A line up to learning_rate over warmup_iters, half a cosine down to min_lr
/// at lr_decay_iters, and min_lr from there on.
inline double learningRateAt(const Options &o, int64_t step) {
  if (!o.decayLr) {
    return o.learningRate;
  }
  if (step < o.warmupIters) {
    return o.learningRate * double(step + 1) / double(o.warmupIters + 1);
  }
  if (step > o.lrDecayIters || o.lrDecayIters == o.warmupIters) {
    return o.minLr;
  }
  double share =
      double(step - o.warmupIters) / double(o.lrDecayIters - o.warmupIters);
  return o.minLr + 0.5 * (1 + std::cos(std::numbers::pi * share)) *
                       (o.learningRate - o.minLr);
}

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_TRAIN_SCHEDULE_H
