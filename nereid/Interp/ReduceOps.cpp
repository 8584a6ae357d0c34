//===- ReduceOps.cpp - Reductions and scans -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In index order: r = x[0], then r = combine(r, x[k]) for k = 1, 2, ...; a
// reverse scan from the last element down. Every index of the other
// dimensions is a lane of its own. Where the region is element-wise, all lanes
// run through it at once, as blocks in the place of its scalars; a region with
// control flow runs lane by lane.
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Handlers.h"
#include "nereid/Interp/Machine.h"
#include "nereid/Interp/Walk.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <limits>

namespace nereid::interp {

/// The format in which upstream sums up operand `j`, where IRGen widens it.
static const FloatFormat *upstreamFormat(Machine &m, const Step &step,
                                         size_t j) {
  if (!m.tracksErrors() || !m.bounds().judgesUpstream) {
    return nullptr;
  }
  auto widened = step.op->getOperand(static_cast<unsigned>(j))
                     .getDefiningOp<mlir::arith::ExtFOp>();
  bool isSum = llvm::any_of(step.regions[0].steps, [](const Step &s) {
    return llvm::isa<mlir::arith::AddFOp>(s.op);
  });
  if (!widened || !isSum) {
    return nullptr;
  }
  mlir::Type from = mlir::getElementTypeOrSelf(widened.getIn());
  return from.isF16() ? findFormat(from) : nullptr;
}

namespace {

/// A range of lanes on its way along the axis. Element k of lane l lies at
/// (l / inner * extent + k) * inner + l % inner.
class Lanes {
public:
  Lanes(Machine &m, const Step &step, int32_t axis, int64_t first,
        int64_t count)
      : m(m), step(step), code(step.regions[0]), first(first), count(count) {
    const Shape &shape = m.in(step, 0).shape;
    extent = shape[axis];
    inner = countOf(llvm::ArrayRef(shape).drop_front(axis + 1));
    for (size_t j = 0; j < operands() && m.tracksErrors(); ++j) {
      narrow.push_back(upstreamFormat(m, step, j));
      otherOrdersRound |= !isExactInAnyOrder(j);
    }
    otherOrdersOverflow =
        otherOrdersRound && multiplies() && productsOverflow();
  }

  /// Partial result `j` of lane `l` becomes element `to` of `r`.
  void finish(size_t j, int64_t l, TileValue &r, int64_t to) {
    copyElement(r, to, partial(j), l);
    if (otherOrdersOverflow) {
      r.setUnknown(to);
    }
  }

  int64_t linear(int64_t lane, int64_t k) const {
    return (lane / inner * extent + k) * inner + lane % inner;
  }

  /// Sets the partial results to the elements at k.
  void start(int64_t k) {
    setArguments(0, k);
    if (otherOrdersRound) {
      magnitudes.assign(count, 0);
      addMagnitudes(k);
    }
  }

  /// Combines the partial results with the elements at k.
  void advance(int64_t k) {
    setArguments(operands(), k);
    m.lanes = count;
    m.isCombining = true;
    if (otherOrdersRound) {
      addMagnitudes(k);
      m.orderReach = magnitudes;
    }
    m.execute(code);
    m.isCombining = false;
    m.orderReach.clear();
    m.lanes = 1;
    m.move(code.yields, llvm::ArrayRef(code.arguments).take_front(operands()));
    for (size_t j = 0; j < operands(); ++j) {
      spread(partial(j));
      if (otherOrdersRound && narrow[j]) {
        addRounding(*narrow[j], partial(j));
      }
    }
  }

  /// Partial result j, one element a lane.
  TileValue &partial(size_t j) { return m.slot(code.arguments[j]); }
  size_t operands() const { return step.operands.size(); }
  int64_t firstLane() const { return first; }
  int64_t laneCount() const { return count; }

private:
  /// Sums of whole numbers that stay within the format's precision are never
  /// rounded.
  bool isExactInAnyOrder(size_t j) const {
    const TileValue &source = m.in(step, j);
    if (!source.element.isFloat()) {
      return true;
    }
    double limit =
        std::ldexp(1.0, narrow[j] ? narrow[j]->precision
                                  : source.element.format->precision);
    for (int64_t l = 0; l < count; ++l) {
      double magnitude = 0;
      for (int64_t k = 0; k < extent; ++k) {
        double x = source.floats[linear(first + l, k)];
        if (x != std::trunc(x)) {
          return false;
        }
        magnitude += std::fabs(x);
      }
      if (!(magnitude <= limit)) {
        return false;
      }
    }
    return true;
  }

