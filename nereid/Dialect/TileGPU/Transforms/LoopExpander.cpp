//===- LoopExpander.cpp - A loop rewritten as its schedule says -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/LoopExpander.h"

#include "nereid/Dialect/TileGPU/Transforms/LoopBounds.h"
#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"

using namespace mlir;

namespace nereid::tilegpu {

LoopExpander::LoopExpander(scf::ForOp loop, const LoopSchedule &schedule,
                           const AxisInfoAnalysis &axes)
    : loop(loop), body(*loop.getBody()), schedule(schedule), axes(axes),
      b(loop), last(schedule.lastStage()), copies(schedule.copies()),
      readers(loop, copies), computation(computationOf(loop, readers)),
      events(schedule.events()), before(loop->getPrevNode()) {
  for (unsigned stage = 0; stage < last; ++stage) {
    Ahead ahead;
    ahead.stage = stage;
    ahead.distance = last - stage;
    bool isUsed = false;
    for (tile::LoadAccess load : copies) {
      if (schedule.placeIn(load, stage)) {
        isUsed = true;
        addAhead(ahead.slice, loop, load.getPtr());
        if (load.getMask()) {
          addAhead(ahead.slice, loop, load.getMask());
        }
      }
    }
    if (isUsed) {
      aheads.push_back(std::move(ahead));
    }
  }
}

Value LoopExpander::constant(int64_t value) {
  return arith::ConstantOp::create(b, loop.getLoc(),
                                   b.getI32IntegerAttr(value));
}

Value LoopExpander::stepped(Value from, unsigned count) {
  if (!count) {
    return from;
  }
  Location loc = loop.getLoc();
  Value times = arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(from.getType(), count));
  return arith::AddIOp::create(
      b, loc, from, arith::MulIOp::create(b, loc, loop.getStep(), times));
}

Operation *LoopExpander::clone(Operation *op, IRMapping &map) {
  Operation *made = b.clone(*op, map);
  made->removeAttr(scheduleAttr);
  return made;
}

//===----------------------------------------------------------------------===//
// Copies ahead
//===----------------------------------------------------------------------===//

void LoopExpander::allocate() {
  for (tile::LoadAccess load : copies) {
    BufferType type =
        swizzledBuffer(b.getContext(), schedule.slots, shapeOf(load.getType()),
                       tile::getElement(load.getType()),
                       /*inner=*/axes.order(load.getPtr())[0]);
    buffers[load] = AllocOp::create(b, load.getLoc(), type);
  }
}

/// The iteration `distance` after the one of counter `first`.
void LoopExpander::begin(Ahead &ahead, Value first, unsigned distance) {
  ahead.hasBegun = true;
  ahead.map.clear();
  ahead.map.map(loop.getInductionVar(), stepped(first, distance));
  ahead.condition = hasIteration(b, loop, first, distance);
  for (auto [i, value] : llvm::zip_equal(ahead.slice.carried, ahead.carried)) {
    ahead.map.map(loop.getRegionIterArgs()[i], value);
  }
}

void LoopExpander::emitAhead(Ahead &ahead, Operation *op) {
  auto load = dyn_cast<tile::LoadAccess>(op);
  if (!load) {
    clone(op, ahead.map);
    return;
  }
  Value mask =
      load.getMask() ? ahead.map.lookupOrDefault(load.getMask()) : Value();
  CopyAsyncOp::create(b, load.getLoc(),
                      ahead.map.lookupOrDefault(load.getPtr()), bufferOf(load),
                      ahead.slot, mask, ahead.condition);
}

void LoopExpander::end(Ahead &ahead) {
  ahead.hasBegun = false;
  for (auto [i, value] : llvm::zip_equal(ahead.slice.carried, ahead.carried)) {
    value = ahead.map.lookupOrDefault(yielded(i));
  }
}

void LoopExpander::startFirstCopies() {
  for (Ahead &ahead : aheads) {
    for (unsigned i : ahead.slice.carried) {
      ahead.carried.push_back(loop.getInitArgs()[i]);
    }
  }
  for (unsigned step = 0; step < last; ++step) {
    for (Ahead &ahead : aheads) {
      if (step < ahead.stage) {
        continue;
      }
      unsigned iteration = step - ahead.stage;
      begin(ahead, loop.getLowerBound(), iteration);
      ahead.slot = constant(iteration);
      for (const LoopSchedule::Event &event : events) {
        if (!event.isDone && event.place.stage == ahead.stage) {
          emitAhead(ahead, event.op);
        }
      }
      end(ahead);
    }
    CommitCopiesOp::create(b, loop.getLoc());
  }
}

