//===- Plan.cpp - Roots and their nests -----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Roots join the latest nest of their iteration space that comes after all
// they depend on, unless memory forbids it:
//   - a write never moves ahead of an item that touches memory;
//   - a load never moves ahead of, or into the nest of, an earlier write.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Plan.h"

#include "nereid/Conversion/Lanes/LaneOps.h"
#include "nereid/Conversion/TileToCPU/Forms.h"
#include "nereid/Conversion/TileToCPU/TileToCPU.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace nereid::tocpu {

bool isTrivialReshape(tile::ReshapeOp op) {
  auto drop = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept;
    llvm::copy_if(shape, std::back_inserter(kept),
                  [](int64_t size) { return size != 1; });
    return kept;
  };
  return drop(tile::getShape(op.getSource().getType())) ==
         drop(tile::getShape(op.getResult().getType()));
}

bool isView(Operation *op) {
  return isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp,
             tile::ReshapeOp, tile::SplitOp, tile::HintOp>(op);
}

bool isPureScalar(Operation *op) {
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::none_of(op->getOperandTypes(),
                       [](Type t) { return isTensor(t); }) &&
         llvm::none_of(op->getResultTypes(),
                       [](Type t) { return isTensor(t); });
}

Plan::Plan(Block *block, ArrayRef<YieldTarget> targets, const Regions &regions)
    : block(block), regions(regions) {
  for (Operation &op : block->without_terminator()) {
    visit(&op);
    learn(&op);
  }
  addYields(targets);
  renumber();
  for (const Item &item : list) {
    for (const Root &root : item.roots) {
      if (root.kind == RootKind::Yield) {
        demandRoot(root, const_cast<Item *>(&item));
      }
    }
  }
  for (Operation &op : llvm::reverse(block->without_terminator())) {
    demandOperands(&op);
  }
  settleYields(targets);
  findLastUses();
  planPrefetches();
}

Item *Plan::append() {
  Item &item = list.emplace_back();
  item.order = list.size();
  return &item;
}

void Plan::renumber() {
  unsigned order = 0;
  for (Item &item : list) {
    item.order = ++order;
  }
}

bool Plan::isEvaluatedHere(Value value) const {
  return value.getParentBlock() == block && !isa<BlockArgument>(value) &&
         !producer.count(value);
}

/// The last item that must run before `value` can be evaluated.
Item *Plan::before(Value value) const {
  Item *item = producer.lookup(value);
  return item ? item : known.lookup(value).after;
}

bool Plan::readsArrays(Value value) const {
  return isEvaluatedHere(value) && known.lookup(value).loads;
}

/// Roots of one nest. A nest of every store of a long program would keep more
/// values alive than there are registers.
static constexpr unsigned maxRoots = 64;

bool Plan::canJoin(const Item &item, ArrayRef<int64_t> shape, int axis) const {
  return item.isNest && !item.exclusive && item.roots.size() < maxRoots &&
         ArrayRef(item.shape) == shape &&
         (axis < 0 || item.axis < 0 || axis == item.axis);
}

/// So many loads are asked one by one, for every write, whether it may overtake
/// them.
static constexpr unsigned maxLoadsToPass = 512;

/// Would `write`, in `item`, overtake a load that must follow the item?
bool Plan::passesLoad(Operation *write, const Item &item) {
  if (lastWriteBefore.size() > maxLoadsToPass) {
    return true;
  }
  for (Operation *load : llvm::make_first_range(lastWriteBefore)) {
    Item *last = before(load->getResult(0));
    if (last && last->order >= item.order &&
        conflicts(cast<tile::LoadAccess>(load), write, Distance::OtherItem)) {
      return true;
    }
  }
  return false;
}

/// A root that joins none of the passes that there are; `after` is the last
/// that must be complete.
void Plan::tellApart(const Root &root, const Item *after, bool exclusive) {
  bool isFirst = llvm::none_of(list, [](const Item &i) { return i.isNest; });
  if (!root.op || isFirst) {
    return;
  }
  tellDecision(root.op, [&] {
    Decision d{"pass", "a pass of its own over the tile",
               "together with an earlier one", "", ""};
    Operation *needed = !after                 ? nullptr
                        : !after->isNest       ? after->op
                        : after->roots.empty() ? nullptr
                                               : after->roots.back().op;
    if (exclusive) {
      d.reason = "scans, histograms and volatile loads run alone";
    } else if (needed) {
      d.reason = "it needs the complete result of '" +
                 needed->getName().stripDialect().str() + "'" + inLine(needed);
    } else {
      d.reason =
          "no earlier pass goes over a tile of its shape, without memory "
          "accesses that must stay in order";
    }
    return d;
  });
}

