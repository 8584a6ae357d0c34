//===- ConstantStrides.h - By how much a tile grows per step ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along which dimensions do integers and addresses grow by a constant amount,
// wherever one starts? Then the elements of a thread lie at constant distances
// from its first one: one address in registers serves them all. Strides hold
// modulo 2^32, or modulo 2^width in narrower types, and have either sign. As in
// AxisInfo, an i32 index that wraps on its way to an address is not expected;
// narrower ones do wrap, and keep only what is equal.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ANALYSIS_CONSTANTSTRIDES_H
#define NEREID_ANALYSIS_CONSTANTSTRIDES_H

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace nereid {

class ConstantStrides {
public:
  /// One entry a dimension: value(i + k) - value(i) is k times it for all i;
  /// bytes for addresses. Computed when asked for, once a value.
  using Strides = llvm::SmallVector<std::optional<int64_t>>;
  const Strides &get(mlir::Value tensor);

private:
  Strides compute(mlir::Value tensor);

  llvm::DenseMap<mlir::Value, std::unique_ptr<Strides>> known;
};

} // namespace nereid

#endif // NEREID_ANALYSIS_CONSTANTSTRIDES_H
