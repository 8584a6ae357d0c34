//===- Bounds.cpp - Masks that bound the loop over chunks -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `start + range < n` holds below n - start. A nest whose masks are
// conjunctions of such compares, and of conditions that do not vary along the
// vector, runs without any mask up to the least bound. A condition of a row is
// a compare where a program has several rows, and a scalar where it has one.
// Where a reduction runs along the rows inside of each chunk, a row's compare
// bounds that loop in the same way. From the largest bound on all those
// compares are false: what is masked by them is not read there.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Nest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

/// Calls `visit(conjunct, coordinates)` for the compares and the scalars of a
/// conjunction, each once.
static void walkConjuncts(ElementEmitter &evaluator, Value mask,
                          unsigned coords,
                          llvm::function_ref<void(Value, unsigned)> visit) {
  DenseSet<std::pair<Value, unsigned>> seen;
  SmallVector<std::pair<Value, unsigned>> work = {{mask, coords}};
  while (!work.empty()) {
    auto [value, at] = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || evaluator.kernel.buffer(value) ||
        !isa<RankedTensorType>(value.getType()) ||
        !seen.insert({value, at}).second) {
      continue;
    }
    if (isa<arith::AndIOp>(op)) {
      work.push_back({op->getOperand(1), at});
      work.push_back({op->getOperand(0), at});
    } else if (isView(op) && !(isa<tile::ReshapeOp>(op) &&
                               !isTrivialReshape(cast<tile::ReshapeOp>(op)))) {
      work.push_back({op->getOperand(0), evaluator.mapped(op, at, 0)});
    } else if (isa<arith::CmpIOp, tile::SplatOp>(op)) {
      visit(value, at);
    }
  }
}

/// Calls `visit(mask, coordinates, isStore)` for the masks of all accesses.
void Nest::walkMasks(ElementEmitter &evaluator, unsigned coords,
                     llvm::function_ref<void(Value, unsigned, bool)> visit) {
  DenseSet<std::pair<Value, unsigned>> seen;
  std::function<void(Value, unsigned)> walk = [&](Value value, unsigned at) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()) ||
        kernel.buffer(value) || !seen.insert({value, at}).second) {
      return;
    }
    if (isView(op)) {
      auto reshape = dyn_cast<tile::ReshapeOp>(op);
      if (!reshape || isTrivialReshape(reshape)) {
        walk(op->getOperand(0),
             evaluator.mapped(op, at, cast<OpResult>(value).getResultNumber()));
      }
    } else if (auto load = dyn_cast<tile::LoadAccess>(op)) {
      if (load.getMask()) {
        visit(load.getMask(), at, false);
      }
    } else if (hasLaneForm(op)) {
      for (Value operand : op->getOperands()) {
        walk(operand, at);
      }
    }
  };
  for (const Sink &sink : step.sinks) {
    if (sink.value) {
      for (int64_t i = 0; i < (packing ? packing->count : 1); ++i) {
        walk(sink.value, packing ? packedRow(evaluator, coords, i) : coords);
      }
      continue;
    }
    for (Value operand : sink.op->getOperands()) {
      walk(operand, coords);
    }
    if (auto store = dyn_cast<tile::StoreAccess>(sink.op)) {
      visit(store.getMask(), coords, true);
    }
  }
}

/// What a probe says of position v of a level's loop, for v = 0; false if it
/// is not v + that.
bool Nest::dropOrigin(LaneIndex &index, unsigned level) const {
  if (index.terms.empty() ||
      index.terms.back() !=
          std::pair<unsigned, Value>(level, kernel.opaqueZero)) {
    return false;
  }
  index.terms.pop_back();
  return true;
}

bool Nest::startOfRow(LaneIndex &index) const {
  return dropOrigin(index, depth + 1);
}

