//===- PlanBuffers.cpp - Which tensors live in buffers --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a block backwards, so that every tensor is decided after its users. A
// tensor that is not written to a buffer passes the demands on it to its
// operands. It is written where it is expensive and several nests want it, or
// several times an element; where it must be in memory (operands of a dot, a
// gather); and where a load's memory is overwritten before its last use.
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/RootPointer.h"
#include "nereid/Conversion/Lanes/LaneOps.h"
#include "nereid/Conversion/TileToCPU/Forms.h"
#include "nereid/Conversion/TileToCPU/Plan.h"
#include "nereid/Conversion/TileToCPU/TileToCPU.h"

using namespace mlir;

namespace nereid::tocpu {

/// About the cost of a store and a load in the first-level cache, in cheap
/// operations: what costs more to compute is kept.
static constexpr int keepCost = 8;
/// What is recomputed inside loops that capture it.
static constexpr int captureCost = 16;

/// The longest expression that one nest evaluates. What is deeper goes through
/// a buffer, about one access in as many operations. So nothing here recurses
/// further than this, and the loops that LLVM compiles, whose register
/// allocation takes more than linear time, stay short however long the program.
static constexpr unsigned maxDepth = 256;

/// What follows from operands for the results of `op`, which has been visited.
void Plan::learn(Operation *op) {
  if (op->getNumRegions() != 0) {
    return;
  }
  Known all;
  const StructuredForm *form = structuredForm(op);
  all.cost = isView(op)                  ? 0
             : isa<tile::LoadAccess>(op) ? 2
             : form                      ? form->cost
             : isExpensive(op)           ? 12
                                         : 1;
  for (Value operand : op->getOperands()) {
    all.after = later(all.after, before(operand));
    all.loads |= readsArrays(operand);
    all.memory |= touchesMemory(operand);
    // Addresses are affine nearly always, masks are bounds of the loops.
    if (!isa<tile::LoadAccess>(op)) {
      all.cost = std::min(all.cost + cost(operand), 1000);
    }
    if (isTensor(operand) && isEvaluatedHere(operand)) {
      all.depth = std::max(all.depth, known.lookup(operand).depth + 1);
    }
  }
  if (isa<tile::LoadAccess>(op)) {
    all.after = later(all.after, lastWriteBefore.lookup(op));
    all.loads = true;
  }
  all.memory |= isa<tile::LoadAccess>(op) || (form && form->readsMemory());
  if (isa<arith::ConstantOp, tile::RangeOp, tile::SplatOp>(op)) {
    all.cost = 0;
    all.depth = 0;
  }
  if (all.depth >= maxDepth && llvm::count_if(op->getResults(), [](Value v) {
                                 return !v.use_empty();
                               }) == 1) {
    all.isDeep = true;
    all.depth = 0;
  }
  for (Value result : op->getResults()) {
    known[result] = all;
  }
}

int Plan::cost(Value value) const {
  return isTensor(value) && isEvaluatedHere(value) ? known.lookup(value).cost
                                                   : 1;
}

bool Plan::touchesMemory(Value value) const {
  if (!isTensor(value) || value.getParentBlock() != block) {
    return isTensor(value) && isa<BlockArgument>(value);
  }
  return !isEvaluatedHere(value) || known.lookup(value).memory;
}

/// Twice is as good as often: `x = x + x` would double them line by line.
void Plan::demand(Value value, const Demand &demand) {
  if (value && isTensor(value) && value.getParentBlock() == block) {
    SmallVector<Demand, 2> &all = demands[value];
    if (llvm::count(all, demand) < 2) {
      all.push_back(demand);
    }
  }
}

void Plan::demandRoot(const Root &root, Item *item) {
  Demand inPlace = {item, true, false, false, false, false};
  if (root.value) {
    return demand(root.value, inPlace);
  }
  for (Value operand : root.op->getOperands()) {
    demand(operand, inPlace);
  }
}

/// May `write` change what `load` reads? In one nest, an element is loaded
/// before that element is written, but others have been written by then.
bool Plan::conflicts(tile::LoadAccess load, Operation *write,
                     Distance distance) const {
  if (write->getNumRegions() != 0) {
    return llvm::any_of(regions.writes(write), [&](Operation *inner) {
      return conflicts(load, inner, Distance::OtherItem);
    });
  }
  if (isa<tile::BarrierOp, tile::RelaxOp>(write)) {
    return true;
  }
  auto access = dyn_cast<tile::MemoryAccess>(write);
  if (!access || !access.writes()) {
    return false;
  }
  Value to = access.getPtr();
  Value from = load.getPtr();
  Value rootOfTo = rootPointer(to), rootOfFrom = rootPointer(from);
  if (!rootOfTo || !rootOfFrom) {
    return true;
  }
  if (rootOfTo == rootOfFrom) {
    return distance != Distance::SameElement || to != from;
  }
  return distance == Distance::OtherItem &&
         tile::getShape(to.getType()) == tile::getShape(from.getType());
}

bool Plan::crossing(Operation *op, ArrayRef<Demand> wanted, Item *&limit,
                    bool &sameNest) {
  auto load = dyn_cast<tile::LoadAccess>(op);
  limit = nullptr;
  sameNest = false;
  if (!load) {
    return false;
  }
  unsigned last = 0;
  for (const Demand &demand : wanted) {
    last = std::max(last, demand.item->order);
  }
  auto *behind = llvm::partition_point(allWrites, [&](const Write &write) {
    return !op->isBeforeInBlock(write.op);
  });
  for (const Write &write : llvm::make_range(behind, allWrites.end())) {
    if (write.item->order > last) {
      continue;
    }
    bool after = false, within = false;
    auto distance = Distance::SameElement; // of the demands within
    for (const Demand &demand : wanted) {
      after |= demand.item->order > write.item->order;
      if (demand.item == write.item) {
        within = true;
        distance = demand.identity ? distance : Distance::SameNest;
      }
    }
    bool together = within && write.item->isNest;
    bool bad = (after && conflicts(load, write.op, Distance::OtherItem)) ||
               (together && conflicts(load, write.op, distance)) ||
               (within && !together && write.op->getNumRegions() != 0 &&
                conflicts(load, write.op, Distance::OtherItem));
    if (bad && (!limit || write.item->order < limit->order)) {
      limit = write.item;
      sameNest = within && conflicts(load, write.op, distance);
    }
  }
  return limit != nullptr;
}

const char *Plan::whyMaterialize(Value value, ArrayRef<Demand> wanted) {
  Operation *op = value.getDefiningOp();
  bool isPtr = isa<tile::PtrType>(tile::getElement(value.getType()));
  SmallPtrSet<Item *, 4> items;
  int price = cost(value);
  bool memory = touchesMemory(value);
  bool view = isView(op);
  if (known.lookup(value).isDeep) {
    return "it ends a chain of operations that is too long for one pass";
  }
  for (const Demand &demand : wanted) {
    items.insert(demand.item);
    if (demand.buffer && !(view && !isa<tile::BroadcastOp>(op))) {
      return "products, a gather or a print read it from memory";
    }
    if (isPtr) {
      continue;
    }
    if (demand.captured && !view && (memory || price > captureCost)) {
      return "a loop or branch reads it again and again";
    }
    if (demand.shuffled && !view && (memory || price > keepCost)) {
      return "it is read in another order, after a reshape";
    }
    if (demand.repeated && !view && price >= keepCost) {
      return "a broadcast would compute it again for each element";
    }
  }
  return !isPtr && !view && items.size() > 1 && price >= keepCost
             ? "several passes read it, and it costs more to compute than to "
               "load"
             : nullptr;
}

void Plan::tellBuffer(Value value, const char *why) {
  tellDecision(value.getLoc(), [&] {
    return Decision{"buffer",
                    "kept in the thread's memory, " +
                        byteCount(tile::getBytes(value.getType())),
                    "computed where it is used", why, ""};
  });
}

/// A nest before `before` that can write `value` to its buffer.
Item *Plan::nestFor(Value value, Item *before) {
  ArrayRef<int64_t> shape = tile::getShape(value.getType());
  Item *after = this->before(value);
  auto position = llvm::find_if(list, [&](Item &i) { return &i == before; });
  for (auto it = position; it != list.begin();) {
    Item &candidate = *--it;
    if (after && candidate.order <= after->order) {
      break;
    }
    if (canJoin(candidate, shape, -1) && candidate.writes.empty()) {
      return &candidate;
    }
  }
  Item &item = *list.emplace(position);
  item.isNest = true;
  item.shape.assign(shape.begin(), shape.end());
  item.touchesMemory = true;
  renumber();
  return &item;
}

void Plan::materialize(Value value, Item *limit, bool limitConflicts) {
  SmallVector<Demand, 2> wanted = demands[value];
  Item *first = wanted.front().item;
  for (const Demand &demand : wanted) {
    first = demand.item->order < first->order ? demand.item : first;
  }
  bool here = canJoin(*first, tile::getShape(value.getType()), -1);
  for (const Demand &demand : wanted) {
    here &= demand.item != first || (demand.identity && !demand.buffer);
  }
  if (limit &&
      (limit->order < first->order || (limit == first && limitConflicts))) {
    first = limit;
    here = false;
  }
  Item *item = here ? first : nestFor(value, first);
  item->roots.push_back({RootKind::Materialize, nullptr, value});
  producer[value] = item;
  forward(value.getDefiningOp(), {{item, true, false, false, false, false}});
}

/// Hands the demands on `op`'s result to its operands.
void Plan::forward(Operation *op, ArrayRef<Demand> wanted) {
  const StructuredForm *form = structuredForm(op);
  for (Demand demand : wanted) {
    bool view = isView(op);
    if (view && !isa<tile::HintOp>(op)) {
      demand.identity = false;
    }
    if (isa<tile::BroadcastOp>(op)) {
      demand.repeated = true;
    }
    if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
      demand.shuffled |= !isTrivialReshape(reshape);
    }
    if (isa<tile::SplitOp>(op)) {
      demand.shuffled = true;
    }
    if (!view) {
      demand.buffer = false;
    }
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Demand inner = demand;
      Reads reads = form ? form->readsOf(i) : Reads::InPlace;
      inner.buffer |= reads == Reads::Memory;
      inner.identity &= reads == Reads::InPlace;
      this->demand(operand, inner);
    }
  }
}

