//===- FloatFormats.cpp - The floating-point types C++ does not have ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/FloatFormats.h"

#include <bit>

namespace nereid {

/// The code of |value| with `expBits` and `manBits`; `largest` is the code of
/// the largest finite value, `overflow` what lies beyond it, `nan` NaN's code.
/// A code without its sign orders like the value it stands for, so that
/// rounding up may carry from the mantissa into the exponent.
template <int expBits, int manBits>
static uint32_t encode(double value, uint32_t largest, uint32_t overflow,
                       uint32_t nan) {
  constexpr int bias = (1 << (expBits - 1)) - 1;
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint32_t sign = static_cast<uint32_t>(bits >> 63) << (expBits + manBits);
  uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  if (magnitude > uint64_t{0x7ff} << 52) {
    return sign | nan;
  }
  int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent < -1000) {
    return sign; // zero and the subnormals of double
  }
  uint64_t significand =
      (magnitude & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
  constexpr int smallest = 1 - bias; // exponent of the smallest normal value
  int below = exponent < smallest ? smallest - exponent : 0;
  int shift = 52 - manBits + below;
  if (shift > 54) {
    return sign; // under half of the smallest subnormal
  }
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  uint64_t half = uint64_t{1} << (shift - 1);
  kept += rest > half || (rest == half && (kept & 1));
  uint64_t code = kept;
  if (!below) {
    if (exponent > bias + 1) {
      return sign | overflow;
    }
    code += static_cast<uint64_t>(exponent + bias - 1) << manBits;
  }
  return sign | (code > largest ? overflow : static_cast<uint32_t>(code));
}

uint16_t encodeFloat16(double value) {
  return static_cast<uint16_t>(encode<5, 10>(value, 0x7bff, 0x7c00, 0x7e00));
}

uint16_t encodeBFloat16(double value) {
  return static_cast<uint16_t>(encode<8, 7>(value, 0x7f7f, 0x7f80, 0x7fc0));
}

uint8_t encodeFloat8E5M2(double value) {
  return static_cast<uint8_t>(encode<5, 2>(value, 0x7b, 0x7b, 0x7f));
}

uint8_t encodeFloat8E4M3(double value) {
  return static_cast<uint8_t>(encode<4, 3>(value, 0x7e, 0x7e, 0x7f));
}

/// The value of a finite code. Subnormals are an integer times a power of two
/// rather than a float subnormal that is scaled up: that would read as zero in
/// a thread that has denormals switched off.
template <int expBits, int manBits>
static float decode(uint32_t code) {
  constexpr uint32_t bias = (1 << (expBits - 1)) - 1;
  if (code < (1u << manBits)) {
    return static_cast<float>(code) *
           std::bit_cast<float>((127 + 1 - bias - manBits) << 23);
  }
  return std::bit_cast<float>((code << (23 - manBits)) + ((127 - bias) << 23));
}

static float withSign(float magnitude, bool negative) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) |
                              static_cast<uint32_t>(negative) << 31);
}

float decodeFloat16(uint16_t bits) {
  uint32_t code = bits & 0x7fff;
  float magnitude = code >= 0x7c00
                        ? std::bit_cast<float>(0x7f800000 | (code << 13))
                        : decode<5, 10>(code);
  return withSign(magnitude, bits >> 15);
}

float decodeBFloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

float decodeFloat8E5M2(uint8_t bits) {
  return decodeFloat16(static_cast<uint16_t>(bits << 8));
}

float decodeFloat8E4M3(uint8_t bits) {
  uint32_t code = bits & 0x7f;
  float magnitude =
      code == 0x7f ? std::bit_cast<float>(0x7fc00000u) : decode<4, 3>(code);
  return withSign(magnitude, bits >> 7);
}

} // namespace nereid
