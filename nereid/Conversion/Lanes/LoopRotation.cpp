//===- LoopRotation.cpp - Loops that test at their end
//---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/LoopRotation.h"

#include "nereid/Conversion/Lanes/StructuredControl.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using P = arith::CmpIPredicate;

/// Operations of a test that is short: LLVM rotates loops up to this as well.
static constexpr size_t shortTest = 16;

bool nereid::lanes::needsCare(scf::ForOp loop) {
  APInt step, lower, upper;
  if (!matchPattern(loop.getStep(), m_ConstantInt(&step))) {
    return loop->hasAttr(exactLoop);
  }
  if (step.isOne()) {
    return false;
  }
  if (!matchPattern(loop.getUpperBound(), m_ConstantInt(&upper))) {
    return loop->hasAttr(exactLoop);
  }
  bool overflows = false;
  loop.getUnsignedCmp() ? (void)upper.uadd_ov(step, overflows)
                        : (void)upper.sadd_ov(step, overflows);
  return overflows;
}

namespace {

/// What a loop asks in front of it, and of an index at the end of its body.
struct Tests {
  Value runs;
  Value limit; ///< null: asks whether the next index is below the end
};

} // namespace

static Value constant(OpBuilder &builder, Location loc, Type type,
                      const APInt &value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, value));
}

/// The last index after which another one follows is below `upper - step`. The
/// comparison is made before the addition, so that what it costs is one
/// subtraction in front of the loop:
///
///   if (lower < upper && step > 0)
///     i = lower
///     do { body(i); more = i < upper - step; i += step; } while (more)
static void addCare(scf::ForOp loop, P less, Tests &tests, OpBuilder &builder) {
  Location loc = loop.getLoc();
  Type type = loop.getInductionVar().getType();
  bool isUnsigned = loop.getUnsignedCmp();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value step = loop.getStep();
  unsigned width = type.getIntOrFloatBitWidth();
  if (!matchPattern(step, m_Constant())) {
    Value zero = constant(builder, loc, type, APInt::getZero(width));
    Value positive = arith::CmpIOp::create(builder, loc, less, zero, step);
    tests.runs = arith::AndIOp::create(builder, loc, tests.runs, positive);
  }
  // Below the smallest number nothing is: the loop ends after one iteration.
  tests.limit = arith::SubIOp::create(builder, loc, upper, step);
  APInt start;
  bool isSafe = !isUnsigned && matchPattern(lower, m_ConstantInt(&start)) &&
                !start.isNegative();
  if (!isSafe) {
    Value wraps = arith::CmpIOp::create(builder, loc, less, upper, tests.limit);
    Value least = constant(builder, loc, type,
                           isUnsigned ? APInt::getMinValue(width)
                                      : APInt::getSignedMinValue(width));
    tests.limit =
        arith::SelectOp::create(builder, loc, wraps, least, tests.limit);
  }
}

/// The results of a loop are arguments of the block after it.
static void endIn(Block *after, Operation *loop, PatternRewriter &rewriter) {
  SmallVector<Location> locations(loop->getNumResults(), loop->getLoc());
  SmallVector<Value> arguments;
  for (Value argument :
       after->addArguments(loop->getResultTypes(), locations)) {
    arguments.push_back(argument);
  }
  rewriter.replaceOp(loop, arguments);
}

void nereid::lanes::rotate(scf::ForOp loop, PatternRewriter &rewriter) {
  Location loc = loop.getLoc();
  Block *before = loop->getBlock();
  Block *after = rewriter.splitBlock(before, loop->getIterator());
  Block *first = loop.getBody(), *last = &loop.getRegion().back();
  P less = loop.getUnsignedCmp() ? P::ult : P::slt;
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  SmallVector<Value> inits(loop.getInitArgs());

  rewriter.setInsertionPointToEnd(before);
  Tests tests;
  tests.runs = arith::CmpIOp::create(rewriter, loc, less, lower, upper);
  if (needsCare(loop)) {
    addCare(loop, less, tests, rewriter);
  }

  Operation *yield = last->getTerminator();
  rewriter.setInsertionPoint(yield);
  Value index = loop.getInductionVar(), more;
  if (tests.limit) {
    more = arith::CmpIOp::create(rewriter, loc, less, index, tests.limit);
  }
  SmallVector<Value> next = {
      arith::AddIOp::create(rewriter, loc, index, loop.getStep())};
  if (!tests.limit) {
    more = arith::CmpIOp::create(rewriter, loc, less, next.front(), upper);
  }
  SmallVector<Value> results(yield->getOperands());
  llvm::append_range(next, results);
  auto latch = cf::CondBranchOp::create(rewriter, loc, more, first, next, after,
                                        results);
  // LLVM's annotations of a loop are its latch's.
  SmallVector<NamedAttribute> annotations;
  llvm::copy_if(loop->getAttrs(), std::back_inserter(annotations),
                [](NamedAttribute attribute) {
                  return isa<LLVM::LLVMDialect>(
                      attribute.getValue().getDialect());
                });
  latch->setDiscardableAttrs(annotations);
  rewriter.eraseOp(yield);

  rewriter.inlineRegionBefore(loop.getRegion(), after);
  rewriter.setInsertionPointToEnd(before);
  SmallVector<Value> start = {lower};
  llvm::append_range(start, inits);
  cf::CondBranchOp::create(rewriter, loc, tests.runs, first, start, after,
                           inits);
  endIn(after, loop, rewriter);
}

bool nereid::lanes::canRotate(scf::WhileOp loop) {
  Block *test = loop.getBeforeBody();
  return llvm::hasNItemsOrLess(*test, shortTest) &&
         llvm::all_of(test->without_terminator(), [](Operation &op) {
           return op.getNumRegions() == 0 &&
                  (isMemoryEffectFree(&op) || isa<LLVM::LoadOp>(op));
         });
}

void nereid::lanes::rotate(scf::WhileOp loop, PatternRewriter &rewriter) {
  Block *before = loop->getBlock();
  Block *after = rewriter.splitBlock(before, loop->getIterator());
  Block *test = loop.getBeforeBody(), *first = loop.getAfterBody();
  scf::ConditionOp condition = loop.getConditionOp();
  auto ask = [&](ValueRange arguments) {
    IRMapping map;
    map.map(test->getArguments(), arguments);
    for (Operation &op : test->without_terminator()) {
      rewriter.clone(op, map);
    }
    SmallVector<Value> values;
    for (Value value : condition.getArgs()) {
      values.push_back(map.lookupOrDefault(value));
    }
    cf::CondBranchOp::create(rewriter, loop.getLoc(),
                             map.lookupOrDefault(condition.getCondition()),
                             first, values, after, values);
  };
  Operation *yield = loop.getYieldOp();
  rewriter.setInsertionPoint(yield);
  ask(yield->getOperands());
  rewriter.eraseOp(yield);
  rewriter.setInsertionPointToEnd(before);
  ask(loop.getInits());
  rewriter.inlineRegionBefore(loop.getAfter(), after);
  endIn(after, loop, rewriter);
}
