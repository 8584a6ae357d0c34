//===- DotOps.cpp - Matrix products ---------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// r[b,m,n] = c[b,m,n] + sum over k = 0, 1, ... of lhs[b,m,k] * rhs[b,k,n], in
// that order: in float for results of up to 32 bits, in double for f64, with
// wraparound for i32. float32 operands are read in full whatever `precision`
// says; the bounds allow an executor to read them in TF32 where it may.
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Elementwise.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include <algorithm>
#include <cmath>

namespace nereid::interp {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Extents {
  int64_t batch, m, n, k;
};

} // namespace

/// Calls f(result, lhs, rhs) for every row of rhs that an element of lhs is
/// multiplied with: the linear indices of the row of the result, of the element
/// and of the row of rhs.
template <typename F>
static void forRows(const Extents &e, F f) {
  for (int64_t b = 0; b < e.batch; ++b) {
    for (int64_t m = 0; m < e.m; ++m) {
      for (int64_t k = 0; k < e.k; ++k) {
        f((b * e.m + m) * e.n, (b * e.m + m) * e.k + k, (b * e.k + k) * e.n);
      }
    }
  }
}

/// Calls f(result, lhs, rhs) with the linear indices of every product.
template <typename F>
static void forProducts(const Extents &e, F f) {
  forRows(e, [&](int64_t i, int64_t a, int64_t b) {
    for (int64_t n = 0; n < e.n; ++n) {
      f(i + n, a, b + n);
    }
  });
}

template <typename T>
static void multiplyFloats(const Extents &e, const TileValue &lhs,
                           const TileValue &rhs, const TileValue &c,
                           const Machine &machine, TileValue &r) {
  std::vector<T> sums(c.floats.begin(), c.floats.end());
  std::vector<T> right(rhs.floats.begin(), rhs.floats.end());
  forRows(e, [&](int64_t i, int64_t a, int64_t b) {
    T x = T(lhs.floats[a]), *row = &sums[i];
    const T *y = &right[b];
    for (int64_t n = 0; n < e.n; ++n) {
      row[n] += x * y[n];
    }
  });
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    r.floats[i] = machine.rounded(r.element, double(sums[i]));
  }
}

/// How far a number may lie from what TF32 keeps of it, ten bits below the
/// first one, whether it is rounded or cut.
static double tf32Error(double x) {
  int exponent;
  double fraction = std::ldexp(std::frexp(x, &exponent), 11);
  return fraction == std::trunc(fraction) || !std::isfinite(x)
             ? 0
             : std::ldexp(std::fabs(x), -10);
}

/// What three products of TF32 (Conversion/TileGPUToLLVM/NV/SplitMma.cpp) lose
/// of x: the rest past two numbers of TF32, cut. The second one is scaled by
/// 2^8 and may be below the least number.
static double splitError(double x) {
  return tf32Error(x) == 0 ? 0 : std::ldexp(std::fabs(x), -21) + 0x1p-143;
}

/// What a processor's products of bf16 (`vdpbf16ps`, `tdpbf16ps`) lose of an
/// operand: they take those below the smallest normal number as zero, and make
/// such sums zero, too.
static constexpr double smallestNormal = 0x1p-126;
static double flushError(double x) {
  return std::fabs(x) < smallestNormal ? std::fabs(x) : 0;
}

/// The unit of a Hopper for fp8 sums up 32 products and the sum so far at a
/// time. It cuts each of them at the 14th bit counted from the largest one's
/// first, and the result to 14 bits.
struct ShortSums {
  static constexpr int precision = 14;
  static constexpr int64_t productsAtATime = 32;
};

/// How k products and the number that they begin with are summed up.
struct Summation {
  FloatFormat format;
  double steps = 0;   ///< roundings, each of at most one spacing
  double flushed = 0; ///< what each of them may take as zero
  /// Whole numbers up to here are never rounded.
  double exactLimit() const { return std::ldexp(1.0, format.precision); }

  /// Of sums in any order whose parts do not pass `magnitude`.
  double errorOf(double magnitude) const {
    return magnitude <= format.maxFinite
               ? steps * (spacing(format, magnitude) + flushed)
               : infinity;
  }
};

/// Is this a 16-bit format with the exponents of float32?
static bool isBf16(const Element &element) {
  return element.width == 16 && element.format->precision == 8;
}

/// Is a float32 product one of three of TF32, where there are such?
static bool isSplit(tile::DotOp dot) {
  return elementOf(dot.getLhs().getType()).width == 32 &&
         dot.getPrecision() == tile::InputPrecision::TF32x3;
}

