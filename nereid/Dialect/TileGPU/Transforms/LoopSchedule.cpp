//===- LoopSchedule.cpp - When each operation of a loop runs --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/TileGPU/Transforms/LoopSchedule.h"

#include "nereid/Dialect/TileGPU/Transforms/ProductOperands.h"

using namespace mlir;

namespace nereid::tilegpu {

bool isSumOfProducts(scf::ForOp loop, tile::DotOp product) {
  auto carried = dyn_cast<BlockArgument>(product.getC());
  return carried && carried.getOwner() == loop.getBody() &&
         carried.getArgNumber() > 0 && carried.hasOneUse() &&
         product->hasOneUse() &&
         loop.getYieldedValues()[carried.getArgNumber() - 1] ==
             product.getResult();
}

//===----------------------------------------------------------------------===//
// As attributes
//===----------------------------------------------------------------------===//

LoopSchedule LoopSchedule::read(scf::ForOp loop) {
  LoopSchedule schedule(loop);
  for (Operation &op : loop.getBody()->without_terminator()) {
    auto attr = op.getAttrOfType<ScheduleAttr>(scheduleAttr);
    if (!attr) {
      continue;
    }
    for (auto [stage, order] :
         llvm::zip_equal(attr.getStages(), attr.getOrders())) {
      schedule.run(&op, {stage, order});
    }
    if (ArrayRef<uint32_t> done = attr.getDone(); !done.empty()) {
      schedule.finish(&op, {done[0], done[1]});
    }
  }
  if (auto slots = loop->getAttrOfType<IntegerAttr>(slotsAttr)) {
    schedule.slots = slots.getInt();
  }
  return schedule;
}

void LoopSchedule::write() const {
  Builder b(loop.getContext());
  for (auto &[op, entry] : entries) {
    SmallVector<uint32_t> stages, orders, done;
    for (Place place : entry.starts) {
      stages.push_back(place.stage);
      orders.push_back(place.order);
    }
    if (entry.done) {
      done = {entry.done->stage, entry.done->order};
    }
    op->setAttr(scheduleAttr,
                ScheduleAttr::get(b.getContext(), stages, orders, done));
  }
  loop->setAttr(slotsAttr, b.getI32IntegerAttr(slots));
}

void LoopSchedule::run(Operation *op, Place place) {
  SmallVector<Place, 2> &starts = entries[op].starts;
  auto behind = llvm::find_if(
      starts, [&](Place other) { return other.stage > place.stage; });
  starts.insert(behind, place);
}

//===----------------------------------------------------------------------===//
// What follows from it
//===----------------------------------------------------------------------===//

std::optional<Place> LoopSchedule::placeIn(Operation *op,
                                           unsigned stage) const {
  auto entry = entries.find(op);
  if (entry != entries.end()) {
    for (Place place : entry->second.starts) {
      if (place.stage == stage) {
        return place;
      }
    }
  }
  return std::nullopt;
}

std::optional<Place> LoopSchedule::doneAt(Operation *op) const {
  auto entry = entries.find(op);
  return entry == entries.end() ? std::nullopt : entry->second.done;
}

unsigned LoopSchedule::lastStage() const {
  unsigned last = 0;
  for (auto &[op, entry] : entries) {
    for (Place place : entry.starts) {
      last = std::max(last, place.stage);
    }
    // Of a loop that only yields what it loads, no operation runs there.
    if (isa<tile::LoadAccess>(op) && entry.done) {
      last = std::max(last, entry.done->stage);
    }
  }
  return last;
}

SmallVector<LoopSchedule::Event> LoopSchedule::events() const {
  SmallVector<Event> all;
  for (Operation &op : *loop.getBody()) {
    auto entry = entries.find(&op);
    if (entry == entries.end()) {
      continue;
    }
    for (Place place : entry->second.starts) {
      all.push_back({&op, place, /*isDone=*/false});
    }
    if (entry->second.done) {
      all.push_back({&op, *entry->second.done, /*isDone=*/true});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Event &a, const Event &b) {
    return a.place.order < b.place.order;
  });
  return all;
}

SmallVector<tile::LoadAccess> LoopSchedule::copies() const {
  SmallVector<tile::LoadAccess> loads;
  for (const Event &event : events()) {
    auto load = dyn_cast<tile::LoadAccess>(event.op);
    if (load && !event.isDone && doneAt(load)) {
      loads.push_back(load);
    }
  }
  return loads;
}

bool LoopSchedule::leavesProducts() const {
  unsigned last = lastStage();
  return llvm::any_of(entries, [&](auto &entry) {
    return entry.second.done && entry.second.done->stage > last;
  });
}

//===----------------------------------------------------------------------===//
// Which schedules can be expanded
//===----------------------------------------------------------------------===//

LogicalResult LoopSchedule::verifyCopy(tile::LoadAccess load) const {
  const Entry &entry = entries.find(load)->second;
  unsigned last = lastStage();
  if (entry.starts.size() != 1 || entry.starts[0].stage >= last) {
    return load.emitOpError("is copied ahead; expected one stage, below ")
           << last;
  }
  if (entry.done->stage != last) {
    return load.emitOpError("is done in stage ")
           << entry.done->stage << "; expected the last, " << last;
  }
  if (slots <= last - entry.starts[0].stage) {
    return load.emitOpError("has ")
           << slots << " slots; expected more than the "
           << last - entry.starts[0].stage << " stages that it is ahead";
  }
  return success();
}

LogicalResult LoopSchedule::verifyProduct(Operation *product,
                                          const CopyReaders &readers) const {
  unsigned last = lastStage();
  if (!isWarpgroupProduct(product)) {
    return product->emitOpError("is not asynchronous; expected no 'done'");
  }
  auto dot = cast<tile::DotOp>(product);
  Place done = *doneAt(product);
  std::optional<Place> start = placeIn(product, last);
  if (!start || !readers.isReadInPlace(dot->getOpOperand(0)) ||
      !readers.isReadInPlace(dot->getOpOperand(1))) {
    return product->emitOpError("is in flight; expected to start in the last "
                                "stage, on operands that are copied");
  }
  if (done.stage == last && done.order > start->order) {
    return success();
  }
  if (done.stage != last + 1 || done.order <= start->order ||
      !isSumOfProducts(loop, dot)) {
    return product->emitOpError("is done in stage ")
           << done.stage << ", order " << done.order
           << "; expected a place after its start, in the next iteration only "
              "if it is a sum of such products and after the next one's "
              "start";
  }
  // Until it is done it reads the slot of the step before.
  for (tile::LoadAccess load : copies()) {
    Place copy = entries.find(load)->second.starts[0];
    if (slots < last - copy.stage + 2 && copy.order <= done.order) {
      return load.emitOpError("starts at order ")
             << copy.order << ", before the product that still reads its slot "
             << "is done; expected a later place, or another slot";
    }
  }
  return success();
}

/// Is all there when `op` runs at `place`?
LogicalResult LoopSchedule::verifyOperands(Operation *op, Place place,
                                           const CopyReaders &readers) const {
  Block *body = loop.getBody();
  auto copied = dyn_cast<tile::LoadAccess>(op);
  bool isCopy = copied && readers.copyOf(copied.getResult());
  auto isThere = [&](OpOperand &use) {
    // A copy fills with zeros, whatever stands for them.
    if (isCopy && use.get() == copied.getOther()) {
      return true;
    }
    Operation *from = use.get().getDefiningOp();
    if (!from || from->getBlock() != body || readers.isReadInPlace(use)) {
      return true;
    }
    if (std::optional<Place> done = doneAt(from)) {
      return done->stage == place.stage && done->order <= place.order;
    }
    std::optional<Place> start = placeIn(from, place.stage);
    return start && start->order <= place.order;
  };
  if (readers.isRead(op)) {
    return success();
  }
  OpOperand *missing = nullptr;
  op->walk([&](Operation *inner) {
    for (OpOperand &use : inner->getOpOperands()) {
      missing = isThere(use) ? missing : &use;
    }
  });
  if (missing) {
    return op->emitOpError("runs in stage ")
           << place.stage << ", order " << place.order
           << ", before its operand " << missing->getOperandNumber()
           << " is there";
  }
  return success();
}

LogicalResult
LoopSchedule::verifySlice(const LoopSlice &slice, unsigned stage,
                          const DenseSet<Operation *> &exempt) const {
  for (Operation *op : slice.ops) {
    if (!exempt.contains(op) && !placeIn(op, stage)) {
      return op->emitOpError("is needed in stage ") << stage;
    }
  }
  return success();
}

LogicalResult LoopSchedule::verify() const {
  SmallVector<tile::LoadAccess> loads = copies();
  if (loads.empty()) {
    return loop.emitOpError("has a schedule in which nothing is copied ahead");
  }
  unsigned last = lastStage();
  CopyReaders readers(loop, loads);
  DenseSet<Operation *> copied(loads.begin(), loads.end());
  SmallVector<DenseSet<Operation *>> isAhead(last);
  for (tile::LoadAccess load : loads) {
    unsigned stage = entries.find(load)->second.starts[0].stage;
    LoopSlice slice;
    Operation *culprit = addAhead(slice, loop, load.getPtr());
    if (!culprit && load.getMask()) {
      culprit = addAhead(slice, loop, load.getMask());
    }
    if (culprit) {
      return culprit->emitOpError("cannot run before its iteration, in stage ")
             << stage;
    }
    if (failed(verifyCopy(load)) || failed(verifySlice(slice, stage, {}))) {
      return failure();
    }
    isAhead[stage].insert(slice.ops.begin(), slice.ops.end());
  }
  if (failed(verifySlice(computationOf(loop, readers), last, copied))) {
    return failure();
  }
  for (auto &[op, entry] : entries) {
    if (entry.done && !copied.contains(op) &&
        failed(verifyProduct(op, readers))) {
      return failure();
    }
    for (Place place : entry.starts) {
      if (place.stage < last && !copied.contains(op) &&
          !isAhead[place.stage].contains(op)) {
        return op->emitOpError("runs in stage ")
               << place.stage << ", in which no copy needs it";
      }
      if (failed(verifyOperands(op, place, readers))) {
        return failure();
      }
    }
  }
  return success();
}

} // namespace nereid::tilegpu
