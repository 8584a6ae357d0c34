//===- ScalarizeInduction.cpp - Uniformly advancing blocks become scalars -===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   p[0] = init, p[i+1] = p[i] + splat(d[i])   ==>   p[i] = init + splat(o[i]),
//   o[0] = 0,    o[i+1] = o[i] + d[i]
//
// Addresses advance by o elements of s bytes in 64 bits, integers of n bits
// by o in n bits: both are sums modulo a power of two, in which reordering is
// exact. The block is then a function of loop-invariant values and one scalar,
// from which the targets see that it is contiguous.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid::tile {

#define GEN_PASS_DEF_SCALARIZEINDUCTION
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

static bool isUniform(Value block) {
  SplatElementsAttr constant;
  return block.getDefiningOp<SplatOp>() ||
         matchPattern(block, m_Constant(&constant));
}

namespace {

/// One summand of the advance, a uniform block; subtracted where `negative`.
struct Advance {
  Value block;
  bool negative;
};

struct ScalarizeInduction : impl::ScalarizeInductionBase<ScalarizeInduction> {
  void runOnOperation() override {
    // Inner loops first: what they leave, init + splat(o), is an advance of
    // the outer loop.
    getOperation().walk<WalkOrder::PostOrder>([&](scf::ForOp loop) {
      for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
        SmallVector<Advance> advances;
        if (findAdvances(loop, i, advances)) {
          scalarize(loop, i, advances);
        }
      }
    });
  }

private:
  /// Is what the loop yields its argument plus uniform blocks? At least one.
  static bool findAdvances(scf::ForOp loop, unsigned i,
                           SmallVectorImpl<Advance> &advances) {
    Value argument = loop.getRegionIterArg(i);
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !isa<PtrType, IntegerType>(type.getElementType())) {
      return false;
    }
    Value value = loop.getYieldedValues()[i];
    while (value != argument) {
      Operation *op = value.getDefiningOp();
      if (!op || !loop->isAncestor(op)) {
        return false;
      }
      if (isa<AddPtrOp, arith::AddIOp, arith::SubIOp>(op) &&
          isUniform(op->getOperand(1))) {
        advances.push_back({op->getOperand(1), isa<arith::SubIOp>(op)});
        value = op->getOperand(0);
      } else if (isa<arith::AddIOp>(op) && isUniform(op->getOperand(0))) {
        advances.push_back({op->getOperand(0), false});
        value = op->getOperand(1);
      } else {
        return false;
      }
    }
    return !advances.empty();
  }

  static void scalarize(scf::ForOp loop, unsigned i,
                        ArrayRef<Advance> advances) {
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    BlockArgument argument = loop.getRegionIterArg(i);
    OpResult result = loop->getResult(i);
    Value init = loop.getInitArgs()[i];
    auto block = cast<RankedTensorType>(argument.getType());
    bool isPointer = isa<PtrType>(block.getElementType());
    Type scalar = isPointer ? builder.getI64Type() : block.getElementType();

    Value zero = arith::ConstantOp::create(builder, loc,
                                           builder.getIntegerAttr(scalar, 0));
    loop.getInitArgsMutable()[i].assign(zero);
    argument.setType(scalar);
    result.setType(scalar);

    builder.setInsertionPointToStart(loop.getBody());
    replaceByBlock(builder, argument, init, block);

    // After the advances' own definitions, which the yield comes after.
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    Value offset = argument;
    for (const Advance &advance : advances) {
      Value by = scalarOf(builder, advance.block);
      if (by.getType() != scalar) {
        by = arith::ExtSIOp::create(builder, loc, scalar, by);
      }
      offset = advance.negative
                   ? arith::SubIOp::create(builder, loc, offset, by).getResult()
                   : arith::AddIOp::create(builder, loc, offset, by);
    }
    loop.getBody()->getTerminator()->setOperand(i, offset);

    builder.setInsertionPointAfter(loop);
    replaceByBlock(builder, result, init, block);
  }

  /// Every use of `offset`, once a block of type `block`, sees
  /// init + splat(offset).
  static void replaceByBlock(OpBuilder &builder, Value offset, Value init,
                             RankedTensorType block) {
    if (offset.use_empty()) {
      return;
    }
    Location loc = offset.getLoc();
    Value spread = SplatOp::create(
        builder, loc,
        cast<RankedTensorType>(withElement(block, offset.getType())), offset);
    Value whole =
        isa<PtrType>(block.getElementType())
            ? AddPtrOp::create(builder, loc, block, init, spread).getResult()
            : arith::AddIOp::create(builder, loc, init, spread);
    offset.replaceAllUsesExcept(whole, spread.getDefiningOp());
  }
};

} // namespace

} // namespace nereid::tile
