//===- CountOperations.cpp - Operations that a launch asks for ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/CountOperations.h"

#include "nereid/Analysis/ProgramValues.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;

namespace nereid {

/// Of an element; 0 for what is no operation of floats.
static double operationsOf(Operation *op) {
  if (op->getNumResults() != 1 ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0)))) {
    return 0;
  }
  if (isa<math::FmaOp>(op)) {
    return 2;
  }
  bool isMath = isa<math::MathDialect>(op->getDialect()) &&
                !isa<math::AbsFOp, math::CeilOp, math::FloorOp, math::RoundOp,
                     math::RoundEvenOp, math::TruncOp, math::CopySignOp>(op);
  bool isArithmetic = isa<arith::AddFOp, arith::SubFOp, arith::MulFOp,
                          arith::DivFOp, arith::RemFOp>(op);
  return isMath || isArithmetic ? 1 : 0;
}

static double operationsIn(Region &region) {
  double sum = 0;
  region.walk([&](Operation *op) { sum += operationsOf(op); });
  return sum;
}

static int64_t elementsOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? tensor.getNumElements() : 1;
}

namespace {

/// Which elements of a value are idle: 1, one for all or row-major. Nothing is
/// said of what no memory was loaded for, which goes with anything.
using Idle = std::optional<KnownValue>;

class Counter : public ProgramValues {
public:
  Counter(const LaunchFacts &launch, std::array<int32_t, 3> program,
          int64_t &work)
      : ProgramValues(launch, program, work, [](const KnownAccess &) {}),
        work(work) {}

  SourceOperations counted;
  bool isKnown = true;

private:
  void onOperation(Operation *op) override;
  void onCopy(ValueRange from, ValueRange to, bool isAgain) override;
  void onUnknown(Operation *op) override;

  const Idle &idleOf(Value value) const;
  int64_t active(Value value) const;
  /// Idle where `f` of two numbers that are 1 where an element is idle.
  template <typename F>
  Idle combined(const Idle &a, const Idle &b, F f);
  Idle ofOperands(ValueRange operands);
  Idle ofLoad(Value mask);
  void countDot(tile::DotOp dot);
  void countReduce(tile::ReduceOp reduce);
  void countScan(tile::ScanOp scan);
  void setAll(ValueRange values, const Idle &to);

  int64_t &work;
  DenseMap<Value, Idle> idle;
};

} // namespace

const Idle &Counter::idleOf(Value value) const {
  static const Idle none;
  auto found = idle.find(value);
  return found == idle.end() ? none : found->second;
}

int64_t Counter::active(Value value) const {
  const Idle &of = idleOf(value);
  int64_t all = elementsOf(value);
  if (!of) {
    return all;
  }
  return of->elements.size() == 1
             ? (of->elements[0] ? 0 : all)
             : all - std::accumulate(of->elements.begin(), of->elements.end(),
                                     int64_t{0});
}

template <typename F>
Idle Counter::combined(const Idle &a, const Idle &b, F f) {
  if (!a || !b) {
    return a ? a : b;
  }
  KnownValue result;
  result.elements.resize(std::max(a->elements.size(), b->elements.size()));
  work -= int64_t(result.elements.size());
  for (size_t i = 0; i < result.elements.size(); ++i) {
    result.elements[i] = f(a->at(i), b->at(i));
  }
  return result;
}

static int64_t either(int64_t a, int64_t b) { return a | b; }
static int64_t both(int64_t a, int64_t b) { return a & b; }

Idle Counter::ofOperands(ValueRange operands) {
  Idle result;
  for (Value operand : operands) {
    result = combined(result, idleOf(operand), either);
  }
  return result;
}

Idle Counter::ofLoad(Value mask) {
  const KnownValue *known = mask ? get(mask) : nullptr;
  if (!known) {
    return KnownValue{{0}, {}};
  }
  KnownValue result = *known;
  work -= int64_t(result.elements.size());
  for (int64_t &element : result.elements) {
    element = !element;
  }
  return result;
}

void Counter::setAll(ValueRange values, const Idle &to) {
  for (Value value : values) {
    idle[value] = to;
  }
}

