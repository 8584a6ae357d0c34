//===- LibdeviceTest.cpp - Functions against <cmath> -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors are counted in units of the last place of the result's type, against
// the C library in float64 (in long double for float64). The bounds are those
// that stdlib/*.py states; for primitives of Tile IR, those of the expansion.
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <bit>
#include <cmath>
#include <functional>
#include <numbers>

using namespace nereid;
using namespace nereid::test;

namespace {

using Reference = std::function<long double(long double, long double)>;

struct Case {
  const char *expression; ///< of v and w
  Reference reference;
  double low, high; ///< range of v; w is in [0.5, 3)
  double ulps32, ulps64;
};

/// |got - expected| in units of the last place of T at `expected`.
template <typename T>
double ulpError(T got, long double expected) {
  if (std::isnan(expected) || std::isnan(got)) {
    return std::isnan(expected) == std::isnan(got) ? 0 : HUGE_VAL;
  }
  T nearest = static_cast<T>(expected);
  if (got == nearest || std::isinf(nearest)) {
    return got == nearest ? 0 : HUGE_VAL;
  }
  T magnitude = std::abs(nearest);
  long double unit =
      std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return static_cast<double>(std::abs(got - expected) / unit);
}

template <typename T>
void check(const char *target, const Case &c, double bound) {
  constexpr int n = 1024;
  std::vector<T> x = randomValues<T>(n, c.low, c.high);
  std::vector<T> w = randomValues<T>(n, 0.5, 3, 2), y(n);
  Snippet(target, std::string("o = tl.arange(0, N)\n"
                              "v = tl.load(x + o)\n"
                              "w = tl.load(z + o)\n"
                              "tl.store(y + o, ") +
                      c.expression + ")")
      .array("x", x)
      .array("z", w)
      .array("y", y)
      .constant("N", n)
      .run();
  double worst = 0;
  T where = 0;
  for (int i = 0; i < n; ++i) {
    double error = ulpError(y[i], c.reference(x[i], w[i]));
    if (error > worst) {
      worst = error;
      where = x[i];
    }
  }
  EXPECT_LE(worst, bound) << c.expression << " at " << where << ", "
                          << (sizeof(T) == 4 ? "float32" : "float64");
}

using L = long double;
#define UNARY(F) [](L v, L) -> L { return std::F(v); }
#define BINARY(F) [](L v, L w) -> L { return std::F(v, w); }

const Case cases[] = {
    {"tl.exp(v)", UNARY(exp), -80, 80, 2, 2},
    {"tl.exp2(v)", UNARY(exp2), -120, 120, 2, 2},
    {"libdevice.exp10(v)", [](L v, L) -> L { return std::pow(L{10}, v); }, -35,
     35, 3, 3},
    {"libdevice.expm1(v)", UNARY(expm1), -2, 2, 2, 2},
    {"tl.log(v)", UNARY(log), 1e-6, 100, 2, 2},
    {"tl.log2(v)", UNARY(log2), 1e-6, 100, 2, 2},
    {"libdevice.log10(v)", UNARY(log10), 1e-6, 100, 2, 2},
    {"libdevice.log1p(v)", UNARY(log1p), -0.9, 3, 2, 2},
    {"tl.sin(v)", UNARY(sin), -100, 100, 2, 2},
    {"tl.cos(v)", UNARY(cos), -100, 100, 2, 2},
    {"libdevice.tan(v)", UNARY(tan), -100, 100, 4, 4},
    {"libdevice.asin(v)", UNARY(asin), -1, 1, 3, 3},
    {"libdevice.acos(v)", UNARY(acos), -1, 1, 3, 3},
    {"libdevice.atan(v)", UNARY(atan), -20, 20, 3, 3},
    {"libdevice.atan2(v, w)", BINARY(atan2), -20, 20, 3, 3},
    {"libdevice.sinh(v)", UNARY(sinh), -20, 20, 4, 4},
    {"libdevice.cosh(v)", UNARY(cosh), -20, 20, 4, 4},
    {"libdevice.tanh(v)", UNARY(tanh), -10, 10, 4, 4},
    {"libdevice.asinh(v)", UNARY(asinh), -20, 20, 4, 4},
    {"libdevice.acosh(v)", UNARY(acosh), 1, 20, 4, 4},
    {"libdevice.atanh(v)", UNARY(atanh), -0.99, 0.99, 4, 4},
    {"tl.sqrt(v)", UNARY(sqrt), 0, 100, 0.5, 0.501},
    {"tl.rsqrt(v)", [](L v, L) -> L { return 1 / std::sqrt(v); }, 0.01, 100, 2,
     2},
    {"libdevice.cbrt(v)", UNARY(cbrt), -100, 100, 2, 4},
    {"libdevice.rcbrt(v)", [](L v, L) -> L { return 1 / std::cbrt(v); }, 0.1,
     100, 3, 5},
    {"libdevice.pow(v, w)", BINARY(pow), 0.01, 50, 2, 2},
    {"libdevice.hypot(v, w)", BINARY(hypot), -50, 50, 3, 3},
    {"libdevice.sinpi(v)",
     [](L v, L) -> L {
       return std::sin(std::numbers::pi_v<L> * std::remainder(v, L{2}));
     },
     -9, 9, 4, 4},
    {"libdevice.cospi(v)",
     [](L v, L) -> L {
       return std::sin(std::numbers::pi_v<L> *
                       (L{0.5} - std::abs(std::remainder(v, L{2}))));
     },
     -9, 9, 4, 4},
    {"tl.erf(v)", UNARY(erf), -4, 4, 3, 4},
    {"libdevice.erfc(v)", UNARY(erfc), -3, 6, 6, 8},
    {"libdevice.erfcx(v)",
     [](L v, L) -> L { return std::exp(v * v) * std::erfc(v); }, -3, 9, 1, 64},
    {"libdevice.lgamma(v)", UNARY(lgamma), 0.1, 60, 1, 32},
    {"libdevice.tgamma(v)", UNARY(tgamma), 0.1, 30, 1, 64},
    {"libdevice.normcdf(v)",
     [](L v, L) -> L { return std::erfc(-v / std::sqrt(L{2})) / 2; }, -5, 5, 1,
     64},
    {"libdevice.erf(libdevice.erfinv(v))", [](L v, L) -> L { return v; }, -0.99,
     0.99, 4, 12},
    {"libdevice.fmod(v, w)", BINARY(fmod), -90, 90, 0.5, 0.501},
    {"libdevice.remainder(v, w)", BINARY(remainder), -90, 90, 0.5, 0.501},
    {"libdevice.fdim(v, w)", BINARY(fdim), -5, 5, 0.5, 0.501},
    {"libdevice.copysign(w, v)",
     [](L v, L w) -> L { return std::copysign(w, v); }, -5, 5, 0, 0},
    {"libdevice.rint(v)", UNARY(nearbyint), -9, 9, 0, 0},
    {"libdevice.round(v)", UNARY(round), -9, 9, 0, 0},
    {"libdevice.trunc(v)", UNARY(trunc), -9, 9, 0, 0},
    {"libdevice.logb(v)", UNARY(logb), -90, 90, 0, 0},
    {"libdevice.ldexp(v, -7)", [](L v, L) -> L { return std::ldexp(v, -7); },
     -90, 90, 0, 0},
    {"libdevice.fma(v, w, 1.5)",
     [](L v, L w) -> L { return std::fma(v, w, L{1.5}); }, -9, 9, 0.501, 0.51},
    {"tl.fdiv(v, w)", [](L v, L w) -> L { return v / w; }, -9, 9, 0.501, 0.501},
    {"libdevice.cyl_bessel_i0(v)",
     [](L v, L) -> L { return std::cyl_bessel_i(L{0}, std::abs(v)); }, -40, 40,
     1, 64},
};

class LibdeviceTest : public OnTarget {};

TEST_P(LibdeviceTest, AgreesWithTheCLibrary) {
  for (const Case &c : cases) {
    check<float>(GetParam(), c, std::max(c.ulps32, 0.5000001));
    check<double>(GetParam(), c, std::max(c.ulps64, 0.501));
  }
}

/// Of floats of every exponent, both signs, infinity and NaN.
TEST_P(LibdeviceTest, ErrorFunctionOfAllExponents) {
  constexpr int n = 1 << 14;
  constexpr uint32_t infinity = 0x7f800000;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    uint32_t bits = uint32_t(i / 2) * (infinity / (n / 2));
    x[i] = std::bit_cast<float>(bits | uint32_t(i & 1) << 31);
  }
  x[n - 3] = INFINITY;
  x[n - 2] = -INFINITY;
  x[n - 1] = NAN;
  Snippet(GetParam(), "o = tl.arange(0, N)\n"
                      "tl.store(y + o, tl.erf(tl.load(x + o)))")
      .array("x", x)
      .array("y", y)
      .constant("N", n)
      .run();
  for (int i = 0; i < n - 1; ++i) {
    EXPECT_LE(ulpError(y[i], std::erf(L{x[i]})), 2.5) << x[i];
    EXPECT_LE(std::fabs(y[i]), 1.0f) << x[i];
    EXPECT_EQ(std::signbit(y[i]), std::signbit(x[i])) << x[i];
  }
  EXPECT_TRUE(std::isnan(y[n - 1]));
}

