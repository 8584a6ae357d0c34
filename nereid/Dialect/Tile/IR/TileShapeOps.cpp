//===- TileShapeOps.cpp - Creation, shape and element order ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace nereid::tile {

/// Every shape operation keeps the element type.
static LogicalResult verifySameElement(Operation *op, Type from, Type to) {
  if (getElement(from) != getElement(to)) {
    return op->emitOpError("expected result elements of type ")
           << getElement(from) << ", got " << getElement(to);
  }
  return success();
}

static LogicalResult verifyAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis < 0 || axis >= rank) {
    return op->emitOpError("expected 0 <= axis < ") << rank << ", got " << axis;
  }
  return success();
}

static LogicalResult verifyShape(Operation *op, ArrayRef<int64_t> expected,
                                 ArrayRef<int64_t> actual) {
  if (expected != actual) {
    return op->emitOpError("expected a result of shape [")
           << expected << "], got [" << actual << "]";
  }
  return success();
}

static bool isPlainElement(Type type) {
  return isa<IntegerType, FloatType>(getElement(type));
}

//===----------------------------------------------------------------------===//
// RangeOp, SplatOp
//===----------------------------------------------------------------------===//

LogicalResult RangeOp::verify() {
  int64_t start = static_cast<int32_t>(getStart());
  int64_t end = static_cast<int32_t>(getEnd());
  if (end <= start) {
    return emitOpError("expected end (")
           << end << ") above start (" << start << ")";
  }
  return verifyShape(*this, {end - start}, getType().getShape());
}

OpFoldResult RangeOp::fold(FoldAdaptor) {
  if (getType().getNumElements() != 1) {
    return {};
  }
  return DenseElementsAttr::get(getType(),
                                APInt(32, static_cast<int32_t>(getStart()),
                                      /*isSigned=*/true));
}

LogicalResult SplatOp::verify() {
  return verifySameElement(*this, getSource().getType(), getType());
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getSource() && isPlainElement(getType())) {
    return DenseElementsAttr::get(getType(), adaptor.getSource());
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Shape-changing operations that commute with a splat
//===----------------------------------------------------------------------===//

namespace {
/// shape(splat x) -> splat x, and shape(constant splat) -> constant splat.
template <typename Op>
struct ShapeOfSplat : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (auto splat = op.getSource().template getDefiningOp<SplatOp>()) {
      rewriter.replaceOpWithNewOp<SplatOp>(op, op.getType(), splat.getSource());
      return success();
    }
    SplatElementsAttr value;
    if (!matchPattern(op.getSource(), m_Constant(&value))) {
      return rewriter.notifyMatchFailure(op, "source is no splat");
    }
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(
        op, DenseElementsAttr::get(op.getType(),
                                   value.template getSplatValue<Attribute>()));
    return success();
  }
};

/// broadcast(broadcast x) -> broadcast x; likewise reshape.
template <typename Op>
struct FuseTwice : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getSource().template getDefiningOp<Op>();
    if (!inner) {
      return rewriter.notifyMatchFailure(op, "source is another operation");
    }
    rewriter.modifyOpInPlace(
        op, [&] { op.getSourceMutable().assign(inner.getSource()); });
    return success();
  }
};

struct SplitOfJoin : OpRewritePattern<SplitOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SplitOp op,
                                PatternRewriter &rewriter) const override {
    auto join = op.getSource().getDefiningOp<JoinOp>();
    if (!join) {
      return rewriter.notifyMatchFailure(op, "source is no join");
    }
    rewriter.replaceOp(op, {join.getLhs(), join.getRhs()});
    return success();
  }
};
} // namespace

LogicalResult ExpandDimsOp::verify() {
  SmallVector<int64_t> shape(getSource().getType().getShape());
  int64_t axis = static_cast<int32_t>(getAxis());
  if (failed(verifyAxis(*this, axis, shape.size() + 1))) {
    return failure();
  }
  shape.insert(shape.begin() + axis, 1);
  if (failed(verifyShape(*this, shape, getType().getShape()))) {
    return failure();
  }
  return verifySameElement(*this, getSource().getType(), getType());
}

void ExpandDimsOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                               MLIRContext *context) {
  patterns.add<ShapeOfSplat<ExpandDimsOp>>(context);
}

LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = getSource().getType().getShape();
  ArrayRef<int64_t> to = getType().getShape();
  if (from.size() != to.size()) {
    return emitOpError("expected a result of rank ")
           << from.size() << ", got " << to.size();
  }
  for (auto [d, pair] : llvm::enumerate(llvm::zip_equal(from, to))) {
    auto [f, t] = pair;
    if (f != t && f != 1) {
      return emitOpError("dimension ")
             << d << " of size " << f << " cannot become " << t;
    }
  }
  return verifySameElement(*this, getSource().getType(), getType());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource())
                                            : OpFoldResult();
}

void BroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<ShapeOfSplat<BroadcastOp>, FuseTwice<BroadcastOp>>(context);
}

LogicalResult ReshapeOp::verify() {
  if (getSource().getType().getNumElements() != getType().getNumElements()) {
    return emitOpError("expected ")
           << getSource().getType().getNumElements() << " elements, got "
           << getType().getNumElements();
  }
  return verifySameElement(*this, getSource().getType(), getType());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? OpFoldResult(getSource())
                                            : OpFoldResult();
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ShapeOfSplat<ReshapeOp>, FuseTwice<ReshapeOp>>(context);
}

