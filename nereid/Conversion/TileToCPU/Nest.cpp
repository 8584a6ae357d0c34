//===- Nest.cpp - One loop nest -------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Nest.h"

#include "nereid/Conversion/TileToCPU/Forms.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <functional>

using namespace mlir;

namespace nereid::tocpu {

static OpBuilder::InsertPoint before(Operation *op) {
  return {op->getBlock(), Block::iterator(op)};
}
static OpBuilder::InsertPoint endOf(Block *block) {
  return {block, block->end()};
}

Nest::Nest(LoopEmitter &kernel, Step &step, const Packing *packing)
    : kernel(kernel), step(step), packing(packing) {}

/// Buffers are bound after the nest: inside of it, their tensors are values.
void Nest::prepareBuffers() {
  for (const Sink &sink : step.sinks) {
    Buffer buffer;
    if (sink.kind == SinkKind::Materialize) {
      destinations[sink.value] = kernel.resultBuffer(sink.value);
      buffer = destinations[sink.value];
    } else if (sink.kind == SinkKind::Yield) {
      buffer = kernel.yieldBuffer(sink.index, sink.throughCopy);
    } else if (sink.kind == SinkKind::Part) {
      buffer = kernel.resultBuffer(sink.op->getResult(0));
      OpBuilder &b = kernel.b;
      int64_t skip = 0;
      if (auto cat = dyn_cast<tile::CatOp>(sink.op)) {
        int64_t size =
            tile::getShape(sink.op->getOperand(0).getType())[cat.getAxis()];
        skip = sink.index * size * buffer.strides[cat.getAxis()];
        buffer.shape.assign(tile::getShape(sink.value.getType()));
      } else {
        skip = sink.index * buffer.strides.back();
        buffer.shape.pop_back();
        buffer.strides.pop_back();
      }
      kernel.toTop();
      Type element = laneType(buffer.element);
      element = element.isInteger(1) ? Type(b.getI8Type()) : element;
      if (skip) {
        buffer.base = LLVM::GEPOp::create(
            b, kernel.loc, buffer.base.getType(), element, buffer.base,
            LLVM::GEPArg(static_cast<int32_t>(skip)));
      }
    } else if (sink.op) {
      for (Value result : sink.op->getResults()) {
        if (isa<RankedTensorType>(result.getType())) {
          destinations[result] = kernel.resultBuffer(result);
        }
      }
    }
    rootBuffers.push_back(buffer);
  }
}

void Nest::setAnchors(ElementEmitter &evaluator) {
  for (auto [level, anchor] : llvm::enumerate(anchors)) {
    evaluator.setAnchor(level, anchor);
  }
}

void Nest::tell(bool scalarOnly) {
  Decision d{"pass", "", "", "", ""};
  SmallVector<Operation *> ops;
  for (const Sink &sink : step.sinks) {
    Operation *op = sink.op ? sink.op : sink.value.getDefiningOp();
    if (op && !llvm::is_contained(ops, op)) {
      ops.push_back(op);
    }
  }
  if (ops.empty() || !tellsDecisions(ops.front()->getContext())) {
    return;
  }
  std::string shape;
  for (int64_t size : step.shape) {
    shape += (shape.empty() ? "" : "x") + std::to_string(size);
  }
  d.chosen = "one pass over " + shape;
  if (ops.size() > 1) {
    d.chosen += " for " + counted(ops.size(), "operation") + " (";
    for (Operation *op : ops) {
      d.chosen += (op == ops.front() ? "'" : ", '") +
                  op->getName().stripDialect().str() + "'" + inLine(op);
    }
    d.chosen += ")";
  }
  if (scalarOnly) {
    d.chosen += ", element by element";
    d.rejected = "in vectors";
    d.reason = "the function that combines two elements has control flow";
    d.hint = "tl.where instead of a branch";
  } else {
    d.chosen += ", vectors of " + counted(schedule.lanes, "element") +
                " along " +
                (schedule.collapsed()
                     ? "several short dimensions at once"
                     : "dimension " + std::to_string(schedule.vector.front()));
  }
  for (Operation *op : ops) {
    recordDecision(op->getLoc(), d);
  }
}

void Nest::emit() {
  if (step.sinks.empty()) {
    return;
  }
  prepareBuffers();
  createAccumulators();
  bool scalarOnly = false, sameLanes = false;
  for (const Accumulator &accumulator : accumulators) {
    scalarOnly |= !accumulator.combiner->hasVectorForm();
    sameLanes |= !accumulator.combiner->hasIdentity();
  }
  OpBuilder::InsertPoint outside = kernel.getTop();
  if (step.sinks.front().kind == SinkKind::Scan) {
    scheduleScan(scalarOnly);
  } else if (packing) {
    schedule = packing->schedule(step.shape);
  } else {
    schedule = chooseSchedule(kernel, step, scalarOnly, sameLanes);
  }
  tell(scalarOnly);
  turnLoads();
  if (step.sinks.front().kind == SinkKind::Structured) {
    Operation *op = step.sinks.front().op;
    kernel.toTop();
    structuredForm(op)->begin(kernel, op, destinations[op->getResult(0)]);
  }
  emitOuterLoops();
  kernel.setTop(endOf(outside.getBlock()));
  kernel.toTop();
  for (auto &[value, buffer] : turned) {
    kernel.unbind(value);
    kernel.release(buffer);
  }
  for (const Sink &sink : step.sinks) {
    if (sink.kind == SinkKind::Materialize) {
      kernel.bindResult(sink.value);
    } else if (sink.op &&
               (sink.kind != SinkKind::Part || kernel.isLastPart(sink.op))) {
      for (Value result : sink.op->getResults()) {
        if (isa<RankedTensorType>(result.getType())) {
          kernel.bindResult(result);
        }
      }
    }
  }
}

void Nest::emitOuterLoops() {
  outerCoords.assign(step.shape.size(), Coord());
  anchors.push_back(kernel.getTop());
  kernel.toTop();
  for (int dim : schedule.outer) {
    if (step.shape[dim] == 1) {
      continue;
    }
    LaneOps ops = kernel.ops();
    int64_t stride = packing && dim == packing->rows ? packing->count : 1;
    scf::ForOp loop =
        kernel.createFor(ops.i64(0), ops.i64(step.shape[dim]), ops.i64(stride));
    anchors.back() = before(loop);
    if (++depth == 1) {
      kernel.setTop(before(loop));
    }
    outerCoords[dim].base = loop.getInductionVar();
    outerCoords[dim].divisor = stride;
    outerCoords[dim].level = depth;
    anchors.push_back(endOf(loop.getBody()));
  }
  emitChunks();
  for (unsigned level = depth; level > 0; --level) {
    kernel.b.restoreInsertionPoint(endOf(anchors[level].getBlock()));
    kernel.yield({});
  }
}

/// Coordinates of the nest's positions for one chunk and one axis position.
unsigned Nest::coordsOf(ElementEmitter &evaluator, const Coord &chunk,
                        const Coord &axis) {
  Coords coords(outerCoords.begin(), outerCoords.end());
  if (schedule.axis >= 0 && !schedule.axisIsVector) {
    coords[schedule.axis] = scanOrder(evaluator, axis);
  }
  Coord linear = schedule.axisIsVector ? scanOrder(evaluator, chunk) : chunk;
  for (size_t i = schedule.vector.size(); i-- > 0;) {
    int dim = schedule.vector[i];
    if (i == 0) {
      coords[dim] = linear;
      break;
    }
    auto [quotient, remainder] = evaluator.divMod(linear, step.shape[dim]);
    coords[dim] = remainder;
    linear = quotient;
  }
  return evaluator.intern(coords);
}

void Nest::emitChunks() {
  int64_t extent = schedule.extent;
  unsigned lanes = schedule.lanes, rest = schedule.restLanes;
  bool alongVector = schedule.axisIsVector || schedule.axis < 0;
  OpBuilder &b = kernel.b;
  Block *block = b.getInsertionBlock();
  bool isScan = step.sinks.front().kind == SinkKind::Scan;
  if (alongVector) {
    resetAccumulators(isScan ? 1 : lanes);
  }
  std::optional<Stream> stream;
  if (!schedule.collapsed() && lanes > 1 && !isScan) {
    ElementEmitter probe(kernel, lanes);
    probe.isProbe = true;
    setAnchors(probe);
    // The bases stand for every chunk and every position along the axis.
    Coord chunk;
    chunk.pattern = probe.iota();
    chunk.base = kernel.opaqueZero;
    chunk.divisor = lanes;
    chunk.level = depth + 1;
    probe.setAnchor(depth + 1, b.saveInsertionPoint());
    Coord axis;
    if (!alongVector) {
      probe.setAnchor(depth + 2, b.saveInsertionPoint());
      axis.base = kernel.opaqueZero;
      axis.level = depth + 2;
    }
    unsigned coords = coordsOf(probe, chunk, axis);
    bounds = findBounds(probe, coords);
    if (accumulators.empty()) {
      stream = canStream(probe, coords);
    }
    b.setInsertionPointToEnd(block);
  }
  LaneOps ops = kernel.ops();
  Version main, remainder;
  main.lanes = lanes;
  main.assume = !bounds.conjuncts.empty();
  main.last = extent - extent % lanes;
  Value assumed = ops.i64(extent); // the masks hold up to there
  if (bounds.upper || bounds.condition) {
    Value upper = bounds.upper ? bounds.upper : ops.i64(extent);
    Value full = ops.sub(
        upper, arith::RemUIOp::create(b, ops.loc, upper, ops.i64(lanes)));
    if (bounds.condition) {
      Value zero = ops.i64(0);
      full = arith::SelectOp::create(b, ops.loc, bounds.condition, full, zero);
      upper =
          arith::SelectOp::create(b, ops.loc, bounds.condition, upper, zero);
    }
    assumed = upper;
    if (bounds.isExact) {
      full =
          arith::SelectOp::create(b, ops.loc, bounds.isExact, full, ops.i64(0));
      assumed = arith::SelectOp::create(b, ops.loc, bounds.isExact, upper,
                                        ops.i64(0));
      upper = arith::SelectOp::create(b, ops.loc, bounds.isExact, upper,
                                      ops.i64(extent));
    }
    main.lower = ops.i64(0);
    main.upper = remainder.lower = full;
    remainder.upper = bounds.storesOnly ? upper : ops.i64(extent);
  }
  remainder.first = main.last;
  remainder.last = extent;
  remainder.lanes = rest;
  remainder.masked = extent % rest != 0;
  if (main.last > 0) {
    if (stream) {
      remainder.lower = emitStreamed(main, remainder, assumed, *stream);
      remainder.upper =
          remainder.upper ? remainder.upper : kernel.ops().i64(extent);
      remainder.masked = remainder.unaligned = true;
    } else {
      emitVersion(main);
    }
  }
  if (remainder.lower || main.last < extent) {
    if (alongVector && !isScan) {
      narrowAccumulators(rest);
    }
    Version dead = remainder;
    if (Value from = stream ? nullptr : startOfDead(remainder)) {
      dead.lower = from;
      dead.isDead = true;
      remainder.upper = from;
    }
    emitVersion(remainder);
    if (dead.isDead) {
      emitVersion(dead);
    }
  }
  if (schedule.axisIsVector && !isScan) {
    finishAlongVector(std::min<int64_t>(
        extent, main.upper || main.last < extent ? rest : lanes));
  }
}

/// Where the last version of the loops begins; null: there is none.
Value Nest::startOfDead(const Version &remainder) {
  constexpr int64_t fewChunks = 4;
  if (!bounds.last || bounds.storesOnly ||
      schedule.extent <= fewChunks * static_cast<int64_t>(remainder.lanes)) {
    return nullptr;
  }
  LaneOps ops = kernel.ops();
  auto chunk = static_cast<int64_t>(remainder.lanes);
  Value last = ops.add(bounds.last, ops.i64(chunk - 1));
  last = ops.sub(last,
                 arith::RemUIOp::create(ops.b, ops.loc, last, ops.i64(chunk)));
  last = arith::MaxSIOp::create(ops.b, ops.loc, last, remainder.lower);
  last = arith::MinSIOp::create(ops.b, ops.loc, last, remainder.upper);
  return bounds.isExact
             ? Value(arith::SelectOp::create(ops.b, ops.loc, bounds.isExact,
                                             last, remainder.upper))
             : last;
}

/// Two copies of the main loop. What both compute stands before both. Stores
/// past the cache begin with a whole line; what lies before it is masked.
/// Returns where the remainder begins.
Value Nest::emitStreamed(const Version &main, const Version &remainder,
                         Value assumed, const Stream &stream) {
  OpBuilder &b = kernel.b;
  auto branch = scf::IfOp::create(b, kernel.loc, TypeRange{b.getI64Type()},
                                  stream.condition, /*withElseRegion=*/true);
  OpBuilder::InsertPoint end = endOf(branch->getBlock());
  OpBuilder::InsertPoint saved = anchors.back();
  anchors.back() = before(branch);
  if (depth == 0) {
    kernel.setTop(before(branch));
  }
  pinned = true;
  auto emitInto = [&](Block *block, llvm::function_ref<Value()> body) {
    if (!block->empty()) {
      block->back().erase();
    }
    b.setInsertionPointToEnd(block);
    Value next = body();
    b.setInsertionPointToEnd(block);
    scf::YieldOp::create(b, kernel.loc, next);
  };
  emitInto(branch.thenBlock(), [&] {
    LaneOps ops = kernel.ops();
    Value first = arith::MinSIOp::create(b, kernel.loc, stream.first, assumed);
    Value rest = ops.sub(assumed, first);
    Value whole = ops.sub(
        rest, arith::RemUIOp::create(b, kernel.loc, rest, ops.i64(main.lanes)));
    Version before = remainder, inLines = main;
    before.lower = ops.i64(0);
    before.upper = before.limit = first;
    before.masked = true;
    before.assume = main.assume;
    inLines.lower = first;
    inLines.upper = ops.add(first, whole);
    inLines.nontemporal = inLines.unaligned = true;
    emitVersion(before);
    emitVersion(inLines);
    return inLines.upper;
  });
  emitInto(branch.elseBlock(), [&] {
    emitVersion(main);
    return main.upper ? main.upper : kernel.ops().i64(main.last);
  });
  pinned = false;
  anchors.back() = saved;
  kernel.usesStreaming = true;
  b.restoreInsertionPoint(end);
  return branch.getResult(0);
}

void Nest::emitVersion(const Version &version) {
  OpBuilder &b = kernel.b;
  LaneOps ops = kernel.ops();
  ElementEmitter evaluator(kernel, version.lanes);
  evaluator.skipsDead = bounds.any() && !version.assume && !version.isDead;
  OpBuilder::InsertPoint saved = anchors.back();
  Coord chunk;
  chunk.pattern = version.lanes > 1 ? evaluator.iota() : nullptr;
  bool once = version.isStatic() && version.last - version.first <=
                                        static_cast<int64_t>(version.lanes);
  if (once) {
    chunk.offset = version.first;
    if (!pinned) {
      anchors.back() = b.saveInsertionPoint();
    }
    setAnchors(evaluator);
    evaluator.setAnchor(depth + 1, b.saveInsertionPoint());
    emitChunk(evaluator, version, chunk);
    anchors.back() = saved;
    return;
  }
  Value lower = version.lower ? version.lower : ops.i64(version.first);
  Value upper = version.upper ? version.upper : ops.i64(version.last);
  scf::ForOp loop =
      kernel.createFor(lower, upper, ops.i64(version.lanes), carried());
  OpBuilder::InsertPoint after(loop->getBlock(),
                               std::next(Block::iterator(loop)));
  if (!pinned) {
    anchors.back() = before(loop);
    if (depth == 0) {
      kernel.setTop(before(loop));
    }
  }
  setAnchors(evaluator);
  evaluator.setAnchor(depth + 1, endOf(loop.getBody()));
  setCarried(loop.getRegionIterArgs());
  chunk.base = loop.getInductionVar();
  chunk.divisor = version.unaligned ? 1 : version.lanes;
  chunk.level = depth + 1;
  emitChunk(evaluator, version, chunk);
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, kernel.loc, carried());
  setCarried(loop.getResults());
  b.restoreInsertionPoint(after);
  anchors.back() = saved;
  if (depth == 0 && !pinned) {
    kernel.setTop(endOf(loop->getBlock()));
  }
}

