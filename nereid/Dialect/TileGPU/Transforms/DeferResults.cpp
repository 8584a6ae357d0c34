//===- DeferResults.cpp - A tile's results beside the next products -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/DeferResults.h"

#include "nereid/Analysis/Scratch.h"
#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/Transforms/LoopBounds.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace nereid::tilegpu {

namespace {

class ResultDeferrer {
public:
  explicit ResultDeferrer(scf::ForOp inner)
      : inner(inner), outer(dyn_cast<scf::ForOp>(inner->getParentOp())),
        b(inner) {}
  bool run();

private:
  bool findRounding();
  bool findDeferred();
  bool addOrigins(Operation *op);
  bool fitsRegisters();
  void formGroups(unsigned steps);
  bool haveGroupsOfTheirOwn();
  void emit(ArrayRef<Operation *> group, Value rounded, Value index);
  void carry();
  void emitFirstSteps(ValueRange before);

  scf::ForOp inner, outer;
  OpBuilder b;
  WaitProductsOp done;
  arith::TruncFOp rounding;
  SmallVector<Operation *> deferred; ///< in order
  /// What they come from in front of the inner loop, made again: a row's
  /// number is cheaper to compute than to keep.
  llvm::SetVector<Operation *> origins;
  /// Of the deferred operations those that run beside the products of each of
  /// the first steps, in order.
  SmallVector<SmallVector<Operation *>> groups;
};

} // namespace

static bool isSame(Value a, Value c) {
  APInt x, y;
  return a == c || (matchPattern(a, m_ConstantInt(&x)) &&
                    matchPattern(c, m_ConstantInt(&y)) &&
                    x.getSExtValue() == y.getSExtValue());
}

/// More steps than this beside deferred operations are more code for nothing.
static constexpr unsigned mostSteps = 8;

/// `distance` from the lower bound to the upper one, in steps; at most
/// mostSteps.
static unsigned stepsIn(scf::ForOp loop, int64_t distance) {
  APInt step;
  if (distance <= 0) {
    return 0;
  }
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step)) ||
      !step.isStrictlyPositive()) {
    return 1;
  }
  return std::min<int64_t>(llvm::divideCeil(distance, step.getSExtValue()),
                           mostSteps);
}

/// Steps that the loop has for sure, where `condition` holds: upper > lower, or
/// upper - lower > a number.
static unsigned assumedSteps(scf::ForOp loop, arith::CmpIOp condition) {
  using P = arith::CmpIPredicate;
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  P is = condition.getPredicate();
  Value greater = condition.getLhs(), less = condition.getRhs();
  if (is == P::slt || is == P::sle) {
    std::swap(greater, less);
  } else if (is != P::sgt && is != P::sge) {
    return 0;
  }
  int64_t strict = is == P::slt || is == P::sgt;
  if (isSame(greater, upper) && isSame(less, lower)) {
    return strict;
  }
  APInt number, from;
  if (!matchPattern(less, m_ConstantInt(&number))) {
    return 0;
  }
  int64_t least = number.getSExtValue() + strict;
  auto difference = greater.getDefiningOp<arith::SubIOp>();
  if (difference && isSame(difference.getLhs(), upper) &&
      isSame(difference.getRhs(), lower)) {
    return stepsIn(loop, least);
  }
  if (isSame(greater, upper) && matchPattern(lower, m_ConstantInt(&from))) {
    return stepsIn(loop, least - from.getSExtValue());
  }
  return 0;
}

/// Steps that the loop has for sure: by constants, or by a tile.assume in front
/// of it. At most mostSteps.
static unsigned leastSteps(scf::ForOp loop) {
  APInt from, to;
  if (loop.getUnsignedCmp()) {
    return 0;
  }
  if (matchPattern(loop.getLowerBound(), m_ConstantInt(&from)) &&
      matchPattern(loop.getUpperBound(), m_ConstantInt(&to))) {
    return stepsIn(loop, to.getSExtValue() - from.getSExtValue());
  }
  unsigned least = 0;
  for (Operation *op = loop; op && !isa<func::FuncOp>(op);
       op = op->getParentOp()) {
    for (Operation *before = op->getPrevNode(); before;
         before = before->getPrevNode()) {
      if (auto assume = dyn_cast<tile::AssumeOp>(before)) {
        if (auto compare =
                assume.getCondition().getDefiningOp<arith::CmpIOp>()) {
          least = std::max(least, assumedSteps(loop, compare));
        }
      }
    }
  }
  return least;
}

