//===- Float.h - Numbers of few bits ----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formats and rounding modes of PTX's conversions, by arithmetic on doubles:
// written apart from the compiler's and the interpreter's, which it checks.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_FLOAT_H
#define NEREID_SIM_FLOAT_H

#include <bit>
#include <cstdint>

namespace nereid::sim {

struct FloatFormat {
  unsigned exponentBits, mantissaBits;
  bool hasInfinity; ///< else the upper exponent has numbers
  uint32_t mostFinite, nan;
};

inline constexpr FloatFormat f16Format = {5, 10, true, 0x7bff, 0x7fff},
                             bf16Format = {8, 7, true, 0x7f7f, 0x7fff},
                             tf32Format = {8, 10, true, 0x3fbff, 0x3ffff},
                             e4m3Format = {4, 3, false, 0x7e, 0x7f},
                             e5m2Format = {5, 2, true, 0x7b, 0x7f},
                             e2m1Format = {2, 1, false, 0x7, 0x7},
                             e2m3Format = {2, 3, false, 0x1f, 0x1f},
                             e3m2Format = {3, 2, false, 0x1f, 0x1f},
                             f32Format = {8, 23, true, 0x7f7fffff, 0x7fffffff};

enum class Rounding : uint8_t { NearestEven, NearestAway, Zero, Down, Up };

/// The nearest number of the format in the mode's direction. Too large ones
/// become infinity, or the largest with `saturates`.
uint32_t encode(double value, const FloatFormat &format, Rounding rounding,
                bool saturates = false);
double decode(uint32_t bits, const FloatFormat &format);

/// To an integer, as a floating-point number.
double roundToInteger(double value, Rounding rounding);

/// a * b + c, so that rounding it again, to 24 bits or fewer, gives what
/// rounding once would have given. The product is exact in a double.
double fmaForRounding(double a, double b, double c);

struct Half {
  uint16_t bits;
  static Half of(double value) {
    return {uint16_t(encode(value, f16Format, Rounding::NearestEven))};
  }
  double value() const;
};
struct BFloat {
  uint16_t bits;
  static BFloat of(double value) {
    return {uint16_t(encode(value, bf16Format, Rounding::NearestEven))};
  }
  double value() const {
    return double(std::bit_cast<float>(uint32_t(bits) << 16));
  }
};

} // namespace nereid::sim

#endif // NEREID_SIM_FLOAT_H
