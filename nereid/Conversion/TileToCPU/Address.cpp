//===- Address.cpp - Addresses of lanes as affine forms -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Offsets are taken apart into a scalar of each loop level and what differs
// between lanes. In the language, i32 offsets wrap around; an address whose
// offset wrapped is out of bounds of any array, so here they do not, and sums
// and products are formed in i64.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/ElementEmitter.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::tocpu {

LaneIndex ElementEmitter::indexOfCoord(const Coord &coord, int64_t scale) {
  LaneIndex index;
  if (coord.vector) {
    LaneOps ops = at(coord.level);
    Value wide = coordLanes(coord, ops.b.getI64Type());
    index.vector = ops.mul(wide, ops.integer(wide.getType(), scale));
    index.vectorLevel = coord.level;
    return index;
  }
  Coord all = scaled(coord, scale);
  index.constant = all.offset;
  index.pattern = all.pattern;
  if (all.base) {
    index.terms.push_back({all.level, all.base});
  }
  return index;
}

LaneIndex ElementEmitter::uniformIndex(Value scalar, unsigned level) {
  LaneIndex index;
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant))) {
    index.constant = constant.getSExtValue();
    return index;
  }
  LaneOps ops = at(level);
  if (scalar.getType().isIndex()) {
    scalar =
        arith::IndexCastOp::create(ops.b, ops.loc, ops.b.getI64Type(), scalar);
  } else if (scalar.getType().getIntOrFloatBitWidth() < 64) {
    scalar = arith::ExtSIOp::create(ops.b, ops.loc, ops.b.getI64Type(), scalar);
  }
  index.terms.push_back({level, scalar});
  return index;
}

Value ElementEmitter::sumTerms(const LaneIndex &x, unsigned *level) {
  Value total;
  *level = 0;
  for (auto [termLevel, term] : x.terms) {
    *level = std::max(*level, termLevel);
    total = total ? at(*level).add(total, term) : term;
  }
  LaneOps ops = at(*level);
  if (!total) {
    return ops.i64(x.constant);
  }
  return x.constant ? ops.add(total, ops.i64(x.constant)) : total;
}

/// What differs between lanes, as a vector of i64.
Value ElementEmitter::patternVector(const LaneIndex &x, unsigned *level) {
  if (x.vector) {
    *level = x.vectorLevel;
    return x.vector;
  }
  *level = x.coefficientLevel;
  LaneOps ops = at(*level);
  Value offsets = ops.lanesOf(ops.b.getI64Type(), *x.pattern);
  return x.coefficient ? ops.mul(offsets, ops.splat(x.coefficient, lanes))
                       : offsets;
}

LaneIndex ElementEmitter::addIndex(const LaneIndex &x, const LaneIndex &y) {
  LaneIndex result = x;
  result.constant += y.constant;
  for (auto [level, term] : y.terms) {
    auto *same =
        llvm::find_if(result.terms, [&](auto &t) { return t.first == level; });
    if (same != result.terms.end()) {
      same->second = at(level).add(same->second, term);
    } else {
      auto *place =
          llvm::find_if(result.terms, [&](auto &t) { return t.first > level; });
      result.terms.insert(place, {level, term});
    }
  }
  const LaneIndex &wrapped = x.unwrapped ? x : y;
  const LaneIndex &rest = x.unwrapped ? y : x;
  result.unwrapped = nullptr;
  if (wrapped.unwrapped && rest.isUniform()) {
    unsigned level;
    Value moved = sumTerms(rest, &level);
    result.unwrapped = wrapped.unwrapped;
    result.wrapLevel = std::max(wrapped.wrapLevel, level);
    result.wrappedBase = at(result.wrapLevel).add(wrapped.wrappedBase, moved);
  }
  if (y.isUniform()) {
    return result;
  }
  if (x.isUniform()) {
    result.pattern = y.pattern;
    result.coefficient = y.coefficient;
    result.coefficientLevel = y.coefficientLevel;
    result.vector = y.vector;
    result.vectorLevel = y.vectorLevel;
    return result;
  }
  if (x.pattern && y.pattern && !x.coefficient && !y.coefficient) {
    SmallVector<int64_t> offsets = llvm::to_vector(*x.pattern);
    for (unsigned i = 0; i < lanes; ++i) {
      offsets[i] += (*y.pattern)[i];
    }
    result.pattern = intern(offsets);
    return result;
  }
  if (x.pattern && x.pattern == y.pattern) {
    unsigned level = std::max(x.coefficientLevel, y.coefficientLevel);
    LaneOps ops = at(level);
    Value cx = x.coefficient ? x.coefficient : ops.i64(1);
    Value cy = y.coefficient ? y.coefficient : ops.i64(1);
    result.coefficient = ops.add(cx, cy);
    result.coefficientLevel = level;
    return result;
  }
  unsigned levelX, levelY;
  Value vx = patternVector(x, &levelX), vy = patternVector(y, &levelY);
  result.vectorLevel = std::max(levelX, levelY);
  result.vector = at(result.vectorLevel).add(vx, vy);
  result.pattern = nullptr;
  result.coefficient = nullptr;
  return result;
}

