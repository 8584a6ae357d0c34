//===- ShapeOps.cpp - Creation, shape, element order, program ids ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/Handlers.h"
#include "nereid/Interp/Machine.h"
#include "nereid/Interp/Walk.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include <chrono>

namespace nereid::interp {

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

static void runRange(Machine &m, const Step &step) {
  int64_t start = mlir::cast<tile::RangeOp>(step.op).getStart();
  TileValue &r = m.out(step);
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    r.ints[i] = wrap(32, start + i);
  }
}

/// Each element of the result is the one at the same row-major place of the
/// source, or its only one: splat, reshape, expand_dims, hint.
static void runSameOrder(Machine &m, const Step &step) {
  const TileValue &source = m.in(step, 0);
  TileValue &r = m.out(step);
  matchErrors(r, {&source});
  for (int64_t i = 0, n = r.size(); i < n; ++i) {
    copyElement(r, i, source, source.size() == 1 ? 0 : i);
  }
}

//===----------------------------------------------------------------------===//
// Element order
//===----------------------------------------------------------------------===//

/// result[index] = source at the sum of index[d] * strides[d].
static void pick(Machine &m, const Step &step, const Shape &strides) {
  const TileValue &source = m.in(step, 0);
  TileValue &r = m.out(step);
  matchErrors(r, {&source});
  walk(r.shape, strides,
       [&](int64_t i, int64_t offset) { copyElement(r, i, source, offset); });
}

static void runBroadcast(Machine &m, const Step &step) {
  const Shape &from = m.in(step, 0).shape;
  Shape strides = rowMajorStrides(from);
  for (size_t d = 0; d < from.size(); ++d) {
    strides[d] *= from[d] != 1;
  }
  pick(m, step, strides);
}

static void runTranspose(Machine &m, const Step &step) {
  Shape from = rowMajorStrides(m.in(step, 0).shape);
  Shape strides;
  for (int32_t d : mlir::cast<tile::TransposeOp>(step.op).getOrder()) {
    strides.push_back(from[d]);
  }
  pick(m, step, strides);
}

static void runJoin(Machine &m, const Step &step) {
  const TileValue &lhs = m.in(step, 0), &rhs = m.in(step, 1);
  TileValue &r = m.out(step);
  matchErrors(r, {&lhs, &rhs});
  for (int64_t i = 0, n = lhs.size(); i < n; ++i) {
    copyElement(r, 2 * i, lhs, i);
    copyElement(r, 2 * i + 1, rhs, i);
  }
}

static void runSplit(Machine &m, const Step &step) {
  const TileValue &source = m.in(step, 0);
  for (unsigned half = 0; half < 2; ++half) {
    TileValue &r = m.out(step, half);
    matchErrors(r, {&source});
    for (int64_t i = 0, n = r.size(); i < n; ++i) {
      copyElement(r, i, source, 2 * i + half);
    }
  }
}

static void runCat(Machine &m, const Step &step) {
  int32_t axis = mlir::cast<tile::CatOp>(step.op).getAxis();
  const TileValue &lhs = m.in(step, 0), &rhs = m.in(step, 1);
  TileValue &r = m.out(step);
  matchErrors(r, {&lhs, &rhs});
  Shape strides = rowMajorStrides(r.shape);
  int64_t first = 0; // where a part begins in the result
  for (const TileValue *part : {&lhs, &rhs}) {
    walk(part->shape, strides, [&](int64_t i, int64_t offset) {
      copyElement(r, first + offset, *part, i);
    });
    first += part->shape[axis] * strides[axis];
  }
}

static void runSlice(Machine &m, const Step &step) {
  auto op = mlir::cast<tile::SliceOp>(step.op);
  const TileValue &source = m.in(step, 0);
  TileValue &r = m.out(step);
  matchErrors(r, {&source});
  Shape strides = rowMajorStrides(source.shape);
  int64_t first = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    first += op.getOffsets()[d] * strides[d];
    strides[d] *= op.getStrides()[d];
  }
  walk(r.shape, strides, [&](int64_t i, int64_t offset) {
    copyElement(r, i, source, first + offset);
  });
}

/// An index outside the axis, which is undefined, gives zero.
static void runGather(Machine &m, const Step &step) {
  int32_t axis = mlir::cast<tile::GatherOp>(step.op).getAxis();
  const TileValue &source = m.in(step, 0), &index = m.in(step, 1);
  TileValue &r = m.out(step);
  matchErrors(r, {&source});
  Shape strides = rowMajorStrides(source.shape);
  int64_t along = strides[axis], extent = source.shape[axis];
  strides[axis] = 0;
  walk(r.shape, strides, [&](int64_t i, int64_t offset) {
    int64_t at = index.ints[i];
    if (at >= 0 && at < extent) {
      copyElement(r, i, source, offset + at * along);
    } else {
      setBits(r, i, 0);
      m.noteUndefined(step);
    }
    if (m.tracksErrors() && (index.isUnknown(i) || at < 0 || at >= extent)) {
      r.setUnknown(i);
    }
  });
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

static void runProgramId(Machine &m, const Step &step) {
  int32_t axis = mlir::cast<tile::ProgramIdOp>(step.op).getAxis();
  m.out(step).ints[0] = m.frame().programId[axis];
}

static void runNumPrograms(Machine &m, const Step &step) {
  int32_t axis = mlir::cast<tile::NumProgramsOp>(step.op).getAxis();
  m.out(step).ints[0] = m.frame().grid[axis];
}

/// Another executor has another value.
static void noteElsewhere(Machine &m, const Step &step) {
  if (m.tracksErrors()) {
    m.slot(step.results[0]).setUnknown(0);
  }
}

static void runGlobalTimer(Machine &m, const Step &step) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  m.out(step).ints[0] =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  noteElsewhere(m, step);
}

static void runProcessorId(Machine &m, const Step &step) {
  m.out(step).ints[0] = 0;
  noteElsewhere(m, step);
}

static void runNothing(Machine &, const Step &) {}

void addShapeHandlers(HandlerTable &table) {
  table["tile.range"] = {runRange};
  table["tile.splat"] = {runSameOrder};
  table["tile.reshape"] = {runSameOrder};
  table["tile.expand_dims"] = {runSameOrder};
  table["tile.hint"] = {runSameOrder, true};
  table["tile.broadcast"] = {runBroadcast};
  table["tile.transpose"] = {runTranspose};
  table["tile.join"] = {runJoin};
  table["tile.split"] = {runSplit};
  table["tile.cat"] = {runCat};
  table["tile.slice"] = {runSlice};
  table["tile.gather"] = {runGather};
  table["tile.program_id"] = {runProgramId};
  table["tile.num_programs"] = {runNumPrograms};
  table["tile.global_timer"] = {runGlobalTimer};
  table["tile.processor_id"] = {runProcessorId};
  table["tile.grid_dependency"] = {runNothing};
  // One program runs at a time and in order.
  table["tile.assume"] = {runNothing};
  table["tile.barrier"] = {runNothing};
}

} // namespace nereid::interp