/// Of [outer, axis, inner] the elements that are not idle, for each outer and
/// inner.
static std::vector<int64_t>
activeAlong(const KnownValue &idle, ArrayRef<int64_t> shape, unsigned axis) {
  int64_t inner = 1, outer = 1;
  for (unsigned d = 0; d < shape.size(); ++d) {
    (d < axis ? outer : inner) *= d == axis ? 1 : shape[d];
  }
  std::vector<int64_t> counts(size_t(outer * inner));
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t a = 0; a < shape[axis]; ++a) {
      for (int64_t i = 0; i < inner; ++i) {
        counts[size_t(o * inner + i)] +=
            !idle.at(size_t((o * shape[axis] + a) * inner + i));
      }
    }
  }
  return counts;
}

void Counter::countReduce(tile::ReduceOp reduce) {
  double each = operationsIn(reduce.getCombine());
  ArrayRef<int64_t> shape = reduce.getSourceShape();
  unsigned axis = reduce.getAxis();
  Idle of = ofOperands(reduce.getSources());
  if (!of || of->elements.size() == 1) {
    bool isIdle = of && of->elements[0];
    int64_t all = elementsOf(reduce.getSources()[0]);
    counted.floats +=
        isIdle ? 0
               : each * double(all - all / std::max<int64_t>(shape[axis], 1));
    setAll(reduce.getResults(), of);
    return;
  }
  std::vector<int64_t> counts = activeAlong(*of, shape, axis);
  work -= int64_t(of->elements.size());
  KnownValue result;
  for (int64_t count : counts) {
    counted.floats += each * double(std::max<int64_t>(count - 1, 0));
    result.elements.push_back(count == 0);
  }
  setAll(reduce.getResults(), result);
}

void Counter::countScan(tile::ScanOp scan) {
  double each = operationsIn(scan.getCombine());
  ArrayRef<int64_t> shape = scan.getSourceShape();
  Idle of = ofOperands(scan.getSources());
  work -= elementsOf(scan.getSources()[0]);
  for (int64_t count :
       activeAlong(of ? *of : KnownValue{{0}, {}}, shape, scan.getAxis())) {
    counted.floats += each * double(std::max<int64_t>(count - 1, 0));
  }
  setAll(scan.getResults(), of);
}

/// lhs is [b, m, k], rhs [b, k, n]. A row of which all is idle, or a column,
/// makes an idle row or column of the result.
void Counter::countDot(tile::DotOp dot) {
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  auto rhs = cast<RankedTensorType>(dot.getRhs().getType());
  unsigned rank = unsigned(lhs.getRank());
  int64_t m = lhs.getDimSize(rank - 2), k = lhs.getDimSize(rank - 1),
          n = rhs.getDimSize(rank - 1),
          batches = rank == 3 ? lhs.getDimSize(0) : 1;
  KnownValue none{{0}, {}};
  const Idle &a = idleOf(dot.getLhs()), &b = idleOf(dot.getRhs());
  double all = 2.0 * double(batches * m * n * k), some = all;
  Idle result = KnownValue{{0}, {}};
  auto hasIdle = [](const Idle &of) {
    return of && (of->elements.size() > 1 || of->elements[0]);
  };
  if (hasIdle(a) || hasIdle(b)) {
    work -= batches * (m * k + k * n + m * n);
    ArrayRef<int64_t> aShape = lhs.getShape(), bShape = rhs.getShape();
    const KnownValue &left = a ? *a : none, &right = b ? *b : none;
    std::vector<int64_t> rows = activeAlong(left, aShape, rank - 2),
                         columns = activeAlong(right, bShape, rank - 1);
    some = 0;
    for (int64_t i = 0; i < batches * k; ++i) {
      some += 2.0 * double(rows[size_t(i)] * columns[size_t(i)]);
    }
    rows = activeAlong(left, aShape, rank - 1);
    columns = activeAlong(right, bShape, rank - 2);
    result->elements.clear();
    for (int64_t i = 0; i < batches * m * n; ++i) {
      result->elements.push_back(!rows[size_t(i / n)] ||
                                 !columns[size_t(i / (m * n) * n + i % n)]);
    }
  }
  counted.products += some;
  counted.blockProducts += all;
  if (isa<FloatType>(lhs.getElementType())) {
    counted.floatProducts += some;
  }
  idle[dot.getResult()] = combined(result, idleOf(dot.getC()), both);
}

void Counter::onCopy(ValueRange from, ValueRange to, bool isAgain) {
  std::vector<Idle> values;
  for (auto [source, target] : llvm::zip(from, to)) {
    const Idle &now = idleOf(source);
    values.push_back(isAgain && now ? combined(now, idleOf(target), both)
                                    : now);
  }
  for (auto [value, target] : llvm::zip(values, to)) {
    idle[target] = value;
  }
}

