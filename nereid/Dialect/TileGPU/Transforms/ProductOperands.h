//===- ProductOperands.h - Where a product's operands come from -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_PRODUCTOPERANDS_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_PRODUCTOPERANDS_H

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nereid::tilegpu {

/// One operand, one result, element by element.
inline bool isUnary(mlir::Operation *op) {
  return op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         op->getNumRegions() == 0 && mlir::isMemoryEffectFree(op) &&
         (op->hasTrait<mlir::OpTrait::Elementwise>() ||
          mlir::isa<tile::ConvertFloatOp, tile::HintOp>(op));
}

/// What a value is a transpose or an element-wise image of.
inline mlir::Value sourceOf(mlir::Value value) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (!mlir::isa<tile::TransposeOp>(op) && !isUnary(op)) {
      break;
    }
    value = op->getOperand(0);
  }
  return value;
}

inline bool feedsProduct(ConvertLayoutOp op) {
  return llvm::any_of(op->getUsers(), [&](mlir::Operation *user) {
    auto dot = mlir::dyn_cast<tile::DotOp>(user);
    return dot && dot->hasAttr(mmaAttr) &&
           (dot.getLhs() == op.getResult() || dot.getRhs() == op.getResult());
  });
}

inline bool isWarpgroupProduct(mlir::Operation *op) {
  return mlir::isa<tile::DotOp>(op) && op->hasAttr(warpgroupMmaAttr);
}

/// What a value is a transpose of.
inline mlir::Value untransposed(mlir::Value value) {
  while (auto transpose = value.getDefiningOp<tile::TransposeOp>()) {
    value = transpose.getSource();
  }
  return value;
}

/// Dimensions of what `value` is a transpose of, of a transpose perhaps, in the
/// order of its own; empty where they are the same.
inline llvm::SmallVector<int32_t> orderOfUntransposed(mlir::Value value) {
  llvm::SmallVector<int32_t> order;
  while (auto transpose = value.getDefiningOp<tile::TransposeOp>()) {
    llvm::ArrayRef<int32_t> inner = transpose.getOrder();
    if (order.empty()) {
      order.assign(inner.begin(), inner.end());
    } else {
      for (int32_t &dimension : order) {
        dimension = inner[dimension];
      }
    }
    value = transpose.getSource();
  }
  return llvm::is_sorted(order) ? llvm::SmallVector<int32_t>() : order;
}

/// A constant, perhaps in another format of floats.
inline bool isPositiveZero(mlir::Value value) {
  mlir::Operation *from = value.getDefiningOp();
  while (llvm::isa_and_nonnull<tile::SplatOp, tile::ConvertFloatOp>(from)) {
    from = from->getOperand(0).getDefiningOp();
  }
  auto constant = llvm::dyn_cast_or_null<mlir::arith::ConstantOp>(from);
  if (!constant) {
    return false;
  }
  mlir::Attribute one = constant.getValue();
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(one)) {
    if (!dense.isSplat()) {
      return false;
    }
    one = dense.getSplatValue<mlir::Attribute>();
  }
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(one)) {
    return number.getValue().isPosZero();
  }
  auto number = mlir::dyn_cast<mlir::IntegerAttr>(one);
  return number && number.getValue().isZero();
}

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_PRODUCTOPERANDS_H