void Nest::emitChunk(ElementEmitter &evaluator, const Version &version,
                     const Coord &chunk) {
  if (version.masked) {
    LaneOps ops = evaluator.at(depth + 1);
    Type i32Type = ops.b.getI32Type();
    Value position = evaluator.coordLanes(chunk, i32Type);
    ops = evaluator.at(depth + 1);
    Value limit = version.limit
                      ? ops.splat(arith::TruncIOp::create(
                                      ops.b, ops.loc, i32Type, version.limit),
                                  version.lanes)
                      : ops.integer(position.getType(), schedule.extent);
    evaluator.laneMask = arith::CmpIOp::create(
        ops.b, ops.loc, arith::CmpIPredicate::slt, position, limit);
  }
  if (schedule.axis >= 0 && !schedule.axisIsVector) {
    return emitAxis(evaluator, version, chunk);
  }
  unsigned coords = coordsOf(evaluator, chunk, Coord());
  assumeBounds(evaluator, coords, version.assume, false);
  if (version.isDead) {
    assumeNoneHolds(evaluator, coords);
  }
  emitSinks(evaluator, coords, version.nontemporal);
  if (!version.masked && !version.isDead && version.lanes > 1 &&
      !schedule.collapsed()) {
    emitPrefetches(evaluator, coords, chunk, version.nontemporal);
  }
}

