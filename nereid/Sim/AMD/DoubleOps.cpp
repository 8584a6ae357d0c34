//===- DoubleOps.cpp - Floats of 64 bits ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Extrema.h"
#include "nereid/Sim/AMD/FloatForms.h"
#include "nereid/Sim/AMD/Functions.h"

#include <algorithm>
#include <cmath>

namespace nereid::sim::amd {

static double add(double a, double b) { return a + b; }
static double multiply(double a, double b) { return a * b; }
static double fused(double a, double b, double c) { return std::fma(a, b, c); }
static double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) ? b : a;
  }
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
static double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) ? b : a;
  }
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
static double truncated(double a) { return std::trunc(a); }
static double ceiling(double a) { return std::ceil(a); }
static double floored(double a) { return std::floor(a); }
static double nearest(double a) { return std::nearbyint(a); }
static double fraction(double a) {
  constexpr double most = 0x1.fffffffffffffp-1;
  double value = a - std::floor(a);
  return value > most ? most : value;
}
static double scaled(double a, int32_t exponent) {
  return std::ldexp(a, std::clamp(exponent, -5000, 5000));
}
static int32_t exponentOf(double a) {
  int exponent = 0;
  if (std::isfinite(a)) {
    std::frexp(a, &exponent);
  }
  return exponent;
}
static double mantissaOf(double a) {
  int exponent;
  return std::isfinite(a) ? std::frexp(a, &exponent) : a;
}
// Exact to the last bit; the hardware's have 2**-14 to 2**-29, and the compiler
// refines what they give.
static double reciprocal(double a) { return 1 / a; }
static double inverseRoot(double a) { return 1 / std::sqrt(a); }
static double root(double a) { return std::sqrt(a); }

static double divisionFused(double a, double b, double c, bool scales) {
  constexpr double up = 0x1p128, down = 0x1p-128;
  double value = std::fma(a, b, c);
  return !scales ? value : biased(c) > 1023 ? value * up : value * down;
}

std::span<const Semantics> doubleFamily() {
  static const std::vector<Semantics> rows = {
      lanesOf<add>("v_add_f64"),
      lanesOf<multiply>("v_mul_f64"),
      lanesOf<fused>("v_fma_f64"),
      lanesOf<fused>("v_fmac_f64", ReadsTo),
      lanesOf<maximum>("v_max_f64 v_max_num_f64"),
      lanesOf<maximumOrNan<double>>("v_maximum_f64"),
      lanesOf<minimumOrNan<double>>("v_minimum_f64"),
      lanesOf<minimum>("v_min_f64 v_min_num_f64"),
      lanesOf<truncated>("v_trunc_f64"),
      lanesOf<ceiling>("v_ceil_f64"),
      lanesOf<floored>("v_floor_f64"),
      lanesOf<nearest>("v_rndne_f64"),
      lanesOf<fraction>("v_fract_f64"),
      lanesOf<scaled>("v_ldexp_f64"),
      lanesOf<exponentOf>("v_frexp_exp_i32_f64"),
      lanesOf<mantissaOf>("v_frexp_mant_f64"),
      lanesOf<reciprocal>("v_rcp_f64", Trans),
      lanesOf<inverseRoot>("v_rsq_f64", Trans),
      lanesOf<root>("v_sqrt_f64", Trans),
      lanesOf<divisionScale<double>>("v_div_scale_f64"),
      lanesOf<divisionFused>("v_div_fmas_f64", ReadsVcc),
      lanesOf<divisionFixup<double>>("v_div_fixup_f64"),
      lanesOf<isOfClass<double>>("v_cmp_class_f64"),
      lanesOf<isOfClass<double>>("v_cmpx_class_f64", WritesExec),
  };
  return rows;
}

} // namespace nereid::sim::amd
