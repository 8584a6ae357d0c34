//===- CountLoops.cpp - while loops that count ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   while i < n: ...; i += c    ==>   for i in range(i, n, c)
//   while r > 0: ...; r -= c    ==>   for o in range(0, r, c), r - o for r
//
// for a step c that is known to be positive - a constant, the number of
// programs, a product of such - and a bound that the loop does not change. A
// counter that would wrap before it reaches the bound makes the first loop
// endless, or run through addresses of no array; the second ends.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::tile {

#define GEN_PASS_DEF_COUNTLOOPS
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

namespace {

/// What a loop counts: its argument `counter`, from its initial value up to
/// `bound` (`inclusive`: and the bound itself), or down to 0.
struct Count {
  unsigned counter = 0;
  bool isDown = false, inclusive = false;
  Value bound, step;
};

class LoopCounter {
public:
  explicit LoopCounter(scf::WhileOp loop)
      : loop(loop), before(loop.getBeforeBody()), after(loop.getAfterBody()) {}

  /// Replaces the loop if it counts.
  bool run();

private:
  bool findForwarded();
  bool findCondition();
  bool findStep();
  /// Of a value, or constant, that the loop does not change.
  bool isOuter(Value value);
  /// In front of the loop.
  Value outer(OpBuilder &b, Value value);
  void rewrite();

  scf::WhileOp loop;
  Block *before, *after;
  SmallVector<unsigned> forwarded; ///< argument of `before`, by that of `after`
  Count count;
};

} // namespace

/// A number of programs, or so many times it. If that wraps, the loop does too.
static bool isPositive(Value value) {
  APInt known;
  if (matchPattern(value, m_ConstantInt(&known))) {
    return known.isStrictlyPositive();
  }
  if (auto times = value.getDefiningOp<arith::MulIOp>()) {
    return isPositive(times.getLhs()) && isPositive(times.getRhs());
  }
  return value.getDefiningOp<NumProgramsOp>() != nullptr;
}

bool LoopCounter::isOuter(Value value) {
  if (auto times = value.getDefiningOp<arith::MulIOp>()) {
    return isOuter(times.getLhs()) && isOuter(times.getRhs());
  }
  return loop.isDefinedOutsideOfLoop(value) ||
         matchPattern(value, m_Constant()) ||
         value.getDefiningOp<NumProgramsOp>();
}

Value LoopCounter::outer(OpBuilder &b, Value value) {
  if (loop.isDefinedOutsideOfLoop(value)) {
    return value;
  }
  Operation *op = value.getDefiningOp();
  IRMapping map;
  for (Value operand : op->getOperands()) {
    map.map(operand, outer(b, operand));
  }
  return b.clone(*op, map)->getResult(0);
}

/// The condition hands on arguments as they are.
bool LoopCounter::findForwarded() {
  auto condition = cast<scf::ConditionOp>(before->getTerminator());
  for (Value value : condition.getArgs()) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != before) {
      return false;
    }
    forwarded.push_back(argument.getArgNumber());
  }
  return true;
}

bool LoopCounter::findCondition() {
  using P = arith::CmpIPredicate;
  auto condition = cast<scf::ConditionOp>(before->getTerminator());
  auto compare = condition.getCondition().getDefiningOp<arith::CmpIOp>();
  bool isAlone = llvm::all_of(before->without_terminator(), [&](Operation &op) {
    return &op == compare || op.hasTrait<OpTrait::ConstantLike>();
  });
  if (!compare || !isAlone) {
    return false;
  }
  Value counter = compare.getLhs(), bound = compare.getRhs();
  P predicate = compare.getPredicate();
  if (auto argument = dyn_cast<BlockArgument>(counter);
      !argument || argument.getOwner() != before) {
    std::swap(counter, bound);
    predicate = predicate == P::slt   ? P::sgt
                : predicate == P::sle ? P::sge
                : predicate == P::sgt ? P::slt
                : predicate == P::sge ? P::sle
                                      : predicate;
  }
  auto argument = dyn_cast<BlockArgument>(counter);
  if (!argument || argument.getOwner() != before || !isOuter(bound)) {
    return false;
  }
  count.counter = argument.getArgNumber();
  count.bound = bound;
  count.isDown = predicate == P::sgt && matchPattern(bound, m_Zero());
  count.inclusive = predicate == P::sle;
  return count.isDown || predicate == P::slt || predicate == P::sle;
}

