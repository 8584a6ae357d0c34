//===- StructuredControl.cpp - Branches and loops to blocks ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/StructuredControl.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Rewrite/PatternApplicator.h"

using namespace mlir;

namespace nereid::lanes {

/// Can the counter pass the end of its type, or the step not be positive?
static bool needsCare(scf::ForOp loop) {
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

/// The last index after which another one follows is below `upper - step`. The
/// comparison is made before the addition, so that what it costs is one
/// subtraction in front of the loop:
///
///   if (lower < upper && step > 0)
///     i = lower
///     do { body(i); more = i < upper - step; i += step; } while (more)
static void lowerWithCare(scf::ForOp loop, PatternRewriter &rewriter) {
  using P = arith::CmpIPredicate;
  Location loc = loop.getLoc();
  Block *before = loop->getBlock();
  Block *after = rewriter.splitBlock(before, loop->getIterator());
  Block *first = loop.getBody(), *last = &loop.getRegion().back();
  Type type = loop.getInductionVar().getType();
  bool isUnsigned = loop.getUnsignedCmp();
  P less = isUnsigned ? P::ult : P::slt;
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound();
  Value step = loop.getStep();
  SmallVector<Value> inits(loop.getInitArgs());

  rewriter.setInsertionPointToEnd(before);
  auto constant = [&](const APInt &value) {
    return arith::ConstantOp::create(rewriter, loc,
                                     rewriter.getIntegerAttr(type, value));
  };
  unsigned width = type.getIntOrFloatBitWidth();
  Value runs = arith::CmpIOp::create(rewriter, loc, less, lower, upper);
  if (!matchPattern(step, m_Constant())) {
    Value positive = arith::CmpIOp::create(
        rewriter, loc, less, constant(APInt::getZero(width)), step);
    runs = arith::AndIOp::create(rewriter, loc, runs, positive);
  }
  // Below the smallest number nothing is: the loop ends after one iteration.
  Value limit = arith::SubIOp::create(rewriter, loc, upper, step);
  APInt start;
  bool isSafe = !isUnsigned && matchPattern(lower, m_ConstantInt(&start)) &&
                !start.isNegative();
  if (!isSafe) {
    Value wraps = arith::CmpIOp::create(rewriter, loc, less, upper, limit);
    Value least = constant(isUnsigned ? APInt::getMinValue(width)
                                      : APInt::getSignedMinValue(width));
    limit = arith::SelectOp::create(rewriter, loc, wraps, least, limit);
  }

  Operation *yield = last->getTerminator();
  rewriter.setInsertionPoint(yield);
  Value index = loop.getInductionVar();
  Value more = arith::CmpIOp::create(rewriter, loc, less, index, limit);
  SmallVector<Value> next = {arith::AddIOp::create(rewriter, loc, index, step)};
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
  SmallVector<Location> locations(loop.getNumResults(), loc);
  SmallVector<Value> arguments;
  for (Value argument : after->addArguments(loop.getResultTypes(), locations)) {
    arguments.push_back(argument);
  }
  rewriter.setInsertionPointToEnd(before);
  SmallVector<Value> start0 = {lower};
  llvm::append_range(start0, inits);
  cf::CondBranchOp::create(rewriter, loc, runs, first, start0, after, inits);
  rewriter.replaceOp(loop, arguments);
}

void lowerStructuredControl(ModuleOp module) {
  MLIRContext *context = module.getContext();
  RewritePatternSet patterns(context);
  populateSCFToControlFlowConversionPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  PatternApplicator applicator(frozen);
  applicator.applyDefaultCostModel();
  PatternRewriter rewriter(context);
  // From the end on: what follows a branch in its block has been cut already.
  SmallVector<Operation *> work;
  module->walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
    if (isa<scf::SCFDialect>(op->getDialect()) &&
        !op->hasTrait<OpTrait::IsTerminator>()) {
      work.push_back(op);
    }
  });
  for (Operation *op : work) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (loop && needsCare(loop)) {
      lowerWithCare(loop, rewriter);
      continue;
    }
    rewriter.setInsertionPoint(op);
    (void)applicator.matchAndRewrite(op, rewriter);
  }
}

} // namespace nereid::lanes