LaneIndex ElementEmitter::scaleIndex(LaneIndex x, int64_t by) {
  if (by == 1) {
    return x;
  }
  x.unwrapped = nullptr;
  x.constant *= by;
  for (auto &[level, term] : x.terms) {
    LaneOps ops = at(level);
    term = ops.mul(term, ops.i64(by));
  }
  if (x.vector) {
    LaneOps ops = at(x.vectorLevel);
    x.vector = ops.mul(x.vector, ops.integer(x.vector.getType(), by));
  } else if (x.pattern) {
    SmallVector<int64_t> offsets = llvm::to_vector(*x.pattern);
    for (int64_t &offset : offsets) {
      offset *= by;
    }
    x.pattern = by == 0 ? nullptr : intern(offsets);
  }
  return x;
}

LaneIndex ElementEmitter::scaleIndex(const LaneIndex &x, const LaneIndex &by,
                                     bool &exact) {
  exact = by.isUniform();
  if (!exact) {
    return x;
  }
  if (by.terms.empty()) {
    return scaleIndex(x, by.constant);
  }
  unsigned level;
  Value factor = sumTerms(by, &level);
  LaneIndex result = x;
  result.unwrapped = nullptr;
  result.terms.clear();
  result.constant = 0;
  LaneIndex scalars;
  for (auto [termLevel, term] : x.terms) {
    unsigned both = std::max(termLevel, level);
    LaneIndex one;
    one.terms.push_back({both, at(both).mul(term, factor)});
    scalars = addIndex(scalars, one);
  }
  if (x.constant) {
    LaneIndex one;
    LaneOps ops = at(level);
    one.terms.push_back({level, ops.mul(factor, ops.i64(x.constant))});
    scalars = addIndex(scalars, one);
  }
  result.terms = scalars.terms;
  if (x.vector) {
    result.vectorLevel = std::max(x.vectorLevel, level);
    LaneOps ops = at(result.vectorLevel);
    result.vector = ops.mul(x.vector, ops.splat(factor, lanes));
  } else if (x.pattern) {
    result.coefficientLevel = std::max(x.coefficientLevel, level);
    LaneOps ops = at(result.coefficientLevel);
    result.coefficient =
        x.coefficient ? ops.mul(x.coefficient, factor) : factor;
  }
  return result;
}

LaneIndex ElementEmitter::opaqueIndex(Value tile, unsigned coords) {
  Lane lane = evaluate(tile, coords);
  if (lane.isUniform()) {
    return uniformIndex(lane.value, lane.level);
  }
  LaneOps ops = at(lane.level);
  LaneIndex index;
  index.vector = lane.value;
  index.vectorLevel = lane.level;
  if (getElementTypeOrSelf(lane.value.getType()).getIntOrFloatBitWidth() < 64) {
    index.vector = arith::ExtSIOp::create(
        ops.b, ops.loc, typeLike(ops.b.getI64Type(), lane.value), lane.value);
  }
  return index;
}

