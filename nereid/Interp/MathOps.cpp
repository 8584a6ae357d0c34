//===- MathOps.cpp - The math dialect -------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The double functions of <cmath>, rounded once to the element type: for
// every type but f64 that is the correctly rounded result in all but about
// one case in 2^28. The second number of each row is what another executor is
// allowed, in ulps (FloatFunction::ulps).
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Elementwise.h"
#include "nereid/Interp/Machine.h"

#include <bit>
#include <cmath>
#include <limits>

namespace nereid::interp {

using D = double;

static void addExponentials(HandlerTable &table) {
  table["math.exp"] = floatOp(
      {[](D x, D, D) { return std::exp(x); }, 4, false, 4, 0x1.4p-24, true});
  table["math.exp2"] =
      floatOp({[](D x, D, D) { return std::exp2(x); }, 4, false, 0, 0, true});
  table["math.expm1"] = floatOp({[](D x, D, D) { return std::expm1(x); }, 4});
  table["math.log"] = floatOp({[](D x, D, D) { return std::log(x); }, 4});
  table["math.log2"] = floatOp({[](D x, D, D) { return std::log2(x); }, 4});
  table["math.log10"] = floatOp({[](D x, D, D) { return std::log10(x); }, 4});
  table["math.log1p"] = floatOp({[](D x, D, D) { return std::log1p(x); }, 4});
  table["math.powf"] =
      floatOp({[](D x, D y, D) { return std::pow(x, y); }, 16});
  table["math.erf"] = floatOp({[](D x, D, D) { return std::erf(x); }, 8});
  table["math.erfc"] = floatOp({[](D x, D, D) { return std::erfc(x); }, 16});
}

static void addTrigonometry(HandlerTable &table) {
  table["math.sin"] = floatOp({[](D x, D, D) { return std::sin(x); }, 4, true});
  table["math.cos"] = floatOp({[](D x, D, D) { return std::cos(x); }, 4, true});
  table["math.tan"] = floatOp({[](D x, D, D) { return std::tan(x); }, 8});
  table["math.asin"] = floatOp({[](D x, D, D) { return std::asin(x); }, 8});
  table["math.acos"] = floatOp({[](D x, D, D) { return std::acos(x); }, 8});
  table["math.atan"] = floatOp({[](D x, D, D) { return std::atan(x); }, 8});
  table["math.atan2"] =
      floatOp({[](D y, D x, D) { return std::atan2(y, x); }, 8});
  table["math.sinh"] = floatOp({[](D x, D, D) { return std::sinh(x); }, 8});
  table["math.cosh"] = floatOp({[](D x, D, D) { return std::cosh(x); }, 8});
  table["math.tanh"] = floatOp({[](D x, D, D) { return std::tanh(x); }, 8});
  table["math.asinh"] = floatOp({[](D x, D, D) { return std::asinh(x); }, 8});
  table["math.acosh"] = floatOp({[](D x, D, D) { return std::acosh(x); }, 8});
  table["math.atanh"] = floatOp({[](D x, D, D) { return std::atanh(x); }, 8});
}

/// Halves away from zero and halves to even, whatever the rounding mode.
static double roundHalfEven(double x) {
  double away = std::round(x);
  return std::fabs(away - x) == 0.5 ? 2 * std::round(x / 2) : away;
}

/// The sign of a NaN that was computed is any.
static void runCopysign(Machine &m, const Step &step) {
  static const Handler plain =
      floatOp({[](D x, D y, D) { return std::copysign(x, y); }, 0});
  plain.run(m, step);
  const TileValue &sign = m.in(step, 1);
  TileValue &r = m.slot(step.results[0]);
  for (size_t i = 0; i < r.errors.size(); ++i) {
    if (std::isnan(sign.floats[sign.size() == 1 ? 0 : i])) {
      r.errors[i] = std::numeric_limits<double>::infinity();
    }
  }
}

static void addAlgebra(HandlerTable &table) {
  // PTX promises 2^-23 of the result of sqrt.approx.f32, and 2^-22.9 of that of
  // rsqrt.approx.f32: up to 2 and 2.15 spacings.
  table["math.sqrt"] =
      floatOp({.evaluate = [](D x, D, D) { return std::sqrt(x); },
               .ulps = 0.5,
               .upstreamUlps = 2});
  table["math.rsqrt"] =
      floatOp({.evaluate = [](D x, D, D) { return 1 / std::sqrt(x); },
               .ulps = 2,
               .upstreamUlps = 2.15});
  table["math.cbrt"] = floatOp({[](D x, D, D) { return std::cbrt(x); }, 4});
  table["math.absf"] = floatOp({[](D x, D, D) { return std::fabs(x); }, 0});
  table["math.ceil"] = floatOp({[](D x, D, D) { return std::ceil(x); }, 0});
  table["math.floor"] = floatOp({[](D x, D, D) { return std::floor(x); }, 0});
  table["math.trunc"] = floatOp({[](D x, D, D) { return std::trunc(x); }, 0});
  table["math.round"] = floatOp({[](D x, D, D) { return std::round(x); }, 0});
  table["math.roundeven"] =
      floatOp({[](D x, D, D) { return roundHalfEven(x); }, 0});
  table["math.copysign"] = {runCopysign, true};
  table["math.clampf"] = floatOp(
      {[](D x, D low, D high) { return std::fmin(std::fmax(x, low), high); },
       0});
}

/// One rounding where the hardware has it: f32 and f64. The sum in f32 of a
/// narrower type's product, which is exact, is rounded to the type again: half
/// a spacing and that of f32.
static Handler fusedMultiplyAdd() {
  auto fma = [](D a, D b, D c) { return std::fma(a, b, c); };
  Handler general = floatOp({fma, 0.5});
  Handler narrow = floatOp({fma, 0.5 + 0x1p-12});
  auto run = [general, narrow](Machine &m, const Step &step) {
    bool isSingle = m.in(step, 0).element.width == 32 &&
                    m.floatMode() == FloatMode::Declared;
    if (!isSingle) {
      bool isNarrow = m.in(step, 0).element.width < 32;
      (isNarrow ? narrow : general).run(m, step);
      return;
    }
    Elements<double> a(m.in(step, 0).floats), b(m.in(step, 1).floats),
        c(m.in(step, 2).floats);
    TileValue &r = m.out(step);
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      r.floats[i] = std::fma(float(a[i]), float(b[i]), float(c[i]));
    }
  };
  return {run, true};
}

