//===- ScalarFloatOps.cpp - Floats of a wave, which gfx12 has -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Extrema.h"
#include "nereid/Sim/AMD/Functions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nereid::sim::amd {

static float add(float a, float b) { return a + b; }
static float subtract(float a, float b) { return a - b; }
static float multiply(float a, float b) { return a * b; }
static float fused(float a, float b, float c) { return std::fma(a, b, c); }
static float maximum(float a, float b) { return std::fmax(a, b); }
static float minimum(float a, float b) { return std::fmin(a, b); }
static float truncated(float a) { return std::trunc(a); }
static float ceiling(float a) { return std::ceil(a); }
static float floored(float a) { return std::floor(a); }
static float nearest(float a) { return std::nearbyint(a); }
template <typename From>
static float toFloat(From a) {
  return float(a);
}
template <typename To>
static To toInteger(float a) {
  using Limits = std::numeric_limits<To>;
  double value = std::trunc(double(a));
  return std::isnan(a)                    ? 0
         : value <= double(Limits::min()) ? Limits::min()
         : value >= double(Limits::max()) ? Limits::max()
                                          : To(value);
}
static uint32_t toHalf(float a) { return Half::of(a).bits; }
static float fromHalf(uint32_t a) { return float(Half{uint16_t(a)}.value()); }

enum Outcome : unsigned { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };
template <unsigned Outcomes>
static bool compare(float a, float b) {
  unsigned outcome = a < b    ? Less
                     : a > b  ? Greater
                     : a == b ? Equal
                              : Unordered;
  return outcome & Outcomes;
}
template <unsigned Outcomes>
static bool compareHalves(Half a, Half b) {
  return compare<Outcomes>(float(a.value()), float(b.value()));
}

/// One value for all lanes, by the vector unit's approximations.
static float flushed(double a) {
  return std::bit_cast<float>(flushDenormal(std::bit_cast<uint32_t>(float(a))));
}
static float reciprocal(float a) { return flushed(1 / double(flushed(a))); }
static float root(float a) { return flushed(std::sqrt(double(flushed(a)))); }
static float inverseRoot(float a) {
  return flushed(1 / std::sqrt(double(flushed(a))));
}
static float exponential(float a) {
  return flushed(std::exp2(double(flushed(a))));
}
static float logarithm(float a) {
  return flushed(std::log2(double(flushed(a))));
}

/// A function of scalars in the encoding of vector instructions.
template <auto F>
static void pseudoScalar(Wave &wave, const Instruction &instruction) {
  auto value =
      std::bit_cast<float>(uint32_t(wave.readScalar(instruction.from[0])));
  value = instruction.absolute & 1 ? std::fabs(value) : value;
  value = instruction.negate & 1 ? -value : value;
  wave.writeScalar(instruction.to, std::bit_cast<uint32_t>(F(value)));
}

std::span<const Semantics> scalarFloatFamily() {
  constexpr unsigned addsLiteral = 1, multipliesLiteral = 2;
  constexpr std::array<Type, 4> one = {Type::F32};
  static const std::vector<Semantics> rows = {
      scalarOf<add>("s_add_f32"),
      scalarOf<subtract>("s_sub_f32"),
      scalarOf<multiply>("s_mul_f32"),
      scalarOf<fused>("s_fmac_f32", ReadsTo),
      scalarOf<fused>("s_fmaak_f32", 0, addsLiteral),
      scalarOf<fused>("s_fmamk_f32", 0, multipliesLiteral),
      scalarOf<maximum>("s_max_f32 s_max_num_f32"),
      scalarOf<minimum>("s_min_f32 s_min_num_f32"),
      scalarOf<maximumOrNan<float>>("s_maximum_f32"),
      scalarOf<minimumOrNan<float>>("s_minimum_f32"),
      scalarOf<truncated>("s_trunc_f32"),
      scalarOf<ceiling>("s_ceil_f32"),
      scalarOf<floored>("s_floor_f32"),
      scalarOf<nearest>("s_rndne_f32"),
      scalarOf<toFloat<int32_t>>("s_cvt_f32_i32"),
      scalarOf<toFloat<uint32_t>>("s_cvt_f32_u32"),
      scalarOf<toInteger<int32_t>>("s_cvt_i32_f32"),
      scalarOf<toInteger<uint32_t>>("s_cvt_u32_f32"),
      scalarOf<toHalf>("s_cvt_f16_f32"),
      scalarOf<fromHalf>("s_cvt_f32_f16"),
      scalarOf<compare<Less>>("s_cmp_lt_f32"),
      scalarOf<compare<Equal>>("s_cmp_eq_f32"),
      scalarOf<compare<Less | Equal>>("s_cmp_le_f32"),
      scalarOf<compare<Greater>>("s_cmp_gt_f32"),
      scalarOf<compare<Less | Greater>>("s_cmp_lg_f32"),
      scalarOf<compare<Greater | Equal>>("s_cmp_ge_f32"),
      scalarOf<compare<Less | Equal | Greater>>("s_cmp_o_f32"),
      scalarOf<compare<Unordered>>("s_cmp_u_f32"),
      scalarOf<compare<Less | Unordered>>("s_cmp_nge_f32"),
      scalarOf<compare<Equal | Unordered>>("s_cmp_nlg_f32"),
      scalarOf<compare<Less | Equal | Unordered>>("s_cmp_ngt_f32"),
      scalarOf<compare<Greater | Unordered>>("s_cmp_nle_f32"),
      scalarOf<compare<Less | Greater | Unordered>>("s_cmp_neq_f32"),
      scalarOf<compare<Greater | Equal | Unordered>>("s_cmp_nlt_f32"),
      scalarOf<compareHalves<Less>>("s_cmp_lt_f16"),
      scalarOf<compareHalves<Equal>>("s_cmp_eq_f16"),
      scalarOf<compareHalves<Less | Equal>>("s_cmp_le_f16"),
      scalarOf<compareHalves<Greater>>("s_cmp_gt_f16"),
      scalarOf<compareHalves<Less | Greater>>("s_cmp_lg_f16"),
      scalarOf<compareHalves<Greater | Equal>>("s_cmp_ge_f16"),
      scalarOf<compareHalves<Less | Equal | Greater>>("s_cmp_o_f16"),
      scalarOf<compareHalves<Unordered>>("s_cmp_u_f16"),
      scalarOf<compareHalves<Less | Unordered>>("s_cmp_nge_f16"),
      scalarOf<compareHalves<Equal | Unordered>>("s_cmp_nlg_f16"),
      scalarOf<compareHalves<Less | Equal | Unordered>>("s_cmp_ngt_f16"),
      scalarOf<compareHalves<Greater | Unordered>>("s_cmp_nle_f16"),
      scalarOf<compareHalves<Less | Greater | Unordered>>("s_cmp_neq_f16"),
      scalarOf<compareHalves<Greater | Equal | Unordered>>("s_cmp_nlt_f16"),
      custom("v_s_rcp_f32", pseudoScalar<reciprocal>, Type::F32, one,
             LaneScalar | Trans),
      custom("v_s_rsq_f32", pseudoScalar<inverseRoot>, Type::F32, one,
             LaneScalar | Trans),
      custom("v_s_sqrt_f32", pseudoScalar<root>, Type::F32, one,
             LaneScalar | Trans),
      custom("v_s_exp_f32", pseudoScalar<exponential>, Type::F32, one,
             LaneScalar | Trans),
      custom("v_s_log_f32", pseudoScalar<logarithm>, Type::F32, one,
             LaneScalar | Trans),
  };
  return rows;
}

} // namespace nereid::sim::amd