/// The number of positions v of `most` for which first + v is below `limit`,
/// both of `width` bits; null if it is not known in front of the loops.
Value Nest::countBelow(ElementEmitter &probe, const LaneIndex &first,
                       const LaneIndex &limit, arith::CmpIPredicate predicate,
                       Value most, unsigned width) {
  unsigned levelX, levelY;
  Value begin = probe.sumTerms(first, &levelX),
        end = probe.sumTerms(limit, &levelY);
  if (std::max(levelX, levelY) > depth) {
    return nullptr;
  }
  LaneOps ops = probe.at(depth);
  using P = arith::CmpIPredicate;
  Value count = ops.sub(end, begin);
  bool isClosed = predicate == P::sle;
  if (width == 64) {
    // The difference of two numbers of 64 bits has 64 bits without a sign.
    Value isThere = arith::CmpIOp::create(ops.b, ops.loc, P::sle, begin, end);
    Value isLess = arith::CmpIOp::create(ops.b, ops.loc, P::ult, count, most);
    count = isClosed ? ops.add(count, ops.i64(1)) : count;
    count = arith::SelectOp::create(ops.b, ops.loc, isLess, count, most);
    return arith::SelectOp::create(ops.b, ops.loc, isThere, count, ops.i64(0));
  }
  count = isClosed ? ops.add(count, ops.i64(1)) : count;
  count = arith::MaxSIOp::create(ops.b, ops.loc, count, ops.i64(0));
  return arith::MinSIOp::create(ops.b, ops.loc, count, most);
}

/// Do `first` to `first + size - 1` and `limit`, summed in 64 bits, lie in a
/// type of `width` bits? Then they are what the compare compares. Null if that
/// is not known in front of the loops.
Value Nest::staysInType(ElementEmitter &probe, const LaneIndex &first,
                        const LaneIndex &limit, int64_t size, unsigned width) {
  unsigned levelX, levelY;
  Value begin = probe.sumTerms(first, &levelX),
        end = probe.sumTerms(limit, &levelY);
  if (std::max(levelX, levelY) > depth) {
    return nullptr;
  }
  LaneOps ops = probe.at(depth);
  using P = arith::CmpIPredicate;
  auto compare = [&](P predicate, Value x, int64_t y) -> Value {
    return arith::CmpIOp::create(ops.b, ops.loc, predicate, x, ops.i64(y));
  };
  Value holds = compare(P::sle, begin, llvm::maxIntN(width) - (size - 1));
  if (width < 64) {
    for (Value other : {compare(P::sge, begin, llvm::minIntN(width)),
                        compare(P::sge, end, llvm::minIntN(width)),
                        compare(P::sle, end, llvm::maxIntN(width))}) {
      holds = arith::AndIOp::create(ops.b, ops.loc, holds, other);
    }
  }
  return holds;
}

/// Does a scalar depend on the program? One that does not may be false for a
/// whole launch (a flag among the arguments): the loops without masks would
/// never run, for the sake of one access.
static bool variesByProgram(Value scalar) {
  constexpr unsigned mostOperations = 64;
  SmallVector<Value> work = {scalar};
  for (unsigned count = 0; !work.empty() && count < mostOperations; ++count) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op) { // an argument of the kernel, or what a loop changes
      if (!isa<func::FuncOp>(value.getParentBlock()->getParentOp())) {
        return true;
      }
      continue;
    }
    if (isa<tile::ProgramIdOp, tile::LoadAccess>(op)) {
      return true;
    }
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Takes a conjunct that does not vary along the vector.
void Nest::addCondition(ElementEmitter &probe, Value mask, unsigned coords,
                        Bounds &bounds) {
  Lane holds = probe.evaluate(mask, coords);
  if (!holds.isUniform() || holds.level > depth) {
    return;
  }
  LaneOps ops = probe.at(depth);
  bounds.condition = bounds.condition
                         ? Value(arith::AndIOp::create(
                               ops.b, ops.loc, bounds.condition, holds.value))
                         : holds.value;
  bounds.conjuncts.push_back({mask, coords});
}