Item *Plan::addRoot(Root root, ArrayRef<int64_t> shape,
                    ArrayRef<Value> operands, int axis, bool writes,
                    bool exclusive) {
  Item *after = nullptr;
  for (Value operand : operands) {
    after = operand ? later(after, before(operand)) : after;
  }
  Item *item = nullptr;
  for (Item &candidate : llvm::reverse(list)) {
    if (exclusive || (after && candidate.order <= after->order)) {
      break;
    }
    if (canJoin(candidate, shape, axis)) {
      item = writes && passesLoad(root.op, candidate) ? nullptr : &candidate;
      break;
    }
    if (writes && candidate.touchesMemory) {
      break;
    }
  }
  if (!item) {
    tellApart(root, after, exclusive);
    item = append();
    item->isNest = true;
    item->exclusive = exclusive;
    item->shape.assign(shape.begin(), shape.end());
  }
  item->axis = axis >= 0 ? axis : item->axis;
  item->roots.push_back(root);
  item->touchesMemory |= writes;
  for (Value operand : operands) {
    item->touchesMemory |= operand && readsArrays(operand);
  }
  if (root.op) {
    itemOf[root.op] = item;
    for (Value result : root.op->getResults()) {
      producer[result] = later(producer.lookup(result), item);
    }
    if (writes) {
      item->writes.push_back(root.op);
      allWrites.push_back({item, root.op});
      lastWrite = later(lastWrite, item);
    }
  }
  return item;
}

/// An operation that is no root of a nest, at the end of the list.
void Plan::addOp(Operation *op) {
  Item *item = append();
  item->op = op;
  itemOf[op] = item;
  for (Value result : op->getResults()) {
    producer[result] = item;
  }
  bool hasRegions = op->getNumRegions() != 0;
  item->touchesMemory =
      hasRegions ? regions.touchesMemory(op) : !isMemoryEffectFree(op);
  for (Value operand : op->getOperands()) {
    item->touchesMemory |= isa<tile::DotOp>(op) && readsArrays(operand);
  }
  if (hasRegions ? !regions.writes(op).empty() : isWrite(op)) {
    item->writes.push_back(op);
    allWrites.push_back({item, op});
    lastWrite = item;
  }
}

void Plan::visit(Operation *op) {
  auto shapeOf = [](Value value) { return tile::getShape(value.getType()); };
  bool hasTensor =
      llvm::any_of(op->getOperands(), [](Value v) { return isTensor(v); }) ||
      llvm::any_of(op->getResultTypes(), [](Type t) { return isTensor(t); });
  SmallVector<Value> operands(op->getOperands());
  if (isa<tile::AssumeOp>(op) || isPureScalar(op)) {
    return;
  }
  if (!hasTensor || isa<tile::DotOp, tile::PrintOp>(op) ||
      isa<scf::SCFDialect>(op->getDialect()) ||
      (isa<tile::SplitOp>(op) && !isTensor(op->getResult(0)))) {
    return addOp(op);
  }
  if (auto load = dyn_cast<tile::LoadAccess>(op)) {
    lastWriteBefore[op] = lastWrite;
    if (load.getIsVolatile()) {
      Item *item = addRoot({RootKind::Materialize, op, load.getResult()},
                           shapeOf(load.getResult()), operands, -1, true, true);
      producer[load.getResult()] = item;
    }
    return;
  }
  if (isa<tile::StoreAccess>(op)) {
    addRoot({RootKind::Store, op}, shapeOf(op->getOperand(0)), operands, -1,
            true);
  } else if (isa<tile::MemoryAccess>(op)) {
    addRoot({RootKind::Atomic, op}, shapeOf(op->getResult(0)), operands, -1,
            true);
  } else if (isa<tile::AssertOp, tile::CheckBoundsOp, tile::CheckNanOp>(op)) {
    // Checks come before what they protect: as if they wrote memory.
    addRoot({RootKind::Service, op}, shapeOf(op->getOperand(0)), operands, -1,
            true);
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    addRoot({RootKind::Reduce, op}, reduce.getSourceShape(), operands,
            reduce.getAxis(), false);
  } else if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    addRoot({RootKind::Scan, op}, scan.getSourceShape(), operands,
            scan.getAxis(), false, true);
  } else if (const StructuredForm *form = structuredForm(op);
             form && form->lanes) {
    addRoot({RootKind::Structured, op}, shapeOf(op->getOperand(0)), operands,
            -1, false, true);
  } else if (isa<tile::JoinOp, tile::CatOp>(op)) {
    for (unsigned i = 0; i < 2; ++i) {
      addRoot({RootKind::Part, op, op->getOperand(i), i},
              shapeOf(op->getOperand(i)), {op->getOperand(i)}, -1, false);
    }
  }
}

void Plan::addYields(ArrayRef<YieldTarget> targets) {
  for (auto [i, target] : llvm::enumerate(targets)) {
    Value value = target.value;
    // Produced in a buffer: perhaps in the target's own (settleYields).
    if (value == target.argument || producer.count(value)) {
      continue;
    }
    addRoot({RootKind::Yield, nullptr, value, static_cast<unsigned>(i)},
            tile::getShape(value.getType()), {value}, -1, false);
  }
}

} // namespace nereid::tocpu