/// `x % n` of a run x, x+1, ...: the run stays one unless it crosses a multiple
/// of n, which the loop asks at run time, once a chunk.
LaneIndex ElementEmitter::wrap(const LaneIndex &x, const LaneIndex &by,
                               Value tile, unsigned coords) {
  LaneIndex result = opaqueIndex(tile, coords);
  if (result.isUniform() || x.pattern != iota() || x.coefficient) {
    return result;
  }
  unsigned levelX, levelN;
  Value first = sumTerms(x, &levelX), n = sumTerms(by, &levelN);
  unsigned level = std::max({levelX, levelN, result.vectorLevel});
  LaneOps ops = at(level);
  // A divisor of zero, which makes no run, must not trap here.
  Value divisor = arith::MaxSIOp::create(ops.b, ops.loc, n, ops.i64(1));
  Value start = arith::RemSIOp::create(ops.b, ops.loc, first, divisor);
  Value end = ops.add(start, ops.i64(lanes));
  Value within =
      arith::CmpIOp::create(ops.b, ops.loc, arith::CmpIPredicate::sle, end, n);
  Value positive = arith::CmpIOp::create(
      ops.b, ops.loc, arith::CmpIPredicate::sge, first, ops.i64(0));
  result.unwrapped = arith::AndIOp::create(ops.b, ops.loc, within, positive);
  Value dividend = tile.getDefiningOp()->getOperand(0);
  if (Wrapping wrapping = wrappingOf(dividend); wrapping.isPossible) {
    unsigned width =
        getElementTypeOrSelf(dividend.getType()).getIntOrFloatBitWidth();
    Value holds = arith::CmpIOp::create(
        ops.b, ops.loc, arith::CmpIPredicate::sle, first,
        ops.i64(llvm::maxIntN(width) - static_cast<int64_t>(lanes)));
    result.unwrapped =
        arith::AndIOp::create(ops.b, ops.loc, result.unwrapped, holds);
    if (wrapping.isInside) {
      result.unwrapped = nullptr;
    }
  }
  result.wrappedBase = start;
  result.wrapLevel = level;
  return result;
}

/// Once a value, however many paths lead to it.
ElementEmitter::Wrapping ElementEmitter::wrappingOf(Value tile) {
  auto found = wrappings.find(tile);
  if (found != wrappings.end()) {
    return found->second;
  }
  Operation *op = tile.getDefiningOp();
  Wrapping result;
  if (!op || !isa<RankedTensorType>(tile.getType()) || kernel.buffer(tile)) {
    return result;
  }
  bool isExtension = isa<arith::ExtSIOp>(op);
  if (isExtension || isView(op) ||
      isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::TruncIOp>(op)) {
    for (Value operand : op->getOperands()) {
      Wrapping of = wrappingOf(operand);
      result.isPossible |= of.isPossible;
      result.isInside |= of.isInside || (of.isPossible && isExtension);
    }
  }
  result.isPossible |= kernel.ranges.mayWrap(tile);
  wrappings[tile] = result;
  return result;
}

/// Once a value, however many paths lead to it.
LaneIndex ElementEmitter::index(Value tile, unsigned coords) {
  std::pair<Value, unsigned> key(tile, coords);
  auto found = indices.find(key);
  if (found != indices.end()) {
    return found->second;
  }
  LaneIndex result = computeIndex(tile, coords);
  indices[key] = result;
  return result;
}