void Nest::addBound(ElementEmitter &probe, Value mask, unsigned coords,
                    Bounds &bounds) {
  if (auto splat = mask.getDefiningOp<tile::SplatOp>()) {
    if (variesByProgram(splat.getSource())) {
      addCondition(probe, mask, coords, bounds);
    }
    return;
  }
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  arith::CmpIPredicate predicate = compare.getPredicate();
  using P = arith::CmpIPredicate;
  if (predicate == P::sgt || predicate == P::sge) {
    std::swap(lhs, rhs);
    predicate = predicate == P::sgt ? P::slt : P::sle;
  }
  if (!tile::getElement(lhs.getType()).isIntOrIndex()) {
    return;
  }
  LaneIndex x = probe.index(lhs, coords), y = probe.index(rhs, coords);
  bool isBelow = predicate == P::slt || predicate == P::sle;
  ElementEmitter::Wrapping left = probe.wrappingOf(lhs),
                           right = probe.wrappingOf(rhs);
  bool wrapsInside = left.isInside || right.isInside;
  bool wraps = left.isPossible || right.isPossible;
  Type element = tile::getElement(lhs.getType());
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  if (x.isUniform() && y.isUniform()) {
    // Short axes are unrolled (emitAxis).
    int64_t size = schedule.axis < 0 || schedule.axisIsVector
                       ? 0
                       : step.shape[schedule.axis];
    LaneIndex first = x;
    if (!isBelow || wrapsInside || size <= maxUnrolledAxis ||
        !dropOrigin(first, depth + 2)) {
      return addCondition(probe, mask, coords, bounds);
    }
    Value most =
        bounds.axisUpper ? bounds.axisUpper : probe.at(depth).i64(size);
    if (Value count = countBelow(probe, first, y, predicate, most, width)) {
      if (wraps) {
        LaneOps ops = probe.at(depth);
        count = arith::SelectOp::create(
            ops.b, ops.loc, staysInType(probe, first, y, size, width), count,
            ops.i64(0));
      }
      bounds.axisUpper = count;
      bounds.axisConjuncts.push_back({mask, coords});
    }
    return;
  }
  if (!isBelow || wrapsInside || !y.isUniform() || x.pattern != probe.iota() ||
      x.coefficient || !startOfRow(x)) {
    return;
  }
  Value most = probe.at(depth).i64(schedule.extent);
  if (Value count = countBelow(probe, x, y, predicate, most, width)) {
    if (wraps) {
      LaneOps ops = probe.at(depth);
      Value holds = staysInType(probe, x, y, schedule.extent, width);
      bounds.isExact = bounds.isExact
                           ? Value(arith::AndIOp::create(ops.b, ops.loc,
                                                         bounds.isExact, holds))
                           : holds;
    }
    LaneOps ops = probe.at(depth);
    bounds.upper =
        bounds.upper
            ? Value(arith::MinSIOp::create(ops.b, ops.loc, bounds.upper, count))
            : count;
    bounds.last =
        bounds.last
            ? Value(arith::MaxSIOp::create(ops.b, ops.loc, bounds.last, count))
            : count;
    bounds.conjuncts.push_back({mask, coords});
    bounds.compares.push_back({mask, coords});
  }
}

Nest::Bounds Nest::findBounds(ElementEmitter &probe, unsigned coords) {
  Bounds result;
  DenseSet<std::pair<Value, unsigned>> seen;
  unsigned place = 0;
  walkMasks(probe, coords, [&](Value mask, unsigned at, bool) {
    if (mask) {
      walkConjuncts(probe, mask, at, [&](Value conjunct, unsigned where) {
        std::pair<Value, unsigned> key(conjunct, where);
        if (seen.insert(key).second) {
          addBound(probe, conjunct, where, result);
        }
        if (llvm::is_contained(result.conjuncts, key)) {
          result.places.insert(place);
        } else if (llvm::is_contained(result.axisConjuncts, key)) {
          result.axisPlaces.insert(place);
        }
        if (llvm::is_contained(result.compares, key)) {
          result.comparePlaces.insert(place);
        }
        ++place;
      });
    }
  });
  // Where only masked stores happen, nothing happens beyond the bound.
  for (const Sink &sink : step.sinks) {
    result.storesOnly &= sink.kind == SinkKind::Store;
  }
  if (result.storesOnly) {
    walkMasks(probe, coords, [&](Value mask, unsigned at, bool isStore) {
      SmallVector<std::pair<Value, unsigned>> found;
      if (mask && isStore) {
        walkConjuncts(probe, mask, at, [&](Value conjunct, unsigned where) {
          found.push_back({conjunct, where});
        });
      }
      for (auto conjunct : result.conjuncts) {
        result.storesOnly &= !isStore || llvm::is_contained(found, conjunct);
      }
    });
  }
  return result;
}

