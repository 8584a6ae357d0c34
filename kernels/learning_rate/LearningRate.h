//===- LearningRate.h - Learning rates by step -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   CosineRate rate = {.base = 3e-4, .warmup = 100, .steps = 10'000};
//   for (int64_t step = 0; step < 10'000; ++step) {
//     optimizer.setLearningRate(rate(step));
//     ...
//   }
//
// Functions of the number of the step, from 0 on (numbers below count as it):
// there is nothing to save, and a run that goes on asks for the step that it is
// at. Each comment names what PyTorch and Transformers call it.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LEARNING_RATE_LEARNINGRATE_H
#define NEREID_KERNELS_LEARNING_RATE_LEARNINGRATE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace nereid::kernels {

/// base * step / warmup in the first `warmup` steps; then half a cosine from
/// base down to `least` at `steps`, which it keeps. get_cosine_schedule_with_
/// warmup; without warm-up CosineAnnealingLR(T_max = steps, eta_min = least).
struct CosineRate {
  double base = 1e-3;
  int64_t warmup = 0, steps = 1;
  double least = 0;

  double operator()(int64_t step) const {
    if (step < warmup) {
      return base * double(std::max<int64_t>(step, 0)) / double(warmup);
    }
    double share = std::min(double(step - warmup) /
                                double(std::max<int64_t>(steps - warmup, 1)),
                            1.0);
    return least +
           (base - least) * 0.5 * (1 + std::cos(std::numbers::pi * share));
  }
};

/// base * step / warmup in the first `warmup` steps; then a line from base to
/// `least` at `steps`, which it keeps. get_linear_schedule_with_warmup.
struct LinearRate {
  double base = 1e-3;
  int64_t warmup = 0, steps = 1;
  double least = 0;

  double operator()(int64_t step) const {
    if (step < warmup) {
      return base * double(std::max<int64_t>(step, 0)) / double(warmup);
    }
    double left = std::max(double(steps - step) /
                               double(std::max<int64_t>(steps - warmup, 1)),
                           0.0);
    return least + (base - least) * left;
  }
};

/// base * factor^(step / every), the quotient rounded down. StepLR(step_size =
/// every, gamma = factor).
struct StepRate {
  double base = 1e-3;
  int64_t every = 1;
  double factor = 0.1;

  double operator()(int64_t step) const {
    return base * std::pow(factor, double(std::max<int64_t>(step, 0) /
                                          std::max<int64_t>(every, 1)));
  }
};

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LEARNING_RATE_LEARNINGRATE_H
