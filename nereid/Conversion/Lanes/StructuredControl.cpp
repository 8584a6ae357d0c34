//===- StructuredControl.cpp - Branches and loops to blocks ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/StructuredControl.h"
#include "nereid/Conversion/Lanes/LoopRotation.h"
#include "nereid/Support/LargeFunctions.h"

#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Rewrite/PatternApplicator.h"

using namespace mlir;

namespace nereid::lanes {

static bool isLoop(Operation *op) { return isa<scf::ForOp, scf::WhileOp>(op); }

/// Rotates a loop that LLVM is not to rotate.
static bool rotateIfWanted(Operation *op, bool hasManyLoops,
                           PatternRewriter &rewriter) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    if (hasManyLoops || needsCare(loop)) {
      rotate(loop, rewriter);
      return true;
    }
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    if (hasManyLoops && canRotate(loop)) {
      rotate(loop, rewriter);
      return true;
    }
  }
  return false;
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
  bool hasManyLoops = size_t(llvm::count_if(work, isLoop)) > manyLoops;
  for (Operation *op : work) {
    if (rotateIfWanted(op, hasManyLoops, rewriter)) {
      continue;
    }
    rewriter.setInsertionPoint(op);
    (void)applicator.matchAndRewrite(op, rewriter);
  }
}

} // namespace nereid::lanes
