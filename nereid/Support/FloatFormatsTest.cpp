//===- FloatFormatsTest.cpp - Every code, and the points between ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/FloatFormats.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

using namespace nereid;

namespace {
struct Format {
  const char *name;
  int expBits, manBits;
  bool hasInfinity, saturates;
  std::function<uint32_t(double)> encode;
  std::function<float(uint32_t)> decode;

  int bits() const { return 1 + expBits + manBits; }
  uint32_t signBit() const { return 1u << (bits() - 1); }
  uint32_t firstSpecial() const {
    uint32_t all = signBit() - 1;
    return hasInfinity ? all & ~((1u << manBits) - 1) : all;
  }
  /// The definition: (-1)^s * 2^(e - bias) * 1.m, or 0.m for e = 0.
  double value(uint32_t code) const {
    int bias = (1 << (expBits - 1)) - 1;
    int e = static_cast<int>((code & (signBit() - 1)) >> manBits);
    double m =
        static_cast<double>(code & ((1u << manBits) - 1)) / (1u << manBits);
    double v = e ? std::ldexp(1 + m, e - bias) : std::ldexp(m, 1 - bias);
    return code & signBit() ? -v : v;
  }
};

const Format formats[] = {
    {"fp16", 5, 10, true, false, [](double v) { return encodeFloat16(v); },
     [](uint32_t c) { return decodeFloat16(static_cast<uint16_t>(c)); }},
    {"bf16", 8, 7, true, false, [](double v) { return encodeBFloat16(v); },
     [](uint32_t c) { return decodeBFloat16(static_cast<uint16_t>(c)); }},
    {"fp8e5", 5, 2, true, true, [](double v) { return encodeFloat8E5M2(v); },
     [](uint32_t c) { return decodeFloat8E5M2(static_cast<uint8_t>(c)); }},
    {"fp8e4nv", 4, 3, false, true, [](double v) { return encodeFloat8E4M3(v); },
     [](uint32_t c) { return decodeFloat8E4M3(static_cast<uint8_t>(c)); }},
};
} // namespace

TEST(FloatFormats, EveryFiniteCodeDecodesByDefinitionAndEncodesBack) {
  for (const Format &f : formats) {
    for (uint32_t code = 0; code < f.firstSpecial(); ++code) {
      for (uint32_t signedCode : {code, code | f.signBit()}) {
        ASSERT_EQ(f.decode(signedCode), f.value(signedCode)) << f.name;
        ASSERT_EQ(std::signbit(f.decode(signedCode)),
                  std::signbit(f.value(signedCode)));
        ASSERT_EQ(f.encode(f.value(signedCode)), signedCode)
            << f.name << " " << signedCode;
      }
    }
  }
}

TEST(FloatFormats, PointsBetweenNeighboursRoundToNearestEven) {
  for (const Format &f : formats) {
    for (uint32_t code = 0; code + 1 < f.firstSpecial(); ++code) {
      double low = f.value(code), high = f.value(code + 1);
      double middle = (low + high) / 2; // exact in double
      uint32_t even = code & 1 ? code + 1 : code;
      ASSERT_EQ(f.encode(middle), even) << f.name << " " << code;
      ASSERT_EQ(f.encode(std::nextafter(middle, 0)), code);
      ASSERT_EQ(f.encode(std::nextafter(middle, high)), code + 1);
      ASSERT_EQ(f.encode(-middle), even | f.signBit());
    }
  }
}

TEST(FloatFormats, BeyondTheLargestValue) {
  double inf = std::numeric_limits<double>::infinity();
  for (const Format &f : formats) {
    uint32_t last = f.firstSpecial() - 1;
    uint32_t beyond = f.saturates ? last : last + 1;
    // Half a unit above the largest value is where rounding leaves the range.
    double edge = f.value(last) + (f.value(last) - f.value(last - 1)) / 2;
    EXPECT_EQ(f.encode(std::nextafter(edge, 0)), last) << f.name;
    EXPECT_EQ(f.encode(edge), beyond) << f.name;
    EXPECT_EQ(f.encode(1e300), beyond) << f.name;
    EXPECT_EQ(f.encode(inf), beyond) << f.name;
    EXPECT_EQ(f.encode(-inf), beyond | f.signBit()) << f.name;
  }
}

TEST(FloatFormats, NanStaysNan) {
  for (const Format &f : formats) {
    EXPECT_TRUE(std::isnan(f.decode(f.encode(std::nan(""))))) << f.name;
    EXPECT_TRUE(std::isnan(f.decode(f.encode(-std::nan(""))))) << f.name;
  }
  EXPECT_TRUE(std::isnan(decodeFloat8E4M3(0x7f)));
  EXPECT_TRUE(std::isnan(decodeFloat8E4M3(0xff)));
  EXPECT_TRUE(std::isinf(decodeFloat8E5M2(0x7c)));
  EXPECT_TRUE(std::isinf(decodeFloat16(0xfc00)));
}

TEST(FloatFormats, TinyValuesRoundToZeroOrTheSmallestSubnormal) {
  for (const Format &f : formats) {
    double smallest = f.value(1);
    EXPECT_EQ(f.encode(smallest / 2), 0u) << f.name;
    EXPECT_EQ(f.encode(std::nextafter(smallest / 2, 1)), 1u) << f.name;
    EXPECT_EQ(f.encode(smallest / 1e9), 0u) << f.name;
    EXPECT_EQ(f.encode(5e-324), 0u) << f.name;
    EXPECT_EQ(f.encode(-5e-324), f.signBit()) << f.name;
  }
}
