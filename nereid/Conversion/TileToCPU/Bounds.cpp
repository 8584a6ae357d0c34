//===- Bounds.cpp - Masks that bound the loop over chunks -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `start + range < n` holds below n - start. A nest whose masks are
// conjunctions of such compares, and of compares that do not vary along the
// vector, runs without any mask up to the least bound.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Nest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace nereid::tocpu {

/// Calls `visit(compare, coordinates)` for the conjuncts of a mask, each once.
static void walkConjuncts(Evaluator &evaluator, Value mask, unsigned coords,
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
    } else if (isa<arith::CmpIOp>(op)) {
      visit(value, at);
    }
  }
}

/// Calls `visit(mask, coordinates, isStore)` for the masks of all accesses.
void Nest::walkMasks(Evaluator &evaluator, unsigned coords,
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
    } else if (auto load = dyn_cast<tile::LoadOp>(op)) {
      if (load.getMask()) {
        visit(load.getMask(), at, false);
      }
    } else if (hasLaneForm(op)) {
      for (Value operand : op->getOperands()) {
        walk(operand, at);
      }
    }
  };
  for (const Root &root : item.roots) {
    if (root.value) {
      for (int64_t i = 0; i < (packing ? packing->count : 1); ++i) {
        walk(root.value, packing ? packedRow(evaluator, coords, i) : coords);
      }
      continue;
    }
    for (Value operand : root.op->getOperands()) {
      walk(operand, coords);
    }
    if (auto store = dyn_cast<tile::StoreOp>(root.op)) {
      visit(store.getMask(), coords, true);
    }
  }
}

/// What a probe says of chunk v, for v = 0; false if it is not v + that.
bool Nest::startOfRow(LaneIndex &index) const {
  if (index.terms.empty() ||
      index.terms.back() !=
          std::pair<unsigned, Value>(depth + 1, kernel.opaqueZero)) {
    return false;
  }
  index.terms.pop_back();
  return true;
}

void Nest::addBound(Evaluator &probe, Value mask, unsigned coords,
                    Bounds &bounds) {
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
  if (x.isUniform() && y.isUniform()) {
    Lane holds = probe.evaluate(mask, coords);
    if (!holds.isUniform() || holds.level > depth) {
      return;
    }
    LaneOps ops = probe.at(depth);
    bounds.condition = bounds.condition
                           ? Value(arith::AndIOp::create(
                                 ops.b, ops.loc, bounds.condition, holds.value))
                           : holds.value;
    bounds.compares.push_back({mask, coords});
    return;
  }
  if ((predicate != P::slt && predicate != P::sle) || !y.isUniform() ||
      x.pattern != probe.iota() || x.coefficient || !startOfRow(x)) {
    return;
  }
  unsigned levelX, levelY;
  Value first = probe.sumTerms(x, &levelX), limit = probe.sumTerms(y, &levelY);
  if (std::max(levelX, levelY) > depth) {
    return;
  }
  LaneOps ops = probe.at(depth);
  Value count = ops.sub(limit, first);
  if (predicate == P::sle) {
    count = ops.add(count, ops.i64(1));
  }
  count = arith::MaxSIOp::create(ops.b, ops.loc, count, ops.i64(0));
  count = arith::MinSIOp::create(ops.b, ops.loc, count,
                                 bounds.upper ? bounds.upper
                                              : ops.i64(schedule.extent));
  bounds.upper = count;
  bounds.compares.push_back({mask, coords});
}

Nest::Bounds Nest::findBounds(Evaluator &probe, unsigned coords) {
  Bounds result;
  DenseSet<std::pair<Value, unsigned>> seen;
  unsigned place = 0;
  walkMasks(probe, coords, [&](Value mask, unsigned at, bool) {
    if (mask) {
      walkConjuncts(probe, mask, at, [&](Value compare, unsigned where) {
        std::pair<Value, unsigned> key(compare, where);
        if (seen.insert(key).second) {
          addBound(probe, compare, where, result);
        }
        if (llvm::is_contained(result.compares, key)) {
          result.places.insert(place);
        }
        ++place;
      });
    }
  });
  // Where only masked stores happen, nothing happens beyond the bound.
  for (const Root &root : item.roots) {
    result.storesOnly &= root.kind == RootKind::Store;
  }
  if (result.storesOnly) {
    walkMasks(probe, coords, [&](Value mask, unsigned at, bool isStore) {
      SmallVector<std::pair<Value, unsigned>> found;
      if (mask && isStore) {
        walkConjuncts(probe, mask, at, [&](Value compare, unsigned where) {
          found.push_back({compare, where});
        });
      }
      for (auto compare : result.compares) {
        result.storesOnly &= !isStore || llvm::is_contained(found, compare);
      }
    });
  }
  return result;
}

void Nest::assumeBounds(Evaluator &evaluator, unsigned coords) {
  unsigned place = 0;
  walkMasks(evaluator, coords, [&](Value mask, unsigned at, bool) {
    if (mask) {
      walkConjuncts(evaluator, mask, at, [&](Value compare, unsigned where) {
        if (bounds.places.contains(place++)) {
          evaluator.assumed[{compare, where}] = true;
        }
      });
    }
  });
}

/// Streaming stores need whole cache lines: the condition, at run time, that
/// every row starts at one. Null if the nest has nothing to stream.
Value Nest::canStream(Evaluator &probe, unsigned coords) {
  Value condition;
  for (const Root &root : item.roots) {
    auto store = dyn_cast_or_null<tile::StoreOp>(root.op);
    if (!store || !kernel.canStream(store)) {
      continue;
    }
    int64_t bytes =
        tile::getElementBytes(tile::getElement(store.getValue().getType()));
    unsigned level;
    LanePointer to = probe.pointer(store.getPtr(), coords);
    bool isRow = to.bytes == bytes && startOfRow(to.index);
    Value address = probe.contiguousAddress(to, bytes, &level);
    bool isWhole = schedule.lanes * bytes % 64 == 0;
    tellDecision(store, [&] {
      Decision d{"store",
                 "past the caches, where the launch writes more than they hold "
                 "and the row begins at a line",
                 "", "the kernel does not read what it writes", ""};
      if (!isRow || !address || !isWhole) {
        d = {"store", "through the caches", "past them",
             isWhole ? "its rows are not known to begin where lines do"
                     : "a vector of them is no whole line",
             ""};
      }
      return d;
    });
    if (!isRow || !address || !isWhole) {
      return nullptr;
    }
    LaneOps ops = probe.at(depth);
    Value bits =
        LLVM::PtrToIntOp::create(ops.b, ops.loc, ops.b.getI64Type(), address);
    Value low = arith::AndIOp::create(ops.b, ops.loc, bits, ops.i64(63));
    Value aligned = arith::CmpIOp::create(
        ops.b, ops.loc, arith::CmpIPredicate::eq, low, ops.i64(0));
    condition = arith::AndIOp::create(
        ops.b, ops.loc, condition ? condition : kernel.streaming, aligned);
  }
  return condition;
}

} // namespace nereid::tocpu
