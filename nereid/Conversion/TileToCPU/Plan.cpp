//===- Plan.cpp - Sinks and their nests -----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sinks join the latest nest of their iteration space that comes after all
// they depend on, unless memory forbids it:
//   - a write never moves ahead of a step that touches memory;
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
  for (const Step &step : list) {
    for (const Sink &sink : step.sinks) {
      if (sink.kind == SinkKind::Yield) {
        useBySink(sink, const_cast<Step *>(&step));
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

Step *Plan::append() {
  Step &step = list.emplace_back();
  step.order = list.size();
  return &step;
}

void Plan::renumber() {
  unsigned order = 0;
  for (Step &step : list) {
    step.order = ++order;
  }
}

bool Plan::isEvaluatedHere(Value value) const {
  return value.getParentBlock() == block && !isa<BlockArgument>(value) &&
         !producer.count(value);
}

/// The last step that must run before `value` can be evaluated.
Step *Plan::before(Value value) const {
  Step *step = producer.lookup(value);
  return step ? step : facts.lookup(value).after;
}

bool Plan::readsArrays(Value value) const {
  return isEvaluatedHere(value) && facts.lookup(value).loads;
}

/// Sinks of one nest. A nest of every store of a long program would keep more
/// values alive than there are registers.
static constexpr unsigned maxSinks = 64;

bool Plan::canJoin(const Step &step, ArrayRef<int64_t> shape, int axis) const {
  return step.isNest && !step.exclusive && step.sinks.size() < maxSinks &&
         ArrayRef(step.shape) == shape &&
         (axis < 0 || step.axis < 0 || axis == step.axis);
}

/// So many loads are asked one by one, for every write, whether it may overtake
/// them.
static constexpr unsigned maxLoadsToPass = 512;

/// Would `write`, in `step`, overtake a load that must follow the step?
bool Plan::passesLoad(Operation *write, const Step &step) {
  if (lastWriteBefore.size() > maxLoadsToPass) {
    return true;
  }
  for (Operation *load : llvm::make_first_range(lastWriteBefore)) {
    Step *last = before(load->getResult(0));
    if (last && last->order >= step.order &&
        conflicts(cast<tile::LoadAccess>(load), write, Distance::OtherStep)) {
      return true;
    }
  }
  return false;
}

/// A sink that joins none of the passes that there are; `after` is the last
/// that must be complete.
void Plan::reportSeparateLoop(const Sink &sink, const Step *after,
                              bool exclusive) {
  bool isFirst = llvm::none_of(list, [](const Step &i) { return i.isNest; });
  if (!sink.op || isFirst) {
    return;
  }
  reportDecision(sink.op, [&] {
    Decision d{"pass", "a pass of its own over the tile",
               "together with an earlier one", "", ""};
    Operation *needed = !after                 ? nullptr
                        : !after->isNest       ? after->op
                        : after->sinks.empty() ? nullptr
                                               : after->sinks.back().op;
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

Step *Plan::addSink(Sink sink, ArrayRef<int64_t> shape,
                    ArrayRef<Value> operands, int axis, bool writes,
                    bool exclusive) {
  Step *after = nullptr;
  for (Value operand : operands) {
    after = operand ? later(after, before(operand)) : after;
  }
  Step *step = nullptr;
  for (Step &candidate : llvm::reverse(list)) {
    if (exclusive || (after && candidate.order <= after->order)) {
      break;
    }
    if (canJoin(candidate, shape, axis)) {
      step = writes && passesLoad(sink.op, candidate) ? nullptr : &candidate;
      break;
    }
    if (writes && candidate.touchesMemory) {
      break;
    }
  }
  if (!step) {
    reportSeparateLoop(sink, after, exclusive);
    step = append();
    step->isNest = true;
    step->exclusive = exclusive;
    step->shape.assign(shape.begin(), shape.end());
  }
  step->axis = axis >= 0 ? axis : step->axis;
  step->sinks.push_back(sink);
  step->touchesMemory |= writes;
  for (Value operand : operands) {
    step->touchesMemory |= operand && readsArrays(operand);
  }
  if (sink.op) {
    stepOf[sink.op] = step;
    for (Value result : sink.op->getResults()) {
      producer[result] = later(producer.lookup(result), step);
    }
    if (writes) {
      step->writes.push_back(sink.op);
      allWrites.push_back({step, sink.op});
      lastWrite = later(lastWrite, step);
    }
  }
  return step;
}

/// An operation that is no sink of a nest, at the end of the list.
void Plan::addOp(Operation *op) {
  Step *step = append();
  step->op = op;
  stepOf[op] = step;
  for (Value result : op->getResults()) {
    producer[result] = step;
  }
  bool hasRegions = op->getNumRegions() != 0;
  step->touchesMemory =
      hasRegions ? regions.touchesMemory(op) : !isMemoryEffectFree(op);
  for (Value operand : op->getOperands()) {
    step->touchesMemory |= isa<tile::DotOp>(op) && readsArrays(operand);
  }
  if (hasRegions ? !regions.writes(op).empty() : isWrite(op)) {
    step->writes.push_back(op);
    allWrites.push_back({step, op});
    lastWrite = step;
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
      Step *step = addSink({SinkKind::Materialize, op, load.getResult()},
                           shapeOf(load.getResult()), operands, -1, true, true);
      producer[load.getResult()] = step;
    }
    return;
  }
  if (isa<tile::StoreAccess>(op)) {
    addSink({SinkKind::Store, op}, shapeOf(op->getOperand(0)), operands, -1,
            true);
  } else if (isa<tile::MemoryAccess>(op)) {
    addSink({SinkKind::Atomic, op}, shapeOf(op->getResult(0)), operands, -1,
            true);
  } else if (isa<tile::AssertOp, tile::CheckBoundsOp, tile::CheckNanOp>(op)) {
    // Checks come before what they protect: as if they wrote memory.
    addSink({SinkKind::Service, op}, shapeOf(op->getOperand(0)), operands, -1,
            true);
  } else if (auto reduce = dyn_cast<tile::ReduceOp>(op)) {
    addSink({SinkKind::Reduce, op}, reduce.getSourceShape(), operands,
            reduce.getAxis(), false);
  } else if (auto scan = dyn_cast<tile::ScanOp>(op)) {
    addSink({SinkKind::Scan, op}, scan.getSourceShape(), operands,
            scan.getAxis(), false, true);
  } else if (const StructuredForm *form = structuredForm(op);
             form && form->lanes) {
    addSink({SinkKind::Structured, op}, shapeOf(op->getOperand(0)), operands,
            -1, false, true);
  } else if (isa<tile::JoinOp, tile::CatOp>(op)) {
    for (unsigned i = 0; i < 2; ++i) {
      addSink({SinkKind::Part, op, op->getOperand(i), i},
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
    addSink({SinkKind::Yield, nullptr, value, static_cast<unsigned>(i)},
            tile::getShape(value.getType()), {value}, -1, false);
  }
}

} // namespace nereid::tocpu
