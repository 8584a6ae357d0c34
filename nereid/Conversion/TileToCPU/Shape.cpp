//===- Shape.cpp - Elements that are picked from blocks -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Forms.h"

using namespace mlir;

namespace nereid::tocpu {

/// An index outside the axis must not read outside the tile: it is clamped.
static Lane evaluateGather(ElementEmitter &evaluator, OpResult result,
                           unsigned coords) {
  auto op = cast<tile::GatherOp>(result.getOwner());
  Lane index = evaluator.evaluate(op.getIndex(), coords);
  LaneOps ops = evaluator.at(index.level);
  int64_t size = tile::getShape(op.getSource().getType())[op.getAxis()];
  Value value = index.value;
  Type i64Type = typeLike(ops.b.getI64Type(), value);
  if (getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() < 64) {
    value = arith::ExtSIOp::create(ops.b, ops.loc, i64Type, value);
  }
  value = arith::MinUIOp::create(ops.b, ops.loc, value,
                                 ops.integer(i64Type, size - 1));
  Coords inner = evaluator.coordsOf(coords);
  Coord &axis = inner[op.getAxis()];
  axis = Coord();
  axis.level = index.level;
  if (isVector(value)) {
    axis.vector = arith::TruncIOp::create(
        ops.b, ops.loc, typeLike(ops.b.getI32Type(), value), value);
  } else {
    axis.base = value;
  }
  return evaluator.evaluate(op.getSource(), evaluator.intern(inner));
}

/// The source at other coordinates.
static Lane evaluateSlice(ElementEmitter &evaluator, OpResult result,
                          unsigned coords) {
  auto op = cast<tile::SliceOp>(result.getOwner());
  Coords inner;
  for (auto [coord, offset, stride] :
       llvm::zip_equal(Coords(evaluator.coordsOf(coords)), op.getOffsets(),
                       op.getStrides())) {
    Coord first;
    first.offset = offset;
    inner.push_back(evaluator.sum(evaluator.scaled(coord, stride), first));
  }
  return evaluator.evaluate(op.getSource(), evaluator.intern(inner));
}

void addShapeForms(FormTable &table) {
  table.add<tile::SliceOp>(
      {.evaluate = evaluateSlice, .cost = 0, .reads = {Reads::Elsewhere}});
  table.add<tile::GatherOp>(
      {.evaluate = evaluateGather, .cost = 4, .reads = {Reads::Memory}});
}

} // namespace nereid::tocpu