TEST_P(LibdeviceTest, SpecialValues) {
  float inf = INFINITY, nan = NAN;
  std::vector<float> x = {0.0f, -0.0f, inf, -inf, nan, 1e-40f};
  std::vector<float> y(6), z(6);
  std::vector<int32_t> i(6), n(6), f(6), s(6);
  Snippet(GetParam(), "o = tl.arange(0, 6)\n"
                      "v = tl.load(x + o)\n"
                      "tl.store(y + o, libdevice.logb(v))\n"
                      "tl.store(z + o, libdevice.nextafter(v, 1.0))\n"
                      "tl.store(i + o, libdevice.ilogb(v))\n"
                      "tl.store(n + o, libdevice.isnan(v))\n"
                      "tl.store(f + o, libdevice.finitef(v))\n"
                      "tl.store(s + o, libdevice.signbit(v))")
      .array("x", x)
      .array("y", y)
      .array("z", z)
      .array("i", i)
      .array("n", n)
      .array("f", f)
      .array("s", s)
      .run();
  for (int k = 0; k < 6; ++k) {
    EXPECT_EQ(ulpError(y[k], std::logb(x[k])), 0) << x[k];
    EXPECT_EQ(ulpError(z[k], std::nextafter(x[k], 1.0f)), 0) << x[k];
    EXPECT_EQ(n[k], std::isnan(x[k]));
    EXPECT_EQ(f[k], std::isfinite(x[k]));
    EXPECT_EQ(s[k] != 0, std::signbit(x[k])) << x[k];
  }
  EXPECT_THAT(i, testing::ElementsAre(INT_MIN, INT_MIN, INT_MAX, INT_MAX,
                                      INT_MIN, std::ilogb(1e-40f)));
}