LogicalResult TransposeOp::verify() {
  ArrayRef<int64_t> from = getSource().getType().getShape();
  ArrayRef<int32_t> order = getOrder();
  llvm::SmallBitVector seen(from.size());
  SmallVector<int64_t> shape;
  for (int32_t d : order) {
    if (d < 0 || d >= static_cast<int64_t>(from.size()) || seen[d]) {
      return emitOpError("order [") << order << "] is no permutation of the "
                                    << from.size() << " dimensions";
    }
    seen.set(d);
    shape.push_back(from[d]);
  }
  if (failed(verifyShape(*this, shape, getType().getShape()))) {
    return failure();
  }
  return verifySameElement(*this, getSource().getType(), getType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSource())) {
    return DenseElementsAttr::get(getType(), splat.getSplatValue<Attribute>());
  }
  for (auto [d, from] : llvm::enumerate(getOrder())) {
    if (static_cast<int32_t>(d) != from) {
      return {};
    }
  }
  return getSource();
}

//===----------------------------------------------------------------------===//
// JoinOp, SplitOp, CatOp, SliceOp, GatherOp
//===----------------------------------------------------------------------===//

LogicalResult JoinOp::verify() {
  SmallVector<int64_t> shape(getShape(getLhs().getType()));
  shape.push_back(2);
  if (failed(verifyShape(*this, shape, getType().getShape()))) {
    return failure();
  }
  return verifySameElement(*this, getLhs().getType(), getType());
}

LogicalResult SplitOp::verify() {
  ArrayRef<int64_t> shape = getSource().getType().getShape();
  if (shape.empty() || shape.back() != 2) {
    return emitOpError("expected a source whose last dimension is 2, got ")
           << getSource().getType();
  }
  if (failed(verifyShape(*this, shape.drop_back(),
                         getShape(getLhs().getType())))) {
    return failure();
  }
  return verifySameElement(*this, getSource().getType(), getLhs().getType());
}

void SplitOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                          MLIRContext *context) {
  patterns.add<SplitOfJoin>(context);
}

LogicalResult CatOp::verify() {
  SmallVector<int64_t> shape(getLhs().getType().getShape());
  ArrayRef<int64_t> rhs = getRhs().getType().getShape();
  int64_t axis = static_cast<int32_t>(getAxis());
  if (rhs.size() != shape.size()) {
    return emitOpError("expected operands of one rank, got ")
           << shape.size() << " and " << rhs.size();
  }
  if (failed(verifyAxis(*this, axis, shape.size()))) {
    return failure();
  }
  for (int64_t d = 0, e = shape.size(); d < e; ++d) {
    if (d != axis && shape[d] != rhs[d]) {
      return emitOpError("dimension ")
             << d << " differs: " << shape[d] << " and " << rhs[d];
    }
  }
  shape[axis] += rhs[axis];
  if (failed(verifyShape(*this, shape, getType().getShape())) ||
      failed(verifySameElement(*this, getRhs().getType(), getType()))) {
    return failure();
  }
  return verifySameElement(*this, getLhs().getType(), getType());
}

SmallVector<Type> CatOp::getSharedBlocks() { return {getType()}; }

SmallVector<Value> CatOp::getElementSources() { return {getLhs(), getRhs()}; }

LogicalResult SliceOp::verify() {
  ArrayRef<int64_t> from = getSource().getType().getShape();
  ArrayRef<int64_t> to = getType().getShape();
  if (getOffsets().size() != from.size() ||
      getStrides().size() != from.size() || to.size() != from.size()) {
    return emitOpError("expected an offset, a stride and a size of the result "
                       "for each of the ")
           << from.size() << " dimensions, got " << getOffsets().size() << ", "
           << getStrides().size() << " and " << to.size();
  }
  for (auto [d, size] : llvm::enumerate(to)) {
    int64_t offset = getOffsets()[d], stride = getStrides()[d];
    if (offset < 0 || stride < 1 || offset + (size - 1) * stride >= from[d]) {
      return emitOpError("expected elements inside of dimension ")
             << d << " of size " << from[d] << ", got " << size << " from "
             << offset << " on by steps of " << stride;
    }
  }
  return verifySameElement(*this, getSource().getType(), getType());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSource())) {
    return DenseElementsAttr::get(getType(), splat.getSplatValue<Attribute>());
  }
  // As many elements are all of them.
  return getSource().getType() == getType() ? OpFoldResult(getSource())
                                            : OpFoldResult();
}

SmallVector<Type> SliceOp::getSharedBlocks() { return {getType()}; }

SmallVector<Value> SliceOp::getElementSources() { return {getSource()}; }

LogicalResult GatherOp::verify() {
  ArrayRef<int64_t> source = getSource().getType().getShape();
  ArrayRef<int64_t> index = getIndex().getType().getShape();
  int64_t axis = static_cast<int32_t>(getAxis());
  if (source.size() != index.size()) {
    return emitOpError("expected source and index of one rank, got ")
           << source.size() << " and " << index.size();
  }
  if (failed(verifyAxis(*this, axis, source.size()))) {
    return failure();
  }
  for (int64_t d = 0, e = source.size(); d < e; ++d) {
    if (d != axis && source[d] != index[d]) {
      return emitOpError("dimension ")
             << d << " differs: " << source[d] << " and " << index[d];
    }
  }
  if (failed(verifyShape(*this, index, getType().getShape()))) {
    return failure();
  }
  return verifySameElement(*this, getSource().getType(), getType());
}

Placement GatherOp::getOperandPlacement(unsigned index) {
  return {index == 1 ? Placement::LikeResult : Placement::Anywhere};
}

SmallVector<Type> GatherOp::getSharedBlocks() {
  return {getSource().getType()};
}

SmallVector<Value> GatherOp::getElementSources() { return {getSource()}; }

} // namespace nereid::tile
