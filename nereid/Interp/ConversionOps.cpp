//===- ConversionOps.cpp - From one element type to another ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Elementwise.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include <cmath>

namespace nereid::interp {

//===----------------------------------------------------------------------===//
// Integer to integer
//===----------------------------------------------------------------------===//

/// Sign-extends, truncates or moves: the kept form does both.
static Handler signedCast() {
  return intUnary([](int64_t a, unsigned w) { return asSigned(w, a); });
}
static Handler unsignedCast() {
  return intUnary(
      [](int64_t a, unsigned w) { return int64_t(asUnsigned(w, a)); });
}

//===----------------------------------------------------------------------===//
// Float to float
//===----------------------------------------------------------------------===//

/// `convert(format, x)` where memory would hold the result; the float64 modes
/// keep x, with the error of one rounding.
template <typename F>
static void convertFloats(Machine &m, const Step &step, double ulps,
                          F convert) {
  const TileValue &source = m.in(step, 0);
  TileValue &r = m.out(step);
  const FloatFormat &format = *r.element.format;
  bool declared = m.floatMode() == FloatMode::Declared;
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    double x = source.floats[i];
    r.floats[i] = declared ? convert(format, x) : x;
  }
  if (m.tracksErrors()) {
    r.errors.resize(r.size());
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      r.errors[i] = roundingError(format, r.floats[i], source.errorAt(i), ulps);
    }
  }
}

static Handler extend() {
  auto run = [](Machine &m, const Step &step) {
    convertFloats(m, step, 0, [](const FloatFormat &, double x) { return x; });
  };
  return {run, true};
}

static void runTruncate(Machine &m, const Step &step) {
  auto mode = mlir::cast<mlir::arith::TruncFOp>(step.op).getRoundingmode();
  bool towardZero = mode && *mode == mlir::arith::RoundingMode::toward_zero;
  convertFloats(
      m, step, towardZero ? 1 : 0.5, [&](const FloatFormat &format, double x) {
        return round(format, x,
                     towardZero ? Direction::TowardZero : Direction::Nearest);
      });
}

static void runConvertFloat(Machine &m, const Step &step) {
  auto op = mlir::cast<tile::ConvertFloatOp>(step.op);
  bool towardZero = op.getRounding() == tile::Rounding::TowardZero;
  Direction direction = towardZero ? Direction::TowardZero : Direction::Nearest;
  convertFloats(
      m, step, towardZero ? 1 : 0.5, [&](const FloatFormat &format, double x) {
        return format.bits == 8 ? roundSaturating(format, x, direction)
                                : round(format, x, direction);
      });
  // Saturation is part of the value, not a rounding: the wide modes keep it.
  TileValue &r = m.slot(step.results[0]);
  if (r.element.format->bits == 8) {
    for (double &x : r.floats) {
      double limit = r.element.format->maxFinite;
      x = std::fabs(x) > limit ? std::copysign(limit, x) : x;
    }
  }
}

//===----------------------------------------------------------------------===//
// Between integers and floats
//===----------------------------------------------------------------------===//

/// The integer `sign * magnitude` as a double that rounds to any narrower
/// format as the integer itself would: what does not fit in 53 bits is
/// remembered in the lowest of them (rounding to odd).
static double toDouble(bool negative, uint64_t magnitude, bool isDouble) {
  if (!isDouble && magnitude >= uint64_t{1} << 53) {
    bool sticky = magnitude & 2047;
    magnitude = (magnitude & ~uint64_t{2047}) | (sticky ? 2048 : 0);
  }
  double x = static_cast<double>(magnitude);
  return negative ? -x : x;
}

static Handler intToFloat(bool isSigned) {
  auto run = [isSigned](Machine &m, const Step &step) {
    const TileValue &source = m.in(step, 0);
    unsigned width = source.element.width;
    TileValue &r = m.out(step);
    const FloatFormat &format = *r.element.format;
    bool errors = m.tracksErrors();
    r.errors.resize(errors ? r.size() : 0);
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      int64_t a = source.ints[i];
      bool negative = isSigned && asSigned(width, a) < 0;
      uint64_t magnitude = negative ? -static_cast<uint64_t>(asSigned(width, a))
                                    : asUnsigned(width, a);
      double x = toDouble(negative, magnitude, format.isDouble());
      r.floats[i] = m.rounded(r.element, x);
      if (errors) {
        r.errors[i] = roundingError(format, x, 0, 0.5);
      }
    }
  };
  return {run, true};
}

/// Toward zero, then to the nearest end of the type's range; NaN gives 0.
static int64_t toInt(double x, bool isSigned, unsigned width) {
  if (std::isnan(x)) {
    return 0;
  }
  double top = std::ldexp(1.0, static_cast<int>(isSigned ? width - 1 : width));
  if (isSigned) {
    if (x >= top) {
      return static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1);
    }
    return x <= -top ? wrap(width, int64_t(uint64_t{1} << (width - 1)))
                     : static_cast<int64_t>(x);
  }
  if (x >= top) {
    return wrap(width, -1);
  }
  return x <= 0 ? 0
                : wrap(width, static_cast<int64_t>(static_cast<uint64_t>(x)));
}

static Handler floatToInt(bool isSigned) {
  auto run = [isSigned](Machine &m, const Step &step) {
    const TileValue &source = m.in(step, 0);
    TileValue &r = m.out(step);
    unsigned width = r.element.width;
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      double x = source.floats[i], error = source.errorAt(i);
      r.ints[i] = toInt(x, isSigned, width);
      if (std::isinf(error) ||
          (error > 0 && (toInt(x - error, isSigned, width) != r.ints[i] ||
                         toInt(x + error, isSigned, width) != r.ints[i]))) {
        r.setUnknown(i);
      }
    }
  };
  return {run, true};
}

static void runBitcast(Machine &m, const Step &step) {
  const TileValue &source = m.in(step, 0);
  TileValue &r = m.out(step);
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    // The sign and the payload of a NaN are unspecified.
    bool isNan = source.element.isFloat() && std::isnan(source.floats[i]);
    if (m.tracksErrors() && (source.errorAt(i) > 0 || isNan)) {
      r.setUnknown(i);
    }
    setBits(r, i, bitsOf(source, i));
  }
}

void addConversionHandlers(HandlerTable &table) {
  table["arith.extsi"] = signedCast();
  table["arith.extui"] = unsignedCast();
  table["arith.trunci"] = unsignedCast();
  table["arith.index_cast"] = signedCast();
  table["arith.index_castui"] = unsignedCast();
  table["tile.int_to_ptr"] = signedCast();
  table["tile.ptr_to_int"] = signedCast();
  table["tile.ptr_cast"] = signedCast();
  table["arith.extf"] = extend();
  table["arith.truncf"] = {runTruncate, true};
  table["tile.convert_float"] = {runConvertFloat, true};
  table["arith.sitofp"] = intToFloat(true);
  table["arith.uitofp"] = intToFloat(false);
  table["arith.fptosi"] = floatToInt(true);
  table["arith.fptoui"] = floatToInt(false);
  table["arith.bitcast"] = {runBitcast, true};
}

} // namespace nereid::interp
