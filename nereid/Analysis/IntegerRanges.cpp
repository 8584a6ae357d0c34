//===- IntegerRanges.cpp - Between which numbers integers lie -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/IntegerRanges.h"

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <algorithm>
#include <bit>
#include <limits>

using namespace mlir;

namespace nereid {

using Wide = __int128;

/// 0 for what is no integer of at most 64 bits.
static unsigned widthOf(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isIndex()) {
    return 64;
  }
  return type.isInteger() && type.getIntOrFloatBitWidth() <= 64
             ? type.getIntOrFloatBitWidth()
             : 0;
}

static int64_t leastOf(unsigned width) {
  return std::numeric_limits<int64_t>::min() >> (64 - width);
}
static int64_t mostOf(unsigned width) { return ~leastOf(width); }

static IntegerRange allOf(unsigned width, bool isOpen = false) {
  return {leastOf(width), mostOf(width), isOpen};
}

static IntegerRange hull(const IntegerRange &a, const IntegerRange &b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high),
          a.isOpen || b.isOpen};
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {
/// Of one operation: its operands' intervals and its result's width.
struct Rule {
  unsigned width;
  IntegerRange x, y;
  bool isWrapping = false;

  bool isOpen() const { return x.isOpen || y.isOpen; }
  IntegerRange anything() const { return allOf(width); }
  static bool isPositive(const IntegerRange &r) { return r.low > 0; }

  /// [low, high], as the type holds it.
  IntegerRange fit(Wide low, Wide high, bool isOpen) {
    if (low >= leastOf(width) && high <= mostOf(width)) {
      return {int64_t(low), int64_t(high), isOpen};
    }
    // What only an open number could make too large is assumed not to be.
    if (isOpen && width >= 32 && low >= leastOf(width) / 2 &&
        low <= mostOf(width)) {
      return {int64_t(low), mostOf(width), true};
    }
    isWrapping = true;
    return allOf(width, isOpen && width >= 32);
  }

  IntegerRange sum() {
    return fit(Wide(x.low) + y.low, Wide(x.high) + y.high, isOpen());
  }
  /// A constant minus an open number may as well be negative; what is left of
  /// one open number after another is open.
  IntegerRange difference() {
    return fit(Wide(x.low) - y.high, Wide(x.high) - y.low, x.isOpen);
  }
  /// A factor below zero turns an open number around: nothing is assumed.
  IntegerRange product(Wide low, Wide high) {
    Wide all[] = {x.low * low, x.low * high, x.high * low, x.high * high};
    return fit(*std::min_element(all, all + 4), *std::max_element(all, all + 4),
               isOpen() && (x.isOpen || x.low >= 0) &&
                   (y.isOpen || y.low >= 0));
  }

  /// Truncates. Monotonous in x; in y > 0 on each side of x = 0.
  IntegerRange quotient() const {
    IntegerRange by = y;
    if (by.isOpen && by.low <= 0) {
      by = {1, std::max<int64_t>(by.high, 1), true};
    }
    if (isPositive(by)) {
      int64_t all[] = {x.low / by.low, x.low / by.high, x.high / by.low,
                       x.high / by.high};
      return {*std::min_element(all, all + 4), *std::max_element(all, all + 4),
              isOpen()};
    }
    Wide most = std::max(-Wide(x.low), Wide(x.high));
    return most <= mostOf(width)
               ? IntegerRange{int64_t(-most), int64_t(most), x.isOpen}
               : anything();
  }
  /// Has the sign of x, and is smaller than y.
  IntegerRange remainder() const {
    Wide most = std::max(-Wide(y.low), Wide(y.high)) - 1;
    most = std::max<Wide>(most, 0);
    return {x.low < 0 ? int64_t(std::max<Wide>(x.low, -most)) : 0,
            x.high > 0 ? int64_t(std::min<Wide>(x.high, most)) : 0,
            x.isOpen && y.isOpen};
  }
  IntegerRange unsignedQuotient() const {
    if (x.low >= 0) {
      return {0, x.high, x.isOpen};
    }
    if (y.low >= 2) {
      Wide most = (Wide(1) << width) - 1;
      return {0, int64_t(most / y.low), x.isOpen};
    }
    return anything();
  }
  IntegerRange unsignedRemainder() const {
    int64_t most = mostOf(width);
    if (isPositive(y)) {
      most = y.high - 1;
    }
    if (x.low >= 0) {
      most = std::min(most, x.high);
    }
    return isPositive(y) || x.low >= 0
               ? IntegerRange{0, most, x.isOpen && y.isOpen}
               : anything();
  }
  IntegerRange shiftLeft() {
    if (y.low != y.high || y.low < 0 || y.low >= int64_t(width)) {
      return anything();
    }
    return product(Wide(1) << y.low, Wide(1) << y.low);
  }
  /// Any count: one that is too large leaves the sign.
  IntegerRange shiftRight() const {
    return {std::min<int64_t>(x.low, 0), std::max<int64_t>(x.high, 0),
            x.isOpen};
  }
  IntegerRange unsignedShiftRight() const {
    if (x.low >= 0) {
      return {0, x.high, x.isOpen};
    }
    if (y.low == y.high && y.low > 0 && y.low < int64_t(width)) {
      return {0, int64_t(((Wide(1) << width) - 1) >> y.low), x.isOpen};
    }
    return anything();
  }
  IntegerRange conjunction() const {
    if (x.low >= 0 && y.low >= 0) {
      return {0, std::min(x.high, y.high), x.isOpen && y.isOpen};
    }
    if (x.low >= 0 || y.low >= 0) {
      const IntegerRange &positive = x.low >= 0 ? x : y;
      return {0, positive.high, positive.isOpen};
    }
    return anything();
  }
  /// Or, exclusive or: no bit above the highest of either.
  IntegerRange disjunction() const {
    if (x.low < 0 || y.low < 0) {
      return anything();
    }
    unsigned bits = std::bit_width(uint64_t(std::max(x.high, y.high)));
    return {0, int64_t((uint64_t(1) << bits) - 1), isOpen()};
  }
  IntegerRange least() const {
    return {std::min(x.low, y.low), std::min(x.high, y.high), isOpen()};
  }
  IntegerRange greatest() const {
    return {std::max(x.low, y.low), std::max(x.high, y.high), isOpen()};
  }
  IntegerRange unsignedLeast() const {
    if (x.low >= 0 && y.low >= 0) {
      return least();
    }
    return x.low >= 0   ? IntegerRange{0, x.high, x.isOpen}
           : y.low >= 0 ? IntegerRange{0, y.high, y.isOpen}
                        : anything();
  }
  IntegerRange unsignedGreatest() const {
    return x.low >= 0 && y.low >= 0 ? greatest() : anything();
  }
};
} // namespace

