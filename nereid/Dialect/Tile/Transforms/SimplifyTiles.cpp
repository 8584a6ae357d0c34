//===- SimplifyTiles.cpp - Canonical forms, with less work on blocks ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element-wise operation on copies of something smaller is a copy of the
// operation on the smaller thing:
//   f(splat a, splat b)                      -> splat f(a, b)
//   f(broadcast a, broadcast b, splat c)     -> broadcast f(a, b, splat c)
//   f(expand_dims a, expand_dims b, splat c) -> expand_dims f(a, b, splat c)
// and of an address, the part that is the same in every element belongs to the
// base, where it is one scalar addition (64-bit sums: any order is exact):
//   addptr(addptr(p, x), splat o) -> addptr(addptr(p, splat o), x)
//   addptr(broadcast p, splat o)  -> broadcast addptr(p, splat o)
// The language's -x is 0 - x, which differs from a negation where x is +0.0. A
// function that gives one result for both zeros may as well negate, which a GPU
// does within another instruction:
//   exp(0 - x) -> exp(-x)
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace nereid::tile {

#define GEN_PASS_DEF_SIMPLIFYTILES
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

//===----------------------------------------------------------------------===//
// Copies of something smaller
//===----------------------------------------------------------------------===//

/// May be computed elsewhere, in another shape. Not so a hint: it is about the
/// very value that it names.
static bool isPureElementwise(Operation *op) {
  return isElementwise(op) && isPure(op) && !isa<HintOp>(op);
}

static std::optional<TypedAttr> constantSplat(Value value) {
  SplatElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant))) {
    return std::nullopt;
  }
  return constant.getSplatValue<TypedAttr>();
}

/// The operation again, on other operands, with results of the same element
/// types in the shape of `like` (scalars for a scalar).
static Operation *rebuild(PatternRewriter &rewriter, Operation *op,
                          ValueRange operands, Type like) {
  SmallVector<Type> results;
  for (Type type : op->getResultTypes()) {
    results.push_back(withElement(like, getElement(type)));
  }
  return recreate(rewriter, op, operands, results);
}