LaneIndex ElementEmitter::computeIndex(Value tile, unsigned coords) {
  if (!isa<RankedTensorType>(tile.getType())) {
    return uniformIndex(kernel.scalar(tile), 0);
  }
  Operation *op = tile.getDefiningOp();
  Type element = tile::getElement(tile.getType());
  // Sums in narrow types wrap: they are computed in their type. Those of 32
  // bits and more are assumed not to on their way to an address
  // (IntegerRanges.h), and are asked where they decide a mask (Bounds.cpp).
  bool isNarrow = element.isInteger() && element.getIntOrFloatBitWidth() < 32;
  if (!op || kernel.buffer(tile) || (isNarrow && !isView(op))) {
    return opaqueIndex(tile, coords);
  }
  if (auto range = dyn_cast<tile::RangeOp>(op)) {
    LaneIndex result = indexOfCoord(coordSets[coords][0], 1);
    result.constant += startOf(range);
    return result;
  }
  if (isa<tile::SplatOp>(op)) {
    return uniformIndex(kernel.scalar(op->getOperand(0)), 0);
  }
  if (isView(op)) {
    return index(op->getOperand(0),
                 mapped(op, coords, cast<OpResult>(tile).getResultNumber()));
  }
  if (isa<arith::AddIOp>(op)) {
    return addIndex(index(op->getOperand(0), coords),
                    index(op->getOperand(1), coords));
  }
  if (isa<arith::SubIOp>(op)) {
    return addIndex(index(op->getOperand(0), coords),
                    scaleIndex(index(op->getOperand(1), coords), -1));
  }
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op) &&
      tile::getElement(op->getOperand(0).getType()).getIntOrFloatBitWidth() >=
          32 &&
      tile::getElement(tile.getType()).getIntOrFloatBitWidth() >= 32) {
    return index(op->getOperand(0), coords);
  }
  if (isa<arith::MulIOp>(op)) {
    LaneIndex x = index(op->getOperand(0), coords);
    LaneIndex y = index(op->getOperand(1), coords);
    bool exact;
    LaneIndex result =
        y.isUniform() ? scaleIndex(x, y, exact) : scaleIndex(y, x, exact);
    return exact ? result : opaqueIndex(tile, coords);
  }
  if (isa<arith::RemSIOp>(op)) {
    LaneIndex x = index(op->getOperand(0), coords);
    LaneIndex n = index(op->getOperand(1), coords);
    return n.isUniform() ? wrap(x, n, tile, coords) : opaqueIndex(tile, coords);
  }
  return opaqueIndex(tile, coords);
}

LanePointer ElementEmitter::pointer(Value tile, unsigned coords) {
  LanePointer result;
  Type element = tile::getElement(tile.getType());
  int64_t bytes =
      tile::getElementBytes(cast<tile::PtrType>(element).getPointee());
  if (!isa<RankedTensorType>(tile.getType())) {
    result.base = kernel.scalar(tile);
    result.bytes = bytes;
    return result;
  }
  Operation *op = tile.getDefiningOp();
  if (op && !kernel.buffer(tile)) {
    if (isa<tile::SplatOp>(op)) {
      result.base = kernel.scalar(op->getOperand(0));
      result.bytes = bytes;
      return result;
    }
    if (isView(op)) {
      return pointer(
          op->getOperand(0),
          mapped(op, coords, cast<OpResult>(tile).getResultNumber()));
    }
    if (isa<tile::PtrCastOp>(op)) {
      return pointer(op->getOperand(0), coords);
    }
    if (isa<tile::AddPtrOp>(op)) {
      LanePointer from = pointer(op->getOperand(0), coords);
      LaneIndex offset = index(op->getOperand(1), coords);
      if (from.index.terms.empty() && from.index.isUniform() &&
          from.index.constant == 0 && from.base) {
        from.bytes = bytes;
      }
      if (from.bytes != bytes) { // elements of two sizes: count bytes
        from.index = scaleIndex(from.index, from.bytes);
        offset = scaleIndex(offset, bytes);
        from.bytes = 1;
      }
      from.index = addIndex(from.index, offset);
      return from;
    }
    if (isa<tile::IntToPtrOp>(op)) {
      result.index = index(op->getOperand(0), coords);
      return result;
    }
  }
  Lane lane = evaluate(tile, coords);
  if (lane.isUniform() && isa<LLVM::LLVMPointerType>(lane.value.getType())) {
    LaneOps ops = at(lane.level);
    Value bits = LLVM::PtrToIntOp::create(ops.b, ops.loc, ops.b.getI64Type(),
                                          lane.value);
    result.index = uniformIndex(bits, lane.level);
  } else if (lane.isUniform()) {
    result.index = uniformIndex(lane.value, lane.level);
  } else {
    result.index.vector = lane.value;
    result.index.vectorLevel = lane.level;
  }
  return result;
}