TEST_P(LibdeviceTest, Integers) {
  std::vector<int32_t> x = randomValues<int32_t>(64, -2e9, 2e9);
  std::vector<int32_t> w = randomValues<int32_t>(64, -2e9, 2e9, 2);
  x[0] = 0;
  x[1] = 1;
  x[2] = INT_MIN;
  std::vector<int32_t> out(9 * 64);
  Snippet(GetParam(), "o = tl.arange(0, 64)\n"
                      "v = tl.load(x + o)\n"
                      "w = tl.load(z + o)\n"
                      "tl.store(y + o, libdevice.popc(v))\n"
                      "tl.store(y + 64 + o, libdevice.clz(v))\n"
                      "tl.store(y + 128 + o, libdevice.ffs(v))\n"
                      "tl.store(y + 192 + o, libdevice.brev(v))\n"
                      "tl.store(y + 256 + o, libdevice.mulhi(v, w))\n"
                      "tl.store(y + 320 + o, libdevice.hadd(v, w))\n"
                      "tl.store(y + 384 + o, libdevice.byte_perm(v, w, "
                      "0x6240))\n"
                      "tl.store(y + 448 + o, tl.umulhi(v, w))\n"
                      "tl.store(y + 512 + o, libdevice.mul24(v, w))")
      .array("x", x)
      .array("z", w)
      .array("y", out)
      .run();
  for (int i = 0; i < 64; ++i) {
    auto u = static_cast<uint32_t>(x[i]), q = static_cast<uint32_t>(w[i]);
    EXPECT_EQ(out[i], std::popcount(u));
    EXPECT_EQ(out[64 + i], std::countl_zero(u));
    EXPECT_EQ(out[128 + i], u ? std::countr_zero(u) + 1 : 0);
    uint32_t reversed = 0;
    for (int bit = 0; bit < 32; ++bit) {
      reversed |= (u >> bit & 1) << (31 - bit);
    }
    EXPECT_EQ(static_cast<uint32_t>(out[192 + i]), reversed);
    EXPECT_EQ(out[256 + i], (int64_t{x[i]} * w[i]) >> 32);
    EXPECT_EQ(out[320 + i], (int64_t{x[i]} + w[i]) >> 1);
    uint32_t bytes = (u & 255) | (q & 255) << 8 | (u >> 16 & 255) << 16 |
                     (q >> 16 & 255) << 24;
    EXPECT_EQ(static_cast<uint32_t>(out[384 + i]), bytes);
    EXPECT_EQ(static_cast<uint32_t>(out[448 + i]), uint64_t{u} * q >> 32);
    int64_t low = int64_t{static_cast<int32_t>(u << 8) >> 8} *
                  (static_cast<int32_t>(q << 8) >> 8);
    EXPECT_EQ(out[512 + i], static_cast<int32_t>(low));
  }
}