void Counter::onUnknown(Operation *op) {
  op->walk([&](Operation *inner) {
    isKnown &= operationsOf(inner) == 0 &&
               !isa<tile::DotOp, tile::InlineAsmOp, func::CallOp>(inner);
  });
  for (Value result : op->getResults()) {
    idle[result] = KnownValue{{0}, {}};
  }
}

void Counter::onOperation(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<tile::LoadOp>(
          [&](auto load) { idle[load.getResult()] = ofLoad(load.getMask()); })
      .Case([&](tile::ReduceOp reduce) { countReduce(reduce); })
      .Case([&](tile::ScanOp scan) { countScan(scan); })
      .Case([&](tile::DotOp dot) { countDot(dot); })
      .Case<tile::SplatOp, tile::BroadcastOp, tile::TransposeOp,
            tile::ExpandDimsOp, tile::ReshapeOp, tile::HintOp>([&](auto) {
        Idle of = idleOf(op->getOperand(0));
        idle[op->getResult(0)] = of ? moved(op, *of, work) : of;
      })
      .Case([&](tile::MapOp map) {
        bool isLine =
            llvm::all_of(map.getFunction().front(), [](Operation &one) {
              return one.getNumRegions() == 0;
            });
        Idle of = ofOperands(map.getSources());
        setAll(map.getResults(), of);
        double each = operationsIn(map.getFunction());
        isKnown &= isLine || each == 0;
        if (!map.getResults().empty()) {
          counted.floats += each * double(active(map.getResults()[0]));
        }
      })
      .Case<tile::InlineAsmOp, func::CallOp>([&](auto) { isKnown = false; })
      .Default([&](Operation *) {
        bool isElementwise =
            op->getNumResults() == 1 && op->getNumOperands() &&
            (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
             isa<tile::ConvertFloatOp>(op));
        if (isElementwise) {
          Value result = op->getResult(0);
          idle[result] = ofOperands(op->getOperands());
          if (double each = operationsOf(op)) {
            counted.floats += each * double(active(result));
          }
          return;
        }
        bool isOfMemory = op->getNumOperands() && !isa<tile::AddPtrOp>(op);
        setAll(op->getResults(),
               isOfMemory ? Idle(KnownValue{{0}, {}}) : std::nullopt);
      });
}

/// The `i`-th to look at: those that come early are spread over the grid.
static std::array<int32_t, 3> programAt(uint64_t i,
                                        const std::array<int32_t, 3> &grid) {
  uint64_t all = uint64_t(grid[0]) * uint64_t(grid[1]) * uint64_t(grid[2]);
  uint64_t step = std::max<uint64_t>(uint64_t(double(all) * 0.618), 1);
  while (std::gcd(step, all) != 1) {
    ++step;
  }
  // From the last one on: 128-bit, since both factors may be large.
  auto at = uint64_t((unsigned __int128)(i)*step % all);
  at = all - 1 - at;
  return {int32_t(at % uint64_t(grid[0])),
          int32_t(at / uint64_t(grid[0]) % uint64_t(grid[1])),
          int32_t(at / uint64_t(grid[0]) / uint64_t(grid[1]))};
}

std::optional<SourceOperations> countOperations(func::FuncOp kernel,
                                                const LaunchFacts &launch) {
  constexpr uint64_t most = 256;
  constexpr int64_t elements = int64_t{1} << 26;
  uint64_t all = 1;
  for (int32_t size : launch.grid) {
    all *= uint64_t(std::max(size, 0));
  }
  SourceOperations sum;
  int64_t work = elements;
  uint64_t done = 0;
  for (; done < std::min(all, most); ++done) {
    Counter counter(launch, programAt(done, launch.grid), work);
    static_cast<ProgramValues &>(counter).run(kernel);
    if (!counter.isKnown) {
      return std::nullopt;
    }
    if (work <= 0) {
      break; // in the midst of this one
    }
    sum.add(counter.counted);
  }
  if (all && !done) {
    return std::nullopt;
  }
  double scale = all ? double(all) / double(done) : 0;
  return SourceOperations{sum.floats * scale, sum.products * scale,
                          sum.blockProducts * scale, sum.floatProducts * scale};
}

} // namespace nereid
