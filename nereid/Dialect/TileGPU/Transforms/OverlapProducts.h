//===- OverlapProducts.h - Products of two iterations at once ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILEGPU_TRANSFORMS_OVERLAPPRODUCTS_H
#define NEREID_DIALECT_TILEGPU_TRANSFORMS_OVERLAPPRODUCTS_H

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::tilegpu {

/// Of a loop of warps that compute with rings (SpecializeWarps), whose first
/// product needs nothing of what its last one adds to, as in attention: the
/// last product moves into the next iteration, after the start of that one's
/// first product, and ends where its result is used. Between the two run the
/// operations on the first product's result: exponentials under a product.
///
///   if the loop has an iteration:
///     compute iteration 0 up to its last product
///     for i from 1: start the first product of i, the last one of i - 1;
///       wait for the first; what needs it; wait for the last; what needs that
///     the last product of the last iteration
///
/// Where several groups of warps multiply, they start the two in turns.
/// A loop of another form stays as it is: false.
bool overlapProducts(mlir::scf::ForOp loop, bool hasGroups);

} // namespace nereid::tilegpu

#endif // NEREID_DIALECT_TILEGPU_TRANSFORMS_OVERLAPPRODUCTS_H