namespace {

/// f(splat a, splat b) -> splat f(a, b)
struct ElementwiseOfSplats : RewritePattern {
  explicit ElementwiseOfSplats(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isPureElementwise(op) || op->getNumOperands() == 0 ||
        !isa<RankedTensorType>(op->getResultTypes().front())) {
      return failure();
    }
    bool anySplat = false;
    for (Value operand : op->getOperands()) {
      if (operand.getDefiningOp<SplatOp>()) {
        anySplat = true;
      } else if (isa<RankedTensorType>(operand.getType()) &&
                 !constantSplat(operand)) {
        return failure();
      }
    }
    if (!anySplat) {
      return rewriter.notifyMatchFailure(op, "constants fold elsewhere");
    }
    SmallVector<Value> scalars;
    for (Value operand : op->getOperands()) {
      if (auto splat = operand.getDefiningOp<SplatOp>()) {
        scalars.push_back(splat.getSource());
      } else if (std::optional<TypedAttr> value = constantSplat(operand)) {
        scalars.push_back(
            arith::ConstantOp::create(rewriter, op->getLoc(), *value));
      } else {
        scalars.push_back(operand); // select's scalar condition
      }
    }
    Type scalar = getElement(scalars.back().getType());
    Operation *inner = rebuild(rewriter, op, scalars, scalar);
    SmallVector<Value> results;
    for (auto [result, type] :
         llvm::zip_equal(inner->getResults(), op->getResultTypes())) {
      results.push_back(SplatOp::create(rewriter, op->getLoc(),
                                        cast<RankedTensorType>(type), result));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// f(shape a, shape b, splat c) -> shape f(a, b, splat c), where `Shape` is
/// broadcast or expand_dims, the same of all.
template <typename Shape>
struct ElementwiseOfShapes : RewritePattern {
  explicit ElementwiseOfShapes(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    // A block of addresses tells more as base + broadcast offsets.
    if (!isPureElementwise(op) || isa<AddPtrOp>(op) ||
        op->getNumResults() != 1 ||
        !isa<RankedTensorType>(op->getResultTypes().front())) {
      return failure();
    }
    Shape first;
    for (Value operand : op->getOperands()) {
      auto shape = operand.getDefiningOp<Shape>();
      if (!shape) {
        if (!operand.getDefiningOp<SplatOp>() && !constantSplat(operand)) {
          return failure();
        }
        continue;
      }
      if (first && (getShape(first.getSource().getType()) !=
                        getShape(shape.getSource().getType()) ||
                    first->getPropertiesAsAttribute() !=
                        shape->getPropertiesAsAttribute())) {
        return rewriter.notifyMatchFailure(op, "operands grow differently");
      }
      first = shape;
    }
    if (!first) {
      return failure();
    }
    Type small = first.getSource().getType();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(shrink(rewriter, operand, small));
    }
    Operation *inner = rebuild(rewriter, op, operands, small);
    Operation *outer =
        rebuild(rewriter, first, inner->getResults(), op->getResultTypes()[0]);
    outer->getResult(0).setType(op->getResultTypes()[0]);
    rewriter.replaceOp(op, outer);
    return success();
  }

private:
  static Value shrink(PatternRewriter &rewriter, Value operand, Type small) {
    if (auto shape = operand.getDefiningOp<Shape>()) {
      return shape.getSource();
    }
    auto type = cast<RankedTensorType>(
        withElement(small, getElement(operand.getType())));
    if (auto splat = operand.getDefiningOp<SplatOp>()) {
      return SplatOp::create(rewriter, operand.getLoc(), type,
                             splat.getSource());
    }
    return arith::ConstantOp::create(
        rewriter, operand.getLoc(),
        DenseElementsAttr::get(type, Attribute(*constantSplat(operand))));
  }
};

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Moves a uniform offset towards the base of the address.
struct UniformOffsetToBase : OpRewritePattern<AddPtrOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddPtrOp op,
                                PatternRewriter &rewriter) const override {
    auto splat = op.getOffset().getDefiningOp<SplatOp>();
    if (!splat) {
      return rewriter.notifyMatchFailure(op, "offset is not uniform");
    }
    Location loc = op.getLoc();
    if (auto inner = op.getPtr().getDefiningOp<AddPtrOp>()) {
      if (inner.getOffset().getDefiningOp<SplatOp>()) {
        return rewriter.notifyMatchFailure(op, "both offsets are uniform");
      }
      Value base = AddPtrOp::create(rewriter, loc, op.getType(), inner.getPtr(),
                                    op.getOffset());
      rewriter.replaceOpWithNewOp<AddPtrOp>(op, op.getType(), base,
                                            inner.getOffset());
      return success();
    }
    Operation *inner = op.getPtr().getDefiningOp();
    if (!isa_and_nonnull<BroadcastOp, ExpandDimsOp>(inner)) {
      return rewriter.notifyMatchFailure(op, "pointer is no copy");
    }
    Value source = inner->getOperand(0);
    Value offset =
        SplatOp::create(rewriter, loc,
                        cast<RankedTensorType>(withElement(
                            source.getType(), splat.getSource().getType())),
                        splat.getSource());
    Value base =
        AddPtrOp::create(rewriter, loc, source.getType(), source, offset);
    rewriter.replaceOp(op, rebuild(rewriter, inner, base, op.getType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Comparisons that a range decides
//===----------------------------------------------------------------------===//

/// Signed bounds of every element, both inclusive.
struct Bounds {
  int64_t low, high;
};

} // namespace

/// Bounds of blocks made of ranges and constants; the width is 32 at most, so
/// that nothing overflows here and what would overflow there is unknown.
static std::optional<Bounds> boundsOf(Value value, unsigned depth = 0) {
  auto integer = dyn_cast<IntegerType>(getElement(value.getType()));
  Operation *op = value.getDefiningOp();
  if (!op || !integer || integer.getWidth() > 32 || depth > 6) {
    return std::nullopt;
  }
  if (auto range = dyn_cast<RangeOp>(op)) {
    int64_t start = static_cast<int32_t>(range.getStart());
    return Bounds{start, int64_t{static_cast<int32_t>(range.getEnd())} - 1};
  }
  if (std::optional<TypedAttr> constant = constantSplat(value)) {
    int64_t number = cast<IntegerAttr>(*constant).getValue().getSExtValue();
    return Bounds{number, number};
  }
  if (isa<BroadcastOp, ExpandDimsOp, ReshapeOp, TransposeOp, HintOp>(op)) {
    return boundsOf(op->getOperand(0), depth + 1);
  }
  if (!isa<arith::AddIOp, arith::MulIOp>(op)) {
    return std::nullopt;
  }
  std::optional<Bounds> a = boundsOf(op->getOperand(0), depth + 1);
  std::optional<Bounds> b = boundsOf(op->getOperand(1), depth + 1);
  if (!a || !b) {
    return std::nullopt;
  }
  Bounds result = {a->low + b->low, a->high + b->high};
  if (isa<arith::MulIOp>(op)) {
    auto corners = {a->low * b->low, a->low * b->high, a->high * b->low,
                    a->high * b->high};
    result = {std::min(corners), std::max(corners)};
  }
  int64_t limit = int64_t{1} << (integer.getWidth() - 1);
  if (result.low < -limit || result.high >= limit) {
    return std::nullopt; // may wrap
  }
  return result;
}

/// What `a predicate b` is for all elements, if it is one thing.
static std::optional<bool> decide(arith::CmpIPredicate predicate, Bounds a,
                                  Bounds b) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::slt:
    return a.high < b.low    ? std::optional(true)
           : a.low >= b.high ? std::optional(false)
                             : std::nullopt;
  case P::sle:
    return a.high <= b.low  ? std::optional(true)
           : a.low > b.high ? std::optional(false)
                            : std::nullopt;
  case P::sgt:
    return decide(P::slt, b, a);
  case P::sge:
    return decide(P::sle, b, a);
  case P::eq:
  case P::ne: {
    if (a.high < b.low || b.high < a.low) {
      return predicate == P::ne;
    }
    bool same = a.low == a.high && b.low == b.high && a.low == b.low;
    return same ? std::optional(predicate == P::eq) : std::nullopt;
  }
  case P::ult:
  case P::ule:
  case P::ugt:
  case P::uge:
    break;
  }
  if (a.low < 0 || b.low < 0) {
    return std::nullopt;
  }
  return decide(predicate == P::ult   ? P::slt
                : predicate == P::ule ? P::sle
                : predicate == P::ugt ? P::sgt
                                      : P::sge,
                a, b);
}

namespace {

struct DecidedComparison : OpRewritePattern<arith::CmpIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::CmpIOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    std::optional<Bounds> a = boundsOf(op.getLhs());
    std::optional<Bounds> b = boundsOf(op.getRhs());
    if (!type || !a || !b) {
      return rewriter.notifyMatchFailure(op, "no bounds known");
    }
    std::optional<bool> value = decide(op.getPredicate(), *a, *b);
    if (!value) {
      return rewriter.notifyMatchFailure(op, "elements differ");
    }
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::get(type, *value));
    return success();
  }
};

