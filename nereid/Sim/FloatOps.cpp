//===- FloatOps.cpp - Arithmetic of f32 and f64 ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA 9.7.3, "Floating Point Instructions". Those that GPUs approximate are
// exact here to a unit in the last place or two: results agree with a GPU's
// within the error that the manual allows, not bit by bit.
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Decoder.h"
#include "nereid/Sim/Lanes.h"

#include <cmath>
#include <limits>

namespace nereid::sim {

template <typename T>
static T add(T a, T b) {
  return a + b;
}
template <typename T>
static T sub(T a, T b) {
  return a - b;
}
template <typename T>
static T mul(T a, T b) {
  return a * b;
}
template <typename T>
static T fma(T a, T b, T c) {
  return std::fma(a, b, c);
}
template <typename T>
static T div(T a, T b) {
  return a / b;
}
template <typename T>
static T neg(T a) {
  return -a;
}
template <typename T>
static T absolute(T a) {
  return std::fabs(a);
}
/// -0 is less than +0; a NaN gives way to a number.
template <typename T>
static T minimum(T a, T b) {
  if (a == 0 && b == 0) {
    return std::signbit(a) ? a : b;
  }
  return std::fmin(a, b);
}
template <typename T>
static T maximum(T a, T b) {
  if (a == 0 && b == 0) {
    return std::signbit(a) ? b : a;
  }
  return std::fmax(a, b);
}
template <typename T>
static T minimumNan(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN()
                                        : minimum(a, b);
}
template <typename T>
static T maximumNan(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN()
                                        : maximum(a, b);
}
/// The magnitude of the second, with the sign of the first.
template <typename T>
static T copySign(T a, T b) {
  return std::copysign(b, a);
}
template <typename T>
static T squareRoot(T a) {
  return std::sqrt(a);
}
template <typename T>
static T reciprocal(T a) {
  return T(1) / a;
}
template <typename T>
static T reciprocalRoot(T a) {
  return T(1.0 / std::sqrt(double(a)));
}
static float exp2(float a) { return float(std::exp2(double(a))); }
static float log2(float a) { return float(std::log2(double(a))); }
static float sine(float a) { return float(std::sin(double(a))); }
static float cosine(float a) { return float(std::cos(double(a))); }
static float hyperbolicTangent(float a) { return float(std::tanh(double(a))); }
static float saturated(float a) {
  return std::isnan(a) ? 0 : std::fmin(std::fmax(a, 0.0f), 1.0f);
}
static float addSaturated(float a, float b) { return saturated(a + b); }
static float subSaturated(float a, float b) { return saturated(a - b); }
static float mulSaturated(float a, float b) { return saturated(a * b); }
static float fmaSaturated(float a, float b, float c) {
  return saturated(std::fmaf(a, b, c));
}

/// Numbers too small to be normal are zeros, read or written.
static float flushed(float a) {
  return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0f, a) : a;
}
template <float (*Function)(float)>
static float flushing1(float a) {
  return flushed(Function(flushed(a)));
}
template <float (*Function)(float, float)>
static float flushing2(float a, float b) {
  return flushed(Function(flushed(a), flushed(b)));
}
template <float (*Function)(float, float, float)>
static float flushing3(float a, float b, float c) {
  return flushed(Function(flushed(a), flushed(b), flushed(c)));
}

/// Two numbers of 32 bits in a register of 64, from sm_100 on.
template <auto Function, typename... In>
static uint64_t both(In... in) {
  auto part = [&](unsigned shift) {
    float value = Function(std::bit_cast<float>(uint32_t(in >> shift))...);
    return uint64_t(std::bit_cast<uint32_t>(value)) << shift;
  };
  return part(0) | part(32);
}

#define NEREID_SIM_F32_F64(op, f)                                              \
  {op ".f32", mapLanes<f<float>>}, { op ".f64", mapLanes<f<double>> }

void addFloatOps(MapTable &table) {
  table.insert({
      NEREID_SIM_F32_F64("add", add),
      NEREID_SIM_F32_F64("sub", sub),
      NEREID_SIM_F32_F64("mul", mul),
      NEREID_SIM_F32_F64("fma", fma),
      NEREID_SIM_F32_F64("mad", fma),
      NEREID_SIM_F32_F64("div", div),
      NEREID_SIM_F32_F64("neg", neg),
      NEREID_SIM_F32_F64("abs", absolute),
      NEREID_SIM_F32_F64("min", minimum),
      NEREID_SIM_F32_F64("max", maximum),
      NEREID_SIM_F32_F64("copysign", copySign),
      NEREID_SIM_F32_F64("sqrt", squareRoot),
      NEREID_SIM_F32_F64("rcp", reciprocal),
      NEREID_SIM_F32_F64("rsqrt", reciprocalRoot),
      {"min.NaN.f32", mapLanes<minimumNan<float>>},
      {"max.NaN.f32", mapLanes<maximumNan<float>>},
      {"rcp.ftz.f64", mapLanes<reciprocal<double>>},
      {"rsqrt.ftz.f64", mapLanes<reciprocalRoot<double>>},
      {"ex2.f32", mapLanes<exp2>},
      {"lg2.f32", mapLanes<log2>},
      {"sin.f32", mapLanes<sine>},
      {"cos.f32", mapLanes<cosine>},
      {"tanh.f32", mapLanes<hyperbolicTangent>},
      {"add.sat.f32", mapLanes<addSaturated>},
      {"sub.sat.f32", mapLanes<subSaturated>},
      {"mul.sat.f32", mapLanes<mulSaturated>},
      {"fma.sat.f32", mapLanes<fmaSaturated>},
      {"add.ftz.f32", mapLanes<flushing2<add<float>>>},
      {"sub.ftz.f32", mapLanes<flushing2<sub<float>>>},
      {"mul.ftz.f32", mapLanes<flushing2<mul<float>>>},
      {"div.ftz.f32", mapLanes<flushing2<div<float>>>},
      {"min.ftz.f32", mapLanes<flushing2<minimum<float>>>},
      {"max.ftz.f32", mapLanes<flushing2<maximum<float>>>},
      {"min.ftz.NaN.f32", mapLanes<flushing2<minimumNan<float>>>},
      {"max.ftz.NaN.f32", mapLanes<flushing2<maximumNan<float>>>},
      {"fma.ftz.f32", mapLanes<flushing3<fma<float>>>},
      {"neg.ftz.f32", mapLanes<flushing1<neg<float>>>},
      {"abs.ftz.f32", mapLanes<flushing1<absolute<float>>>},
      {"sqrt.ftz.f32", mapLanes<flushing1<squareRoot<float>>>},
      {"rcp.ftz.f32", mapLanes<flushing1<reciprocal<float>>>},
      {"rsqrt.ftz.f32", mapLanes<flushing1<reciprocalRoot<float>>>},
      {"ex2.ftz.f32", mapLanes<flushing1<exp2>>},
      {"lg2.ftz.f32", mapLanes<flushing1<log2>>},
      {"sin.ftz.f32", mapLanes<flushing1<sine>>},
      {"cos.ftz.f32", mapLanes<flushing1<cosine>>},
      {"add.f32x2", mapLanes<both<add<float>, uint64_t, uint64_t>>},
      {"sub.f32x2", mapLanes<both<sub<float>, uint64_t, uint64_t>>},
      {"mul.f32x2", mapLanes<both<mul<float>, uint64_t, uint64_t>>},
      {"fma.f32x2", mapLanes<both<fma<float>, uint64_t, uint64_t, uint64_t>>},
  });
}

} // namespace nereid::sim
