//===- HalfOps.cpp - Arithmetic of f16 and bf16 ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.4, "Half Precision Floating Point Instructions". Computed in
// doubles, where sums and products of such numbers are exact or are rounded so
// that the second rounding is the only one.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

#include <cmath>
#include <limits>

namespace nereid::sim {

template <typename T>
static T add(T a, T b) {
  return T::of(fmaForRounding(a.value(), 1, b.value()));
}
template <typename T>
static T sub(T a, T b) {
  return T::of(fmaForRounding(a.value(), 1, -b.value()));
}
template <typename T>
static T mul(T a, T b) {
  return T::of(a.value() * b.value());
}
template <typename T>
static T fma(T a, T b, T c) {
  return T::of(fmaForRounding(a.value(), b.value(), c.value()));
}
template <typename T>
static T fmaPositive(T a, T b, T c) {
  double value = fmaForRounding(a.value(), b.value(), c.value());
  return T::of(value < 0 ? 0 : value);
}
template <typename T>
static T neg(T a) {
  return {uint16_t(a.bits ^ 0x8000)};
}
template <typename T>
static T absolute(T a) {
  return {uint16_t(a.bits & 0x7fff)};
}
template <typename T>
static T smaller(T a, T b) {
  double x = a.value(), y = b.value();
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) && std::isnan(y) ? T{0x7fff} : std::isnan(x) ? b : a;
  }
  return x < y || (x == y && std::signbit(x)) ? a : b;
}
template <typename T>
static T larger(T a, T b) {
  return neg(smaller(neg(a), neg(b)));
}
template <typename T>
static T minimum(T a, T b) {
  return smaller(a, b);
}
template <typename T>
static T maximum(T a, T b) {
  double x = a.value(), y = b.value();
  if (std::isnan(x) || std::isnan(y)) {
    return smaller(a, b);
  }
  return larger(a, b);
}
template <typename T>
static bool isAnyNan(T a, T b) {
  return std::isnan(a.value()) || std::isnan(b.value());
}
template <typename T>
static T minimumNan(T a, T b) {
  return isAnyNan(a, b) ? T{0x7fff} : minimum(a, b);
}
template <typename T>
static T maximumNan(T a, T b) {
  return isAnyNan(a, b) ? T{0x7fff} : maximum(a, b);
}
template <typename T>
static T exp2(T a) {
  return T::of(std::exp2(a.value()));
}
template <typename T>
static T hyperbolicTangent(T a) {
  return T::of(std::tanh(a.value()));
}

/// Into f32, from sm_100 on: the narrow number is exact there.
template <typename T>
static float addWide(T a, float b) {
  return float(a.value()) + b;
}
template <typename T>
static float subWide(T a, float b) {
  return float(a.value()) - b;
}
template <typename T>
static float fmaWide(T a, T b, float c) {
  return std::fmaf(float(a.value()), float(b.value()), c);
}
template <typename T, float (*Function)(T, float)>
static float saturated2(T a, float b) {
  float value = Function(a, b);
  return std::isnan(value) ? 0 : std::fmin(std::fmax(value, 0.0f), 1.0f);
}
template <typename T, float (*Function)(T, T, float)>
static float saturated3(T a, T b, float c) {
  float value = Function(a, b, c);
  return std::isnan(value) ? 0 : std::fmin(std::fmax(value, 0.0f), 1.0f);
}

/// On the two numbers of a register.
template <typename T, auto Function, typename... In>
static uint32_t both(In... in) {
  auto part = [&](unsigned shift) {
    return uint32_t(Function(T{uint16_t(in >> shift)}...).bits) << shift;
  };
  return part(0) | part(16);
}

#define NEREID_SIM_HALF1(op, f)                                                \
  {op ".f16", mapLanes<f<Half>>}, {op ".bf16", mapLanes<f<BFloat>>},           \
      {op ".f16x2", mapLanes<both<Half, f<Half>, uint32_t>>}, {                \
    op ".bf16x2", mapLanes<both<BFloat, f<BFloat>, uint32_t>>                  \
  }
#define NEREID_SIM_HALF2(op, f)                                                \
  {op ".f16", mapLanes<f<Half>>}, {op ".bf16", mapLanes<f<BFloat>>},           \
      {op ".f16x2", mapLanes<both<Half, f<Half>, uint32_t, uint32_t>>}, {      \
    op ".bf16x2", mapLanes<both<BFloat, f<BFloat>, uint32_t, uint32_t>>        \
  }
#define NEREID_SIM_HALF3(op, f)                                                \
  {op ".f16", mapLanes<f<Half>>}, {op ".bf16", mapLanes<f<BFloat>>},           \
      {op ".f16x2",                                                            \
       mapLanes<both<Half, f<Half>, uint32_t, uint32_t, uint32_t>>},           \
  {                                                                            \
    op ".bf16x2",                                                              \
        mapLanes<both<BFloat, f<BFloat>, uint32_t, uint32_t, uint32_t>>        \
  }

#define NEREID_SIM_WIDE(type, T)                                               \
  {"add.f32." type, mapLanes<addWide<T>>},                                     \
      {"sub.f32." type, mapLanes<subWide<T>>},                                 \
      {"fma.f32." type, mapLanes<fmaWide<T>>},                                 \
      {"add.sat.f32." type, mapLanes<saturated2<T, addWide<T>>>},              \
      {"sub.sat.f32." type, mapLanes<saturated2<T, subWide<T>>>}, {            \
    "fma.sat.f32." type, mapLanes<saturated3<T, fmaWide<T>>>                   \
  }

void addHalfOps(MapTable &table) {
  table.insert({
      NEREID_SIM_WIDE("f16", Half),
      NEREID_SIM_WIDE("bf16", BFloat),
      NEREID_SIM_HALF2("add", add),
      NEREID_SIM_HALF2("sub", sub),
      NEREID_SIM_HALF2("mul", mul),
      NEREID_SIM_HALF3("fma", fma),
      NEREID_SIM_HALF3("fma.relu", fmaPositive),
      NEREID_SIM_HALF1("neg", neg),
      NEREID_SIM_HALF1("abs", absolute),
      NEREID_SIM_HALF2("min", minimum),
      NEREID_SIM_HALF2("max", maximum),
      NEREID_SIM_HALF2("min.NaN", minimumNan),
      NEREID_SIM_HALF2("max.NaN", maximumNan),
      NEREID_SIM_HALF1("ex2", exp2),
      NEREID_SIM_HALF1("ex2.ftz", exp2),
      NEREID_SIM_HALF1("tanh", hyperbolicTangent),
  });
}

} // namespace nereid::sim