/// Part of the loop along an axis. `assumeAxis`: the masks that bound it hold.
void Nest::emitAxisLoop(ElementEmitter &evaluator, const Version &version,
                        const Coord &chunk, Value lower, Value upper,
                        bool assumeAxis) {
  OpBuilder &b = kernel.b;
  LaneOps ops = evaluator.at(depth + 1);
  Block *block = b.getInsertionBlock();
  scf::ForOp loop = kernel.createFor(lower, upper, ops.i64(1), carried());
  evaluator.enter(loop);
  evaluator.setAnchor(depth + 2, endOf(loop.getBody()));
  setCarried(loop.getRegionIterArgs());
  Coord axis;
  axis.base = loop.getInductionVar();
  axis.level = depth + 2;
  unsigned coords = coordsOf(evaluator, chunk, axis);
  assumeBounds(evaluator, coords, version.assume, assumeAxis);
  if (version.isDead) {
    assumeNoneHolds(evaluator, coords);
  }
  emitSinks(evaluator, coords, false);
  if (!version.masked && !version.isDead && version.lanes > 1 &&
      !schedule.collapsed()) {
    fetchPieces(evaluator, coords, chunk);
  }
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(b, kernel.loc, carried());
  setCarried(loop.getResults());
  evaluator.leave(loop);
  evaluator.setAnchor(depth + 2, endOf(block));
  b.setInsertionPointToEnd(block);
}

