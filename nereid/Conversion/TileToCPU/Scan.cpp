//===- Scan.cpp - Running combinations ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the other dimensions fill a vector, lanes are independent scans and a
// loop goes along the axis. Else the axis itself is vectorised: within a chunk
// log2(lanes) steps combine each lane with the one 1, 2, 4, ... before it, and
// the last lane is carried to the next chunk.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Nest.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace nereid::tocpu {

void Nest::scheduleScan(bool scalarOnly) {
  int axis = step.axis;
  schedule = chooseSchedule(kernel, step, scalarOnly, true);
  if (scalarOnly || !schedule.axisIsVector) {
    int64_t others = 1;
    for (auto [d, size] : llvm::enumerate(step.shape)) {
      others *= static_cast<int>(d) == axis ? 1 : size;
    }
    if (scalarOnly || others >= 8 || step.shape[axis] < 8) {
      return;
    }
    unsigned lanes = schedule.restLanes;
    schedule = Schedule();
    schedule.axis = axis;
    for (int d = 0; d < static_cast<int>(step.shape.size()); ++d) {
      if (d != axis) {
        schedule.outer.push_back(d);
      }
    }
    schedule.vector = {axis};
    schedule.extent = step.shape[axis];
    schedule.axisIsVector = true;
    lanes = std::max(lanes, kernel.target.vectorBytes / 8);
    schedule.lanes = schedule.restLanes =
        std::min<uint64_t>(lanes, llvm::PowerOf2Ceil(schedule.extent));
  }
}

/// The chunk's lanes in the order of the scan.
Coord Nest::scanOrder(ElementEmitter &evaluator, const Coord &coord) {
  auto scan = dyn_cast_or_null<tile::ScanOp>(step.sinks.front().op);
  if (!scan || !scan.getReverse()) {
    return coord;
  }
  Coord result = evaluator.scaled(coord, -1);
  result.offset += step.shape[schedule.axis] - 1;
  result.divisor = 1;
  return result;
}

void Nest::scanStep(ElementEmitter &evaluator, Accumulator &accumulator,
                    unsigned coords) {
  const Combiner &combiner = *accumulator.combiner;
  unsigned level = evaluator.innermost();
  Operation *op = accumulator.sink->op;
  SmallVector<Value> current;
  for (auto [i, source] : llvm::enumerate(op->getOperands())) {
    Value value = evaluator.vectorOf(evaluator.evaluate(source, coords));
    current.push_back(combiner.toPartial(evaluator.at(level), value, i));
  }
  LaneOps ops = evaluator.at(level);
  int64_t lanes = evaluator.lanes;
  bool along = schedule.axisIsVector;
  for (int64_t step = 1; along && step < lanes; step *= 2) {
    SmallVector<int64_t> order, later;
    for (int64_t i = 0; i < lanes; ++i) {
      order.push_back(i < step ? i : i - step);
      later.push_back(i >= step);
    }
    SmallVector<Value> shifted;
    for (Value value : current) {
      shifted.push_back(ops.shuffle(value, order));
    }
    SmallVector<Value> combined = combiner.combine(ops, shifted, current);
    Value mask = ops.lanesOf(ops.b.getI1Type(), later);
    for (auto [value, next] : llvm::zip(current, combined)) {
      value = arith::SelectOp::create(ops.b, ops.loc, mask, next, value);
    }
  }
  // accumulator.values: the flag, unless there is an identity, then prefixes.
  bool flagged = !combiner.hasIdentity();
  ValueRange old = accumulator.values;
  SmallVector<Value> before;
  for (Value value : flagged ? old.drop_front() : old) {
    before.push_back(along ? ops.splat(value, lanes) : value);
  }
  SmallVector<Value> result = combiner.combine(ops, before, current);
  for (unsigned i = 0; i < combiner.size(); ++i) {
    if (flagged) {
      result[i] = arith::SelectOp::create(ops.b, ops.loc, old[0], result[i],
                                          current[i]);
    }
    accumulator.values[i + flagged] =
        along ? ops.extract(result[i], lanes - 1) : result[i];
  }
  if (flagged) {
    accumulator.values[0] = ops.integer(ops.b.getI1Type(), 1);
  }
  for (auto [i, tensor] : llvm::enumerate(op->getResults())) {
    Value value = combiner.fromPartial(evaluator.at(level), result[i], i);
    evaluator.storeBuffer(destinations[tensor], coords, {value, level}, level);
  }
}

} // namespace nereid::tocpu
