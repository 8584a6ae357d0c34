//===- Broadcast.cpp - Shapes meeting shapes --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/IRGen/Eval/Emitter.h"

namespace nereid::irgen {

LogicalResult Emitter::checkShape(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 1) {
      return diag.error(
          "a block's extents must be at least 1, got shape " + shapeStr(shape) +
          "; expected a list of positive integers known while compiling");
    }
    if (extent > maxTensorElements || (count *= extent) > maxTensorElements) {
      return diag.error("a block of shape " + shapeStr(shape) +
                            " has more than " +
                            std::to_string(maxTensorElements) + " elements",
                        "make the block smaller and loop over it");
    }
  }
  return success();
}

Tensor Emitter::splat(Tensor scalar, llvm::ArrayRef<int64_t> shape) {
  if (shape.empty()) {
    return scalar;
  }
  mlir::Type type = mlir::RankedTensorType::get(shape, scalar.value.getType());
  // A splat constant at once: it is what every pass would fold this to.
  if (auto op = scalar.value.getDefiningOp<mlir::arith::ConstantOp>()) {
    auto attr = mlir::DenseElementsAttr::get(
        mlir::cast<mlir::ShapedType>(type),
        llvm::ArrayRef<mlir::Attribute>{op.getValue()});
    return {create<mlir::arith::ConstantOp>(attr), scalar.type};
  }
  return {create<tile::SplatOp>(type, scalar.value), scalar.type};
}

Tensor Emitter::toScalar(Tensor x) {
  if (!x.isBlock()) {
    return x;
  }
  if (x.rank() > 1) {
    x.value = create<tile::ReshapeOp>(typeOf(x.type, {1}), x.value);
  }
  mlir::Type element = typeOf(x.type);
  auto reduce = create<tile::ReduceOp>(mlir::TypeRange{element},
                                       mlir::ValueRange{x.value}, 0u);
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Block *block = builder.createBlock(&reduce.getCombine(), {},
                                           {element, element}, {loc(), loc()});
  create<tile::YieldOp>(mlir::ValueRange{block->getArgument(0)});
  return {reduce.getResults()[0], x.type};
}

Tensor Emitter::expandDims(Tensor x, int64_t axis) {
  llvm::SmallVector<int64_t> shape(x.shape());
  shape.insert(shape.begin() + axis, 1);
  if (!x.isBlock()) {
    return splat(x, shape);
  }
  mlir::Type type = typeOf(x.type, shape);
  return {create<tile::ExpandDimsOp>(type, x.value, static_cast<int32_t>(axis)),
          x.type};
}

FailureOr<Tensor> Emitter::broadcastTo(Tensor x, llvm::ArrayRef<int64_t> shape,
                                       llvm::StringRef what) {
  if (x.shape() == shape) {
    return x;
  }
  if (failed(checkShape(shape))) {
    return failure();
  }
  if (!x.isBlock()) {
    return splat(x, shape);
  }
  std::optional<llvm::SmallVector<int64_t>> common =
      broadcastShape(x.shape(), shape);
  if (!common || llvm::ArrayRef<int64_t>(*common) != shape) {
    std::string subject = what.empty() ? "a block" : what.str();
    return diag.error(subject + " of shape " + shapeStr(x.shape()) +
                      " cannot be broadcast to " + shapeStr(shape) +
                      "; expected each size to be 1 or that of the new shape, "
                      "counted from the last dimension");
  }
  while (x.rank() < static_cast<int64_t>(shape.size())) {
    x = expandDims(x, 0);
  }
  if (x.shape() != shape) {
    x = {create<tile::BroadcastOp>(typeOf(x.type, shape), x.value), x.type};
  }
  return x;
}

/// What to write when [64] meets [32]: most often an axis is missing.
static std::string shapeHint(llvm::ArrayRef<int64_t> a,
                             llvm::ArrayRef<int64_t> b) {
  if (a.size() == 1 && b.size() == 1) {
    return "to combine every element of one with every element of the other, "
           "write x[:, None] and y[None, :]";
  }
  if (a.size() != b.size()) {
    return "the shorter shape gets axes of size 1 in front; write x[:, None] "
           "to add one at the end";
  }
  return "extents must be equal, or one of them 1";
}

LogicalResult Emitter::broadcast(Tensor &a, Tensor &b, llvm::StringRef what) {
  std::optional<llvm::SmallVector<int64_t>> shape =
      broadcastShape(a.shape(), b.shape());
  if (!shape) {
    std::string subject = what.empty() ? "" : what.str() + ": ";
    return diag.error(subject + "shapes " + shapeStr(a.shape()) + " and " +
                          shapeStr(b.shape()) + " do not match",
                      shapeHint(a.shape(), b.shape()));
  }
  FailureOr<Tensor> wideA = broadcastTo(a, *shape);
  FailureOr<Tensor> wideB = broadcastTo(b, *shape);
  if (failed(wideA) || failed(wideB)) {
    return failure();
  }
  a = *wideA;
  b = *wideB;
  return success();
}

} // namespace nereid::irgen
