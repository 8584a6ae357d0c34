//===- PlanBuffers.cpp - Which tensors live in buffers --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks a block backwards, so that every tensor is decided after its users. A
// tensor that is not written to a buffer passes its uses on to its
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
  ValueFacts all;
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
      all.depth = std::max(all.depth, facts.lookup(operand).depth + 1);
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
    facts[result] = all;
  }
}

int Plan::cost(Value value) const {
  return isTensor(value) && isEvaluatedHere(value) ? facts.lookup(value).cost
                                                   : 1;
}

bool Plan::touchesMemory(Value value) const {
  if (!isTensor(value) || value.getParentBlock() != block) {
    return isTensor(value) && isa<BlockArgument>(value);
  }
  return !isEvaluatedHere(value) || facts.lookup(value).memory;
}

/// Twice is as good as often: `x = x + x` would double them line by line.
void Plan::addUse(Value value, const Use &use) {
  if (value && isTensor(value) && value.getParentBlock() == block) {
    SmallVector<Use, 2> &all = uses[value];
    if (llvm::count(all, use) < 2) {
      all.push_back(use);
    }
  }
}

void Plan::useBySink(const Sink &sink, Step *step) {
  Use inPlace = {step, true, false, false, false, false};
  if (sink.value) {
    return addUse(sink.value, inPlace);
  }
  for (Value operand : sink.op->getOperands()) {
    addUse(operand, inPlace);
  }
}

