//===- Elementwise.cpp - Loops over elements, for the handlers ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <limits>

namespace nereid::interp {

static constexpr double infinity = std::numeric_limits<double>::infinity();

double roundingError(const FloatFormat &format, double value, double slack,
                     double ulps) {
  if (std::isnan(value) || std::isinf(value)) {
    return slack == 0 ? 0 : infinity;
  }
  double reach = std::fabs(value) + slack;
  if (!(reach <= format.maxFinite)) {
    return infinity; // one executor may overflow where another does not
  }
  // A nearest result that the format has is the only one possible. Double has
  // every result computed in it: trust moderate whole numbers alone.
  bool isExact = format.isDouble()
                     ? value == std::trunc(value) && std::fabs(value) <= 0x1p40
                     : round(format, value) == value;
  if (slack == 0 && ulps <= 0.5 && (ulps == 0 || isExact)) {
    return 0;
  }
  // In double, the reference itself errs as much as the other executor.
  double both = format.isDouble() ? 2 : 1;
  return slack + both * ulps * spacing(format, reach);
}

namespace {

/// The operands of one element, each with its error.
struct Operands {
  double value[3] = {0, 0, 0};
  double error[3] = {0, 0, 0};
};

} // namespace

/// How far f may move while its operands move within their errors: the
/// largest deviation at the corners, which is the largest of all where f is
/// monotone in each operand.
static double deviation(const FloatFunction &function, const Operands &x,
                        double value, unsigned arity) {
  double worst = 0;
  bool isExact = true;
  for (unsigned k = 0; k < arity; ++k) {
    if (x.error[k] == infinity) {
      return infinity;
    }
    isExact &= x.error[k] == 0;
  }
  if (isExact) {
    return 0;
  }
  if (function.isWave) {
    return std::min(x.error[0], 2.0);
  }
  for (unsigned corner = 0; corner < 1u << arity; ++corner) {
    double y[3] = {0, 0, 0};
    for (unsigned k = 0; k < arity; ++k) {
      y[k] = x.value[k] + (corner >> k & 1 ? x.error[k] : -x.error[k]);
    }
    double moved = function.evaluate(y[0], y[1], y[2]);
    double distance = moved == value ? 0 : std::fabs(moved - value);
    if (!(distance <= std::numeric_limits<double>::max())) {
      return infinity;
    }
    worst = std::max(worst, distance);
  }
  return worst;
}

static bool anyNan(const Operands &x) {
  return std::isnan(x.value[0]) || std::isnan(x.value[1]) ||
         std::isnan(x.value[2]);
}

static bool mayApproximate(mlir::Operation *op) {
  auto flags = mlir::dyn_cast<mlir::arith::ArithFastMathInterface>(op);
  return flags && mlir::arith::bitEnumContainsAny(
                      flags.getFastMathFlagsAttr().getValue(),
                      mlir::arith::FastMathFlags::afn);
}

static void fillErrors(FloatFunction function, Machine &m, const Step &step,
                       TileValue &r) {
  double argument = 0;
  if (function.approximateUlps && mayApproximate(step.op)) {
    function.ulps = function.approximateUlps;
    argument = function.approximateArgument;
  }
  if (m.bounds().judgesUpstream && r.element.width == 32) {
    function.ulps = std::max(function.ulps, function.upstreamUlps);
  }
  unsigned arity = static_cast<unsigned>(step.operands.size());
  r.errors.assign(r.size(), 0);
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    Operands x;
    for (unsigned k = 0; k < arity; ++k) {
      const TileValue &operand = m.in(step, k);
      int64_t j = operand.size() == 1 ? 0 : i;
      x.value[k] = operand.floats[j];
      x.error[k] = operand.errorAt(j);
    }
    if (argument && std::isfinite(x.value[0])) {
      x.error[0] += argument * std::fabs(x.value[0]);
    }
    if (m.isCombining && std::isnan(r.floats[i]) && !anyNan(x)) {
      r.errors[i] = infinity;
      continue;
    }
    double slack = deviation(function, x, r.floats[i], arity);
    r.errors[i] =
        roundingError(*r.element.format, r.floats[i], slack, function.ulps);
    double reach = std::fabs(r.floats[i]) + slack;
    if (function.mayFlush && !r.element.format->isDouble() &&
        std::fabs(r.floats[i]) - slack < 0x1p-126) {
      r.errors[i] = std::max(r.errors[i], std::min(reach, 0x1p-126));
    }
    if (function.ulps != 0 && m.orderReach.size() == r.floats.size()) {
      double unit = spacing(*r.element.format, m.orderReach[i]);
      r.errors[i] = std::max(r.errors[i], slack + function.ulps * unit);
    }
  }
}

Handler floatOp(FloatFunction function) {
  auto run = [function](Machine &m, const Step &step) {
    size_t arity = step.operands.size();
    Elements<double> a(m.in(step, 0).floats);
    Elements<double> b(m.in(step, arity > 1 ? 1 : 0).floats);
    Elements<double> c(m.in(step, arity > 2 ? 2 : 0).floats);
    TileValue &r = m.out(step);
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      r.floats[i] = m.rounded(r.element, function.evaluate(a[i], b[i], c[i]));
    }
    if (m.tracksErrors()) {
      fillErrors(function, m, step, r);
    }
  };
  return {run, true};
}

} // namespace nereid::interp
