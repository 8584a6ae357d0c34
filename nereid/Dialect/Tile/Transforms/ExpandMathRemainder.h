//===- ExpandMathRemainder.h - x - trunc(x / y) * y, exactly ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHREMAINDER_H
#define NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHREMAINDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

namespace nereid::tile {

/// C's fmod of f32 or f64 scalars: exact, with the sign of x; NaN where x is
/// infinite, y is zero or either is NaN.
mlir::Value expandRemainder(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Value x, mlir::Value y);

} // namespace nereid::tile

#endif // NEREID_DIALECT_TILE_TRANSFORMS_EXPANDMATHREMAINDER_H
