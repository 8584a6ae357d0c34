//===- Reduce.cpp - Combine regions and reductions ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reduction keeps one partial result a lane, in several registers, and
// combines them in a fixed tree at the end: the same bits in every run. Where
// an identity is known (sums, extrema) the partial results start with it;
// elsewhere a flag says whether they hold anything yet.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Nest.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace nereid::tocpu {

/// What leaves every x unchanged under `op`, or null.
static TypedAttr identityOf(Operation *op) {
  Type type = op->getResult(0).getType();
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &format = real.getFloatSemantics();
    auto of = [&](APFloat value) -> TypedAttr {
      return FloatAttr::get(type, value);
    };
    if (isa<arith::AddFOp>(op)) {
      return of(APFloat::getZero(format, /*Negative=*/true));
    }
    if (isa<arith::MulFOp>(op)) {
      return FloatAttr::get(type, 1.0);
    }
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op)) { // of NaNs alone: NaN
      return of(APFloat::getNaN(format));
    }
    if (!APFloat::semanticsHasInf(format)) {
      return nullptr;
    }
    if (isa<arith::MaximumFOp>(op)) {
      return of(APFloat::getInf(format, true));
    }
    if (isa<arith::MinimumFOp>(op)) {
      return of(APFloat::getInf(format, false));
    }
    return nullptr;
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer) {
    return nullptr;
  }
  unsigned width = integer.getWidth();
  std::optional<APInt> value;
  if (isa<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(op)) {
    value = APInt::getZero(width);
  } else if (isa<arith::AndIOp, arith::MinUIOp>(op)) {
    value = APInt::getAllOnes(width);
  } else if (isa<arith::MulIOp>(op)) {
    value = APInt(width, 1);
  } else if (isa<arith::MaxSIOp>(op)) {
    value = APInt::getSignedMinValue(width);
  } else if (isa<arith::MinSIOp>(op)) {
    value = APInt::getSignedMaxValue(width);
  }
  return value ? TypedAttr(IntegerAttr::get(type, *value)) : TypedAttr();
}

Combiner::Combiner(LoopEmitter &kernel, Operation *op)
    : kernel(kernel), op(op) {
  Block &block = op->getRegion(0).front();
  for (Value source : op->getOperands()) {
    elements.push_back(tile::getElement(source.getType()));
  }
  for (Operation &inner : block.without_terminator()) {
    vectorForm &= hasLaneForm(&inner) || isa<arith::ConstantOp>(inner) ||
                  isPureScalar(&inner);
    vectorForm &= inner.getNumRegions() == 0;
  }
  Operation *first = &block.front();
  if (elements.size() == 1 && std::next(block.begin()) != block.end() &&
      std::next(block.begin(), 2) == block.end() &&
      first->getNumOperands() == 2 && first->getNumResults() == 1 &&
      block.getTerminator()->getOperand(0) == first->getResult(0)) {
    Value x = first->getOperand(0), y = first->getOperand(1);
    Value a = block.getArgument(0), b = block.getArgument(1);
    if ((x == a && y == b) || (x == b && y == a)) {
      identity = identityOf(first);
    }
  }
  Type element = elements[0];
  widened = identity && isa<FloatType>(element) &&
            element.getIntOrFloatBitWidth() < 32;
}

Type Combiner::partialType(unsigned i) const {
  return widened ? Type(kernel.b.getF32Type()) : laneType(elements[i]);
}

Value Combiner::toPartial(LaneOps ops, Value value, unsigned i) const {
  return widened ? ops.toF32(value, elements[i]) : value;
}

Value Combiner::fromPartial(LaneOps ops, Value value, unsigned i) const {
  return widened ? ops.fromF32(value, elements[i]) : value;
}

SmallVector<Value> Combiner::initial(LaneOps ops, unsigned lanes) const {
  SmallVector<Value> result;
  for (unsigned i = 0; i < size(); ++i) {
    Value one;
    Type type = partialType(i);
    if (identity && widened) {
      one = ops.real(type, cast<FloatAttr>(identity).getValueAsDouble());
    } else if (identity) {
      one = ops.constant(identity);
    } else if (isa<FloatType>(type)) {
      one = ops.real(type, 0);
    } else {
      one = ops.integer(isa<IntegerType>(type) ? type : ops.b.getI64Type(), 0);
    }
    result.push_back(ops.splat(one, lanes));
  }
  return result;
}