/// One product, whose sum is rounded to 16 bits and not used otherwise.
bool ResultDeferrer::findRounding() {
  auto dots = llvm::to_vector(inner.getBody()->getOps<tile::DotOp>());
  if (!outer || dots.size() != 1) {
    return false;
  }
  for (Operation *user : inner->getUsers()) {
    if (auto wait = dyn_cast<WaitProductsOp>(user)) {
      done = wait;
    }
  }
  if (!done || done->getBlock() != outer.getBody()) {
    return false;
  }
  Value value = done.getResult();
  while (value.hasOneUse()) {
    Operation *user = *value.getUsers().begin();
    if (user->getBlock() != outer.getBody() || !tile::isElementwise(user) ||
        user->getNumResults() != 1) {
      return false;
    }
    rounding = dyn_cast<arith::TruncFOp>(user);
    if (rounding) {
      return tile::getElementBytes(tile::getElement(rounding.getType())) == 2;
    }
    value = user->getResult(0);
  }
  return false;
}

/// Adds what `op` uses of an iteration in front of the inner loop: without
/// effects, and from the tile's index alone.
bool ResultDeferrer::addOrigins(Operation *op) {
  bool isFine = true;
  op->walk([&](Operation *part) {
    for (Value operand : part->getOperands()) {
      if (auto argument = dyn_cast<BlockArgument>(operand)) {
        isFine &= argument.getOwner() != outer.getBody() ||
                  argument == outer.getInductionVar();
        continue;
      }
      Operation *from =
          outer.getBody()->findAncestorOpInBlock(*operand.getDefiningOp());
      if (!from || from == rounding || llvm::is_contained(deferred, from) ||
          op->isAncestor(from) || origins.contains(from)) {
        continue;
      }
      isFine &= from != inner && from != done && isMemoryEffectFree(from) &&
                addOrigins(from);
      origins.insert(from); // after its own
    }
  });
  return isFine;
}

bool ResultDeferrer::findDeferred() {
  // The next tile begins before this one's stores: it must not read memory.
  for (Operation &op : *outer.getBody()) {
    if (&op == inner) {
      break;
    }
    if (!isa<tile::AssumeOp>(op) && !isMemoryEffectFree(&op)) {
      return false;
    }
  }
  // The rings' state goes on at once.
  llvm::SmallPtrSet<Operation *, 16> stays;
  SmallVector<Operation *> work = {outer.getBody()->getTerminator(), rounding};
  for (auto release : outer.getBody()->getOps<ReleaseSlotOp>()) {
    work.push_back(release);
  }
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (op->getBlock() != outer.getBody() || !stays.insert(op).second) {
      continue;
    }
    for (Value operand : op->getOperands()) {
      if (Operation *from = operand.getDefiningOp()) {
        work.push_back(from);
      }
    }
  }
  for (Operation *op = done->getNextNode(); op; op = op->getNextNode()) {
    if (!stays.contains(op)) {
      deferred.push_back(op);
    }
  }
  return !deferred.empty() &&
         llvm::all_of(deferred, [&](Operation *op) { return addOrigins(op); });
}

/// The sums, the rounded values of the tile before, and what stores them.
bool ResultDeferrer::fitsRegisters() {
  constexpr unsigned others = 40;
  unsigned count = layoutOf(rounding.getType()).registerCount();
  unsigned most = 0;
  for (Operation *op = outer; op; op = op->getParentOp()) {
    for (Operation &one : *op->getBlock()) {
      if (auto set = dyn_cast<SetRegistersOp>(one)) {
        most = set.getCount();
      }
    }
    if (isa<func::FuncOp>(op->getParentOp())) {
      break;
    }
  }
  return count + count / 2 + others <= most;
}

/// Divides what is deferred among the first `steps`, by its effects in order.
/// Each group has all that its effects come from.
void ResultDeferrer::formGroups(unsigned steps) {
  SmallVector<Operation *> effects;
  llvm::copy_if(deferred, std::back_inserter(effects), [](Operation *op) {
    return !isMemoryEffectFree(op) && !isa<tile::LoadAccess>(op);
  });
  unsigned count =
      std::max<unsigned>(std::min<size_t>(steps, effects.size()), 1);
  groups.resize(count);
  for (unsigned g = 0; g < count; ++g) {
    llvm::SmallPtrSet<Operation *, 32> needed;
    SmallVector<Operation *> work;
    for (size_t i = effects.size() * g / count,
                end = effects.size() * (g + 1) / count;
         i < end; ++i) {
      work.push_back(effects[i]);
    }
    while (!work.empty()) {
      Operation *op = work.pop_back_val();
      if (!needed.insert(op).second) {
        continue;
      }
      op->walk([&](Operation *part) {
        for (Value operand : part->getOperands()) {
          Operation *from = operand.getDefiningOp();
          from = from ? outer.getBody()->findAncestorOpInBlock(*from) : nullptr;
          if (from && from != op && llvm::is_contained(deferred, from)) {
            work.push_back(from);
          }
        }
      });
    }
    llvm::copy_if(deferred, std::back_inserter(groups[g]),
                  [&](Operation *op) { return needed.contains(op); });
  }
}

