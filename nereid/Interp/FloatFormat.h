//===- FloatFormat.h - Floating-point formats, exactly ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every value of every format of the language is a double, exactly. So the
// executor computes in double and rounds to the format after each operation.
// For + - * / and square root the detour is invisible: 53 bits are at least
// 2 p + 2 for every p here but double's own, and then rounding twice equals
// rounding once (Figueroa, When is double rounding innocuous?, 1995).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_FLOATFORMAT_H
#define NEREID_INTERP_FLOATFORMAT_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace mlir {
class Type;
}

namespace nereid::interp {

/// A binary format: `bits` wide, `precision` significant bits with the hidden
/// one, normal numbers from 2^minExponent on.
struct FloatFormat {
  unsigned bits;
  int precision;
  int minExponent;
  double maxFinite;
  bool hasInfinity; ///< false for E4M3FN: no infinity, one NaN a sign

  bool isDouble() const { return bits == 64; }
};

enum class Direction { Nearest, TowardZero };

/// The format of a float type of the Tile dialect; null for other types.
const FloatFormat *findFormat(mlir::Type type);

/// The value of a bit pattern. NaNs keep their payload, signalling ones stay
/// so: a load followed by a store moves bits.
double decode(const FloatFormat &format, uint64_t bits);
/// The bits of a value that the format has (`round` gives one), or of a NaN.
uint64_t encode(const FloatFormat &format, double value);

/// IEEE rounding, ties to even. Past the largest finite number: infinity
/// (nearest) or that number (toward zero); NaN where there is no infinity.
double round(const FloatFormat &format, double value,
             Direction direction = Direction::Nearest);
/// As `round`, but infinities and numbers too large become the largest finite
/// number: the conversion to 8-bit floats.
double roundSaturating(const FloatFormat &format, double value,
                       Direction direction);

/// 2^exponent, where a double has that.
inline double powerOf2(int exponent) {
  constexpr int fractionBits = 52, bias = 1023;
  return exponent > -bias
             ? std::bit_cast<double>(static_cast<uint64_t>(exponent + bias)
                                     << fractionBits)
             : std::bit_cast<double>(uint64_t{1}
                                     << (exponent + bias - 1 + fractionBits));
}

/// Distance between neighbouring numbers of the format at `magnitude` >= 0.
inline double spacing(const FloatFormat &format, double magnitude) {
  int exponent = format.minExponent;
  if (magnitude > 0 && std::isfinite(magnitude)) {
    // Of a subnormal double, less than every format's.
    exponent = std::max(
        exponent,
        static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52) - 1023);
  }
  return powerOf2(exponent - format.precision + 1);
}

} // namespace nereid::interp

#endif // NEREID_INTERP_FLOATFORMAT_H
