//===- AccumulateProducts.h - Sums inside of products -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOTILEGPU_ACCUMULATEPRODUCTS_H
#define NEREID_CONVERSION_TILETOTILEGPU_ACCUMULATEPRODUCTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::totilegpu {

/// `c + dot(a, b)`, as kernels write `acc += tl.dot(a, b)`, becomes a product
/// that begins with c, as the matrix instructions do: a second block of
/// accumulators would take as many registers again. Sums of floats only with
/// `fpFusion`, because they are rounded in another order.
void accumulateProducts(mlir::func::FuncOp kernel, bool fpFusion);

} // namespace nereid::totilegpu

#endif // NEREID_CONVERSION_TILETOTILEGPU_ACCUMULATEPRODUCTS_H