  /// One more rounding, of a number as large as the elements so far together.
  void addRounding(const FloatFormat &format, TileValue &r) {
    r.errors.resize(r.size());
    for (int64_t l = 0; l < count; ++l) {
      r.errors[l] += magnitudes[l] <= format.maxFinite
                         ? spacing(format, magnitudes[l]) / 2
                         : std::numeric_limits<double>::infinity();
    }
  }

  bool multiplies() const {
    return llvm::any_of(code.steps, [](const Step &s) {
      return llvm::isa<mlir::arith::MulFOp, mlir::arith::DivFOp,
                       mlir::math::FmaOp>(s.op);
    });
  }

  /// Another grouping forms products of elements that index order does not: an
  /// infinity among them times a zero is no number, whatever this order gives.
  bool productsOverflow() const {
    for (int64_t l = 0; l < count; ++l) {
      double product = static_cast<double>(extent);
      double largest = std::numeric_limits<double>::infinity();
      for (size_t j = 0; j < operands(); ++j) {
        const TileValue &source = m.in(step, j);
        if (!source.element.isFloat()) {
          continue;
        }
        largest = std::min(largest, source.element.format->maxFinite);
        for (int64_t k = 0; k < extent; ++k) {
          double x = std::fabs(source.floats[linear(first + l, k)]);
          product *= x > 1 || std::isnan(x) ? x : 1;
        }
      }
      if (!(product <= largest)) {
        return true;
      }
    }
    return false;
  }

  void addMagnitudes(int64_t k) {
    for (size_t j = 0; j < operands(); ++j) {
      const TileValue &source = m.in(step, j);
      for (int64_t l = 0; l < count && source.element.isFloat(); ++l) {
        int64_t i = linear(first + l, k);
        magnitudes[l] += std::fabs(source.floats[i]) + source.errorAt(i);
      }
    }
  }

  void setArguments(size_t firstArgument, int64_t k) {
    for (size_t j = 0; j < operands(); ++j) {
      const TileValue &source = m.in(step, j);
      TileValue &argument = m.slot(code.arguments[firstArgument + j]);
      argument.resize(count);
      matchErrors(argument, {&source});
      for (int64_t l = 0; l < count; ++l) {
        copyElement(argument, l, source, linear(first + l, k));
      }
    }
  }

  /// A region may yield a scalar of the kernel: one element for all lanes.
  void spread(TileValue &value) {
    if (value.size() == count || value.size() == 0) {
      return;
    }
    TileValue one = value;
    value.resize(count);
    matchErrors(value, {&one});
    for (int64_t l = 0; l < count; ++l) {
      copyElement(value, l, one, 0);
    }
  }

