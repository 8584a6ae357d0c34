//===- HalfOps.cpp - Floats of 16 bits ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Extrema.h"
#include "nereid/Sim/AMD/Functions.h"

#include <algorithm>
#include <cmath>

namespace nereid::sim::amd {

static Half add(Half a, Half b) { return Half::of(a.value() + b.value()); }
static Half subtract(Half a, Half b) { return Half::of(a.value() - b.value()); }
static Half subtractReversed(Half a, Half b) { return subtract(b, a); }
static Half multiply(Half a, Half b) { return Half::of(a.value() * b.value()); }
static Half fused(Half a, Half b, Half c) {
  return Half::of(fmaForRounding(a.value(), b.value(), c.value()));
}
static Half maximum(Half a, Half b) {
  double x = a.value(), y = b.value();
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) ? b : a;
  }
  return x == y ? (std::signbit(x) ? b : a) : x > y ? a : b;
}
static Half minimum(Half a, Half b) {
  double x = a.value(), y = b.value();
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) ? b : a;
  }
  return x == y ? (std::signbit(x) ? a : b) : x < y ? a : b;
}
/// The forms for floats, of halves, which are exact there.
template <double (*form)(double, double)>
static Half ofHalves(Half a, Half b) {
  return Half::of(form(a.value(), b.value()));
}
template <double (*form)(double, double, double)>
static Half ofThreeHalves(Half a, Half b, Half c) {
  return Half::of(form(a.value(), b.value(), c.value()));
}
static Half largest(Half a, Half b, Half c) {
  return maximum(maximum(a, b), c);
}
static Half smallest(Half a, Half b, Half c) {
  return minimum(minimum(a, b), c);
}
static Half middle(Half a, Half b, Half c) {
  return maximum(minimum(a, b), minimum(maximum(a, b), c));
}
static Half truncated(Half a) { return Half::of(std::trunc(a.value())); }
static Half ceiling(Half a) { return Half::of(std::ceil(a.value())); }
static Half floored(Half a) { return Half::of(std::floor(a.value())); }
static Half nearest(Half a) { return Half::of(std::nearbyint(a.value())); }
static Half fraction(Half a) {
  constexpr double most = 0x1.ffcp-1;
  double value = a.value() - std::floor(a.value());
  return Half::of(std::min(value, most));
}
static Half scaled(Half a, int16_t exponent) {
  return Half::of(std::ldexp(a.value(), exponent));
}
static Half exponential(Half a) { return Half::of(std::exp2(a.value())); }
static Half logarithm(Half a) { return Half::of(std::log2(a.value())); }
static Half reciprocal(Half a) { return Half::of(1 / a.value()); }
static Half root(Half a) { return Half::of(std::sqrt(a.value())); }
static Half inverseRoot(Half a) { return Half::of(1 / std::sqrt(a.value())); }
static Half divisionFixup(Half quotient, Half denominator, Half numerator) {
  double d = denominator.value(), n = numerator.value();
  if (std::isnan(n) || std::isnan(d)) {
    return std::isnan(n) ? numerator : denominator;
  }
  if ((n == 0 && d == 0) || (std::isinf(n) && std::isinf(d))) {
    return {0xfe00};
  }
  double sign = std::signbit(n) != std::signbit(d) ? -1 : 1;
  if (d == 0 || std::isinf(n)) {
    return Half::of(sign * INFINITY);
  }
  if (std::isinf(d) || n == 0) {
    return Half::of(sign * 0.0);
  }
  return Half::of(std::copysign(std::fabs(quotient.value()), sign));
}

std::span<const Semantics> halfFamily() {
  constexpr unsigned addsLiteral = 1, multipliesLiteral = 2;
  static const std::vector<Semantics> rows = {
      scalarOf<add>("s_add_f16"),
      scalarOf<subtract>("s_sub_f16"),
      scalarOf<multiply>("s_mul_f16"),
      scalarOf<fused>("s_fmac_f16", ReadsTo),
      scalarOf<maximum>("s_max_num_f16"),
      scalarOf<minimum>("s_min_num_f16"),
      scalarOf<truncated>("s_trunc_f16"),
      scalarOf<ceiling>("s_ceil_f16"),
      scalarOf<floored>("s_floor_f16"),
      scalarOf<nearest>("s_rndne_f16"),
      lanesOf<add>("v_add_f16"),
      lanesOf<subtract>("v_sub_f16"),
      lanesOf<subtractReversed>("v_subrev_f16"),
      lanesOf<multiply>("v_mul_f16"),
      lanesOf<fused>("v_fma_f16"),
      lanesOf<fused>("v_fmac_f16", ReadsTo),
      lanesOf<fused>("v_fmaak_f16", 0, addsLiteral),
      lanesOf<fused>("v_fmamk_f16", 0, multipliesLiteral),
      lanesOf<maximum>("v_max_f16 v_max_num_f16"),
      lanesOf<minimum>("v_min_f16 v_min_num_f16"),
      lanesOf<largest>("v_max3_f16 v_max3_num_f16"),
      lanesOf<smallest>("v_min3_f16 v_min3_num_f16"),
      lanesOf<middle>("v_med3_f16 v_med3_num_f16"),
      lanesOf<ofHalves<maximumOrNan<double>>>("v_maximum_f16"),
      lanesOf<ofHalves<minimumOrNan<double>>>("v_minimum_f16"),
      lanesOf<ofThreeHalves<maximum3OrNan<double>>>("v_maximum3_f16"),
      lanesOf<ofThreeHalves<minimum3OrNan<double>>>("v_minimum3_f16"),
      lanesOf<ofThreeHalves<minimumMaximumOrNan<double>>>(
          "v_minimummaximum_f16"),
      lanesOf<ofThreeHalves<maximumMinimumOrNan<double>>>(
          "v_maximumminimum_f16"),
      lanesOf<truncated>("v_trunc_f16"),
      lanesOf<ceiling>("v_ceil_f16"),
      lanesOf<floored>("v_floor_f16"),
      lanesOf<nearest>("v_rndne_f16"),
      lanesOf<fraction>("v_fract_f16"),
      lanesOf<scaled>("v_ldexp_f16"),
      lanesOf<exponential>("v_exp_f16", Trans),
      lanesOf<logarithm>("v_log_f16", Trans),
      lanesOf<reciprocal>("v_rcp_f16", Trans),
      lanesOf<root>("v_sqrt_f16", Trans),
      lanesOf<inverseRoot>("v_rsq_f16", Trans),
      lanesOf<divisionFixup>("v_div_fixup_f16"),
  };
  return rows;
}

} // namespace nereid::sim::amd