/// A reduction across another dimension than the vector's: a loop along it
/// inside of every chunk. Short axes are unrolled.
void Nest::emitAxis(ElementEmitter &evaluator, const Version &version,
                    const Coord &chunk) {
  resetAccumulators(version.lanes);
  int64_t size = step.shape[schedule.axis];
  if (size <= maxUnrolledAxis) {
    for (int64_t i = 0; i < size; ++i) {
      Coord axis;
      axis.offset = i;
      unsigned coords = coordsOf(evaluator, chunk, axis);
      assumeBounds(evaluator, coords, version.assume, false);
      if (version.isDead) {
        assumeNoneHolds(evaluator, coords);
      }
      emitSinks(evaluator, coords, false);
    }
  } else {
    LaneOps ops = evaluator.at(depth + 1);
    Value begin = ops.i64(0), end = ops.i64(size);
    if (version.lanes > 1 && bounds.axisUpper && !version.isDead) {
      emitAxisLoop(evaluator, version, chunk, begin, bounds.axisUpper, true);
      begin = bounds.axisUpper;
      evaluator.skipsDead = true;
    }
    emitAxisLoop(evaluator, version, chunk, begin, end, false);
  }
  if (step.sinks.front().kind != SinkKind::Scan) {
    finishAlongAxis(evaluator, chunk);
  }
  for (Accumulator &accumulator : accumulators) {
    accumulator.values.clear(); // nothing is carried from chunk to chunk
  }
}

