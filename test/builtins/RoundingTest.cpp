//===- RoundingTest.cpp - Directed roundings against the FPU ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The machine computes the references, with its rounding mode set. Results must
// be equal to the last bit.
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>

using namespace nereid;
using namespace nereid::test;

namespace {

class RoundingTest : public OnTarget {};

/// Ordinary numbers, and the ends of the range with one another.
template <typename T>
std::vector<T> operands(uint32_t seed) {
  std::vector<T> values = randomValues<T>(200, -4, 4, seed);
  using L = std::numeric_limits<T>;
  std::vector<T> special = {0,
                            -T(0),
                            1,
                            -1,
                            L::max(),
                            -L::max(),
                            L::min(),
                            L::denorm_min(),
                            -L::denorm_min(),
                            T(INFINITY),
                            -T(INFINITY),
                            T(NAN),
                            T(1e-20),
                            T(3)};
  for (size_t i = 0; i < special.size() * special.size(); ++i) {
    values.push_back(seed % 2 ? special[i % special.size()]
                              : special[i / special.size()]);
  }
  std::mt19937 engine(seed);
  for (int i = 0; i < 200; ++i) { // all exponents
    T value = std::ldexp(T(1 + engine() / 4294967296.0),
                         static_cast<int>(engine() % 240) - 120);
    values.push_back(engine() % 2 ? value : -value);
  }
  return values;
}

struct Mode {
  const char *suffix;
  int mode;
};
const Mode modes[] = {
    {"_rz", FE_TOWARDZERO}, {"_rd", FE_DOWNWARD}, {"_ru", FE_UPWARD}};

template <typename T>
struct Case {
  const char *call; ///< of u, v and w; `#` stands for the suffix
  std::function<T(T, T, T)> reference;
};

/// Computed at run time, in the mode that is set.
template <typename T>
T opaque(T x) {
  volatile T copy = x;
  return copy;
}

template <typename T>
void check(const char *target, const Case<T> &c) {
  std::vector<T> u = operands<T>(1), v = operands<T>(2), w = operands<T>(4);
  std::vector<T> y(u.size());
  int n = static_cast<int>(u.size());
  for (const Mode &mode : modes) {
    std::string call = c.call;
    call.replace(call.find('#'), 1, mode.suffix);
    Snippet(target, "o = tl.arange(0, N)\n"
                    "u, v, w = tl.load(a + o), tl.load(b + o), tl.load(c + o)\n"
                    "tl.store(y + o, " +
                        call + ")")
        .array("a", u)
        .array("b", v)
        .array("c", w)
        .array("y", y)
        .constant("N", n)
        .run();
    for (int i = 0; i < n; ++i) {
      std::fesetround(mode.mode);
      T expected = c.reference(opaque(u[i]), opaque(v[i]), opaque(w[i]));
      std::fesetround(FE_TONEAREST);
      bool same = std::isnan(expected)
                      ? std::isnan(y[i])
                      : std::memcmp(&y[i], &expected, sizeof(T)) == 0;
      ASSERT_TRUE(same) << call << " of " << u[i] << ", " << v[i] << ", "
                        << w[i] << ": expected " << expected << ", got "
                        << y[i];
    }
  }
}

template <typename T>
void checkAll(const char *target) {
  check<T>(target, {"libdevice.add#(u, v)",
                    [](T u, T v, T) { return opaque<T>(u + v); }});
  check<T>(target, {"libdevice.sub#(u, v)",
                    [](T u, T v, T) { return opaque<T>(u - v); }});
  check<T>(target, {"libdevice.mul#(u, v)",
                    [](T u, T v, T) { return opaque<T>(u * v); }});
  check<T>(target, {"libdevice.div#(u, v)",
                    [](T u, T v, T) { return opaque<T>(u / v); }});
  check<T>(target, {"libdevice.rcp#(u)",
                    [](T u, T, T) { return opaque<T>(T(1) / u); }});
  check<T>(target, {"libdevice.sqrt#(u)",
                    [](T u, T, T) { return opaque<T>(std::sqrt(u)); }});
}

TEST_P(RoundingTest, Float32) {
  checkAll<float>(GetParam());
  check<float>(GetParam(),
               {"libdevice.fma#(u, v, w)", [](float u, float v, float w) {
                  return opaque(std::fma(u, v, w));
                }});
}

TEST_P(RoundingTest, Float64) { checkAll<double>(GetParam()); }

/// The error of a fused multiply-add is exact unless something underflows.
TEST_P(RoundingTest, FmaOfFloat64) {
  auto u = randomValues<double>(500, -4, 4, 1);
  auto v = randomValues<double>(500, -4, 4, 2);
  auto w = randomValues<double>(500, -16, 16, 3);
  std::vector<double> y(500);
  for (const Mode &mode : modes) {
    Snippet(GetParam(), "o = tl.arange(0, 500)\n"
                        "tl.store(y + o, libdevice.fma" +
                            std::string(mode.suffix) +
                            "(tl.load(u + o), tl.load(v + o), tl.load(w + o)))")
        .array("u", u)
        .array("v", v)
        .array("w", w)
        .array("y", y)
        .run();
    for (int i = 0; i < 500; ++i) {
      std::fesetround(mode.mode);
      double expected = opaque(std::fma(opaque(u[i]), opaque(v[i]), w[i]));
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(y[i], expected) << i << mode.suffix;
    }
  }
}

template <typename From, typename To>
void checkConversion(const char *target, const char *name) {
  std::mt19937_64 engine(7);
  std::vector<From> x = {0,
                         1,
                         From(-1),
                         std::numeric_limits<From>::max(),
                         std::numeric_limits<From>::min(),
                         3,
                         From(1) << 24};
  for (int i = 0; i < 300; ++i) {
    x.push_back(static_cast<From>(engine() >> engine() % (8 * sizeof(From)) >>
                                  (64 - 8 * sizeof(From))));
    x.push_back(static_cast<From>(-x.back()));
  }
  int n = static_cast<int>(x.size());
  std::vector<To> y(n);
  for (const Mode &mode : modes) {
    Snippet(target, "o = tl.arange(0, N)\ntl.store(y + o, libdevice." +
                        std::string(name) + mode.suffix + "(tl.load(x + o)))")
        .array("x", x)
        .array("y", y)
        .constant("N", n)
        .run();
    for (int i = 0; i < n; ++i) {
      // long double holds all 64 bits.
      long double exact = x[i];
      std::fesetround(mode.mode);
      volatile long double wide = exact;
      To expected = opaque(static_cast<To>(wide));
      std::fesetround(FE_TONEAREST);
      ASSERT_EQ(y[i], expected) << name << mode.suffix << " of " << exact;
    }
  }
}

TEST_P(RoundingTest, Conversions) {
  checkConversion<int32_t, float>(GetParam(), "int2float");
  checkConversion<uint32_t, float>(GetParam(), "uint2float");
  checkConversion<int64_t, float>(GetParam(), "ll2float");
  checkConversion<uint64_t, float>(GetParam(), "ull2float");
  checkConversion<int64_t, double>(GetParam(), "ll2double");
  checkConversion<uint64_t, double>(GetParam(), "ull2double");
}

TEST_P(RoundingTest, DoubleToFloat) {
  std::vector<double> x = operands<double>(1);
  for (double v : randomValues<double>(300, -1e38, 1e38, 5)) {
    x.push_back(v);
  }
  int n = static_cast<int>(x.size());
  std::vector<float> y(n);
  for (const Mode &mode : modes) {
    Snippet(GetParam(), "o = tl.arange(0, N)\ntl.store(y + o, "
                        "libdevice.double2float" +
                            std::string(mode.suffix) + "(tl.load(x + o)))")
        .array("x", x)
        .array("y", y)
        .constant("N", n)
        .run();
    for (int i = 0; i < n; ++i) {
      std::fesetround(mode.mode);
      float expected = opaque(static_cast<float>(opaque(x[i])));
      std::fesetround(FE_TONEAREST);
      bool same = std::isnan(expected) ? std::isnan(y[i]) : y[i] == expected;
      ASSERT_TRUE(same) << mode.suffix << " of " << x[i] << ": " << y[i];
    }
  }
}

/// Orders 0 to 40 against the C library; the recurrences lose a few digits
/// where the function is small.
TEST_P(RoundingTest, BesselFunctionsOfAnyOrder) {
  auto x = randomValues<double>(200, 0.05, 60, 3);
  std::vector<int32_t> order(200);
  std::vector<double> y(200), z(200);
  for (int i = 0; i < 200; ++i) {
    order[i] = i % 41;
  }
  Snippet(GetParam(), "o = tl.arange(0, 200)\n"
                      "v, n = tl.load(x + o), tl.load(i + o)\n"
                      "tl.store(y + o, libdevice.jn(n, v))\n"
                      "tl.store(z + o, libdevice.yn(n, v))")
      .array("x", x)
      .array("i", order)
      .array("y", y)
      .array("z", z)
      .run();
  for (int i = 0; i < 200; ++i) {
    double j = ::jn(order[i], x[i]), n = ::yn(order[i], x[i]);
    EXPECT_NEAR(y[i], j, 1e-12 * std::max(std::abs(j), 1e-2))
        << order[i] << ", " << x[i];
    EXPECT_NEAR(z[i], n, 1e-11 * std::max(std::abs(n), 1e-1))
        << order[i] << ", " << x[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RoundingTest,
                         testing::Values("interp", "cpu"));

} // namespace