TEST_P(LibdeviceTest, Conversions) {
  std::vector<float> x = {0.5f, 1.5f, -0.5f, -2.75f, 7.25f};
  std::vector<int32_t> out(4 * 5);
  std::vector<float> back(5);
  std::vector<double> wide = {1.0000000001, -1.9999999999, 0.1, 3, -0.3};
  Snippet(GetParam(), "o = tl.arange(0, 5)\n"
                      "v = tl.load(x + o)\n"
                      "tl.store(y + o, libdevice.float2int_rn(v))\n"
                      "tl.store(y + 5 + o, libdevice.float2int_rz(v))\n"
                      "tl.store(y + 10 + o, libdevice.float2int_rd(v))\n"
                      "tl.store(y + 15 + o, libdevice.float2int_ru(v))\n"
                      "tl.store(b + o, libdevice.double2float_rz(tl.load(w + "
                      "o)))")
      .array("x", x)
      .array("y", out)
      .array("b", back)
      .array("w", wide)
      .run();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(out[i], std::nearbyint(x[i]));
    EXPECT_EQ(out[5 + i], std::trunc(x[i]));
    EXPECT_EQ(out[10 + i], std::floor(x[i]));
    EXPECT_EQ(out[15 + i], std::ceil(x[i]));
    float nearest = static_cast<float>(wide[i]);
    EXPECT_EQ(back[i], std::abs(nearest) > std::abs(wide[i])
                           ? std::nextafter(nearest, 0.0f)
                           : nearest);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, LibdeviceTest,
                         testing::Values("interp", "cpu"));

} // namespace