static IntegerRange constantOf(arith::ConstantOp op, unsigned width) {
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue())) {
    int64_t number = integer.getValue().getSExtValue();
    return {number, number};
  }
  auto dense = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!dense) {
    return allOf(width);
  }
  IntegerRange range{mostOf(width), leastOf(width)};
  for (const APInt &value :
       dense.isSplat() ? SmallVector<APInt>{dense.getSplatValue<APInt>()}
                       : llvm::to_vector(dense.getValues<APInt>())) {
    range.low = std::min(range.low, value.getSExtValue());
    range.high = std::max(range.high, value.getSExtValue());
  }
  return range;
}

/// Another width. `from` is the operand's.
static IntegerRange conversion(Operation *op, Rule &rule, unsigned from) {
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op) && rule.width > from &&
      rule.x.low < 0) {
    return {0, int64_t((Wide(1) << from) - 1), rule.x.isOpen};
  }
  return rule.fit(rule.x.low, rule.x.high, rule.x.isOpen);
}

static IntegerRange binary(Operation *op, Rule &rule) {
  return llvm::TypeSwitch<Operation *, IntegerRange>(op)
      .Case([&](arith::AddIOp) { return rule.sum(); })
      .Case([&](arith::SubIOp) { return rule.difference(); })
      .Case(
          [&](arith::MulIOp) { return rule.product(rule.y.low, rule.y.high); })
      .Case([&](arith::DivSIOp) { return rule.quotient(); })
      .Case([&](arith::RemSIOp) { return rule.remainder(); })
      .Case([&](arith::DivUIOp) { return rule.unsignedQuotient(); })
      .Case([&](arith::RemUIOp) { return rule.unsignedRemainder(); })
      .Case([&](arith::ShLIOp) { return rule.shiftLeft(); })
      .Case([&](arith::ShRSIOp) { return rule.shiftRight(); })
      .Case([&](arith::ShRUIOp) { return rule.unsignedShiftRight(); })
      .Case([&](arith::AndIOp) { return rule.conjunction(); })
      .Case<arith::OrIOp, arith::XOrIOp>(
          [&](Operation *) { return rule.disjunction(); })
      .Case([&](arith::MinSIOp) { return rule.least(); })
      .Case([&](arith::MaxSIOp) { return rule.greatest(); })
      .Case([&](arith::MinUIOp) { return rule.unsignedLeast(); })
      .Case([&](arith::MaxUIOp) { return rule.unsignedGreatest(); })
      .Default([&](Operation *) { return rule.anything(); });
}

