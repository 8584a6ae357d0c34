//===- SemanticsTest.cpp - Corners where compilers tend to differ ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::test;

namespace {

class SemanticsTest : public OnTarget {};

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

//===----------------------------------------------------------------------===//
// Shifts and signs
//===----------------------------------------------------------------------===//

/// `x >> s` with x of type T and s of type S, whose common type is R.
template <typename T, typename S, typename R>
void checkShift(const char *target, const char *body) {
  std::vector<T> x = {std::numeric_limits<T>::min(), T(-32), T(-1), T(100),
                      std::numeric_limits<T>::max()};
  std::vector<S> s = {1, 2, 3, 0, 4};
  std::vector<int64_t> y(5);
  Snippet(target, body).array("x", x).array("s", s).array("y", y).run();
  for (int i = 0; i < 5; ++i) {
    // Promoted, then shifted as T says, then read as an R.
    R wide = static_cast<R>(x[i]);
    R shifted =
        std::is_signed_v<T>
            ? static_cast<R>(static_cast<std::make_signed_t<R>>(wide) >> s[i])
            : static_cast<R>(static_cast<std::make_unsigned_t<R>>(wide) >>
                             s[i]);
    EXPECT_EQ(y[i], static_cast<int64_t>(shifted)) << +x[i] << " >> " << +s[i];
  }
}

TEST_P(SemanticsTest, RightShiftCopiesTheSignOfItsLeftOperand) {
  const char *plain = "i = tl.arange(0, 5)\n"
                      "r = tl.load(x + i) >> tl.load(s + i)\n"
                      "tl.store(y + i, r.to(tl.int64))";
  const char *inPlace = "i = tl.arange(0, 5)\n"
                        "r = tl.load(x + i)\n"
                        "r >>= tl.load(s + i)\n"
                        "tl.store(y + i, r.to(tl.int64))";
  for (const char *body : {plain, inPlace}) {
    checkShift<int32_t, uint32_t, uint32_t>(GetParam(), body);
    checkShift<int8_t, uint8_t, uint8_t>(GetParam(), body);
    checkShift<int16_t, uint64_t, uint64_t>(GetParam(), body);
    checkShift<int64_t, uint32_t, int64_t>(GetParam(), body);
    checkShift<uint32_t, int32_t, uint32_t>(GetParam(), body);
    checkShift<uint8_t, int32_t, int32_t>(GetParam(), body);
    checkShift<int32_t, int8_t, int32_t>(GetParam(), body);
  }
}

TEST_P(SemanticsTest, NegationChangesTheSign) {
  std::vector<float> x = {0.0f, -0.0f, 1.5f, -2.0f, INFINITY}, y(5);
  Snippet(GetParam(), "i = tl.arange(0, 5)\n"
                      "tl.store(y + i, -tl.load(x + i))")
      .array("x", x)
      .array("y", y)
      .run();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(y[i], -x[i]);
    EXPECT_NE(std::signbit(y[i]), std::signbit(x[i])) << x[i];
  }
}

TEST_P(SemanticsTest, NegationSubtractedFromZero) {
  std::vector<float> x = {0.0f, -0.0f, 1.5f, -2.0f, INFINITY}, y(5);
  Snippet(GetParam(), "i = tl.arange(0, 5)\n"
                      "tl.store(y + i, -tl.load(x + i))")
      .array("x", x)
      .array("y", y)
      .as(LanguageVersion::V3_7)
      .run();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(y[i], 0 - x[i]);
    EXPECT_EQ(std::signbit(y[i]), x[i] > 0) << x[i];
  }
}

//===----------------------------------------------------------------------===//
// Floats to integers
//===----------------------------------------------------------------------===//

/// Toward zero, to the nearest end of the range; NaN gives 0.
template <typename I>
I nearestInteger(double x) {
  using Limits = std::numeric_limits<I>;
  if (std::isnan(x)) {
    return 0;
  }
  double whole = std::trunc(x);
  if (whole <= static_cast<double>(Limits::min())) {
    return Limits::min();
  }
  // One above the largest is a power of two.
  double beyond = std::ldexp(1.0, Limits::digits);
  return whole >= beyond ? Limits::max() : static_cast<I>(whole);
}