  Machine &m;
  const Step &step;
  const Code &code;
  int64_t first, count, extent, inner;
  bool otherOrdersRound = false, otherOrdersOverflow = false;
  std::vector<double> magnitudes; ///< a lane, of the elements so far
  /// An operand, of the format that other executors sum it up in, or null.
  llvm::SmallVector<const FloatFormat *, 2> narrow;
};

} // namespace

/// Calls `body` with all lanes, or with one after the other.
template <typename F>
static void forLanes(Machine &m, const Step &step, int32_t axis, F body) {
  const TileValue &source = m.in(step, 0);
  int64_t lanes = source.size() / source.shape[axis];
  int64_t chunk = step.regions[0].isElementwise ? lanes : 1;
  for (int64_t first = 0; first < lanes && !m.stopped(); first += chunk) {
    body(Lanes(m, step, axis, first, chunk));
  }
}

static void widenErrors(TileValue &r) {
  for (double &error : r.errors) {
    error *= orderAllowance;
  }
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

static void reduce(Machine &m, const Step &step, int32_t axis, bool backward,
                   llvm::MutableArrayRef<TileValue *> results) {
  int64_t extent = m.in(step, 0).shape[axis];
  forLanes(m, step, axis, [&](Lanes lanes) {
    lanes.start(backward ? extent - 1 : 0);
    for (int64_t k = 1; k < extent; ++k) {
      lanes.advance(backward ? extent - 1 - k : k);
    }
    for (size_t j = 0; j < lanes.operands(); ++j) {
      matchErrors(*results[j], {&lanes.partial(j)});
      for (int64_t l = 0; l < lanes.laneCount(); ++l) {
        lanes.finish(j, l, *results[j], lanes.firstLane() + l);
      }
    }
  });
}

/// The bound also covers the opposite order; an integer that differs there
/// depends on a rounding.
static void compareOrders(TileValue &forward, const TileValue &backward) {
  if (!forward.element.isFloat()) {
    for (int64_t i = 0, n = forward.size(); i < n; ++i) {
      if (forward.ints[i] != backward.ints[i] || backward.isUnknown(i)) {
        forward.setUnknown(i);
      }
    }
    return;
  }
  forward.errors.resize(forward.size());
  for (int64_t i = 0, n = forward.size(); i < n; ++i) {
    double a = forward.floats[i], b = backward.floats[i];
    double apart = a == b || (a != a && b != b) ? 0 : std::fabs(a - b);
    apart = std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
    forward.errors[i] =
        std::max(forward.errors[i], backward.errorAt(i)) + apart;
  }
  widenErrors(forward);
}

static void runReduce(Machine &m, const Step &step) {
  int32_t axis = mlir::cast<tile::ReduceOp>(step.op).getAxis();
  size_t n = step.results.size();
  llvm::SmallVector<TileValue *> results;
  for (size_t j = 0; j < n; ++j) {
    results.push_back(&m.out(step, j));
  }
  if (!m.tracksErrors()) {
    reduce(m, step, axis, /*backward=*/false, results);
    return;
  }
  llvm::SmallVector<TileValue> opposite(n);
  llvm::SmallVector<TileValue *> opposites;
  for (size_t j = 0; j < n; ++j) {
    opposite[j] = *results[j];
    opposites.push_back(&opposite[j]);
  }
  reduce(m, step, axis, /*backward=*/false, results);
  reduce(m, step, axis, /*backward=*/true, opposites);
  for (size_t j = 0; j < n; ++j) {
    compareOrders(*results[j], opposite[j]);
  }
}

//===----------------------------------------------------------------------===//
// Scan, histogram
//===----------------------------------------------------------------------===//

static void runScan(Machine &m, const Step &step) {
  auto op = mlir::cast<tile::ScanOp>(step.op);
  int32_t axis = op.getAxis();
  bool reverse = op.getReverse();
  int64_t extent = m.in(step, 0).shape[axis];
  for (unsigned j = 0; j < step.results.size(); ++j) {
    m.out(step, j);
  }
  forLanes(m, step, axis, [&](Lanes lanes) {
    for (int64_t k = 0; k < extent && !m.stopped(); ++k) {
      int64_t at = reverse ? extent - 1 - k : k;
      k == 0 ? lanes.start(at) : lanes.advance(at);
      for (size_t j = 0; j < lanes.operands(); ++j) {
        TileValue &r = m.slot(step.results[j]);
        matchErrors(r, {&lanes.partial(j)});
        for (int64_t l = 0; l < lanes.laneCount(); ++l) {
          lanes.finish(j, l, r, lanes.linear(lanes.firstLane() + l, at));
        }
      }
    }
  });
  for (unsigned result : step.results) {
    widenErrors(m.slot(result));
  }
}

static void runHistogram(Machine &m, const Step &step) {
  auto op = mlir::cast<tile::HistogramOp>(step.op);
  const TileValue &source = m.in(step, 0);
  TileValue &r = m.out(step);
  std::fill(r.ints.begin(), r.ints.end(), 0);
  for (int64_t i = 0, n = source.size(); i < n; ++i) {
    bool counts = !op.getMask() || m.in(step, 1).ints[i];
    if (source.isUnknown(i) || (op.getMask() && m.in(step, 1).isUnknown(i))) {
      r.errors.assign(r.size(), std::numeric_limits<double>::infinity());
    }
    if (counts && source.ints[i] >= 0 && source.ints[i] < r.size()) {
      ++r.ints[source.ints[i]];
    }
  }
}

void addReduceHandlers(HandlerTable &table) {
  table["tile.reduce"] = {runReduce};
  table["tile.scan"] = {runScan};
  table["tile.histogram"] = {runHistogram};
}

} // namespace nereid::interp