void IntegerRanges::infer(Operation *op) {
  Value result = op->getResult(0);
  unsigned width = widthOf(result.getType());
  if (!width) {
    return;
  }
  auto of = [&](unsigned i) { return get(op->getOperand(i)); };
  Rule rule{width, {}, {}};
  IntegerRange range =
      llvm::TypeSwitch<Operation *, IntegerRange>(op)
          .Case([&](arith::ConstantOp constant) {
            return constantOf(constant, width);
          })
          .Case([&](tile::ProgramIdOp) {
            return IntegerRange{0, mostOf(width), true};
          })
          .Case([&](tile::NumProgramsOp) {
            return IntegerRange{1, mostOf(width), true};
          })
          .Case([&](tile::RangeOp r) {
            auto start = static_cast<int32_t>(r.getStart());
            int64_t size = tile::getShape(result.getType())[0];
            return rule.fit(start, Wide(start) + size - 1, false);
          })
          .Case<tile::SplatOp, tile::BroadcastOp, tile::TransposeOp,
                tile::ExpandDimsOp, tile::ReshapeOp, tile::HintOp,
                tile::SliceOp, tile::GatherOp, tilegpu::ConvertLayoutOp>(
              [&](Operation *) { return of(0); })
          .Case<tile::JoinOp, tile::CatOp>(
              [&](Operation *) { return hull(of(0), of(1)); })
          .Case([&](arith::SelectOp) { return hull(of(1), of(2)); })
          .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp,
                arith::IndexCastOp, arith::IndexCastUIOp>([&](Operation *) {
            rule.x = of(0);
            return conversion(op, rule, widthOf(op->getOperand(0).getType()));
          })
          .Case([&](math::AbsIOp) {
            rule.x = of(0);
            Wide most = std::max(-Wide(rule.x.low), Wide(rule.x.high));
            return most > mostOf(width)
                       ? rule.anything()
                       : IntegerRange{0, int64_t(most), rule.x.isOpen};
          })
          .Default([&](Operation *) {
            if (op->getNumOperands() != 2 || isa<arith::CmpIOp>(op) ||
                op->getOperand(0).getType() != result.getType() ||
                op->getOperand(1).getType() != result.getType()) {
              return rule.anything();
            }
            rule.x = of(0);
            rule.y = of(1);
            return binary(op, rule);
          });
  if (rule.isWrapping) {
    wrapping.insert(result);
  }
  set(result, range);
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

IntegerRange IntegerRanges::get(Value value) const {
  auto known = ranges.find(value);
  unsigned width = widthOf(value.getType());
  return known != ranges.end() ? known->second : allOf(width ? width : 64);
}

void IntegerRanges::set(Value value, IntegerRange range) {
  if (widthOf(value.getType())) {
    ranges[value] = range;
  }
}

void IntegerRanges::forget(ValueRange values) {
  for (Value value : values) {
    ranges.erase(value);
  }
}

void IntegerRanges::visit(Block &block) {
  for (Operation &op : block) {
    visit(&op);
  }
}

/// What a loop carries begins as its initial value, and widens to the end of
/// its type where an iteration moves it.
void IntegerRanges::visitLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  IntegerRange lower = get(loop.getLowerBound()),
               upper = get(loop.getUpperBound());
  unsigned width = widthOf(loop.getInductionVar().getType());
  int64_t last = upper.high == leastOf(width) ? upper.high : upper.high - 1;
  bool crossesSigns = loop.getUnsignedCmp() &&
                      (lower.low < 0 || (upper.low < 0 && !upper.isOpen));
  set(loop.getInductionVar(),
      crossesSigns ? allOf(width)
                   : IntegerRange{lower.low, std::max(lower.low, last),
                                  lower.isOpen || upper.isOpen});
  for (auto [argument, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs())) {
    set(argument, get(init));
  }
  for (bool changed = true; changed;) {
    visit(*loop.getBody());
    changed = false;
    for (auto [argument, next] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues())) {
      unsigned bits = widthOf(argument.getType());
      if (!bits) {
        continue;
      }
      IntegerRange known = get(argument), joined = hull(known, get(next));
      if (joined.low < known.low) {
        joined.low = leastOf(bits);
      }
      if (joined.high > known.high) {
        joined.high = mostOf(bits);
        joined.isOpen |= bits >= 32;
      }
      changed |= joined != known;
      set(argument, joined);
    }
  }
  for (auto [result, argument] :
       llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs())) {
    set(result, get(argument));
  }
}

void IntegerRanges::visit(Operation *op) {
  if (isa<scf::ForOp>(op)) {
    return visitLoop(op);
  }
  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      forget(block.getArguments());
      visit(block);
    }
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (auto [i, result] : llvm::enumerate(branch.getResults())) {
      set(result, hull(get(branch.thenYield().getOperand(i)),
                       get(branch.elseYield().getOperand(i))));
    }
    return;
  }
  if (op->getNumResults() == 1 && op->getNumRegions() == 0) {
    infer(op);
  } else {
    forget(op->getResults());
  }
}

IntegerRanges::IntegerRanges(Operation *op) {
  auto function = cast<func::FuncOp>(op);
  for (BlockArgument argument : function.getArguments()) {
    if (unsigned width = widthOf(argument.getType())) {
      ranges[argument] = allOf(width, width >= 32);
    }
  }
  visit(function.getBody().front());
}

} // namespace nereid