void Plan::decide(Operation *op) {
  SmallVector<Demand, 4> wanted;
  for (Value result : op->getResults()) {
    wanted.append(demands[result]);
  }
  if (wanted.empty()) {
    return;
  }
  Item *limit = nullptr;
  bool sameNest = false;
  bool tooLate = crossing(op, wanted, limit, sameNest);
  Value only; // among several results
  for (Value result : op->getResults()) {
    if (demands.count(result)) {
      only = op->getNumResults() == 1 || demands[result].size() == wanted.size()
                 ? result
                 : only;
    }
  }
  const char *why = only ? whyMaterialize(only, wanted) : nullptr;
  if (only && (tooLate || why)) {
    tellBuffer(only,
               why ? why : "what it reads is written before its last use");
    return materialize(only, limit, sameNest);
  }
  forward(op, wanted);
}

/// Is `operand` of a dot, after views, used by anything else? If not, it is
/// evaluated while it is packed, and needs no buffer before that.
static bool isShared(Value operand) {
  while (operand.hasOneUse()) {
    Operation *op = operand.getDefiningOp();
    if (!op || !isView(op)) {
      return false;
    }
    operand = op->getOperand(0);
  }
  return true;
}

void Plan::demandOperands(Operation *op) {
  Item *item = itemOf.lookup(op);
  if (!item) {
    if (!isPureScalar(op) && op->getNumResults() > 0) {
      decide(op);
    }
    return;
  }
  if (isa<tile::JoinOp, tile::CatOp>(op)) { // two roots, perhaps in two nests
    for (Item &nest : list) {
      for (const Root &root : nest.roots) {
        if (root.op == op) {
          demandRoot(root, &nest);
        }
      }
    }
    return;
  }
  if (item->isNest) {
    for (const Root &root : SmallVector<Root>(item->roots)) {
      if (root.op == op && root.kind != RootKind::Materialize) {
        demandRoot(root, item);
      } else if (root.op == op) {
        forward(op, {{item, true, false, false, false, false}});
      }
    }
    return;
  }
  Demand read = {item, true, false, false, false, false};
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Demand mine = read;
    bool isPacked = isa<tile::DotOp>(op) && i < 2;
    mine.buffer = isa<tile::PrintOp>(op) || (isPacked && isShared(operand));
    mine.identity = !mine.buffer && !isPacked;
    demand(operand, mine);
  }
  for (Value captured : regions.captured(op)) {
    demand(captured, {item, false, false, true, false, false});
  }
}

