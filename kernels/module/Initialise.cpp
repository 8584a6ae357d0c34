//===- Initialise.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/module/Initialise.h"

#include "kernels/operator/Checks.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <tuple>

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

/// Of a standard normal number.
static double shareBelow(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

/// Its inverse, to 1.2e-9 of the result: P. Acklam's rational functions.
static double quantile(double share) {
  auto polynomial = [](std::initializer_list<double> coefficients, double x) {
    double sum = 0;
    for (double each : coefficients) {
      sum = sum * x + each;
    }
    return sum;
  };
  constexpr double tail = 0.02425;
  if (share > 1 - tail) {
    return -quantile(1 - share);
  }
  if (share < tail) {
    double q = std::sqrt(-2 * std::log(share));
    return polynomial({-7.784894002430293e-3, -3.223964580411365e-1,
                       -2.400758277161838, -2.549732539343734,
                       4.374664141464968, 2.938163982698783},
                      q) /
           polynomial({7.784695709041462e-3, 3.224671290700398e-1,
                       2.445134137142996, 3.754408661907416, 1},
                      q);
  }
  double q = share - 0.5, r = q * q;
  return q *
         polynomial({-3.969683028665376e1, 2.209460984245205e2,
                     -2.759285104469687e2, 1.383577518672690e2,
                     -3.066479806614716e1, 2.506628277459239},
                    r) /
         polynomial({-5.447609879822406e1, 1.615858368580409e2,
                     -1.556989798598866e2, 6.680131188771972e1,
                     -1.328068155288572e1, 1},
                    r);
}

const Variable &init::truncatedNormal(const Variable &x, double mean,
                                      double deviation, double low, double high,
                                      Generator *generator) {
  const Tensor &value = checked("truncatedNormal", x);
  Checks checks("truncatedNormal");
  checks.require(deviation > 0, "deviation", "a positive number", deviation);
  checks.require(low < high, "high", "a bound above `low`", high);
  // Past the mean both bounds are mirrored, where shares are small and exact.
  double first = (low - mean) / deviation, last = (high - mean) / deviation;
  bool isMirrored = first > 0;
  if (isMirrored) {
    std::tie(first, last) = std::pair(-last, -first);
  }
  double least = shareBelow(first), most = shareBelow(last);
  std::vector<float> values =
      rand(value.shape(), f32, Device::cpu(), seedOf(generator))
          .toVector<float>();
  for (float &one : values) {
    // The middles of the 2^24 steps of a draw. So far out that there are no
    // shares, numbers crowd at the near bound.
    double share = least + (most - least) * (double(one) + 0x1p-25);
    double drawn = share > 0 ? quantile(share) : last;
    drawn = std::clamp(drawn, first, last);
    drawn = mean + deviation * (isMirrored ? -drawn : drawn);
    one = float(std::clamp(drawn, low, high));
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