SmallVector<Value> Combiner::run(LaneOps ops, Block &block,
                                 IRMapping &map) const {
  auto lookup = [&](Value value) {
    return map.contains(value) ? map.lookup(value) : kernel.scalar(value);
  };
  // A captured scalar is emitted in front of the nest.
  auto operandsOf = [&](Operation &inner) {
    SmallVector<Value> operands;
    for (Value operand : inner.getOperands()) {
      OpBuilder::InsertionGuard guard(ops.b);
      operands.push_back(lookup(operand));
    }
    return operands;
  };
  for (Operation &inner : block.without_terminator()) {
    SmallVector<Value> operands = operandsOf(inner);
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      map.map(inner.getResult(0), ops.constant(constant.getValue()));
    } else if (auto branch = dyn_cast<scf::IfOp>(inner)) {
      SmallVector<Type> types;
      for (Type type : branch.getResultTypes()) {
        types.push_back(laneType(type));
      }
      auto copy = scf::IfOp::create(ops.b, ops.loc, types, operands[0], true);
      for (unsigned r = 0; r < 2; ++r) {
        OpBuilder::InsertionGuard guard(ops.b);
        Block *body = r == 0 ? copy.thenBlock() : copy.elseBlock();
        if (types.empty()) {
          body->getTerminator()->erase();
        }
        ops.b.setInsertionPointToEnd(body);
        SmallVector<Value> results;
        if (!inner.getRegion(r).empty()) {
          results = run(ops, inner.getRegion(r).front(), map);
        }
        scf::YieldOp::create(ops.b, ops.loc, results);
      }
      map.map(inner.getResults(), copy.getResults());
    } else if (hasLaneForm(&inner)) {
      map.map(inner.getResult(0), ops.elementwise(&inner, operands));
    } else if (isPureScalar(&inner) && isa<tile::HintOp>(inner)) {
      map.map(inner.getResult(0), operands[0]);
    } else {
      kernel.fail(&inner, "no CPU form of '" + inner.getName().getStringRef() +
                              "' in a combine region");
      for (Value result : inner.getResults()) {
        map.map(result, ops.integer(laneType(result.getType()), 0));
      }
    }
  }
  return operandsOf(*block.getTerminator());
}

SmallVector<Value> Combiner::combine(LaneOps ops, ValueRange x,
                                     ValueRange y) const {
  Block &block = op->getRegion(0).front();
  if (widened) {
    // The one operation, in f32.
    Operation *inner = &block.front();
    OperationState state(ops.loc, inner->getName());
    state.addOperands({x[0], y[0]});
    state.addTypes(x[0].getType());
    return {ops.b.create(state)->getResult(0)};
  }
  IRMapping map;
  for (unsigned i = 0; i < size(); ++i) {
    map.map(block.getArgument(i), x[i]);
    map.map(block.getArgument(size() + i), y[i]);
  }
  SmallVector<Value> results = run(ops, block, map);
  // A region may return a constant or one of its arguments.
  for (auto [result, like] : llvm::zip(results, x)) {
    if (isVector(like) && !isVector(result)) {
      result =
          ops.splat(result, cast<VectorType>(like.getType()).getDimSize(0));
    }
  }
  return results;
}

static SmallVector<Value> lanesFrom(LaneOps ops, ValueRange x, int64_t first,
                                    int64_t count) {
  SmallVector<Value> result;
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < count; ++i) {
    order.push_back(first + i);
  }
  for (Value value : x) {
    result.push_back(count == 1 ? ops.extract(value, first)
                                : ops.shuffle(value, order));
  }
  return result;
}

SmallVector<Value> Combiner::narrow(LaneOps ops, ValueRange x,
                                    unsigned lanes) const {
  SmallVector<Value> values(x);
  while (isVector(values[0])) {
    int64_t width = cast<VectorType>(values[0].getType()).getDimSize(0);
    if (width <= static_cast<int64_t>(lanes)) {
      break;
    }
    values = combine(ops, lanesFrom(ops, values, 0, width / 2),
                     lanesFrom(ops, values, width / 2, width / 2));
  }
  return values;
}

SmallVector<Value> Combiner::horizontal(LaneOps ops, ValueRange x,
                                        unsigned valid) const {
  SmallVector<Value> values(x);
  if (!isVector(values[0])) {
    return values;
  }
  SmallVector<Value> odd; // what halving leaves over
  while (valid > 1) {
    if (valid % 2) {
      SmallVector<Value> last = lanesFrom(ops, values, valid - 1, 1);
      odd = odd.empty() ? last : combine(ops, last, odd);
    }
    valid /= 2;
    values = combine(ops, lanesFrom(ops, values, 0, valid),
                     lanesFrom(ops, values, valid, valid));
  }
  if (isVector(values[0])) {
    values = lanesFrom(ops, values, 0, 1);
  }
  return odd.empty() ? values : combine(ops, values, odd);
}

//===----------------------------------------------------------------------===//
// Reductions of a nest
//===----------------------------------------------------------------------===//

void Nest::createAccumulators() {
  for (const Sink &sink : step.sinks) {
    if (sink.kind == SinkKind::Reduce || sink.kind == SinkKind::Scan) {
      accumulators.push_back(
          {&sink, std::make_unique<Combiner>(kernel, sink.op), {}});
    }
  }
}

SmallVector<Value> Nest::carried() const {
  SmallVector<Value> all;
  for (const Accumulator &accumulator : accumulators) {
    all.append(accumulator.values);
  }
  return all;
}

