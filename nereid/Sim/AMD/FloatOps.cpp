//===- FloatOps.cpp - Floats of 32 bits -----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Approximate functions are rounded to the nearest, and flush denormals as the
// ISA documents say: a kernel that relies on denormals there is wrong.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Extrema.h"
#include "nereid/Sim/AMD/FloatForms.h"
#include "nereid/Sim/AMD/Functions.h"

#include <algorithm>
#include <cmath>

namespace nereid::sim::amd {

using u32 = uint32_t;

static float add(float a, float b) { return a + b; }
static float subtract(float a, float b) { return a - b; }
static float subtractReversed(float a, float b) { return b - a; }
static float multiply(float a, float b) { return a * b; }
/// 0 times anything is 0.
static float multiplyLegacy(float a, float b) {
  return a == 0 || b == 0 ? 0 : a * b;
}
static float fused(float a, float b, float c) { return std::fma(a, b, c); }
static float maximum(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) ? b : a;
  }
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
static float minimum(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) ? b : a;
  }
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
static float largest(float a, float b, float c) {
  return maximum(maximum(a, b), c);
}
static float smallest(float a, float b, float c) {
  return minimum(minimum(a, b), c);
}
static float middle(float a, float b, float c) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(c)) {
    return smallest(a, b, c);
  }
  return maximum(minimum(a, b), minimum(maximum(a, b), c));
}
static float minimumMaximum(float a, float b, float c) {
  return maximum(minimum(a, b), c);
}
static float maximumMinimum(float a, float b, float c) {
  return minimum(maximum(a, b), c);
}
static float truncated(float a) { return std::trunc(a); }
static float ceiling(float a) { return std::ceil(a); }
static float floored(float a) { return std::floor(a); }
static float nearest(float a) { return std::nearbyint(a); }
static float fraction(float a) {
  // Below 1, also where the difference would round to it.
  constexpr float most = 0x1.fffffep-1f;
  float value = a - std::floor(a);
  return value > most ? most : value;
}
static float scaled(float a, int32_t exponent) {
  return std::ldexp(a, std::clamp(exponent, -1000, 1000));
}
static int32_t exponentOf(float a) {
  int exponent = 0;
  if (std::isfinite(a)) {
    std::frexp(a, &exponent);
  }
  return exponent;
}
static float mantissaOf(float a) {
  int exponent;
  return std::isfinite(a) ? std::frexp(a, &exponent) : a;
}

/// The approximate functions' arguments and results.
static float flushed(double a) {
  return std::bit_cast<float>(flushDenormal(std::bit_cast<u32>(float(a))));
}
static float exponential(float a) {
  return flushed(std::exp2(double(flushed(a))));
}
static float logarithm(float a) {
  return flushed(std::log2(double(flushed(a))));
}
static float reciprocal(float a) { return flushed(1 / double(flushed(a))); }
static float root(float a) { return flushed(std::sqrt(double(flushed(a)))); }
static float inverseRoot(float a) {
  return flushed(1 / std::sqrt(double(flushed(a))));
}
static double turns(float a) {
  constexpr double tau = 6.283185307179586;
  return double(a) * tau;
}
static float sine(float a) { return float(std::sin(turns(a))); }
static float cosine(float a) { return float(std::cos(turns(a))); }

//===----------------------------------------------------------------------===//
// Exact division: denominators and numerators that are moved into range
//===----------------------------------------------------------------------===//

/// The scale is taken back: up where the quotient is large. (The documents of
/// RDNA say 2**32, which gives no quotient; those of Vega say this.) Rounded
/// once.
static float divisionFused(float a, float b, float c, bool scales) {
  constexpr double up = 0x1p64, down = 0x1p-64;
  if (!scales) {
    return std::fma(a, b, c);
  }
  return float(fmaForRounding(a, b, c) * (biased(c) > 127 ? up : down));
}

std::span<const Semantics> floatFamily() {
  constexpr unsigned addsLiteral = 1, multipliesLiteral = 2;
  static const std::vector<Semantics> rows = {
      lanesOf<add>("v_add_f32 v_dual_add_f32"),
      lanesOf<subtract>("v_sub_f32 v_dual_sub_f32"),
      lanesOf<subtractReversed>("v_subrev_f32 v_dual_subrev_f32"),
      lanesOf<multiply>("v_mul_f32 v_dual_mul_f32"),
      lanesOf<multiplyLegacy>("v_mul_legacy_f32 v_mul_dx9_zero_f32 "
                              "v_dual_mul_dx9_zero_f32"),
      lanesOf<fused>("v_fma_f32"),
      lanesOf<fused>("v_fmac_f32 v_dual_fmac_f32", ReadsTo),
      lanesOf<fused>("v_fmaak_f32 v_dual_fmaak_f32", 0, addsLiteral),
      lanesOf<fused>("v_fmamk_f32 v_dual_fmamk_f32", 0, multipliesLiteral),
      lanesOf<maximum>("v_max_f32 v_max_num_f32 v_dual_max_f32 "
                       "v_dual_max_num_f32"),
      lanesOf<minimum>("v_min_f32 v_min_num_f32 v_dual_min_f32 "
                       "v_dual_min_num_f32"),
      lanesOf<largest>("v_max3_f32 v_max3_num_f32"),
      lanesOf<smallest>("v_min3_f32 v_min3_num_f32"),
      lanesOf<middle>("v_med3_f32 v_med3_num_f32"),
      lanesOf<minimumMaximum>("v_minmax_f32 v_minmax_num_f32"),
      lanesOf<maximumMinimum>("v_maxmin_f32 v_maxmin_num_f32"),
      lanesOf<maximumOrNan<float>>("v_maximum_f32"),
      lanesOf<minimumOrNan<float>>("v_minimum_f32"),
      lanesOf<maximum3OrNan<float>>("v_maximum3_f32"),
      lanesOf<minimum3OrNan<float>>("v_minimum3_f32"),
      lanesOf<minimumMaximumOrNan<float>>("v_minimummaximum_f32"),
      lanesOf<maximumMinimumOrNan<float>>("v_maximumminimum_f32"),
      lanesOf<truncated>("v_trunc_f32"),
      lanesOf<ceiling>("v_ceil_f32"),
      lanesOf<floored>("v_floor_f32"),
      lanesOf<nearest>("v_rndne_f32"),
      lanesOf<fraction>("v_fract_f32"),
      lanesOf<scaled>("v_ldexp_f32"),
      lanesOf<exponentOf>("v_frexp_exp_i32_f32"),
      lanesOf<mantissaOf>("v_frexp_mant_f32"),
      lanesOf<exponential>("v_exp_f32", Trans),
      lanesOf<logarithm>("v_log_f32", Trans),
      lanesOf<reciprocal>("v_rcp_f32 v_rcp_iflag_f32", Trans),
      lanesOf<root>("v_sqrt_f32", Trans),
      lanesOf<inverseRoot>("v_rsq_f32", Trans),
      lanesOf<sine>("v_sin_f32", Trans),
      lanesOf<cosine>("v_cos_f32", Trans),
      lanesOf<divisionScale<float>>("v_div_scale_f32"),
      lanesOf<divisionFused>("v_div_fmas_f32", ReadsVcc),
      lanesOf<divisionFixup<float>>("v_div_fixup_f32"),
      lanesOf<isOfClass<float>>("v_cmp_class_f32"),
      lanesOf<isOfClass<float>>("v_cmpx_class_f32", WritesExec),
  };
  return rows;
}

} // namespace nereid::sim::amd