/// How operands of float32 may be read.
enum class Reading { Exact, Split, Tf32 };

static Summation summationOf(tile::DotOp dot, Machine &m) {
  Element operand = elementOf(dot.getLhs().getType());
  Summation result = {*elementOf(dot.getResult().getType()).format};
  auto k = static_cast<double>(dot.getLhs().getType().getShape().back());
  result.steps = k + 1;
  if (m.bounds().allowsShortSums && operand.width == 8) {
    result.format.precision =
        std::min(result.format.precision, ShortSums::precision);
    result.steps += 2 * std::ceil(k / ShortSums::productsAtATime);
  }
  result.flushed = isBf16(operand) ? smallestNormal : 0;
  if (m.bounds().allowsTf32 && isSplit(dot)) {
    // Three instructions cut what they add up at each eight products, each of
    // nine numbers at a quarter of a spacing at most, and the sum.
    constexpr double products = 8, ofInstruction = 9.0 / 4 + 1;
    result.steps += 3 * ofInstruction * std::ceil(k / products);
  }
  return result;
}

namespace {

/// An operand of a product as another executor may read it.
struct Factors {
  std::vector<double> magnitudes; ///< of the numbers as they are
  std::vector<double> errors;
  std::vector<double> losses; ///< in one number of TF32; of Reading::Split
  std::vector<char> whole;
  bool isExact = true; ///< no element has an error

  Factors(const TileValue &operand, Reading reading)
      : magnitudes(operand.floats.size()), errors(operand.floats.size()),
        whole(operand.floats.size()) {
    bool flushes = isBf16(operand.element);
    losses.resize(reading == Reading::Split ? magnitudes.size() : 0);
    for (size_t i = 0; i < magnitudes.size(); ++i) {
      double x = operand.floats[i];
      double error = operand.errorAt(static_cast<int64_t>(i));
      error += flushes ? flushError(x) : 0;
      if (reading == Reading::Split) {
        losses[i] = tf32Error(x);
        error += splitError(x) + std::ldexp(error, -21);
      } else if (reading == Reading::Tf32) {
        error += tf32Error(x) + std::ldexp(error, -10);
      }
      magnitudes[i] = std::fabs(x);
      errors[i] = error;
      whole[i] = x == std::trunc(x);
      isExact &= error == 0;
    }
  }
};

/// A row of a product while it is summed up.
struct RowSums {
  double *magnitude, *slack;
  char *whole;
};

} // namespace

/// Adds element `a` of lhs times the row of rhs at `b`.
static void addRow(const Factors &lhs, int64_t a, const Factors &rhs, int64_t b,
                   int64_t count, RowSums to) {
  double x = lhs.magnitudes[a], dx = lhs.errors[a];
  const double *y = &rhs.magnitudes[b], *dy = &rhs.errors[b];
  for (int64_t n = 0; n < count; ++n) {
    to.magnitude[n] += (x + dx) * (y[n] + dy[n]);
  }
  const char *whole = &rhs.whole[b];
  for (int64_t n = 0; n < count; ++n) {
    to.whole[n] &= lhs.whole[a] & whole[n];
  }
  // The product of what both lose in one number of TF32.
  for (int64_t n = 0; n < count && !lhs.losses.empty(); ++n) {
    to.slack[n] += lhs.losses[a] * rhs.losses[b + n];
  }
  if (dx == 0 && rhs.isExact) {
    return;
  }
  for (int64_t n = 0; n < count; ++n) {
    // Not infinity * 0, where the other one is exact.
    double moved = x * dy[n] + y[n] * dx + dx * dy[n];
    bool isUnknown = dx == infinity || dy[n] == infinity;
    bool isOff = dx != 0 || dy[n] != 0;
    to.slack[n] = isUnknown ? infinity
                  : isOff   ? to.slack[n] + moved
                            : to.slack[n];
  }
}

