//===- NarrowComparisons.h - Bounds in 32 bits ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_CONVERSION_TILETOTILEGPU_NARROWCOMPARISONS_H
#define NEREID_CONVERSION_TILETOTILEGPU_NARROWCOMPARISONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace nereid::totilegpu {

/// 64-bit comparisons of `uniform + range` with a uniform bound become 32-bit
/// comparisons of the range, with the same results.
void narrowComparisons(mlir::func::FuncOp kernel);

} // namespace nereid::totilegpu

#endif // NEREID_CONVERSION_TILETOTILEGPU_NARROWCOMPARISONS_H