/// May `write` change what `load` reads? In one nest, an element is loaded
/// before that element is written, but others have been written by then.
bool Plan::conflicts(tile::LoadAccess load, Operation *write,
                     Distance distance) const {
  if (write->getNumRegions() != 0) {
    return llvm::any_of(regions.writes(write), [&](Operation *inner) {
      return conflicts(load, inner, Distance::OtherStep);
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
  return distance == Distance::OtherStep &&
         tile::getShape(to.getType()) == tile::getShape(from.getType());
}

bool Plan::crossing(Operation *op, ArrayRef<Use> wanted, Step *&limit,
                    bool &sameNest) {
  auto load = dyn_cast<tile::LoadAccess>(op);
  limit = nullptr;
  sameNest = false;
  if (!load) {
    return false;
  }
  unsigned last = 0;
  for (const Use &use : wanted) {
    last = std::max(last, use.step->order);
  }
  auto *behind = llvm::partition_point(allWrites, [&](const Write &write) {
    return !op->isBeforeInBlock(write.op);
  });
  for (const Write &write : llvm::make_range(behind, allWrites.end())) {
    if (write.step->order > last) {
      continue;
    }
    bool after = false, within = false;
    auto distance = Distance::SameElement; // of the uses within
    for (const Use &use : wanted) {
      after |= use.step->order > write.step->order;
      if (use.step == write.step) {
        within = true;
        distance = use.identity ? distance : Distance::SameNest;
      }
    }
    bool together = within && write.step->isNest;
    bool bad = (after && conflicts(load, write.op, Distance::OtherStep)) ||
               (together && conflicts(load, write.op, distance)) ||
               (within && !together && write.op->getNumRegions() != 0 &&
                conflicts(load, write.op, Distance::OtherStep));
    if (bad && (!limit || write.step->order < limit->order)) {
      limit = write.step;
      sameNest = within && conflicts(load, write.op, distance);
    }
  }
  return limit != nullptr;
}

const char *Plan::whyMaterialize(Value value, ArrayRef<Use> wanted) {
  Operation *op = value.getDefiningOp();
  bool isPtr = isa<tile::PtrType>(tile::getElement(value.getType()));
  SmallPtrSet<Step *, 4> steps;
  int price = cost(value);
  bool memory = touchesMemory(value);
  bool view = isView(op);
  if (facts.lookup(value).isDeep) {
    return "it ends a chain of operations that is too long for one pass";
  }
  for (const Use &use : wanted) {
    steps.insert(use.step);
    if (use.buffer && !(view && !isa<tile::BroadcastOp>(op))) {
      return "products, a gather or a print read it from memory";
    }
    if (isPtr) {
      continue;
    }
    if (use.captured && !view && (memory || price > captureCost)) {
      return "a loop or branch reads it again and again";
    }
    if (use.shuffled && !view && (memory || price > keepCost)) {
      return "it is read in another order, after a reshape";
    }
    if (use.repeated && !view && price >= keepCost) {
      return "a broadcast would compute it again for each element";
    }
  }
  return !isPtr && !view && steps.size() > 1 && price >= keepCost
             ? "several passes read it, and it costs more to compute than to "
               "load"
             : nullptr;
}

void Plan::reportBuffer(Value value, const char *why) {
  reportDecision(value.getLoc(), [&] {
    return Decision{"buffer",
                    "kept in the thread's memory, " +
                        byteCount(tile::getBytes(value.getType())),
                    "computed where it is used", why, ""};
  });
}

/// A nest before `before` that can write `value` to its buffer.
Step *Plan::nestFor(Value value, Step *before) {
  ArrayRef<int64_t> shape = tile::getShape(value.getType());
  Step *after = this->before(value);
  auto position = llvm::find_if(list, [&](Step &i) { return &i == before; });
  for (auto it = position; it != list.begin();) {
    Step &candidate = *--it;
    if (after && candidate.order <= after->order) {
      break;
    }
    if (canJoin(candidate, shape, -1) && candidate.writes.empty()) {
      return &candidate;
    }
  }
  Step &step = *list.emplace(position);
  step.isNest = true;
  step.shape.assign(shape.begin(), shape.end());
  step.touchesMemory = true;
  renumber();
  return &step;
}

void Plan::materialize(Value value, Step *limit, bool limitConflicts) {
  SmallVector<Use, 2> wanted = uses[value];
  Step *first = wanted.front().step;
  for (const Use &use : wanted) {
    first = use.step->order < first->order ? use.step : first;
  }
  bool here = canJoin(*first, tile::getShape(value.getType()), -1);
  for (const Use &use : wanted) {
    here &= use.step != first || (use.identity && !use.buffer);
  }
  if (limit &&
      (limit->order < first->order || (limit == first && limitConflicts))) {
    first = limit;
    here = false;
  }
  Step *step = here ? first : nestFor(value, first);
  step->sinks.push_back({SinkKind::Materialize, nullptr, value});
  producer[value] = step;
  forward(value.getDefiningOp(), {{step, true, false, false, false, false}});
}

/// Hands the uses on `op`'s result to its operands.
void Plan::forward(Operation *op, ArrayRef<Use> wanted) {
  const StructuredForm *form = structuredForm(op);
  for (Use use : wanted) {
    bool view = isView(op);
    if (view && !isa<tile::HintOp>(op)) {
      use.identity = false;
    }
    if (isa<tile::BroadcastOp>(op)) {
      use.repeated = true;
    }
    if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
      use.shuffled |= !isTrivialReshape(reshape);
    }
    if (isa<tile::SplitOp>(op)) {
      use.shuffled = true;
    }
    if (!view) {
      use.buffer = false;
    }
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      Use inner = use;
      Reads reads = form ? form->readsOf(i) : Reads::InPlace;
      inner.buffer |= reads == Reads::Memory;
      inner.identity &= reads == Reads::InPlace;
      this->addUse(operand, inner);
    }
  }
}

void Plan::decide(Operation *op) {
  SmallVector<Use, 4> wanted;
  for (Value result : op->getResults()) {
    wanted.append(uses[result]);
  }
  if (wanted.empty()) {
    return;
  }
  Step *limit = nullptr;
  bool sameNest = false;
  bool tooLate = crossing(op, wanted, limit, sameNest);
  Value only; // among several results
  for (Value result : op->getResults()) {
    if (uses.count(result)) {
      only = op->getNumResults() == 1 || uses[result].size() == wanted.size()
                 ? result
                 : only;
    }
  }
  const char *why = only ? whyMaterialize(only, wanted) : nullptr;
  if (only && (tooLate || why)) {
    reportBuffer(only,
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
  Step *step = stepOf.lookup(op);
  if (!step) {
    if (!isPureScalar(op) && op->getNumResults() > 0) {
      decide(op);
    }
    return;
  }
  if (isa<tile::JoinOp, tile::CatOp>(op)) { // two sinks, perhaps in two nests
    for (Step &nest : list) {
      for (const Sink &sink : nest.sinks) {
        if (sink.op == op) {
          useBySink(sink, &nest);
        }
      }
    }
    return;
  }
  if (step->isNest) {
    for (const Sink &sink : SmallVector<Sink>(step->sinks)) {
      if (sink.op == op && sink.kind != SinkKind::Materialize) {
        useBySink(sink, step);
      } else if (sink.op == op) {
        forward(op, {{step, true, false, false, false, false}});
      }
    }
    return;
  }
  Use read = {step, true, false, false, false, false};
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Use mine = read;
    bool isPacked = isa<tile::DotOp>(op) && i < 2;
    mine.buffer = isa<tile::PrintOp>(op) || (isPacked && isShared(operand));
    mine.identity = !mine.buffer && !isPacked;
    addUse(operand, mine);
  }
  for (Value captured : regions.captured(op)) {
    addUse(captured, {step, false, false, true, false, false});
  }
}

//===----------------------------------------------------------------------===//
// Buffers of yielded tensors
//===----------------------------------------------------------------------===//

/// Is the old content of the buffer after `argument` read before `step`
/// writes it, or by `step` at the very position that it writes?
bool Plan::onlyReadBefore(Value argument, Step *step) const {
  auto found = uses.find(argument);
  if (!argument || found == uses.end()) {
    return true;
  }
  return llvm::all_of(found->second, [&](const Use &use) {
    return use.step->order < step->order ||
           (use.step == step && use.identity && !use.captured);
  });
}

void Plan::settleYields(ArrayRef<YieldTarget> targets) {
  DenseMap<Value, int> yields;
  for (const YieldTarget &target : targets) {
    ++yields[target.value];
  }
  DenseSet<unsigned> rooted;
  for (const Step &step : list) {
    for (const Sink &sink : step.sinks) {
      if (sink.kind == SinkKind::Yield) {
        rooted.insert(sink.index);
      }
    }
  }
  for (auto [i, target] : llvm::enumerate(targets)) {
    Step *step = producer.lookup(target.value);
    if (target.value == target.argument) {
      continue;
    }
    if (step && yields[target.value] == 1 &&
        onlyReadBefore(target.argument, step)) {
      direct[target.value] = i;
      continue;
    }
    if (step && !rooted.contains(i)) { // computed elsewhere: copy
      Step *copy = append();
      copy->isNest = true;
      llvm::append_range(copy->shape, tile::getShape(target.value.getType()));
      copy->sinks.push_back(
          {SinkKind::Yield, nullptr, target.value, static_cast<unsigned>(i)});
      addUse(target.value, {copy, true, false, false, false, false});
    }
  }
  // A value that is materialised and yielded: its sink needs no copy.
  for (Step &step : list) {
    llvm::erase_if(step.sinks, [&](const Sink &sink) {
      return sink.kind == SinkKind::Yield && direct.count(sink.value);
    });
    for (Sink &sink : step.sinks) {
      if (sink.kind == SinkKind::Yield) {
        sink.throughCopy = !onlyReadBefore(targets[sink.index].argument, &step);
      }
    }
  }
}

void Plan::findLastUses() {
  renumber();
  for (auto &[value, step] : producer) {
    if (!isTensor(value) || direct.count(value)) {
      continue;
    }
    Step *last = step;
    for (const Use &use : uses[value]) {
      last = later(last, use.step);
    }
    last->dead.push_back(value);
    SmallVector<Use> reads;
    llvm::copy_if(uses[value], std::back_inserter(reads),
                  [&](const Use &use) { return use.step == last; });
    if (last != step && reads.size() == 1 && reads[0].identity &&
        !reads[0].captured) {
      last->handedOver.push_back(value);
    }
  }
}

} // namespace nereid::tocpu