//===----------------------------------------------------------------------===//
// Buffers of yielded tensors
//===----------------------------------------------------------------------===//

/// Is the old content of the buffer after `argument` read before `item`
/// writes it, or by `item` at the very position that it writes?
bool Plan::onlyReadBefore(Value argument, Item *item) const {
  auto found = demands.find(argument);
  if (!argument || found == demands.end()) {
    return true;
  }
  return llvm::all_of(found->second, [&](const Demand &demand) {
    return demand.item->order < item->order ||
           (demand.item == item && demand.identity && !demand.captured);
  });
}

void Plan::settleYields(ArrayRef<YieldTarget> targets) {
  DenseMap<Value, int> uses;
  for (const YieldTarget &target : targets) {
    ++uses[target.value];
  }
  DenseSet<unsigned> rooted;
  for (const Item &item : list) {
    for (const Root &root : item.roots) {
      if (root.kind == RootKind::Yield) {
        rooted.insert(root.index);
      }
    }
  }
  for (auto [i, target] : llvm::enumerate(targets)) {
    Item *item = producer.lookup(target.value);
    if (target.value == target.argument) {
      continue;
    }
    if (item && uses[target.value] == 1 &&
        onlyReadBefore(target.argument, item)) {
      direct[target.value] = i;
      continue;
    }
    if (item && !rooted.contains(i)) { // computed elsewhere: copy
      Item *copy = append();
      copy->isNest = true;
      llvm::append_range(copy->shape, tile::getShape(target.value.getType()));
      copy->roots.push_back(
          {RootKind::Yield, nullptr, target.value, static_cast<unsigned>(i)});
      demand(target.value, {copy, true, false, false, false, false});
    }
  }
  // A value that is materialised and yielded: its root needs no copy.
  for (Item &item : list) {
    llvm::erase_if(item.roots, [&](const Root &root) {
      return root.kind == RootKind::Yield && direct.count(root.value);
    });
    for (Root &root : item.roots) {
      if (root.kind == RootKind::Yield) {
        root.throughCopy = !onlyReadBefore(targets[root.index].argument, &item);
      }
    }
  }
}

void Plan::findLastUses() {
  renumber();
  for (auto &[value, item] : producer) {
    if (!isTensor(value) || direct.count(value)) {
      continue;
    }
    Item *last = item;
    for (const Demand &demand : demands[value]) {
      last = later(last, demand.item);
    }
    last->dead.push_back(value);
    SmallVector<Demand> reads;
    llvm::copy_if(demands[value], std::back_inserter(reads),
                  [&](const Demand &demand) { return demand.item == last; });
    if (last != item && reads.size() == 1 && reads[0].identity &&
        !reads[0].captured) {
      last->handedOver.push_back(value);
    }
  }
}

} // namespace nereid::tocpu