/// No group computes again what takes long, and no load changes places with
/// another group's effects.
bool ResultDeferrer::haveGroupsOfTheirOwn() {
  llvm::SmallPtrSet<Operation *, 32> taken;
  Operation *latest = nullptr; // of the groups before
  for (ArrayRef<Operation *> group : groups) {
    for (Operation *op : group) {
      bool isLong = op->getNumRegions() ||
                    isa<tile::StructuredOp, tile::LoadAccess>(op) ||
                    !isMemoryEffectFree(op) || !scratchOf(op).empty();
      if ((isLong && !taken.insert(op).second) ||
          (isa<tile::LoadAccess>(op) && latest &&
           op->isBeforeInBlock(latest))) {
        return false;
      }
    }
    latest = group.empty() ? latest : group.back();
  }
  return true;
}

void ResultDeferrer::emit(ArrayRef<Operation *> group, Value rounded,
                          Value index) {
  IRMapping map;
  map.map(outer.getInductionVar(), index);
  map.map(rounding.getResult(), rounded);
  for (Operation *op : origins) {
    b.clone(*op, map);
  }
  for (Operation *op : group) {
    b.clone(*op, map);
  }
}

/// The first steps in front of the loop, each with its group of what the tile
/// before left. In the very first nothing is in flight that it would have to
/// wait for, no slot to give back.
void ResultDeferrer::emitFirstSteps(ValueRange before) {
  Location loc = inner.getLoc();
  b.setInsertionPoint(inner);
  Value isLater =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                            outer.getInductionVar(), outer.getLowerBound());
  Value at = inner.getLowerBound();
  SmallVector<Value> carried(inner.getInitArgs());
  for (auto [g, group] : llvm::enumerate(groups)) {
    IRMapping map;
    map.map(inner.getInductionVar(), at);
    map.map(inner.getRegionIterArgs(), carried);
    for (Operation &op : inner.getBody()->without_terminator()) {
      if (g > 0 || !isa<WaitOlderProductsOp, ReleaseSlotOp>(op)) {
        b.clone(op, map);
      }
    }
    for (auto [value, yielded] :
         llvm::zip_equal(carried, inner.getYieldedValues())) {
      value = map.lookupOrDefault(yielded);
    }
    at = arith::AddIOp::create(b, loc, at, inner.getStep());
    auto later = scf::IfOp::create(b, loc, TypeRange(), isLater,
                                   /*withElseRegion=*/false);
    b.setInsertionPointToStart(later.thenBlock());
    emit(group, before[0], before[1]);
    b.setInsertionPoint(inner);
  }
  inner.getInitArgsMutable().assign(carried);
  inner.setLowerBound(at);
}

void ResultDeferrer::carry() {
  Location loc = outer.getLoc();
  IRRewriter rewriter(b.getContext());
  rewriter.setInsertionPoint(outer);
  Value none = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(rounding.getType()));
  Value rounded = rounding.getResult();
  outer = cast<scf::ForOp>(*outer.replaceWithAdditionalYields(
      rewriter, {none, outer.getLowerBound()},
      /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
        return SmallVector<Value>{rounded, rounded};
      }));
  Operation *yield = outer.getBody()->getTerminator();
  yield->setOperand(yield->getNumOperands() - 1, outer.getInductionVar());
  emitFirstSteps(outer.getRegionIterArgs().take_back(2));

  b.setInsertionPointAfter(outer);
  Value isAny = hasIteration(b, outer, outer.getLowerBound(), 0);
  auto any = scf::IfOp::create(b, loc, TypeRange(), isAny,
                               /*withElseRegion=*/false);
  b.setInsertionPointToStart(any.thenBlock());
  auto last = outer.getResults().take_back(2);
  emit(deferred, last[0], last[1]);
  for (Operation *op : llvm::reverse(deferred)) {
    op->erase();
  }
}

bool ResultDeferrer::run() {
  if (!findRounding() || !findDeferred() || !fitsRegisters()) {
    return false;
  }
  unsigned steps = leastSteps(inner);
  if (!steps) {
    reportDecision(inner, [&] {
      return Decision{"roles", "a tile is stored before the next one begins",
                      "stored beside the next tile's first product",
                      "the loop may have no iteration",
                      "tl.assume(...) that it has one"};
    });
    return false;
  }
  formGroups(steps);
  if (!haveGroupsOfTheirOwn()) {
    groups = {deferred};
  }
  carry();
  return true;
}

bool deferResults(scf::ForOp inner) { return ResultDeferrer(inner).run(); }

} // namespace nereid::tilegpu
