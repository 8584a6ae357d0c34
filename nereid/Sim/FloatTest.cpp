//===- FloatTest.cpp ------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Float.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace nereid::sim;

namespace {

/// The neighbour below and above of a format, found without `encode`.
double nextUp(uint32_t bits, const FloatFormat &format) {
  return decode(bits + 1, format);
}

class FormatTest : public testing::TestWithParam<FloatFormat> {};

TEST_P(FormatTest, EveryNumberIsItself) {
  const FloatFormat &format = GetParam();
  for (uint32_t bits = 0; bits <= std::min(format.mostFinite, 0xffffu);
       ++bits) {
    EXPECT_EQ(encode(decode(bits, format), format, Rounding::NearestEven),
              bits);
  }
}

TEST_P(FormatTest, NumbersBetweenTwoAreRoundedToTheNearer) {
  const FloatFormat &format = GetParam();
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    uint32_t bits = random() % std::min(format.mostFinite, 0xffffu);
    double low = decode(bits, format), high = nextUp(bits, format);
    double part = double(random()) / 4294967296.0;
    double value = low + part * (high - low);
    uint32_t nearest = value - low < high - value   ? bits
                       : value - low > high - value ? bits + 1
                                                    : bits + (bits & 1);
    EXPECT_EQ(encode(value, format, Rounding::NearestEven), nearest);
    bool isBetween = value > low && value < high;
    EXPECT_EQ(encode(value, format, Rounding::Zero),
              isBetween ? bits : nearest);
    EXPECT_EQ(encode(value, format, Rounding::Up),
              isBetween ? bits + 1 : nearest);
  }
}

TEST_P(FormatTest, HalfwayGoesToTheEvenOrAway) {
  const FloatFormat &format = GetParam();
  for (uint32_t bits = 0; bits < std::min(format.mostFinite, 0xffffu); ++bits) {
    double middle = (decode(bits, format) + nextUp(bits, format)) / 2;
    EXPECT_EQ(encode(middle, format, Rounding::NearestEven), bits + (bits & 1));
    EXPECT_EQ(encode(middle, format, Rounding::NearestAway), bits + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FormatTest,
                         testing::Values(f16Format, bf16Format, tf32Format,
                                         e4m3Format, e5m2Format, e2m1Format));

TEST(Float, TooLargeIsInfinityOrNanOrTheLargest) {
  EXPECT_EQ(encode(1e6, f16Format, Rounding::NearestEven), 0x7c00u);
  EXPECT_EQ(encode(1e6, f16Format, Rounding::NearestEven, true), 0x7bffu);
  EXPECT_EQ(encode(1e6, e4m3Format, Rounding::NearestEven), 0x7fu);
  EXPECT_EQ(encode(-1e6, e4m3Format, Rounding::NearestEven, true), 0xfeu);
  EXPECT_EQ(encode(1e6, f16Format, Rounding::Zero), 0x7bffu);
}

TEST(Float, ASumIsRoundedOnce) {
  // f16: 1 + 2^-11 is halfway, and 2^-60 more decides. A double loses it.
  double half = std::ldexp(1.0, -11), little = std::ldexp(1.0, -60);
  EXPECT_EQ(Half::of(1 + (half + little)).bits, 0x3c00);
  EXPECT_EQ(Half::of(fmaForRounding(1 + half, 1, little)).bits, 0x3c01);
  EXPECT_EQ(Half::of(fmaForRounding(1 + half, 1, -little)).bits, 0x3c00);
}

} // namespace
