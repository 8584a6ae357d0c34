//===- Coordinates.cpp - Arithmetic on coordinates of lanes ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/ElementEmitter.h"

#include <numeric>

using namespace mlir;

namespace nereid::tocpu {

void ElementEmitter::setAnchor(unsigned level, OpBuilder::InsertPoint point) {
  anchors.resize(level + 1);
  anchors[level] = point;
}

void ElementEmitter::enter(Operation *op) {
  OpBuilder::InsertPoint point(op->getBlock(), Block::iterator(op));
  for (OpBuilder::InsertPoint &anchor : anchors) {
    anchor = anchor.getBlock() == op->getBlock() ? point : anchor;
  }
  if (kernel.getTop().getBlock() == op->getBlock()) {
    kernel.setTop(point);
  }
}

void ElementEmitter::leave(Operation *op) {
  OpBuilder::InsertPoint point(op->getBlock(), op->getBlock()->end());
  for (OpBuilder::InsertPoint &anchor : anchors) {
    anchor = anchor.getBlock() == op->getBlock() ? point : anchor;
  }
  if (kernel.getTop().getBlock() == op->getBlock()) {
    kernel.setTop(point);
  }
}

LaneOps ElementEmitter::at(unsigned level) {
  kernel.b.restoreInsertionPoint(anchors[level]);
  return kernel.ops();
}

Pattern ElementEmitter::intern(ArrayRef<int64_t> offsets) {
  for (const auto &pattern : patterns) {
    if (ArrayRef(pattern) == offsets) {
      return &pattern;
    }
  }
  patterns.emplace_back(offsets.begin(), offsets.end());
  return &patterns.back();
}

Pattern ElementEmitter::iota(int64_t step) {
  SmallVector<int64_t> offsets(lanes);
  for (unsigned i = 0; i < lanes; ++i) {
    offsets[i] = static_cast<int64_t>(i) * step;
  }
  return intern(offsets);
}

unsigned ElementEmitter::intern(const Coords &coords) {
  auto found = llvm::find(coordSets, coords);
  if (found == coordSets.end()) {
    coordSets.push_back(coords);
    return coordSets.size() - 1;
  }
  return found - coordSets.begin();
}

/// A pattern that is the same in all lanes is part of the offset.
static void setPattern(ElementEmitter &evaluator, Coord &coord,
                       ArrayRef<int64_t> offsets) {
  if (llvm::all_equal(offsets)) {
    coord.offset += offsets.empty() ? 0 : offsets[0];
    coord.pattern = nullptr;
  } else {
    coord.pattern = evaluator.intern(offsets);
  }
}

Value ElementEmitter::coordLanes(const Coord &coord, Type element) {
  LaneOps ops = at(coord.level);
  unsigned width = element.getIntOrFloatBitWidth();
  if (coord.vector) {
    if (width == 32) {
      return coord.vector;
    }
    auto type = typeLike(element, coord.vector);
    return width > 32 ? Value(arith::ExtUIOp::create(ops.b, ops.loc, type,
                                                     coord.vector))
                      : Value(arith::TruncIOp::create(ops.b, ops.loc, type,
                                                      coord.vector));
  }
  Value result;
  if (coord.base) {
    result = width < 64 ? Value(arith::TruncIOp::create(ops.b, ops.loc, element,
                                                        coord.base))
                        : coord.base;
  }
  if (coord.pattern && lanes > 1) {
    SmallVector<int64_t> offsets;
    for (int64_t offset : *coord.pattern) {
      offsets.push_back(offset + coord.offset);
    }
    Value constant = ops.lanesOf(element, offsets);
    return result ? ops.add(ops.splat(result, lanes), constant) : constant;
  }
  if (!result) {
    return ops.integer(element, coord.offset);
  }
  return coord.offset ? ops.add(result, ops.integer(element, coord.offset))
                      : result;
}

Coord ElementEmitter::scaled(const Coord &coord, int64_t factor) {
  if (factor == 1) {
    return coord;
  }
  if (factor == 0) {
    return Coord();
  }
  LaneOps ops = at(coord.level);
  Coord result = coord;
  result.offset *= factor;
  result.divisor *= factor;
  if (coord.base) {
    result.base = ops.mul(coord.base, ops.i64(factor));
  }
  if (coord.vector) {
    result.vector =
        ops.mul(coord.vector, ops.integer(coord.vector.getType(), factor));
  }
  if (coord.pattern) {
    SmallVector<int64_t> offsets = llvm::to_vector(*coord.pattern);
    for (int64_t &offset : offsets) {
      offset *= factor;
    }
    result.pattern = intern(offsets);
  }
  return result;
}

Coord ElementEmitter::sum(const Coord &x, const Coord &y) {
  unsigned level = std::max(x.level, y.level);
  LaneOps ops = at(level);
  if (x.vector || y.vector) {
    Value vx = ops.splat(coordLanes(x, ops.b.getI32Type()), lanes);
    Value vy = ops.splat(coordLanes(y, ops.b.getI32Type()), lanes);
    Coord result;
    result.vector = at(level).add(vx, vy);
    result.level = level;
    return result;
  }
  Coord result = x.base ? x : y;
  const Coord &other = x.base ? y : x;
  result.offset = x.offset + y.offset;
  result.level = level;
  if (other.base) {
    result.base = ops.add(x.base, y.base);
    result.divisor = std::gcd(x.divisor, y.divisor);
  }
  SmallVector<int64_t> offsets(lanes, 0);
  for (Pattern pattern : {x.pattern, y.pattern}) {
    for (unsigned i = 0; pattern && i < lanes; ++i) {
      offsets[i] += (*pattern)[i];
    }
  }
  setPattern(*this, result, offsets);
  return result;
}

std::pair<Coord, Coord> ElementEmitter::divMod(const Coord &coord, int64_t by) {
  if (by == 1) {
    return {coord, Coord()};
  }
  LaneOps ops = at(coord.level);
  Coord quotient, remainder;
  quotient.level = remainder.level = coord.level;
  bool aligned = !coord.vector && (!coord.base || coord.divisor % by == 0);
  SmallVector<int64_t> offsets(lanes, coord.offset);
  for (unsigned i = 0; coord.pattern && i < lanes; ++i) {
    offsets[i] += (*coord.pattern)[i];
  }
  auto [low, high] = std::minmax_element(offsets.begin(), offsets.end());
  if (aligned) {
    if (coord.base) {
      quotient.base =
          arith::DivUIOp::create(ops.b, ops.loc, coord.base, ops.i64(by));
      quotient.divisor = coord.divisor / by;
    }
    SmallVector<int64_t> over, under;
    for (int64_t offset : offsets) {
      over.push_back(offset / by);
      under.push_back(offset % by);
    }
    setPattern(*this, quotient, over);
    setPattern(*this, remainder, under);
    remainder.level = 0;
    return {quotient, remainder};
  }
  bool oneBlock = !coord.vector &&
                  (coord.isUniform() || (*low >= 0 && *high < coord.divisor &&
                                         by % coord.divisor == 0));
  if (oneBlock) {
    Value base = coord.base;
    if (coord.isUniform() && coord.offset) {
      base = ops.add(base, ops.i64(coord.offset));
    }
    quotient.base = arith::DivUIOp::create(ops.b, ops.loc, base, ops.i64(by));
    remainder.base = arith::RemUIOp::create(ops.b, ops.loc, base, ops.i64(by));
    if (!coord.isUniform()) {
      remainder.offset = coord.offset;
      remainder.pattern = coord.pattern;
      remainder.divisor = coord.divisor;
    }
    return {quotient, remainder};
  }
  Value all = ops.splat(coordLanes(coord, ops.b.getI32Type()), lanes);
  ops = at(coord.level);
  Value divisor = ops.integer(all.getType(), by);
  quotient.vector = arith::DivUIOp::create(ops.b, ops.loc, all, divisor);
  remainder.vector = ops.sub(all, ops.mul(quotient.vector, divisor));
  return {quotient, remainder};
}

/// Coordinates in row-major shape `from` of the element that has `coords` in
/// shape `to`. Dimensions are matched in the smallest groups of equal size, so
/// that those which the reshape leaves alone keep their coordinate.
Coords ElementEmitter::reshaped(const Coords &coords, ArrayRef<int64_t> from,
                                ArrayRef<int64_t> to) {
  Coords result(from.size());
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t firstI = i, firstJ = j;
    int64_t sizeI = i < from.size() ? from[i++] : 1;
    int64_t sizeJ = j < to.size() ? to[j++] : 1;
    while (sizeI != sizeJ) {
      if (sizeI < sizeJ) {
        sizeI *= from[i++];
      } else {
        sizeJ *= to[j++];
      }
    }
    Coord linear;
    for (size_t k = firstJ; k < j; ++k) {
      linear = sum(scaled(linear, to[k]), coords[k]);
    }
    for (size_t k = i; k-- > firstI;) {
      bool last = true; // of the group's remaining dimensions
      for (size_t rest = firstI; rest < k; ++rest) {
        last &= from[rest] == 1;
      }
      if (from[k] == 1) {
        continue;
      }
      if (last) {
        result[k] = linear;
        break;
      }
      auto [quotient, remainder] = divMod(linear, from[k]);
      result[k] = remainder;
      linear = quotient;
    }
  }
  return result;
}

} // namespace nereid::tocpu
