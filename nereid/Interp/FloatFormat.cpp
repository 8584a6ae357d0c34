//===- FloatFormat.cpp - Floating-point formats, exactly ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/FloatFormat.h"

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace nereid::interp {

static constexpr FloatFormat f8E4M3FN = {8, 4, -6, 448.0, false};
static constexpr FloatFormat f8E5M2 = {8, 3, -14, 57344.0, true};
static constexpr FloatFormat f16 = {16, 11, -14, 65504.0, true};
static constexpr FloatFormat bf16 = {16, 8, -126, 0x1.fep127, true};
static constexpr FloatFormat f32 = {32, 24, -126, 0x1.fffffep127, true};
static constexpr FloatFormat f64 = {64, 53, -1022, 0x1.fffffffffffffp1023,
                                    true};

const FloatFormat *findFormat(mlir::Type type) {
  if (type.isF32()) {
    return &f32;
  }
  if (type.isF16()) {
    return &f16;
  }
  if (type.isBF16()) {
    return &bf16;
  }
  if (type.isF64()) {
    return &f64;
  }
  if (mlir::isa<mlir::Float8E4M3FNType>(type)) {
    return &f8E4M3FN;
  }
  if (mlir::isa<mlir::Float8E5M2Type>(type)) {
    return &f8E5M2;
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Bit patterns: sign | exponent | fraction
//===----------------------------------------------------------------------===//

static constexpr uint64_t doubleFraction = (uint64_t{1} << 52) - 1;
static constexpr uint64_t doubleInfinity = uint64_t{0x7ff} << 52;

double decode(const FloatFormat &format, uint64_t bits) {
  if (format.isDouble()) {
    return std::bit_cast<double>(bits);
  }
  int fractionBits = format.precision - 1;
  int exponentBits = static_cast<int>(format.bits) - format.precision;
  uint64_t fraction = bits & ((uint64_t{1} << fractionBits) - 1);
  uint64_t exponent =
      bits >> fractionBits & ((uint64_t{1} << exponentBits) - 1);
  uint64_t sign = (bits >> (format.bits - 1) & 1) << 63;
  bool topExponent = exponent == (uint64_t{1} << exponentBits) - 1;

  uint64_t magnitude;
  if (format.hasInfinity && topExponent) {
    magnitude = doubleInfinity | fraction << (52 - fractionBits);
  } else if (!format.hasInfinity && topExponent &&
             fraction == (uint64_t{1} << fractionBits) - 1) {
    magnitude = doubleInfinity | fraction << (52 - fractionBits);
  } else if (exponent == 0) {
    magnitude = std::bit_cast<uint64_t>(
        std::ldexp(double(fraction), format.minExponent - fractionBits));
  } else {
    uint64_t biased = exponent - 1 + uint64_t(1023 + format.minExponent);
    magnitude = biased << 52 | fraction << (52 - fractionBits);
  }
  return std::bit_cast<double>(sign | magnitude);
}

uint64_t encode(const FloatFormat &format, double value) {
  uint64_t wide = std::bit_cast<uint64_t>(value);
  if (format.isDouble()) {
    return wide;
  }
  int fractionBits = format.precision - 1;
  uint64_t sign = (wide >> 63) << (format.bits - 1);
  uint64_t infinity = ((uint64_t{1} << (format.bits - format.precision)) - 1)
                      << fractionBits;
  if (std::isnan(value)) {
    uint64_t payload = (wide & doubleFraction) >> (52 - fractionBits);
    if (!format.hasInfinity || payload == 0) {
      payload = format.hasInfinity ? uint64_t{1} << (fractionBits - 1)
                                   : (uint64_t{1} << fractionBits) - 1;
    }
    return sign | infinity | payload;
  }
  if (std::isinf(value)) {
    return sign | infinity;
  }
  double magnitude = std::fabs(value);
  if (magnitude < powerOf2(format.minExponent)) {
    return sign |
           uint64_t(std::ldexp(magnitude, fractionBits - format.minExponent));
  }
  uint64_t biased = ((wide & ~(uint64_t{1} << 63)) >> 52) -
                    uint64_t(1023 + format.minExponent) + 1;
  return sign | biased << fractionBits |
         (wide & doubleFraction) >> (52 - fractionBits);
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// Rounds a finite value as if the exponent had no upper limit.
static double roundUnbounded(const FloatFormat &format, double value,
                             Direction direction) {
  if (std::fabs(value) < powerOf2(format.minExponent)) {
    // Subnormal: a multiple of the smallest number. The sum with 1.5 * 2^52
    // of them has no room for anything finer.
    double unit = powerOf2(format.minExponent - format.precision + 1);
    if (direction == Direction::TowardZero) {
      return std::trunc(value / unit) * unit;
    }
    double anchor = 0x1.8p52 * unit;
    return std::copysign(std::fabs((value + anchor) - anchor), value);
  }
  int dropped = 53 - format.precision;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  if (direction == Direction::Nearest) {
    uint64_t odd = bits >> dropped & 1;
    bits += (uint64_t{1} << (dropped - 1)) - 1 + odd; // may carry: correct
  }
  return std::bit_cast<double>(bits >> dropped << dropped);
}

double round(const FloatFormat &format, double value, Direction direction) {
  if (format.bits == 32 && direction == Direction::Nearest) {
    return double(float(value));
  }
  if (format.isDouble() || std::isnan(value)) {
    return value;
  }
  double rounded =
      std::isinf(value) ? value : roundUnbounded(format, value, direction);
  if (std::fabs(rounded) <= format.maxFinite) {
    return rounded;
  }
  if (!format.hasInfinity) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  bool wasFinite = !std::isinf(value);
  return std::copysign(direction == Direction::TowardZero && wasFinite
                           ? format.maxFinite
                           : std::numeric_limits<double>::infinity(),
                       value);
}

double roundSaturating(const FloatFormat &format, double value,
                       Direction direction) {
  if (std::fabs(value) > format.maxFinite) {
    return std::copysign(format.maxFinite, value);
  }
  return round(format, value, direction);
}

} // namespace nereid::interp