/// `distance` slots after `slot`, around the ring.
Value LoopExpander::slotAhead(Value slot, unsigned distance) {
  using P = arith::CmpIPredicate;
  Location loc = loop.getLoc();
  if (distance + 1 == schedule.slots) { // the one before
    return arith::SelectOp::create(
        b, loc, arith::CmpIOp::create(b, loc, P::eq, slot, constant(0)),
        constant(distance), arith::SubIOp::create(b, loc, slot, constant(1)));
  }
  Value end = constant(schedule.slots);
  Value moved = arith::AddIOp::create(b, loc, slot, constant(distance));
  return arith::SelectOp::create(
      b, loc, arith::CmpIOp::create(b, loc, P::slt, moved, end), moved,
      arith::SubIOp::create(b, loc, moved, end));
}

//===----------------------------------------------------------------------===//
// The computation
//===----------------------------------------------------------------------===//

/// `value`, an image of a copied load, in `layout`.
Value LoopExpander::readAs(Value value, const TileLayout &layout,
                           IRMapping &map, Value slot) {
  if (tile::LoadAccess load = readers.copyOf(untransposed(value))) {
    SmallVector<int32_t> order = orderOfUntransposed(value);
    return LocalLoadOp::create(
        b, value.getLoc(), withLayout(value.getType(), layout), bufferOf(load),
        slot,
        order.empty() ? DenseI32ArrayAttr() : b.getDenseI32ArrayAttr(order));
  }
  Operation *op = value.getDefiningOp();
  Value source = op->getOperand(0);
  TileLayout wanted = layout;
  if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    std::vector<unsigned> inverse(transpose.getOrder().size());
    for (auto [d, from] : llvm::enumerate(transpose.getOrder())) {
      inverse[from] = d;
    }
    wanted = permute(layout, shapeOf(value.getType()), inverse);
  }
  IRMapping local;
  local.map(source, readAs(source, wanted, map, slot));
  Operation *made = clone(op, local);
  made->getResult(0).setType(withLayout(value.getType(), layout));
  return made->getResult(0);
}

void LoopExpander::emitComputation(Operation *op, Value slot) {
  if (readers.isRead(op)) {
    auto convert = cast<ConvertLayoutOp>(op);
    map.map(
        convert.getResult(),
        readAs(convert.getSource(), layoutOf(convert.getType()), map, slot));
    return;
  }
  // A read of its own: one with other users comes into registers, and would be
  // written to shared memory again, under a product of the step before.
  SmallVector<std::pair<unsigned, Value>> inPlace;
  for (OpOperand &operand : op->getOpOperands()) {
    if (Value value = operand.get(); readers.isReadInPlace(operand)) {
      inPlace.push_back({operand.getOperandNumber(),
                         readAs(value, layoutOf(value.getType()), map, slot)});
    }
  }
  IRMapping own(map);
  for (auto [number, value] : inPlace) {
    own.map(op->getOperand(number), value);
  }
  Operation *made = clone(op, own);
  map.map(op->getResults(), made->getResults());
  if (schedule.doneAt(op)) {
    made->setAttr(inFlightAttr, b.getUnitAttr());
  }
}

/// Of the copies and products of this step's own iteration.
void LoopExpander::emitDone(Operation *op, Value slot) {
  Value result = op->getResult(0);
  if (!isa<tile::LoadAccess>(op)) {
    Value started = map.lookup(result);
    map.map(result,
            WaitProductsOp::create(b, op->getLoc(), started.getType(), started)
                .getResult());
    return;
  }
  bool isUsed = llvm::any_of(result.getUses(), [&](OpOperand &use) {
    return readers.isComputedOn(use, computation);
  });
  if (isUsed) {
    map.map(result, readAs(result, layoutOf(result.getType()), map, slot));
  }
}

/// Of the products that the step before left in flight; this one's are younger.
void LoopExpander::emitOlderProductsDone(Place done) {
  unsigned younger = 0;
  for (const LoopSchedule::Event &event : events) {
    younger += isWarpgroupProduct(event.op) && !event.isDone &&
               event.place.order < done.order;
  }
  WaitOlderProductsOp::create(b, loop.getLoc(), younger);
  unsigned slotsRead = last - aheads.front().stage + 2;
  if (schedule.slots < slotsRead) {
    BarrierOp::create(b, loop.getLoc(), Warps::All);
  }
}

