//===- Effects.cpp - Atomics, checks and histograms in nests --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What has no vector form runs lane after lane, in the order of the elements.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/Lanes/AtomicKinds.h"
#include "nereid/Conversion/TileToCPU/Nest.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace nereid::tocpu {

/// f16 and bf16 arithmetic: a loop around compare-and-exchange of the bits.
static Value narrowFloatRMW(LoopEmitter &kernel, tile::AtomicRMWOp op,
                            Value address, Value value,
                            LLVM::AtomicOrdering ordering) {
  OpBuilder &b = kernel.b;
  LaneOps ops = kernel.ops();
  Location loc = kernel.loc;
  Type element = tile::getElement(op.getResult().getType());
  Type bits = b.getI16Type();
  auto asValue = [&](Value raw) {
    return laneType(element) == bits ? raw
                                     : Value(arith::BitcastOp::create(
                                           b, loc, laneType(element), raw));
  };
  auto asBits = [&](Value real) {
    return real.getType() == bits
               ? real
               : Value(arith::BitcastOp::create(b, loc, bits, real));
  };
  Value operand = ops.toF32(value, element);
  Value first = LLVM::LoadOp::create(b, loc, bits, address, 2);
  auto loop = scf::WhileOp::create(b, loc, TypeRange{bits}, ValueRange{first});
  Block *before = b.createBlock(&loop.getBefore(), {}, {bits}, {loc});
  Value expected = before->getArgument(0);
  Value old = ops.toF32(asValue(expected), element), sum;
  using K = tile::AtomicKind;
  if (op.getKind() == K::FAdd) {
    sum = arith::AddFOp::create(b, loc, old, operand);
  } else if (op.getKind() == K::FMax) {
    sum = arith::MaxNumFOp::create(b, loc, old, operand);
  } else {
    sum = arith::MinNumFOp::create(b, loc, old, operand);
  }
  Value desired = asBits(ops.fromF32(sum, element));
  auto exchange = LLVM::AtomicCmpXchgOp::create(
      b, loc, address, expected, desired, ordering, failureOrdering(ordering));
  Value seen = LLVM::ExtractValueOp::create(b, loc, exchange, 0);
  Value done = LLVM::ExtractValueOp::create(b, loc, exchange, 1);
  Value again =
      arith::XOrIOp::create(b, loc, done, ops.integer(b.getI1Type(), 1));
  scf::ConditionOp::create(b, loc, again, seen);
  Block *after = b.createBlock(&loop.getAfter(), {}, {bits}, {loc});
  scf::YieldOp::create(b, loc, after->getArgument(0));
  b.setInsertionPointAfter(loop);
  return asValue(loop.getResult(0));
}

Value LoopEmitter::atomicElement(Operation *op, Value address, Value value,
                                 Value compare) {
  if (auto rmw = dyn_cast<tile::AtomicRMWOp>(op)) {
    LLVM::AtomicOrdering ordering = orderingOf(rmw.getSemantic());
    Type element = tile::getElement(rmw.getResult().getType());
    if (isFloatKind(rmw.getKind()) && element.getIntOrFloatBitWidth() == 16) {
      return narrowFloatRMW(*this, rmw, address, value, ordering);
    }
    return LLVM::AtomicRMWOp::create(b, loc, binOpOf(rmw.getKind()), address,
                                     value, ordering);
  }
  auto cas = cast<tile::AtomicCASOp>(op);
  LLVM::AtomicOrdering ordering = orderingOf(cas.getSemantic());
  Type type = value.getType();
  if (isa<FloatType>(type)) { // compares bits
    Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
    value = arith::BitcastOp::create(b, loc, bits, value);
    compare = arith::BitcastOp::create(b, loc, bits, compare);
  }
  auto exchange = LLVM::AtomicCmpXchgOp::create(
      b, loc, address, compare, value, ordering, failureOrdering(ordering));
  Value old = LLVM::ExtractValueOp::create(b, loc, exchange, 0);
  return isa<FloatType>(type)
             ? Value(arith::BitcastOp::create(b, loc, type, old))
             : old;
}