/// The body adds a positive step to the counter, once.
bool LoopCounter::findStep() {
  Value next = loop.getYieldOp().getResults()[count.counter];
  Operation *op = next.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) ||
      op->getBlock() != after) {
    return false;
  }
  auto isCounter = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == after &&
           forwarded[argument.getArgNumber()] == count.counter;
  };
  Value from = op->getOperand(0);
  count.step = op->getOperand(1);
  if (isa<arith::AddIOp>(op) && isCounter(count.step)) {
    std::swap(from, count.step);
  }
  if (!isCounter(from) || !isOuter(count.step)) {
    return false;
  }
  bool subtracts = isa<arith::SubIOp>(op);
  APInt known;
  if (!matchPattern(count.step, m_ConstantInt(&known))) {
    return subtracts == count.isDown && isPositive(count.step);
  }
  bool isNegative = known.isNegative() && !known.isMinSignedValue();
  if (isNegative == (subtracts == count.isDown) || known.isZero() ||
      known.isMinSignedValue()) {
    return false;
  }
  if (isNegative) {
    OpBuilder b(loop);
    count.step = arith::ConstantOp::create(
        b, loop.getLoc(), b.getIntegerAttr(count.step.getType(), -known));
  }
  return true;
}

void LoopCounter::rewrite() {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Type type = count.bound.getType();
  Value lower = loop.getInits()[count.counter];
  Value upper = outer(b, count.bound), step = outer(b, count.step);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  if (count.isDown) {
    upper = lower;
    lower = number(0);
  } else if (count.inclusive) {
    upper = arith::AddIOp::create(b, loc, upper, number(1));
  }
  // The counter itself is carried only for who asks for its last value.
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  DenseMap<unsigned, unsigned> numberOf;
  for (unsigned i = 0; i < loop.getInits().size(); ++i) {
    bool isUsed = i != count.counter;
    for (auto [argument, result] : llvm::zip(forwarded, loop.getResults())) {
      isUsed |= argument == i && !result.use_empty();
    }
    if (isUsed) {
      numberOf[i] = carried.size();
      carried.push_back(i);
      inits.push_back(loop.getInits()[i]);
    }
  }
  auto made = scf::ForOp::create(b, loc, lower, upper, step, inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = made.getBody();
  if (!body->empty()) {
    body->clear();
  }
  b.setInsertionPointToStart(body);
  Value now = made.getInductionVar();
  if (count.isDown) {
    now = arith::SubIOp::create(b, loc, upper, now);
  }
  for (auto [argument, from] :
       llvm::zip_equal(after->getArguments(), forwarded)) {
    argument.replaceAllUsesWith(
        from == count.counter ? now : made.getRegionIterArg(numberOf[from]));
  }
  SmallVector<Value> yields;
  for (unsigned i : carried) {
    yields.push_back(loop.getYieldOp().getResults()[i]);
  }
  loop.getYieldOp().erase();
  body->getOperations().splice(body->end(), after->getOperations());
  b.setInsertionPointToEnd(body);
  scf::YieldOp::create(b, loc, yields);
  for (auto [result, from] : llvm::zip_equal(loop.getResults(), forwarded)) {
    if (!result.use_empty()) {
      result.replaceAllUsesWith(made.getResult(numberOf[from]));
    }
  }
  loop->erase();
}

bool LoopCounter::run() {
  if (!findForwarded() || !findCondition() || !findStep()) {
    return false;
  }
  rewrite();
  return true;
}

namespace {
struct CountLoops : impl::CountLoopsBase<CountLoops> {
  void runOnOperation() override {
    SmallVector<scf::WhileOp> loops;
    getOperation().walk([&](scf::WhileOp loop) { loops.push_back(loop); });
    bool changed = false;
    for (scf::WhileOp loop : loops) {
      changed |= LoopCounter(loop).run();
    }
    if (!changed) {
      markAllAnalysesPreserved();
    }
  }
};
} // namespace

} // namespace nereid::tile
