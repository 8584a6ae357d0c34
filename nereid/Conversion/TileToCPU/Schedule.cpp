//===- Schedule.cpp - Which dimension is vectorised, and how wide ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model counts what a nest costs an element: an access is 1 / lanes where
// neighbours in the vector dimension are neighbours in memory, and about 1
// where they are not; lanes outside of the dimension are wasted; a reduction
// along the vector dimension ends in log2(lanes) shuffles.
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToCPU/Schedule.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;

namespace nereid::tocpu {

namespace {

constexpr int64_t unknown = INT64_MIN;
/// Which dimension of the nest a dimension of a tensor is; -1: it is fixed.
using DimMap = SmallVector<int, 4>;
using Strides = SmallVector<int64_t, 4>;

/// Walks what a nest evaluates, with the meaning of every dimension.
class Survey {
public:
  Survey(LoopEmitter &kernel, const Step &step)
      : kernel(kernel), rank(step.shape.size()) {
    DimMap all(rank);
    for (size_t d = 0; d < rank; ++d) {
      all[d] = d;
    }
    for (const Sink &sink : step.sinks) {
      visitSink(sink, all);
    }
  }

  /// For each access the step in memory, in elements, along each dimension.
  SmallVector<Strides> accesses;
  struct Load {
    tile::LoadAccess op;
    DimMap map;
    Strides strides;
  };
  SmallVector<Load> loads;
  unsigned widestBytes = 1;
  unsigned expensive = 0;
  unsigned operations = 0;

private:
  void visitSink(const Sink &sink, const DimMap &map) {
    if (sink.value) {
      widen(tile::getElement(sink.value.getType()));
      return visit(sink.value, map);
    }
    auto access = dyn_cast<tile::MemoryAccess>(sink.op);
    if (access && access.writes()) {
      accesses.push_back(strides(access.getPtr(), map));
      auto cas = dyn_cast<tile::AtomicCASOp>(sink.op);
      Value value = cas ? cas.getCompare() : access.getValue();
      widen(tile::getElement(value.getType()));
      return visit(value, map);
    }
    for (Value operand : sink.op->getOperands()) {
      widen(tile::getElement(operand.getType()));
      visit(operand, map);
    }
    if (sink.op->getNumRegions()) {
      operations += sink.op->getRegion(0).front().getOperations().size();
    }
  }

  /// Narrow floats are computed in f32, but only copied if nothing computes.
  void widen(Type element, bool computed = false) {
    unsigned bytes = tile::getElementBytes(element);
    if (computed && isa<FloatType>(element)) {
      bytes = std::max(bytes, 4u);
    }
    if (!element.isInteger(1)) {
      widestBytes = std::max(widestBytes, std::min(bytes, 8u));
    }
  }

  DimMap mapOf(Operation *view, const DimMap &map) {
    ArrayRef<int64_t> from = tile::getShape(view->getOperand(0).getType());
    DimMap inner;
    if (auto expand = dyn_cast<tile::ExpandDimsOp>(view)) {
      inner = map;
      inner.erase(inner.begin() + expand.getAxis());
    } else if (isa<tile::BroadcastOp>(view)) {
      for (auto [dim, size] : llvm::zip(map, from)) {
        inner.push_back(size == 1 ? -1 : dim);
      }
    } else if (auto transpose = dyn_cast<tile::TransposeOp>(view)) {
      inner.resize(map.size());
      for (auto [i, source] : llvm::enumerate(transpose.getOrder())) {
        inner[source] = map[i];
      }
    } else if (isa<tile::SplitOp>(view)) {
      inner = map;
      inner.push_back(-1);
    } else if (isa<tile::HintOp>(view)) {
      inner = map;
    } else {
      return reshaped(cast<tile::ReshapeOp>(view), map);
    }
    return inner;
  }