void Nest::atomicLanes(ElementEmitter &evaluator, Operation *op,
                       unsigned coords) {
  auto access = cast<tile::MemoryAccess>(op);
  auto cas = dyn_cast<tile::AtomicCASOp>(op);
  SmallVector<Value> inputs;
  inputs.push_back(
      evaluator.address(evaluator.pointer(access.getPtr(), coords)).value);
  inputs.push_back(evaluator.evaluate(access.getValue(), coords).value);
  if (cas) {
    inputs.push_back(evaluator.evaluate(cas.getCompare(), coords).value);
  }
  Lane active = evaluator.activeMask(access.getMask(), coords);
  Value on = active.value ? evaluator.vectorOf(active) : Value();
  LaneOps ops = evaluator.at(evaluator.innermost());
  Value result = op->getResult(0);
  Type type = getElementTypeOrSelf(inputs[1].getType());
  Value array;
  int64_t lanes = evaluator.lanes;
  Type all = lanes == 1 ? type : Type(VectorType::get({lanes}, type));
  if (!result.use_empty()) {
    array = kernel.stackArray(type, lanes);
    ops = evaluator.at(evaluator.innermost());
    Value zero = isa<FloatType>(type) ? ops.real(all, 0) : ops.integer(all, 0);
    LLVM::StoreOp::create(ops.b, ops.loc, zero, array);
  }
  evaluator.forEachLane(inputs, on, [&](Value lane, ValueRange scalars) {
    Value address = scalars[0];
    if (!isa<LLVM::LLVMPointerType>(address.getType())) {
      address = LLVM::IntToPtrOp::create(
          ops.b, ops.loc, LLVM::LLVMPointerType::get(ops.b.getContext()),
          address);
    }
    Value old = kernel.atomicElement(op, address, scalars[1],
                                     cas ? scalars[2] : Value());
    if (array) {
      Value slot = LLVM::GEPOp::create(ops.b, ops.loc, array.getType(), type,
                                       array, ValueRange{lane});
      LLVM::StoreOp::create(ops.b, ops.loc, old, slot);
    }
  });
  if (array) {
    ops = evaluator.at(evaluator.innermost());
    Value old = LLVM::LoadOp::create(ops.b, ops.loc, all, array);
    evaluator.storeBuffer(destinations[result], coords,
                          {old, evaluator.innermost()}, evaluator.innermost());
  }
}

/// The row-major position of each lane in the nest's shape.
Value Nest::linearIndex(ElementEmitter &evaluator, unsigned coords) {
  Coord linear;
  for (auto [coord, size] :
       llvm::zip(Coords(evaluator.coordsOf(coords)), step.shape)) {
    linear = evaluator.sum(evaluator.scaled(linear, size), coord);
  }
  Value lanes = evaluator.coordLanes(linear, kernel.b.getI64Type());
  return evaluator.vectorOf({lanes, linear.level});
}

void Nest::serviceLanes(ElementEmitter &evaluator, Operation *op,
                        unsigned coords) {
  Value checked = op->getOperand(0);
  Value mask = op->getNumOperands() > 1 ? op->getOperand(1) : Value();
  Value value;
  if (isa<tile::CheckBoundsOp>(op)) {
    value = evaluator.address(evaluator.pointer(checked, coords)).value;
  } else {
    value = evaluator.evaluate(checked, coords).value;
  }
  Lane active = evaluator.activeMask(mask, coords);
  Value on = active.value ? evaluator.vectorOf(active) : Value();
  Value index = linearIndex(evaluator, coords);
  LaneOps ops = evaluator.at(evaluator.innermost());
  // Assertions and NaN checks hold nearly always: ask once for all lanes.
  if (evaluator.lanes > 1 && !isa<tile::CheckBoundsOp>(op) && isVector(value)) {
    Type tileElement = tile::getElement(checked.getType());
    Value bad;
    if (isa<tile::AssertOp>(op)) {
      bad = arith::XOrIOp::create(ops.b, ops.loc, value,
                                  ops.integer(value.getType(), 1));
    } else {
      Value wide = tileElement.isF64() ? value : ops.toF32(value, tileElement);
      bad = arith::CmpFOp::create(ops.b, ops.loc, arith::CmpFPredicate::UNO,
                                  wide, wide);
    }
    on = on ? Value(arith::AndIOp::create(ops.b, ops.loc, on, bad)) : bad;
    Value any = vector::ReductionOp::create(ops.b, ops.loc,
                                            vector::CombiningKind::OR, on);
    auto branch = scf::IfOp::create(ops.b, ops.loc, any, false);
    OpBuilder::InsertionGuard guard(ops.b);
    ops.b.setInsertionPoint(branch.thenBlock()->getTerminator());
    evaluator.forEachLane({value, index}, on, [&](Value, ValueRange scalars) {
      checkLane(op, scalars);
    });
    return;
  }
  evaluator.forEachLane({value, index}, on, [&](Value, ValueRange scalars) {
    checkLane(op, scalars);
  });
}

void Nest::checkLane(Operation *op, ValueRange scalars) {
  Value element = scalars[0];
  if (element.getType().isInteger(8) && isa<tile::AssertOp>(op)) {
    element = arith::TruncIOp::create(kernel.b, kernel.loc,
                                      kernel.b.getI1Type(), element);
  }
  kernel.checkElement(op, element, scalars[1]);
}

} // namespace nereid::tocpu