template <typename F, typename I>
void checkToInteger(const char *target, const std::string &type) {
  std::vector<F> x;
  double ends[] = {0,   0.5,        1.5,        126.5,         127.9,
                   128, 255.9,      256,        32767.5,       65535.9,
                   300, 2147483520, 2147483648, 4294967040.0,  4294967296.0,
                   1e9, 1e15,       0x1p63,     0x1.fffffep62, 0x1p64,
                   inf, 1e30,       70000,      0x1.fffffep63, 3000000000.0};
  for (double value : ends) {
    x.push_back(static_cast<F>(value));
    x.push_back(static_cast<F>(-value));
  }
  x.push_back(static_cast<F>(nan));
  x.resize(64, static_cast<F>(-1.5));
  std::vector<I> y(x.size()), one(1);
  Snippet(target, "i = tl.arange(0, 64)\n"
                  "tl.store(y + i, tl.load(x + i).to(tl." +
                      type +
                      "))\n"
                      "tl.store(one, tl.load(x + 63).to(tl." +
                      type + "))")
      .array("x", x)
      .array("y", y)
      .array("one", one)
      .run();
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(+y[i], +nearestInteger<I>(x[i]))
        << double(x[i]) << " to " << type << " from "
        << (sizeof(F) == 4 ? "float32" : "float64");
  }
  EXPECT_EQ(+one[0], +nearestInteger<I>(-1.5)) << type;
}

template <typename F>
void checkToIntegers(const char *target) {
  checkToInteger<F, int8_t>(target, "int8");
  checkToInteger<F, int16_t>(target, "int16");
  checkToInteger<F, int32_t>(target, "int32");
  checkToInteger<F, int64_t>(target, "int64");
  checkToInteger<F, uint8_t>(target, "uint8");
  checkToInteger<F, uint16_t>(target, "uint16");
  checkToInteger<F, uint32_t>(target, "uint32");
  checkToInteger<F, uint64_t>(target, "uint64");
}

TEST_P(SemanticsTest, FloatsOutOfRangeBecomeTheNearestInteger) {
  checkToIntegers<float>(GetParam());
  checkToIntegers<double>(GetParam());
}

TEST_P(SemanticsTest, AnIntegerMadeOfAFloatIsAValueOfItsType) {
  std::vector<float> x = {-1.5f, 300.0f, 255.5f, 3.0f}, y(4);
  Snippet(GetParam(), "i = tl.arange(0, 4)\n"
                      "h = tl.load(x + i).to(tl.float16)\n"
                      "tl.store(y + i, h.to(tl.uint8).to(tl.float32))")
      .array("x", x)
      .array("y", y)
      .run();
  EXPECT_THAT(y, testing::ElementsAre(0, 255, 255, 3));
}

//===----------------------------------------------------------------------===//
// Extrema
//===----------------------------------------------------------------------===//

TEST_P(SemanticsTest, NumbersWinOverNansWhereverTheyStand) {
  for (int size : {2, 7, 16, 100, 256}) {
    for (int numbers : {0, 1, 2, 5}) {
      std::vector<float> x(size, float(nan)), best(2);
      for (int i = 0; i < numbers && i < size; ++i) {
        x[(i * 5 + 1) % size] = static_cast<float>(i % 3);
      }
      int largest = 0, smallest = 0;
      for (int i = size - 1; i >= 0; --i) {
        bool isNan = std::isnan(x[i]);
        largest = std::isnan(x[largest]) || (!isNan && x[i] >= x[largest])
                      ? (isNan && !std::isnan(x[largest]) ? largest : i)
                      : largest;
        smallest = std::isnan(x[smallest]) || (!isNan && x[i] <= x[smallest])
                       ? (isNan && !std::isnan(x[smallest]) ? smallest : i)
                       : smallest;
      }
      std::vector<int32_t> where(4);
      Snippet(GetParam(), "v = tl.load(x + tl.arange(0, N))\n"
                          "high, i = tl.max(v, 0, return_indices=True)\n"
                          "low, j = tl.min(v, 0, return_indices=True)\n"
                          "tl.store(best, high)\n"
                          "tl.store(best + 1, low)\n"
                          "tl.store(where, i)\n"
                          "tl.store(where + 1, j)\n"
                          "tl.store(where + 2, tl.argmax(v, 0))\n"
                          "tl.store(where + 3, tl.argmin(v, 0))")
          .array("x", x)
          .array("best", best)
          .array("where", where)
          .constant("N", size)
          .run();
      EXPECT_THAT(where,
                  testing::ElementsAre(largest, smallest, largest, smallest))
          << numbers << " numbers among " << size;
      EXPECT_THAT(best[0], testing::NanSensitiveFloatEq(x[largest]));
      EXPECT_THAT(best[1], testing::NanSensitiveFloatEq(x[smallest]));
    }
  }
}

