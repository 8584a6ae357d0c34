//===- Initialise.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/module/Initialise.h"

#include "kernels/operator/Checks.h"

#include <climits>
#include <cmath>

using namespace nereid;
using namespace nereid::nn;
using kernels::Checks;

static uint64_t seedOf(Generator *generator) {
  return generator ? generator->next() : nextSeed();
}

static const Tensor &checked(const char *name, const Variable &x) {
  Checks(name).gradients("x", x.value());
  return x.value();
}

/// Drawn in fp32 on the host and rounded once: the same on every device.
static const Variable &fill(const Variable &x, std::vector<float> values) {
  Tensor drawn = Tensor::fromVector(values, x.shape());
  x.value().copyFrom(drawn);
  return x;
}

const Variable &init::constant(const Variable &x, double value) {
  checked("constant", x).fill(value);
  return x;
}

const Variable &init::uniform(const Variable &x, double low, double high,
                              Generator *generator) {
  const Tensor &value = checked("uniform", x);
  Checks("uniform").require(low <= high, "high", "a number from `low` on",
                            high);
  std::vector<float> values =
      rand(value.shape(), f32, Device::cpu(), seedOf(generator))
          .toVector<float>();
  for (float &one : values) {
    one = float(low + (high - low) * double(one));
  }
  return fill(x, std::move(values));
}

const Variable &init::normal(const Variable &x, double mean, double deviation,
                             Generator *generator) {
  const Tensor &value = checked("normal", x);
  Checks("normal").require(deviation >= 0, "deviation",
                           "a number that is not negative", deviation);
  std::vector<float> values =
      randn(value.shape(), f32, Device::cpu(), seedOf(generator))
          .toVector<float>();
  for (float &one : values) {
    one = float(mean + deviation * double(one));
  }
  return fill(x, std::move(values));
}

const Variable &init::truncatedNormal(const Variable &x, double mean,
                                      double deviation, double low, double high,
                                      Generator *generator) {
  const Tensor &value = checked("truncatedNormal", x);
  Checks checks("truncatedNormal");
  checks.require(deviation > 0, "deviation", "a positive number", deviation);
  // Beyond four deviations from the mean a draw would rarely end.
  constexpr double most = 4;
  checks.require(low < high && low <= mean + most * deviation &&
                     high >= mean - most * deviation,
                 "high",
                 "bounds with `low` below `high`, within 4 deviations of the "
                 "mean",
                 high);
  checks.require(high - low >= deviation / 100, "high",
                 "bounds a hundredth of a deviation apart", high);
  std::vector<float> values(size_t(value.numel()));
  std::vector<size_t> open(values.size());
  for (size_t i = 0; i < open.size(); ++i) {
    open[i] = i;
  }
  while (!open.empty()) {
    std::vector<float> drawn =
        randn({int64_t(open.size())}, f32, Device::cpu(), seedOf(generator))
            .toVector<float>();
    std::vector<size_t> left;
    for (size_t i = 0; i < open.size(); ++i) {
      double one = mean + deviation * double(drawn[i]);
      values[open[i]] = float(one);
      if (one < low || one > high) {
        left.push_back(open[i]);
      }
    }
    open = std::move(left);
  }
  return fill(x, std::move(values));
}

namespace {
struct Fans {
  double in, out;
};
} // namespace

static Fans fansOf(const char *name, const Variable &x) {
  const Tensor &value = checked(name, x);
  Checks checks(name);
  checks.any("x", value).rank(2, INT_MAX);
  double behind = 1;
  for (int axis = 2; axis < value.rank(); ++axis) {
    behind *= double(value.size(axis));
  }
  return {double(value.size(1)) * behind, double(value.size(0)) * behind};
}

/// The deviation that keeps the variance; of no inputs nothing is drawn.
static double kaiming(const char *name, const Variable &x, double slope,
                      init::FanMode mode) {
  Fans fans = fansOf(name, x);
  double fan = mode == init::FanMode::In ? fans.in : fans.out;
  return fan > 0 ? std::sqrt(2 / (1 + slope * slope) / fan) : 0;
}

static double xavier(const char *name, const Variable &x, double gain) {
  Fans fans = fansOf(name, x);
  double sum = fans.in + fans.out;
  return sum > 0 ? std::abs(gain) * std::sqrt(2 / sum) : 0;
}

/// A uniform number up to b has the deviation b / sqrt(3).
static const Variable &uniformOf(const Variable &x, double deviation,
                                 Generator *generator) {
  double bound = std::sqrt(3.0) * deviation;
  return init::uniform(x, -bound, bound, generator);
}

const Variable &init::xavierUniform(const Variable &x, double gain,
                                    Generator *generator) {
  return uniformOf(x, xavier("xavierUniform", x, gain), generator);
}

const Variable &init::xavierNormal(const Variable &x, double gain,
                                   Generator *generator) {
  return normal(x, 0, xavier("xavierNormal", x, gain), generator);
}

const Variable &init::kaimingUniform(const Variable &x, double slope,
                                     FanMode mode, Generator *generator) {
  return uniformOf(x, kaiming("kaimingUniform", x, slope, mode), generator);
}

const Variable &init::kaimingNormal(const Variable &x, double slope,
                                    FanMode mode, Generator *generator) {
  return normal(x, 0, kaiming("kaimingNormal", x, slope, mode), generator);
}