  /// Empty where a dimension of the source is a mixture of several.
  DimMap reshaped(tile::ReshapeOp op, const DimMap &map) {
    if (!isTrivialReshape(op)) {
      return {};
    }
    SmallVector<int> kept;
    for (auto [dim, size] :
         llvm::zip(map, tile::getShape(op.getResult().getType()))) {
      if (size != 1) {
        kept.push_back(dim);
      }
    }
    DimMap inner;
    size_t next = 0;
    for (int64_t size : tile::getShape(op.getSource().getType())) {
      inner.push_back(size == 1 ? -1 : kept[next++]);
    }
    return inner;
  }

  void visit(Value value, const DimMap &map) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !seen.insert({{value, map}, true}).second) {
      return;
    }
    if (const Buffer *buffer = kernel.buffer(value)) {
      Strides step(rank, 0);
      for (auto [dim, stride] : llvm::zip(map, buffer->strides)) {
        if (dim >= 0) {
          step[dim] += stride;
        }
      }
      accesses.push_back(step);
      return;
    }
    Operation *op = value.getDefiningOp();
    if (!op || isa<arith::ConstantOp, tile::RangeOp, tile::SplatOp>(op)) {
      return;
    }
    if (isView(op)) {
      DimMap inner = mapOf(op, map);
      if (inner.empty() &&
          !tile::getShape(op->getOperand(0).getType()).empty()) {
        return mixed(op->getOperand(0), map);
      }
      return visit(op->getOperand(0), inner);
    }
    if (auto load = dyn_cast<tile::LoadAccess>(op)) {
      accesses.push_back(strides(load.getPtr(), map));
      loads.push_back({load, map, accesses.back()});
      widen(type.getElementType());
      return;
    }
    ++operations;
    expensive += isExpensive(op);
    widen(type.getElementType(), true);
    for (Value operand : op->getOperands()) {
      if (!tile::getElement(operand.getType()).isInteger(1)) {
        if (hasLaneForm(op)) {
          widen(tile::getElement(operand.getType()), true);
        }
        visit(operand, map);
      }
    }
  }

  /// Below a reshape that mixes dimensions: a buffer in its linear order.
  void mixed(Value source, const DimMap &map) {
    const Buffer *buffer = kernel.buffer(source);
    if (buffer && !buffer->strides.empty() && buffer->strides.back() == 1) {
      Strides step(rank, unknown);
      if (!map.empty() && map.back() >= 0) {
        step[map.back()] = 1;
      }
      accesses.push_back(step);
    }
  }

  Strides strides(Value value, const DimMap &map) {
    auto key = std::make_pair(value, map);
    auto found = known.find(key);
    if (found != known.end()) {
      return found->second;
    }
    Strides result = computeStrides(value, map);
    known[key] = result;
    return result;
  }

  Strides computeStrides(Value value, const DimMap &map) {
    Strides zero(rank, 0);
    if (!isa<RankedTensorType>(value.getType())) {
      return zero;
    }
    Operation *op = value.getDefiningOp();
    if (!op || kernel.buffer(value)) {
      return spread(map, zero);
    }
    if (isa<arith::ConstantOp>(op)) {
      return matchPattern(value, m_Constant()) &&
                     cast<DenseElementsAttr>(
                         cast<arith::ConstantOp>(op).getValue())
                         .isSplat()
                 ? zero
                 : spread(map, zero);
    }
    if (isa<tile::SplatOp>(op)) {
      return zero;
    }
    if (isa<tile::RangeOp>(op)) {
      if (map[0] >= 0) {
        zero[map[0]] = 1;
      }
      return zero;
    }
    if (isView(op)) {
      DimMap inner = mapOf(op, map);
      if (inner.empty() &&
          !tile::getShape(op->getOperand(0).getType()).empty()) {
        return spread(map, zero);
      }
      return strides(op->getOperand(0), inner);
    }
    if (isa<tile::PtrCastOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(
            op)) {
      return strides(op->getOperand(0), map);
    }
    Strides x = strides(op->getOperand(0), map);
    if (isa<arith::RemSIOp, arith::RemUIOp>(op)) {
      return x; // a run, but for the places where it wraps
    }
    if (op->getNumOperands() < 2) {
      return combine(x, zero,
                     [](int64_t a, int64_t) { return a ? unknown : 0; });
    }
    Strides y = strides(op->getOperand(1), map);
    if (isa<tile::AddPtrOp, arith::AddIOp>(op)) {
      return combine(x, y, [](int64_t a, int64_t b) { return a + b; });
    }
    if (isa<arith::SubIOp>(op)) {
      return combine(x, y, [](int64_t a, int64_t b) { return a - b; });
    }
    if (isa<arith::MulIOp>(op)) {
      for (auto [factor, other] : {std::pair(1, &x), std::pair(0, &y)}) {
        APInt constant;
        if (matchPattern(op->getOperand(factor), m_ConstantInt(&constant))) {
          int64_t by = constant.getSExtValue();
          return combine(*other, zero,
                         [&](int64_t a, int64_t) { return a * by; });
        }
      }
    }
    return combine(x, y, [](int64_t a, int64_t b) {
      return a == 0 && b == 0 ? 0 : unknown;
    });
  }