/// Any order of k + 1 roundings errs by at most k + 1 spacings of the sum of
/// magnitudes; with whole numbers small enough, nothing is ever rounded.
static void fillErrors(const Extents &e, const TileValue &lhs,
                       const TileValue &rhs, const TileValue &c,
                       Reading reading, const Summation &summation,
                       TileValue &r) {
  Factors left(lhs, reading), right(rhs, reading);
  std::vector<double> magnitude(r.size()), slack(r.size());
  std::vector<char> whole(r.size(), 1);
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    magnitude[i] = std::fabs(c.floats[i]) + c.errorAt(i);
    slack[i] = c.errorAt(i);
    whole[i] = c.floats[i] == std::trunc(c.floats[i]);
  }
  forRows(e, [&](int64_t i, int64_t a, int64_t b) {
    addRow(left, a, right, b, e.n, {&magnitude[i], &slack[i], &whole[i]});
  });
  r.errors.resize(r.size());
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    bool isExact = whole[i] && slack[i] == 0 &&
                   magnitude[i] <= std::min(summation.exactLimit(),
                                            summation.format.maxFinite);
    r.errors[i] = isExact ? 0 : slack[i] + summation.errorOf(magnitude[i]);
  }
  r.reach = std::move(magnitude);
}

void allowForAccumulation(Machine &m, const Step &step) {
  TileValue &r = m.slot(step.results[0]);
  for (unsigned i : {0u, 1u}) {
    auto dot = step.op->getOperand(i).getDefiningOp<tile::DotOp>();
    const TileValue &product = m.in(step, i), &c = m.in(step, 1 - i);
    if (!dot || product.reach.size() != r.errors.size()) {
      continue;
    }
    Summation summation = summationOf(dot, m);
    for (int64_t j = 0, n = r.size(); j < n; ++j) {
      double magnitude =
          product.reach[j] + std::fabs(c.floats[j]) + c.errorAt(j);
      bool isExact = product.errorAt(j) == 0 && c.errorAt(j) == 0 &&
                     c.floats[j] == std::trunc(c.floats[j]) &&
                     magnitude <= summation.exactLimit();
      if (!isExact && std::isfinite(c.floats[j])) {
        r.errors[j] = std::max(r.errors[j], product.errorAt(j) + c.errorAt(j) +
                                                summation.errorOf(magnitude));
      }
    }
  }
}

static void multiplyInts(const Extents &e, const TileValue &lhs,
                         const TileValue &rhs, const TileValue &c,
                         bool isUnsigned, TileValue &r) {
  auto read = [&](const TileValue &value, int64_t i) {
    return isUnsigned ? int64_t(asUnsigned(value.element.width, value.ints[i]))
                      : value.ints[i];
  };
  r.ints = c.ints;
  forProducts(e, [&](int64_t i, int64_t a, int64_t b) {
    r.ints[i] = wrap(r.element.width, r.ints[i] + read(lhs, a) * read(rhs, b));
  });
  if (lhs.errors.empty() && rhs.errors.empty() && c.errors.empty()) {
    return;
  }
  r.errors = c.errors;
  forProducts(e, [&](int64_t i, int64_t a, int64_t b) {
    if (lhs.isUnknown(a) || rhs.isUnknown(b)) {
      r.setUnknown(i);
    }
  });
}

static void runDot(Machine &m, const Step &step) {
  const TileValue &lhs = m.in(step, 0), &rhs = m.in(step, 1),
                  &c = m.in(step, 2);
  TileValue &r = m.out(step);
  size_t rank = r.shape.size();
  Extents e = {countOf(llvm::ArrayRef(r.shape).drop_back(2)), r.shape[rank - 2],
               r.shape[rank - 1], lhs.shape[rank - 1]};
  if (!r.element.isFloat()) {
    bool isUnsigned = mlir::cast<tile::DotOp>(step.op).getIsUnsigned();
    multiplyInts(e, lhs, rhs, c, isUnsigned, r);
    return;
  }
  bool inFloat = m.floatMode() == FloatMode::Declared && r.element.width <= 32;
  inFloat ? multiplyFloats<float>(e, lhs, rhs, c, m, r)
          : multiplyFloats<double>(e, lhs, rhs, c, m, r);
  if (m.tracksErrors()) {
    auto dot = mlir::cast<tile::DotOp>(step.op);
    bool isTf32 = lhs.element.width == 32 &&
                  dot.getPrecision() == tile::InputPrecision::TF32;
    bool isSplitDot = isSplit(dot);
    m.bounds().metTf32 |= isTf32 || isSplitDot;
    Reading reading = !m.bounds().allowsTf32 ? Reading::Exact
                      : isTf32               ? Reading::Tf32
                      : isSplitDot           ? Reading::Split
                                             : Reading::Exact;
    fillErrors(e, lhs, rhs, c, reading, summationOf(dot, m), r);
  }
}

void addDotHandlers(HandlerTable &table) { table["tile.dot"] = {runDot}; }

} // namespace nereid::interp
