//===- PairOrder.h - Reductions to the extreme of pairs --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// tl.argmax and its kin reduce (value, index) pairs by a region of a dozen
// operations. IRGen, which makes it, says what it computes, and a target may
// compute that by other instructions.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_DIALECT_TILE_IR_PAIRORDER_H
#define NEREID_DIALECT_TILE_IR_PAIRORDER_H

#include "nereid/Dialect/Tile/IR/Tile.h"

#include <optional>

namespace nereid::tile {

/// Of two sources, a value and an i32: the pair with the greatest or the least
/// value, of equal ones that with the least i32. NaN is worse than any number,
/// and equal to NaN; -0 equals 0.
enum class PairOrder : uint8_t {
  Greatest,
  Least,
  GreatestUnsigned,
  LeastUnsigned
};

inline void setPairOrder(ReduceOp op, PairOrder order) {
  op->setAttr("tile.pair_order",
              mlir::Builder(op.getContext())
                  .getI32IntegerAttr(static_cast<int32_t>(order)));
}

/// Absent where it is not known, and the region has to be asked.
inline std::optional<PairOrder> pairOrderOf(ReduceOp op) {
  if (auto order = op->getAttrOfType<mlir::IntegerAttr>("tile.pair_order")) {
    return static_cast<PairOrder>(order.getInt());
  }
  return std::nullopt;
}

} // namespace nereid::tile

#endif // NEREID_DIALECT_TILE_IR_PAIRORDER_H