/// All operands are evaluated before anything is written, so that a chunk
/// reads what was there before it.
void Nest::emitSinks(ElementEmitter &evaluator, unsigned coords,
                     bool nontemporal) {
  if (packing) {
    return emitPacked(evaluator, coords);
  }
  SmallVector<std::pair<Operation *, std::function<void()>>> effects;
  for (auto [i, sink] : llvm::enumerate(step.sinks)) {
    Operation *op = sink.op ? sink.op : sink.value.getDefiningOp();
    SourcePlace place(kernel, op);
    auto later = [&effects, op](std::function<void()> effect) {
      effects.emplace_back(op, std::move(effect));
    };
    switch (sink.kind) {
    case SinkKind::Materialize:
    case SinkKind::Yield:
    case SinkKind::Part: {
      Lane value = evaluator.evaluate(sink.value, coords);
      value.value =
          evaluator.at(value.level)
              .convert(value.value, tile::getElement(sink.value.getType()),
                       rootBuffers[i].element, sink.isUnsigned);
      if (sink.flipsSign) {
        value.value = flipSign(evaluator.at(value.level), value.value);
      }
      later([&, i = i, value] {
        evaluator.storeBuffer(rootBuffers[i], coords, value,
                              evaluator.innermost());
      });
      break;
    }
    case SinkKind::Store: {
      auto store = cast<tile::StoreAccess>(sink.op);
      Lane value = evaluator.evaluate(store.getValue(), coords);
      LanePointer to = evaluator.pointer(store.getPtr(), coords);
      Lane mask = evaluator.activeMask(store.getMask(), coords);
      if (knownMask(mask.value) == false) {
        break;
      }
      Type element = laneType(tile::getElement(store.getValue().getType()));
      bool stream = nontemporal && kernel.canStream(store);
      evaluator.reportStore(store, to, element, static_cast<bool>(mask.value));
      later([&, value, to, mask, element, stream] {
        evaluator.store(to, element, value.value, mask, stream);
      });
      break;
    }
    case SinkKind::Reduce:
      for (Accumulator &accumulator : accumulators) {
        if (accumulator.sink == &sink) {
          accumulate(evaluator, accumulator, coords);
        }
      }
      break;
    case SinkKind::Scan:
      scanStep(evaluator, accumulators.front(), coords);
      break;
    case SinkKind::Atomic:
      for (Value operand : sink.op->getOperands()) {
        if (!isa<tile::PtrType>(tile::getElement(operand.getType()))) {
          evaluator.evaluate(operand, coords);
        }
      }
      later([&] { atomicLanes(evaluator, sink.op, coords); });
      break;
    case SinkKind::Service:
      later([&] { serviceLanes(evaluator, sink.op, coords); });
      break;
    case SinkKind::Structured:
      later([&] {
        structuredForm(sink.op)->lanes(evaluator, sink.op, coords,
                                       destinations[sink.op->getResult(0)]);
      });
      break;
    }
  }
  for (const auto &[op, effect] : effects) {
    SourcePlace place(kernel, op);
    effect();
  }
  evaluator.at(evaluator.innermost());
}

} // namespace nereid::tocpu