  template <typename F>
  Strides combine(const Strides &x, const Strides &y, F f) {
    Strides result(rank);
    for (size_t d = 0; d < rank; ++d) {
      result[d] = x[d] == unknown || y[d] == unknown ? unknown : f(x[d], y[d]);
    }
    return result;
  }

  Strides spread(const DimMap &map, Strides strides) {
    for (int dim : map) {
      if (dim >= 0) {
        strides[dim] = unknown;
      }
    }
    return strides;
  }

  LoopEmitter &kernel;
  size_t rank;
  struct Less {
    bool operator()(const std::pair<Value, DimMap> &x,
                    const std::pair<Value, DimMap> &y) const {
      void *px = x.first.getAsOpaquePointer(),
           *py = y.first.getAsOpaquePointer();
      return px != py ? px < py
                      : std::lexicographical_compare(
                            x.second.begin(), x.second.end(), y.second.begin(),
                            y.second.end());
    }
  };
  std::map<std::pair<Value, DimMap>, Strides, Less> known;
  std::map<std::pair<Value, DimMap>, bool, Less> seen;
};

} // namespace

static double accessCost(int64_t stride, double lanes) {
  return stride == 0                                             ? 0.3 / lanes
         : stride == 1                                           ? 1 / lanes
         : stride == -1                                          ? 1.5 / lanes
         : stride != unknown && llvm::AbsoluteValue(stride) <= 4 ? 4 / lanes
                                                                 : 1.2;
}

/// The loads whose neighbours in memory lie along another dimension than the
/// vector's, and that are read in one order only.
static SmallVector<TurnedLoad> turnedLoads(const Survey &survey, int vector) {
  SmallVector<TurnedLoad> result;
  for (const Survey::Load &load : survey.loads) {
    int64_t step = load.strides[vector];
    auto *fast = llvm::find(load.strides, 1);
    bool readOnce = llvm::count_if(survey.loads, [&](const Survey::Load &l) {
                      return l.op == load.op;
                    }) == 1;
    if (!readOnce || llvm::count(load.strides, 1) != 1 ||
        (step != unknown && llvm::AbsoluteValue(step) <= 4)) {
      continue;
    }
    auto *own = llvm::find(load.map, vector);
    auto *ownFast = llvm::find(load.map, fast - load.strides.begin());
    if (own != load.map.end() && ownFast != load.map.end()) {
      result.push_back({load.op, static_cast<int>(own - load.map.begin()),
                        static_cast<int>(ownFast - load.map.begin())});
    }
  }
  return result;
}

/// At least 1.
static unsigned resultsOfReductions(const Step &step) {
  unsigned count = 0;
  for (const Sink &sink : step.sinks) {
    count += sink.kind == SinkKind::Reduce ? sink.op->getNumResults() : 0;
  }
  return std::max(count, 1u);
}