/// Integer powers; 0 to a negative power, which is undefined, gives 0.
static int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
  }
  uint64_t result = 1;
  for (uint64_t square = static_cast<uint64_t>(base); exponent > 0;
       exponent >>= 1, square *= square) {
    result *= exponent & 1 ? square : 1;
  }
  return static_cast<int64_t>(result);
}

static void runFPowI(Machine &m, const Step &step) {
  const TileValue &base = m.in(step, 0);
  Elements<double> x(base.floats);
  Elements<int64_t> n(m.in(step, 1).ints);
  TileValue &r = m.out(step);
  r.errors.resize(m.tracksErrors() ? r.size() : 0);
  for (int64_t i = 0, count = r.size(); i < count; ++i) {
    r.floats[i] =
        m.rounded(r.element, std::pow(x[i], static_cast<double>(n[i])));
    if (m.tracksErrors()) { // n - 1 products, or fewer
      double error = base.errorAt(base.size() == 1 ? 0 : i);
      double slack = error == 0 ? 0
                                : std::fabs(r.floats[i]) *
                                      (std::pow(1 + error / std::fabs(x[i]),
                                                std::fabs(double(n[i]))) -
                                       1);
      r.errors[i] = roundingError(*r.element.format, r.floats[i], slack,
                                  std::fabs(double(n[i])) + 1);
    }
  }
}

/// `test(x)` of a float as an i1.
template <typename F>
static Handler floatTest(F test) {
  auto run = [test](Machine &m, const Step &step) {
    const TileValue &source = m.in(step, 0);
    Elements<double> x(source.floats);
    TileValue &r = m.out(step);
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      // An error without limit means: this may be an infinity elsewhere.
      if (std::isinf(source.errorAt(source.size() == 1 ? 0 : i))) {
        r.setUnknown(i);
      }
      r.ints[i] = test(x[i], *source.element.format);
    }
  };
  return {run, true};
}

static void addTests(HandlerTable &table) {
  using Format = const FloatFormat &;
  table["math.isnan"] = floatTest([](D x, Format) { return std::isnan(x); });
  table["math.isinf"] = floatTest([](D x, Format) { return std::isinf(x); });
  table["math.isfinite"] =
      floatTest([](D x, Format) { return std::isfinite(x); });
  table["math.isnormal"] = floatTest([](D x, Format format) {
    return std::isfinite(x) &&
           std::fabs(x) >= std::ldexp(1.0, format.minExponent);
  });
}

static void addBitCounts(HandlerTable &table) {
  table["math.absi"] = intUnary([](int64_t a, unsigned w) {
    int64_t value = asSigned(w, a);
    return value < 0 ? static_cast<int64_t>(-static_cast<uint64_t>(value))
                     : value;
  });
  table["math.ctpop"] = intUnary([](int64_t a, unsigned w) {
    return int64_t(std::popcount(asUnsigned(w, a)));
  });
  table["math.ctlz"] = intUnary([](int64_t a, unsigned w) {
    return int64_t(std::countl_zero(asUnsigned(w, a))) - (64 - int64_t(w));
  });
  table["math.cttz"] = intUnary([](int64_t a, unsigned w) {
    uint64_t bits = asUnsigned(w, a);
    return bits == 0 ? int64_t(w) : int64_t(std::countr_zero(bits));
  });
  table["math.ipowi"] = intBinary([](int64_t a, int64_t b, unsigned w) {
    return power(asSigned(w, a), asSigned(w, b));
  });
}

/// Two results, each as its own operation would give it.
static void addSinCos(HandlerTable &table) {
  Handler sine = table["math.sin"], cosine = table["math.cos"];
  auto run = [sine, cosine](Machine &m, const Step &step) {
    Step second = step;
    second.results = {step.results[1]};
    sine.run(m, step);
    cosine.run(m, second);
  };
  table["math.sincos"] = {run, true};
}

void addMathHandlers(HandlerTable &table) {
  addExponentials(table);
  addTrigonometry(table);
  addAlgebra(table);
  addTests(table);
  addBitCounts(table);
  addSinCos(table);
  table["math.fma"] = fusedMultiplyAdd();
  table["math.fpowi"] = {runFPowI, true};
}

} // namespace nereid::interp