/// exp(0 - x) -> exp(-x)
template <typename Function>
struct NegatedArgument : OpRewritePattern<Function> {
  using OpRewritePattern<Function>::OpRewritePattern;

  LogicalResult matchAndRewrite(Function op,
                                PatternRewriter &rewriter) const override {
    auto difference = op.getOperand().template getDefiningOp<arith::SubFOp>();
    if (!difference || !matchPattern(difference.getLhs(), m_AnyZeroFloat())) {
      return rewriter.notifyMatchFailure(op, "the argument is not 0 - x");
    }
    Value negation = arith::NegFOp::create(rewriter, difference.getLoc(),
                                           difference.getRhs());
    rewriter.modifyOpInPlace(op,
                             [&] { op.getOperandMutable().assign(negation); });
    return success();
  }
};

/// The patterns are collected and frozen once for each pass object.
struct SimplifyTiles : impl::SimplifyTilesBase<SimplifyTiles> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects()) {
      dialect->getCanonicalizationPatterns(all);
    }
    for (RegisteredOperationName op : context->getRegisteredOperations()) {
      op.getCanonicalizationPatterns(all, context);
    }
    populateSimplifyTilePatterns(all);
    patterns = std::move(all);
    return success();
  }

  void runOnOperation() override {
    GreedyRewriteConfig config;
    // Kernels have structured control flow: no blocks to merge.
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled)
        .setUseTopDownTraversal(true);
    (void)applyPatternsGreedily(getOperation(), patterns, config);
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

void populateSimplifyTilePatterns(RewritePatternSet &patterns) {
  patterns.add<ElementwiseOfSplats, ElementwiseOfShapes<BroadcastOp>,
               ElementwiseOfShapes<ExpandDimsOp>, UniformOffsetToBase,
               DecidedComparison, NegatedArgument<math::ExpOp>,
               NegatedArgument<math::Exp2Op>>(patterns.getContext());
}

} // namespace nereid::tile