void Nest::assumeBounds(ElementEmitter &evaluator, unsigned coords,
                        bool alongVector, bool alongAxis) {
  if (!alongVector && !alongAxis) {
    return;
  }
  unsigned place = 0;
  walkMasks(evaluator, coords, [&](Value mask, unsigned at, bool) {
    if (mask) {
      walkConjuncts(evaluator, mask, at, [&](Value conjunct, unsigned where) {
        if ((alongVector && bounds.places.contains(place)) ||
            (alongAxis && bounds.axisPlaces.contains(place))) {
          evaluator.assumed[{conjunct, where}] = true;
        }
        ++place;
      });
    }
  });
}

/// Beyond `bounds.last`.
void Nest::assumeNoneHolds(ElementEmitter &evaluator, unsigned coords) {
  unsigned place = 0;
  walkMasks(evaluator, coords, [&](Value mask, unsigned at, bool) {
    if (mask) {
      walkConjuncts(evaluator, mask, at, [&](Value conjunct, unsigned where) {
        if (bounds.comparePlaces.contains(place)) {
          evaluator.assumed[{conjunct, where}] = false;
        }
        ++place;
      });
    }
  });
}

/// Streaming stores need whole cache lines: where the first one begins in every
/// row, which must be the same element for all that the nest stores. Nothing if
/// it has nothing to stream.
std::optional<Nest::Stream> Nest::canStream(ElementEmitter &probe,
                                            unsigned coords) {
  constexpr int64_t lineBytes = 64;
  Stream stream;
  for (const Sink &sink : step.sinks) {
    auto store = dyn_cast_or_null<tile::StoreAccess>(sink.op);
    if (!store || !kernel.canStream(store)) {
      continue;
    }
    int64_t bytes =
        tile::getElementBytes(tile::getElement(store.getValue().getType()));
    unsigned level;
    LanePointer to = probe.pointer(store.getPtr(), coords);
    bool isRow = to.bytes == bytes && startOfRow(to.index);
    Value address = probe.contiguousAddress(to, bytes, &level);
    bool isWhole = schedule.lanes * bytes % lineBytes == 0;
    reportDecision(store, [&] {
      Decision d{"store",
                 "past the caches, where the launch writes more than they hold",
                 "", "the kernel does not read what it writes", ""};
      if (!isRow || !address || !isWhole) {
        d = {"store", "through the caches", "past them",
             isWhole ? "its rows are not known to be neighbours in memory"
                     : "a vector of them is no whole line",
             ""};
      }
      return d;
    });
    if (!isRow || !address || !isWhole) {
      return std::nullopt;
    }
    LaneOps ops = probe.at(depth);
    OpBuilder &b = ops.b;
    auto equal = [&](Value x, Value y) -> Value {
      return arith::CmpIOp::create(b, ops.loc, arith::CmpIPredicate::eq, x, y);
    };
    Value begin = LLVM::PtrToIntOp::create(b, ops.loc, b.getI64Type(), address);
    Value toLine = arith::AndIOp::create(b, ops.loc, ops.sub(ops.i64(0), begin),
                                         ops.i64(lineBytes - 1));
    Value first = arith::DivUIOp::create(b, ops.loc, toLine, ops.i64(bytes));
    Value holds = equal(ops.mul(first, ops.i64(bytes)), toLine);
    if (stream.first) {
      holds =
          arith::AndIOp::create(b, ops.loc, holds, equal(first, stream.first));
    } else {
      stream.first = first;
    }
    stream.condition = arith::AndIOp::create(
        b, ops.loc, stream.condition ? stream.condition : kernel.streaming,
        holds);
  }
  return stream.condition ? std::optional(stream) : std::nullopt;
}

} // namespace nereid::tocpu
