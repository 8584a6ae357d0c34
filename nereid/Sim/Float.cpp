//===- Float.cpp - Numbers of few bits ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Float.h"

#include <array>
#include <cmath>
#include <limits>
#include <memory>

namespace nereid::sim {

/// 2^exponent.
static double power(int exponent) {
  return std::bit_cast<double>(uint64_t(exponent + 1023) << 52);
}

double roundToInteger(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::NearestEven:
    return std::nearbyint(value);
  case Rounding::NearestAway:
    return std::round(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  }
  return value;
}

uint32_t encode(double value, const FloatFormat &format, Rounding rounding,
                bool saturates) {
  unsigned mantissa = format.mantissaBits;
  unsigned width = format.exponentBits + mantissa;
  if (std::isnan(value)) {
    return format.nan;
  }
  uint32_t sign = std::signbit(value) ? 1u << width : 0;
  double magnitude = std::fabs(value);
  uint32_t tooLarge = saturates ? format.mostFinite
                      : format.hasInfinity
                          ? ((1u << format.exponentBits) - 1) << mantissa
                          : format.nan;
  if (std::isinf(value)) {
    return sign | tooLarge;
  }
  if (magnitude == 0) {
    return sign;
  }
  int least = 2 - (1 << (format.exponentBits - 1)); // exponent of normal ones
  int exponent = std::max(std::ilogb(magnitude), least);
  double scaled = std::ldexp(magnitude, int(mantissa) - exponent);
  // Down and up are directions of the value, not of its magnitude.
  Rounding mode = rounding;
  if (sign && (mode == Rounding::Down || mode == Rounding::Up)) {
    mode = mode == Rounding::Down ? Rounding::Up : Rounding::Down;
  }
  double rounded = roundToInteger(scaled, mode);
  uint64_t bits = (uint64_t(exponent - least) << mantissa) + uint64_t(rounded);
  if (bits > format.mostFinite) {
    bool staysFinite = mode == Rounding::Zero || mode == Rounding::Down;
    return sign | (staysFinite ? format.mostFinite : tooLarge);
  }
  return sign | uint32_t(bits);
}

double decode(uint32_t bits, const FloatFormat &format) {
  unsigned mantissa = format.mantissaBits;
  unsigned width = format.exponentBits + mantissa;
  double sign = (bits >> width) & 1 ? -1.0 : 1.0;
  uint32_t magnitude = bits & ((1u << width) - 1);
  if (magnitude > format.mostFinite) {
    bool isInfinity =
        format.hasInfinity && !(magnitude & ((1u << mantissa) - 1));
    return isInfinity ? sign * std::numeric_limits<double>::infinity()
                      : std::numeric_limits<double>::quiet_NaN();
  }
  int bias = (1 << (format.exponentBits - 1)) - 1;
  uint32_t exponent = magnitude >> mantissa;
  double fraction = magnitude & ((1u << mantissa) - 1);
  if (exponent) {
    fraction += double(1u << mantissa);
  }
  int scale = int(exponent ? exponent : 1) - bias - int(mantissa);
  return sign * fraction * power(scale);
}

double fmaForRounding(double a, double b, double c) {
  double product = a * b;
  double sum = product + c;
  if (!std::isfinite(sum)) {
    return sum;
  }
  // What the sum lost, exactly (Knuth).
  double part = sum - product;
  double lost = (product - (sum - part)) + (c - part);
  bool isOdd = std::bit_cast<uint64_t>(sum) & 1;
  if (lost == 0 || isOdd) {
    return sum;
  }
  return std::nextafter(sum, lost > 0
                                 ? std::numeric_limits<double>::infinity()
                                 : -std::numeric_limits<double>::infinity());
}

double Half::value() const {
  static const auto table = [] {
    auto values = std::make_unique<std::array<float, 65536>>();
    for (uint32_t i = 0; i < values->size(); ++i) {
      (*values)[i] = float(decode(i, f16Format));
    }
    return values;
  }();
  return double((*table)[bits]);
}

} // namespace nereid::sim