void LoopExpander::emitStep(Value slot) {
  const LoopSchedule::Event *lastCopy = nullptr;
  for (const LoopSchedule::Event &event : events) {
    bool isCopy = !event.isDone && event.place.stage < last &&
                  isa<tile::LoadAccess>(event.op);
    lastCopy = isCopy ? &event : lastCopy;
  }
  bool isWaited = false; // for the products of the step before
  for (const LoopSchedule::Event &event : events) {
    if (event.place.stage > last) {
      if (!isWaited) {
        emitOlderProductsDone(event.place);
      }
      isWaited = true;
    } else if (event.place.stage < last) {
      Ahead &ahead = *llvm::find_if(aheads, [&](const Ahead &one) {
        return one.stage == event.place.stage;
      });
      if (!ahead.hasBegun) {
        begin(ahead, expanded.getInductionVar(), ahead.distance);
      }
      emitAhead(ahead, event.op);
      if (&event == lastCopy) {
        CommitCopiesOp::create(b, loop.getLoc());
      }
    } else if (event.isDone) {
      emitDone(event.op, slot);
    } else {
      emitComputation(event.op, slot);
    }
  }
  llvm::for_each(aheads, [&](Ahead &ahead) { end(ahead); });
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

void LoopExpander::expand() {
  Location loc = loop.getLoc();
  b.setInsertionPoint(loop);
  allocate();
  startFirstCopies();

  SmallVector<Value> inits;
  for (unsigned i : computation.carried) {
    inits.push_back(loop.getInitArgs()[i]);
  }
  for (Ahead &ahead : aheads) {
    inits.append(ahead.carried);
  }
  inits.push_back(constant(0));
  expanded = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                loop.getUpperBound(), loop.getStep(), inits);
  expanded->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  expanded->removeAttr(slotsAttr);
  expanded.setUnsignedCmp(loop.getUnsignedCmp());
  if (!expanded.getBody()->empty()) {
    expanded.getBody()->clear();
  }
  b.setInsertionPointToEnd(expanded.getBody());
  auto arguments = expanded.getRegionIterArgs();
  Value slot = arguments.back();
  WaitCopiesOp::create(b, loc, last - 1 - aheads.back().stage);
  map.clear();
  map.map(loop.getInductionVar(), expanded.getInductionVar());
  unsigned next = 0;
  for (unsigned i : computation.carried) {
    map.map(loop.getRegionIterArgs()[i], arguments[next++]);
  }
  for (Ahead &ahead : aheads) {
    for (Value &value : ahead.carried) {
      value = arguments[next++];
    }
    ahead.slot = slotAhead(slot, ahead.distance);
  }
  emitStep(slot);

  SmallVector<Value> yields;
  for (unsigned i : computation.carried) {
    yields.push_back(map.lookupOrDefault(yielded(i)));
  }
  for (Ahead &ahead : aheads) {
    yields.append(ahead.carried);
  }
  yields.push_back(arith::SelectOp::create(
      b, loc,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, slot,
                            constant(schedule.slots - 1)),
      constant(0), arith::AddIOp::create(b, loc, slot, constant(1))));
  scf::YieldOp::create(b, loc, yields);
  b.setInsertionPointAfter(expanded);
  results.assign(expanded.getResults().begin(),
                 expanded.getResults().begin() + computation.carried.size());
  for (auto [i, result] : llvm::zip_equal(computation.carried, results)) {
    if (isLeftInFlight(yielded(i))) {
      result = WaitProductsOp::create(b, loc, result.getType(), result);
    }
  }
  for (tile::LoadAccess load : llvm::reverse(copies)) {
    FreeOp::create(b, loc, bufferOf(load));
  }
}

llvm::iterator_range<Block::iterator> LoopExpander::made() {
  auto first =
      before ? std::next(Block::iterator(before)) : loop->getBlock()->begin();
  return {first, Block::iterator(loop.getOperation())};
}

void LoopExpander::replaceLoop() {
  for (auto [i, result] : llvm::zip_equal(computation.carried, results)) {
    loop.getResult(i).replaceAllUsesWith(result);
  }
  loop->erase();
}

void LoopExpander::undo() {
  while (loop->getPrevNode() != before) {
    loop->getPrevNode()->erase();
  }
}

} // namespace nereid::tilegpu
