//===- FloatForms.h - What floats of 32 and 64 bits share -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact division, whose denominators and numerators are moved into range, and
// the classes of numbers. `Float` is float or double.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SIM_AMD_FLOATFORMS_H
#define NEREID_SIM_AMD_FLOATFORMS_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace nereid::sim::amd {

template <typename Float>
struct FloatForm;

/// Biased exponents, but for `farthest`, `tiny` and `lost`: differences between
/// a numerator's and a denominator's.
template <>
struct FloatForm<float> {
  using Bits = uint32_t;
  static constexpr int mantissaBits = 23, mostBiased = 0xff;
  static constexpr int farthest = 96, inverseTiny = 253, tiny = -126;
  static constexpr int smallNumerator = 23, lost = -150;
  static constexpr float up = 0x1p64f, down = 0x1p-64f;
};
template <>
struct FloatForm<double> {
  using Bits = uint64_t;
  static constexpr int mantissaBits = 52, mostBiased = 0x7ff;
  static constexpr int farthest = 768, inverseTiny = 2045, tiny = -1022;
  static constexpr int smallNumerator = 53, lost = -1075;
  static constexpr double up = 0x1p128, down = 0x1p-128;
};

template <typename Float>
int biased(Float a) {
  using Form = FloatForm<Float>;
  return int(std::bit_cast<typename Form::Bits>(a) >> Form::mantissaBits &
             Form::mostBiased);
}

/// V_DIV_SCALE: the first source is the denominator or the numerator, which
/// are the second and the third.
template <typename Float>
Float divisionScale(Float which, Float denominator, Float numerator,
                    bool &scales) {
  using Form = FloatForm<Float>;
  scales = false;
  if (denominator == 0 || numerator == 0) {
    return std::numeric_limits<Float>::quiet_NaN();
  }
  bool isDenominator = which == denominator;
  int difference = biased(numerator) - biased(denominator);
  if (difference >= Form::farthest) {
    scales = true;
    return isDenominator ? which * Form::up : which;
  }
  if (biased(denominator) == 0) {
    return which * Form::up;
  }
  bool isInverseTiny = biased(denominator) >= Form::inverseTiny;
  bool isQuotientTiny = difference <= Form::tiny;
  if (isInverseTiny && isQuotientTiny) {
    scales = true;
    return isDenominator ? which * Form::down : which;
  }
  if (isInverseTiny) {
    return which * Form::down;
  }
  if (isQuotientTiny) {
    scales = true;
    return which == numerator ? which * Form::up : which;
  }
  if (biased(numerator) <= Form::smallNumerator) {
    return which * Form::up;
  }
  return which;
}

template <typename Float>
Float divisionFixup(Float quotient, Float denominator, Float numerator) {
  using Form = FloatForm<Float>;
  using Bits = typename Form::Bits;
  bool isNegative = std::signbit(numerator) != std::signbit(denominator);
  auto withSign = [&](Float a) { return isNegative ? -a : a; };
  constexpr Float infinity = std::numeric_limits<Float>::infinity();
  if (std::isnan(numerator)) {
    return numerator;
  }
  if (std::isnan(denominator)) {
    return denominator;
  }
  if ((numerator == 0 && denominator == 0) ||
      (std::isinf(numerator) && std::isinf(denominator))) {
    // Negative, quiet, of no payload.
    return std::bit_cast<Float>(~Bits{0} << (Form::mantissaBits - 1));
  }
  if (denominator == 0 || std::isinf(numerator)) {
    return withSign(infinity);
  }
  if (std::isinf(denominator) || numerator == 0) {
    return withSign(0);
  }
  if (biased(numerator) - biased(denominator) < Form::lost) {
    return withSign(0);
  }
  return withSign(std::fabs(quotient));
}

/// The bit of a number's class: signalling and quiet NaN, -infinity, -normal,
/// -denormal, -0, 0, denormal, normal, infinity.
template <typename Float>
bool isOfClass(Float a, uint32_t classes) {
  using Form = FloatForm<Float>;
  unsigned which;
  if (std::isnan(a)) {
    which =
        std::bit_cast<typename Form::Bits>(a) >> (Form::mantissaBits - 1) & 1;
  } else {
    unsigned size = std::isinf(a)                        ? 3
                    : a == 0                             ? 0
                    : std::fpclassify(a) == FP_SUBNORMAL ? 1
                                                         : 2;
    which = std::signbit(a) ? 5 - size : 6 + size;
  }
  return classes >> which & 1;
}

} // namespace nereid::sim::amd

#endif // NEREID_SIM_AMD_FLOATFORMS_H