/// base + the part of the index that all lanes share.
Value ElementEmitter::scalarAddress(const LanePointer &pointer,
                                    unsigned *level) {
  *level = 0;
  Value address = pointer.base;
  LaneOps ops = at(0);
  Type ptrType = LLVM::LLVMPointerType::get(ops.b.getContext());
  Type unit = ops.b.getIntegerType(pointer.bytes * 8);
  for (auto [termLevel, term] : pointer.index.terms) {
    *level = std::max(*level, termLevel);
    ops = at(*level);
    address =
        address
            ? Value(LLVM::GEPOp::create(ops.b, ops.loc, ptrType, unit, address,
                                        ValueRange{term}))
            : Value(LLVM::IntToPtrOp::create(ops.b, ops.loc, ptrType, term));
  }
  if (!address) {
    ops = at(*level);
    return LLVM::IntToPtrOp::create(ops.b, ops.loc, ptrType,
                                    ops.i64(pointer.index.constant));
  }
  if (pointer.index.constant) {
    ops = at(*level);
    address = LLVM::GEPOp::create(ops.b, ops.loc, ptrType, unit, address,
                                  ValueRange{ops.i64(pointer.index.constant)});
  }
  return address;
}

/// +1 or -1 where the lanes are neighbours in memory, upward or downward.
int ElementEmitter::direction(const LanePointer &pointer,
                              int64_t elementBytes) {
  int64_t step = elementBytes / pointer.bytes;
  if (!pointer.index.pattern || pointer.index.coefficient ||
      elementBytes % pointer.bytes != 0) {
    return 0;
  }
  return pointer.index.pattern == iota(step)    ? 1
         : pointer.index.pattern == iota(-step) ? -1
                                                : 0;
}

Value ElementEmitter::contiguousAddress(const LanePointer &pointer,
                                        int64_t elementBytes, unsigned *level) {
  return direction(pointer, elementBytes) == 1 ? scalarAddress(pointer, level)
                                               : nullptr;
}

Lane ElementEmitter::address(const LanePointer &pointer) {
  unsigned level;
  Value scalar = scalarAddress(pointer, &level);
  if (pointer.index.isUniform()) {
    return {scalar, level};
  }
  unsigned vectorLevel;
  Value offsets = patternVector(pointer.index, &vectorLevel);
  level = std::max(level, vectorLevel);
  LaneOps ops = at(level);
  Value base =
      LLVM::PtrToIntOp::create(ops.b, ops.loc, ops.b.getI64Type(), scalar);
  if (pointer.bytes != 1) {
    offsets = ops.mul(offsets, ops.integer(offsets.getType(), pointer.bytes));
  }
  return {ops.add(ops.splat(base, lanes), offsets), level};
}

LaneIndex ElementEmitter::bufferIndex(const Buffer &buffer, unsigned coords) {
  LaneIndex index;
  for (auto [coord, stride] :
       llvm::zip(Coords(coordSets[coords]), buffer.strides)) {
    if (stride != 0) {
      index = addIndex(index, indexOfCoord(coord, stride));
    }
  }
  // Patterns of several dimensions may cancel.
  if (index.pattern && llvm::all_equal(*index.pattern)) {
    index.constant += index.pattern->front();
    index.pattern = nullptr;
  }
  return index;
}

} // namespace nereid::tocpu