TEST_P(SemanticsTest, TopkWidensAsTheMaximumDoes) {
  std::vector<int8_t> x = {5, -3, 127, -128};
  std::vector<int32_t> y(2);
  Snippet(GetParam(), "t = tl.topk(tl.load(x + tl.arange(0, 4)), 2)\n"
                      "tl.static_assert(t.dtype == tl.int32)\n"
                      "tl.store(y + tl.arange(0, 2), t * 1000)")
      .array("x", x)
      .array("y", y)
      .run();
  EXPECT_THAT(y, testing::ElementsAre(127000, 5000));
}

/// From 3.9 on they meet in float16, as sums do.
TEST_P(SemanticsTest, ExtremaOfBothHalfTypesKeptTheRange) {
  std::vector<float> x = {1e30f, -1e30f, 2.0f, 0.0f}, y(4), z(4);
  Snippet(GetParam(), "i = tl.arange(0, 4)\n"
                      "b = tl.load(x + i).to(tl.bfloat16)\n"
                      "h = tl.full([4], 1, tl.float16)\n"
                      "tl.store(y + i, tl.maximum(b, h))\n"
                      "tl.store(z + i, tl.clamp(b, h, h + 1))")
      .array("x", x)
      .array("y", y)
      .array("z", z)
      .as(LanguageVersion::V3_8)
      .run();
  EXPECT_NEAR(y[0], 1e30, 1e28);
  EXPECT_EQ(y[1], 1);
  EXPECT_THAT(z, testing::ElementsAre(2, 1, 2, 1));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

TEST_P(SemanticsTest, ProductsOfTwoFloatTypes) {
  const char *pairs[][2] = {{"bfloat16", "float16"},
                            {"float32", "float16"},
                            {"float16", "float64"},
                            {"float8e5", "bfloat16"}};
  for (auto [left, right] : pairs) {
    std::vector<float> a = randomValues<float>(256, -4, 4, 1);
    std::vector<float> b = randomValues<float>(256, -4, 4, 2), c(256), d(256);
    Snippet(GetParam(),
            std::string("i = tl.arange(0, 16)\n"
                        "o = i[:, None] * 16 + i[None, :]\n"
                        "x = tl.load(a + o).to(tl.") +
                left + ")\ny = tl.load(b + o).to(tl." + right +
                ")\n"
                "tl.store(c + o, tl.dot(x, y, input_precision='ieee'))\n"
                "wide = tl.dot(x.to(tl.float64), y.to(tl.float64))\n"
                "tl.store(d + o, wide)")
        .array("a", a)
        .array("b", b)
        .array("c", c)
        .array("d", d)
        .run();
    for (int i = 0; i < 256; ++i) {
      ASSERT_NEAR(c[i], d[i], 1e-4) << left << " x " << right;
    }
  }
}

TEST_P(SemanticsTest, ProductsIgnoreAnOutDtypeThatLeavesNoChoice) {
  std::vector<int8_t> a(32 * 32, 100), b(32 * 32, 100);
  std::vector<int32_t> c(32 * 32);
  Snippet(GetParam(), "i = tl.arange(0, 32)\n"
                      "o = i[:, None] * 32 + i[None, :]\n"
                      "r = tl.dot(tl.load(a + o), tl.load(b + o), "
                      "out_dtype=tl.float32)\n"
                      "tl.static_assert(r.dtype == tl.int32)\n"
                      "tl.store(c + o, r)")
      .array("a", a)
      .array("b", b)
      .array("c", c)
      .run();
  EXPECT_THAT(c, testing::Each(320000));
}

//===----------------------------------------------------------------------===//
// Functions at the ends of their domains
//===----------------------------------------------------------------------===//

struct Point {
  const char *function;
  double x, result;
};

TEST_P(SemanticsTest, FunctionsAtExtremes) {
  const Point points[] = {
      {"sinpi", 1.0, 0.0},
      {"sinpi", -1.0, -0.0},
      {"sinpi", 2.0, 0.0},
      {"sinpi", -0.0, -0.0},
      {"sinpi", 0.0, 0.0},
      {"sinpi", 1.7e308, 0.0},
      {"sinpi", -1.7e308, -0.0},
      {"sinpi", 0.5, 1.0},
      {"sinpi", 1.5, -1.0},
      {"sinpi", -0.5, -1.0},
      {"sinpi", 2.5, 1.0},
      {"sinpi", 9007199254740993.0, 0.0},
      {"sinpi", inf, nan},
      {"sinpi", 1e6 + 0.25, std::sqrt(0.5)},
      {"cospi", 1.7e308, 1.0},
      {"cospi", 1.0, -1.0},
      {"cospi", 0.5, 0.0},
      {"cospi", 1.5, 0.0},
      {"cospi", -1e300, 1.0},
      {"cospi", -inf, nan},
      {"cospi", 4503599627370497.0, -1.0},
      {"lgamma", -1.7e308, inf},
      {"lgamma", 1.7e308, inf},
      {"lgamma", -1e300, inf},
      {"lgamma", -2.0, inf},
      // Roots of log(erfc(-y / sqrt 2) / 2) = log x in 60 digits.
      {"normcdfinv", 5e-324, -38.467405617144346},
      {"normcdfinv", 1e-323, -38.449394480875987},
      {"normcdfinv", 1e-310, -37.663060331949524},
      {"normcdfinv", 2.2250738585072014e-308, -37.519379347144500},
      {"normcdfinv", 1e-300, -37.047096299361199}};
  for (const Point &p : points) {
    std::vector<double> x(8, p.x), y(8);
    Snippet(GetParam(), std::string("i = tl.arange(0, 8)\n"
                                    "tl.store(y + i, libdevice.") +
                            p.function + "(tl.load(x + i)))")
        .array("x", x)
        .array("y", y)
        .run();
    if (std::isnan(p.result)) {
      EXPECT_TRUE(std::isnan(y[0])) << p.function << "(" << p.x << ")";
      continue;
    }
    double bound = 1e-14 * std::fabs(p.result);
    EXPECT_TRUE(y[3] == p.result || std::fabs(y[3] - p.result) <= bound)
        << p.function << "(" << p.x << ") = " << y[3];
    EXPECT_EQ(std::signbit(y[3]), std::signbit(p.result))
        << p.function << "(" << p.x << ")";
  }
}

TEST_P(SemanticsTest, SinpiOfHugeFloats) {
  std::vector<float> x = {3.4e38f, -3.4e38f, 16777217.0f, 8388609.0f}, y(4),
                     z(4);
  Snippet(GetParam(), "i = tl.arange(0, 4)\n"
                      "tl.store(y + i, libdevice.sinpi(tl.load(x + i)))\n"
                      "tl.store(z + i, libdevice.cospi(tl.load(x + i)))")
      .array("x", x)
      .array("y", y)
      .array("z", z)
      .run();
  EXPECT_THAT(y, testing::ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(z, testing::ElementsAre(1, 1, 1, -1));
}

TEST_P(SemanticsTest, AnIndexThatWrapsInFrontOfARemainder) {
  std::vector<int32_t> x(192), o(64), expected;
  for (int32_t i = 0; i < 192; ++i) {
    x[i] = i;
  }
  for (uint32_t i = 0; i < 64; ++i) {
    expected.push_back(int32_t(i + 2147483600u) % 64 + 64);
  }
  Snippet(GetParam(), "c = tl.arange(0, 64)\n"
                      "i = (c + 2147483600).to(tl.int64) % 64 + 64\n"
                      "tl.store(o + c, tl.load(x + i))")
      .array("x", x)
      .array("o", o)
      .run();
  EXPECT_EQ(o, expected);
}

TEST_P(SemanticsTest, AnUnsignedLoopPassesTheLargestSignedNumber) {
  std::vector<int32_t> o(64, -1), expected(64, -1);
  for (uint32_t k = 2147483500u; k < 2147483650u; k += 32) {
    for (uint32_t i = 0; i < 64; ++i) {
      if (auto sum = int32_t(k + i); sum < 2147483600) {
        expected[i] = sum;
      }
    }
  }
  Snippet(GetParam(), "i = tl.arange(0, 64)\n"
                      "for k in tl.range(tl.full([], 2147483500, tl.uint32), "
                      "tl.full([], 2147483650, tl.uint32), 32):\n"
                      "    b = k.to(tl.int32)\n"
                      "    tl.store(o + i, i + b, mask=(b + i) < 2147483600)")
      .array("o", o)
      .run();
  EXPECT_EQ(o, expected);
}

INSTANTIATE_TEST_SUITE_P(Targets, SemanticsTest,
                         testing::Values("interp", "cpu"));

} // namespace
