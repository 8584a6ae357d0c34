//===- TileReduceOps.cpp - Reductions, scans, matrix products ---===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"

using namespace mlir;

namespace nereid::tile {

/// Sources of one shape, an axis inside it, and a region from 2n scalars to n.
template <typename Op>
static LogicalResult verifyCombine(Op op) {
  if (op.getSources().empty()) {
    return op.emitOpError("expected at least one source");
  }
  ArrayRef<int64_t> shape = op.getSourceShape();
  int64_t axis = static_cast<int32_t>(op.getAxis());
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size())) {
    return op.emitOpError("expected 0 <= axis < ")
           << shape.size() << ", got " << axis;
  }
  SmallVector<Type> elements;
  for (Value source : op.getSources()) {
    if (getShape(source.getType()) != shape) {
      return op.emitOpError("expected sources of one shape, got [")
             << shape << "] and [" << getShape(source.getType()) << "]";
    }
    elements.push_back(getElement(source.getType()));
  }
  Block &block = op.getCombine().front();
  SmallVector<Type> arguments(elements);
  arguments.append(elements);
  if (TypeRange(block.getArgumentTypes()) != TypeRange(arguments)) {
    return op.emitOpError("expected combine arguments (")
           << arguments << "), got (" << block.getArgumentTypes() << ")";
  }
  auto yield = dyn_cast_if_present<YieldOp>(
      block.mightHaveTerminator() ? block.getTerminator() : nullptr);
  if (!yield || yield.getValues().getTypes() != TypeRange(elements)) {
    return op.emitOpError("expected the region to yield (") << elements << ")";
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(verifyCombine(*this))) {
    return failure();
  }
  SmallVector<int64_t> shape(getSourceShape());
  shape.erase(shape.begin() + getAxis());
  for (auto [source, result] : llvm::zip_equal(getSources(), getResults())) {
    Type element = getElement(source.getType());
    bool isTensor = isa<RankedTensorType>(result.getType());
    if (isTensor == shape.empty() ||
        getShape(result.getType()) != ArrayRef<int64_t>(shape) ||
        getElement(result.getType()) != element) {
      Type expected =
          shape.empty() ? element : Type(RankedTensorType::get(shape, element));
      return emitOpError("expected a result of type ")
             << expected << ", got " << result.getType();
    }
  }
  return success();
}

Placement ReduceOp::getOperandPlacement(unsigned index) {
  return {index == 0 ? Placement::Anywhere : Placement::LikeOperand};
}

Placement ReduceOp::getResultPlacement(unsigned) {
  return {Placement::Reduced, getAxis()};
}

LogicalResult ScanOp::verify() {
  if (failed(verifyCombine(*this))) {
    return failure();
  }
  if (getSources().getTypes() != getResults().getTypes()) {
    return emitOpError("expected results of the sources' types");
  }
  return success();
}

Placement ScanOp::getOperandPlacement(unsigned) {
  return {Placement::AlongAxis, getAxis()};
}

Placement ScanOp::getResultPlacement(unsigned index) {
  return {Placement::LikeOperand, index};
}

Placement HistogramOp::getOperandPlacement(unsigned index) {
  return {index == 0 ? Placement::Anywhere : Placement::LikeOperand};
}

/// The counts.
SmallVector<Type> HistogramOp::getSharedBlocks() { return {getType()}; }

bool HistogramOp::mayBranch() { return true; }

LogicalResult DotOp::verify() {
  ArrayRef<int64_t> a = getLhs().getType().getShape();
  ArrayRef<int64_t> b = getRhs().getType().getShape();
  ArrayRef<int64_t> c = getC().getType().getShape();
  if (a.size() != b.size() || a.size() != c.size() || a.size() < 2 ||
      a.size() > 3) {
    return emitOpError("expected operands of one rank, 2 or 3, got ")
           << a.size() << ", " << b.size() << " and " << c.size();
  }
  if (a.size() == 3 && (a[0] != b[0] || a[0] != c[0])) {
    return emitOpError("expected one batch size, got ")
           << a[0] << ", " << b[0] << " and " << c[0];
  }
  int64_t m = a[a.size() - 2], k = a.back();
  if (b[b.size() - 2] != k) {
    return emitOpError("expected K of 'lhs' (")
           << k << ") to equal K of 'rhs' (" << b[b.size() - 2] << ")";
  }
  if (c[c.size() - 2] != m || c.back() != b.back()) {
    return emitOpError("expected 'c' of ")
           << m << "x" << b.back() << ", got " << c[c.size() - 2] << "x"
           << c.back();
  }
  Type lhs = getElement(getLhs().getType()),
       rhs = getElement(getRhs().getType());
  bool bothFp8 = isa<Float8E4M3FNType, Float8E5M2Type>(lhs) &&
                 isa<Float8E4M3FNType, Float8E5M2Type>(rhs);
  if (lhs != rhs && !bothFp8) {
    return emitOpError("expected operands of one element type, got ")
           << lhs << " and " << rhs;
  }
  Type acc = getElement(getC().getType());
  bool legal = lhs.isInteger(8) ? acc.isInteger(32)
               : lhs.isF64()    ? acc.isF64()
               : lhs.isF16() || bothFp8
                   ? acc.isF32() || acc.isF16()
                   : (lhs.isBF16() || lhs.isF32()) && acc.isF32();
  if (!legal) {
    return emitOpError("operands of type ")
           << lhs << " cannot be accumulated in " << acc;
  }
  return success();
}

} // namespace nereid::tile
