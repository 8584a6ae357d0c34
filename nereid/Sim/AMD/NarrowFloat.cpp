//===- NarrowFloat.cpp - Floats of 8 bits ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/NarrowFloat.h"

#include "nereid/Sim/Float.h"

#include <algorithm>
#include <cmath>

namespace nereid::sim::amd {

/// FNUZ: the exponent's bias is one more, 0x80 is the only NaN.
static double fromFnuz(uint32_t bits, unsigned mantissaBits) {
  if (bits == 0x80) {
    return NAN;
  }
  int bias = mantissaBits == 3 ? 8 : 16;
  int exponent = int(bits & 0x7f) >> mantissaBits;
  uint32_t ones = (1u << mantissaBits) - 1;
  double mantissa = double(bits & ones) / (ones + 1);
  double value = exponent ? std::ldexp(1 + mantissa, exponent - bias)
                          : std::ldexp(mantissa, 1 - bias);
  return bits & 0x80 ? -value : value;
}

static uint32_t toFnuz(double a, unsigned mantissaBits) {
  if (std::isnan(a) || std::isinf(a)) {
    return 0x80;
  }
  int bias = mantissaBits == 3 ? 8 : 16;
  double most = mantissaBits == 3 ? 240 : 57344;
  double size = std::fabs(a);
  int exponent = 1 - bias;
  if (size > 0) {
    exponent = std::max(std::ilogb(size), 1 - bias);
  }
  double unit = std::ldexp(1, exponent - int(mantissaBits));
  double rounded = std::nearbyint(size / unit) * unit;
  if (rounded > most) {
    return 0x80;
  }
  if (rounded == 0) {
    return 0; // there is no -0
  }
  exponent = std::max(std::ilogb(rounded), 1 - bias);
  double scaled = std::ldexp(rounded, int(mantissaBits) - exponent);
  auto number = uint32_t(scaled);
  uint32_t whole = 1u << mantissaBits;
  uint32_t bits = number < whole ? number
                                 : (uint32_t(exponent + bias) << mantissaBits) |
                                       (number - whole);
  return bits | (std::signbit(a) ? 0x80 : 0);
}

static bool isFnuz(const Wave &wave) { return wave.program.target == "gfx942"; }

double narrowValue(const Wave &wave, NarrowFloat kind, uint32_t bits) {
  unsigned mantissa = kind == NarrowFloat::E4M3 ? 3 : 2;
  return isFnuz(wave) ? fromFnuz(bits, mantissa)
                      : decode(bits, kind == NarrowFloat::E4M3 ? e4m3Format
                                                               : e5m2Format);
}

uint32_t narrowOf(const Wave &wave, NarrowFloat kind, float value) {
  unsigned mantissa = kind == NarrowFloat::E4M3 ? 3 : 2;
  return isFnuz(wave)
             ? toFnuz(value, mantissa)
             : encode(value,
                      kind == NarrowFloat::E4M3 ? e4m3Format : e5m2Format,
                      Rounding::NearestEven);
}

} // namespace nereid::sim::amd