Schedule chooseSchedule(LoopEmitter &kernel, const Step &step, bool scalarOnly,
                        bool sameLanes) {
  Survey survey(kernel, step);
  const SmallVector<int64_t> &shape = step.shape;
  int rank = shape.size();
  Schedule schedule;
  schedule.axis = step.axis;
  unsigned full = std::max(kernel.target.vectorBytes / survey.widestBytes, 1u);
  int best = -1;
  double bestCost = 0;
  for (int d = rank - 1; d >= 0; --d) {
    unsigned lanes = std::min<uint64_t>(full, llvm::PowerOf2Ceil(shape[d]));
    double used =
        static_cast<double>(shape[d]) / (llvm::alignTo(shape[d], lanes));
    double cost = (survey.operations + 3 * survey.expensive + 1) / used / lanes;
    for (const Strides &strides : survey.accesses) {
      cost += accessCost(strides[d], lanes) / used;
    }
    if (d == step.axis) {
      cost += 4.0 * llvm::Log2_32(lanes) / shape[d];
    }
    if (best < 0 || cost < bestCost * 0.95) {
      best = d;
      bestCost = cost;
    }
  }
  int64_t total = 1;
  for (int d = 0; d < rank; ++d) {
    total *= d == step.axis ? 1 : shape[d];
  }
  unsigned bestLanes =
      std::min<uint64_t>(full, llvm::PowerOf2Ceil(shape[best]));
  // Short dimensions only: vectorise over several of them at once.
  bool collapse = !scalarOnly && bestLanes < full && rank > 1 &&
                  total >= 2 * shape[best] && total >= 4 &&
                  (step.axis < 0 || shape[best] < full || best != step.axis);
  for (int d = 0; d < rank; ++d) {
    bool inVector = collapse ? d != step.axis : d == best;
    if (inVector) {
      schedule.vector.push_back(d);
      schedule.extent *= shape[d];
    } else if (d != step.axis) {
      schedule.outer.push_back(d);
    }
  }
  schedule.axisIsVector = step.axis >= 0 && !collapse && best == step.axis;
  if (scalarOnly) {
    return schedule;
  }
  if (!collapse) {
    schedule.turned = turnedLoads(survey, best);
  }
  schedule.restLanes =
      std::min<uint64_t>(full, llvm::PowerOf2Ceil(schedule.extent));
  unsigned registers = survey.expensive > 0 || survey.operations > 24 ? 2 : 4;
  // A reduction inside of each chunk jumps from row to row: wide pieces of one
  // that does little else.
  bool jumps = step.axis >= 0 && !schedule.axisIsVector &&
               step.sinks.size() == 1 && survey.operations <= 8;
  // Where there are 16 registers, four values for what hardly computes: whole
  // cache lines of narrow elements, and half the steps of the loop.
  bool isLight = survey.expensive == 0 && survey.operations <= 4;
  bool hasRoom = kernel.target.vectorRegisters >= 32 || jumps || isLight;
  if (!hasRoom || schedule.collapsed()) {
    registers = std::min(registers, 2u);
  }
  // Sums across the vector's dimension are in registers while the loop goes
  // along theirs: half of the registers, beside what is loaded.
  if (step.axis >= 0 && !schedule.axisIsVector) {
    unsigned most =
        kernel.target.vectorRegisters / 2 / resultsOfReductions(step);
    while (registers > 1 && registers > most) {
      registers /= 2;
    }
  }
  if (sameLanes) {
    registers = 1;
  }
  schedule.lanes = schedule.restLanes * registers;
  while (schedule.lanes > schedule.restLanes &&
         schedule.lanes > schedule.extent) {
    schedule.lanes /= 2;
  }
  return schedule;
}

int fastDimension(LoopEmitter &kernel, Value block) {
  Step step;
  step.isNest = true;
  step.shape.assign(tile::getShape(block.getType()));
  step.sinks.push_back({SinkKind::Yield, nullptr, block, 0});
  Schedule schedule = chooseSchedule(kernel, step, false, false);
  return schedule.vector.back();
}

} // namespace nereid::tocpu
