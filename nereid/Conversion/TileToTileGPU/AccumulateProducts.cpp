//===- AccumulateProducts.cpp - Sums inside of products -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToTileGPU/Passes.h"

#include "nereid/Dialect/Tile/IR/Decisions.h"
#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid {

#define GEN_PASS_DEF_ACCUMULATEPRODUCTS
#include "nereid/Conversion/TileToTileGPU/Passes.h.inc"

/// Is the sum of these products to be added outside of the instruction, which
/// would sum up fp8 in fewer digits?
static bool isAddedOutside(tile::DotOp dot) {
  return dot.getMaxImpreciseAcc() > 0 &&
         tilegpu::operandKind(dot) == tilegpu::OperandKind::F8;
}

/// A product of the sum's block that begins with zero and is only added.
static tile::DotOp productToAdd(Operation *sum, unsigned operand) {
  auto dot = sum->getOperand(operand).getDefiningOp<tile::DotOp>();
  if (!dot || isAddedOutside(dot) || !dot->hasOneUse() ||
      dot->getBlock() != sum->getBlock() ||
      !(matchPattern(dot.getC(), m_AnyZeroFloat()) ||
        matchPattern(dot.getC(), m_Zero()))) {
    return {};
  }
  return dot;
}

namespace {
struct AccumulateProductsPass
    : impl::AccumulateProductsBase<AccumulateProductsPass> {
  using AccumulateProductsBase::AccumulateProductsBase;

  void runOnOperation() override;
};
} // namespace

void AccumulateProductsPass::runOnOperation() {
  SmallVector<Operation *> sums;
  getOperation().walk([&](Operation *op) {
    if (isa<arith::AddIOp, arith::AddFOp>(op)) {
      sums.push_back(op);
    }
  });
  for (Operation *sum : sums) {
    for (unsigned i : {1u, 0u}) {
      tile::DotOp dot = productToAdd(sum, i);
      if (!dot) {
        continue;
      }
      if (isa<arith::AddFOp>(sum) && !fpFusion) {
        reportDecision(dot, [] {
          return Decision{"dot", "a sum is computed after the product",
                          "the product begins with what is added to it",
                          "enable_fp_fusion is off, which keeps two roundings",
                          "tl.dot(a, b, acc)"};
        });
        break;
      }
      Value start = sum->getOperand(1 - i);
      Operation *before = start.getDefiningOp();
      if (before && before->getBlock() == dot->getBlock() &&
          dot->isBeforeInBlock(before)) {
        dot->moveAfter(before);
      }
      reportDecision(dot, [] {
        return Decision{"dot", "the product begins with what is added to it",
                        "", "so that no sum is computed after it", ""};
      });
      dot.getCMutable().assign(start);
      sum->getResult(0).replaceAllUsesWith(dot.getResult());
      sum->erase();
      break;
    }
  }
}

} // namespace nereid