void Nest::setCarried(ValueRange values) {
  size_t next = 0;
  for (Accumulator &accumulator : accumulators) {
    for (Value &value : accumulator.values) {
      value = values[next++];
    }
  }
}

void Nest::resetAccumulators(unsigned lanes) {
  LaneOps ops = kernel.ops();
  for (Accumulator &accumulator : accumulators) {
    accumulator.values = accumulator.combiner->initial(ops, lanes);
    if (!accumulator.combiner->hasIdentity()) {
      accumulator.values.insert(accumulator.values.begin(),
                                ops.integer(ops.b.getI1Type(), 0));
    }
  }
}

void Nest::accumulate(ElementEmitter &evaluator, Accumulator &accumulator,
                      unsigned coords) {
  const Combiner &combiner = *accumulator.combiner;
  SmallVector<Value> next;
  for (auto [i, source] :
       llvm::enumerate(accumulator.sink->op->getOperands())) {
    Value value = evaluator.vectorOf(evaluator.evaluate(source, coords));
    next.push_back(
        combiner.toPartial(evaluator.at(evaluator.innermost()), value, i));
  }
  LaneOps ops = evaluator.at(evaluator.innermost());
  ValueRange old = accumulator.values;
  bool flagged = !combiner.hasIdentity();
  ValueRange partial = flagged ? old.drop_front() : old;
  SmallVector<Value> result = combiner.combine(ops, partial, next);
  for (unsigned i = 0; i < combiner.size(); ++i) {
    if (flagged) {
      result[i] =
          arith::SelectOp::create(ops.b, ops.loc, old[0], result[i], next[i]);
    }
    // A reduction along the axis of the vector skips lanes beyond the tile;
    // across it, what such lanes hold is never stored.
    if (evaluator.laneMask && schedule.axisIsVector) {
      result[i] = arith::SelectOp::create(ops.b, ops.loc, evaluator.laneMask,
                                          result[i], partial[i]);
    }
  }
  if (flagged) {
    accumulator.values[0] = ops.integer(ops.b.getI1Type(), 1);
  }
  for (unsigned i = 0; i < combiner.size(); ++i) {
    accumulator.values[i + flagged] = result[i];
  }
}

void Nest::narrowAccumulators(unsigned lanes) {
  for (Accumulator &accumulator : accumulators) {
    if (accumulator.combiner->hasIdentity()) {
      accumulator.values =
          accumulator.combiner->narrow(kernel.ops(), accumulator.values, lanes);
    }
  }
}

/// Coordinates in the result: those of the source without the axis.
unsigned Nest::resultCoords(ElementEmitter &evaluator, unsigned coords) {
  Coords inner = evaluator.coordsOf(coords);
  inner.erase(inner.begin() + schedule.axis);
  return evaluator.intern(inner);
}

void Nest::finishAlongVector(unsigned valid) {
  ElementEmitter evaluator(kernel, 1);
  OpBuilder::InsertPoint here = kernel.b.saveInsertionPoint();
  anchors.back() = here;
  setAnchors(evaluator);
  unsigned coords = resultCoords(
      evaluator,
      evaluator.intern(Coords(outerCoords.begin(), outerCoords.end())));
  for (Accumulator &accumulator : accumulators) {
    const Combiner &combiner = *accumulator.combiner;
    LaneOps ops = evaluator.at(depth);
    ValueRange values = accumulator.values;
    SmallVector<Value> scalars = combiner.horizontal(
        ops, combiner.hasIdentity() ? values : values.drop_front(), valid);
    for (auto [i, result] :
         llvm::enumerate(accumulator.sink->op->getResults())) {
      ops = evaluator.at(depth);
      Value value = combiner.fromPartial(ops, scalars[i], i);
      if (isa<RankedTensorType>(result.getType())) {
        evaluator.storeBuffer(destinations[result], coords, {value, depth},
                              depth);
      } else {
        kernel.bindScalar(result, value);
      }
    }
  }
  evaluator.at(depth);
}

void Nest::finishAlongAxis(ElementEmitter &evaluator, const Coord &chunk) {
  unsigned coords =
      resultCoords(evaluator, coordsOf(evaluator, chunk, Coord()));
  unsigned level = evaluator.innermost();
  for (Accumulator &accumulator : accumulators) {
    const Combiner &combiner = *accumulator.combiner;
    bool flagged = !combiner.hasIdentity();
    for (auto [i, result] :
         llvm::enumerate(accumulator.sink->op->getResults())) {
      LaneOps ops = evaluator.at(level);
      Value value =
          combiner.fromPartial(ops, accumulator.values[i + flagged], i);
      if (isa<RankedTensorType>(result.getType())) {
        evaluator.storeBuffer(destinations[result], coords, {value, level},
                              level);
      } else {
        kernel.bindScalar(result, value);
      }
    }
  }
  evaluator.at(level);
}

} // namespace nereid::tocpu
