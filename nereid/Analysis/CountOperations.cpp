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

/// Of an element: 0 where it is not idle.
enum : int64_t {
  idleHere = 1,
  /// Idle, and handed on by a loop: a sum to which nothing was added yet. What
  /// is added first is an addition as those under it are.
  idleSoFar = 3,
};

/// Which elements of a value are idle, one for all or row-major, and in which
/// dimensions the value differs at all: bit d for dimension d. What was spread
/// over a dimension, as a row's maximum is over its columns, goes with the idle
/// elements there; what was loaded for each element does not.
struct IdleElements {
  KnownValue states;
  uint32_t varies = 0;

  size_t size() const { return states.elements.size(); }
  int64_t at(size_t i) const { return states.at(i); }
};

/// Nothing is said of what no memory was loaded for, which goes with anything.
using Idle = std::optional<IdleElements>;

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
  /// `f` of the states of each two elements.
  template <typename F>
  Idle combined(const Idle &a, const Idle &b, F f);
  /// Of what is computed from both.
  Idle together(const Idle &a, const Idle &b);
  Idle ofOperands(ValueRange operands);
  Idle ofLoad(Value result, Value mask);
  Idle ofSelect(arith::SelectOp select);
  Idle ofMoved(Operation *op);
  /// `b` is added to `a`: how often, of `all` elements.
  int64_t additions(const Idle &a, const Idle &b, int64_t all);
  void countElementwise(Operation *op);
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
  return of->size() == 1 ? (of->at(0) ? 0 : all)
                         : llvm::count(of->states.elements, 0);
}

/// Each dimension in which a value of this type may differ.
static uint32_t dimensionsOf(Value value) {
  uint32_t varies = 0;
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
    for (int64_t d = 0; d < tensor.getRank(); ++d) {
      varies |= uint32_t(tensor.getDimSize(d) > 1) << d;
    }
  }
  return varies;
}

static IdleElements notIdle(Value value) {
  return {{{0}, {}}, dimensionsOf(value)};
}

template <typename F>
Idle Counter::combined(const Idle &a, const Idle &b, F f) {
  if (!a || !b) {
    return a ? a : b;
  }
  IdleElements result{{}, a->varies | b->varies};
  result.states.elements.resize(std::max(a->size(), b->size()));
  work -= int64_t(result.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result.states.elements[i] = f(a->at(i), b->at(i));
  }
  return result;
}

static int64_t both(int64_t a, int64_t b) { return a & b; }

/// An idle element beside one that is not makes an idle one only where the
/// other was spread over what the idle one differs in.
Idle Counter::together(const Idle &a, const Idle &b) {
  if (!a || !b) {
    return a ? a : b;
  }
  bool aWins = a->varies & ~b->varies, bWins = b->varies & ~a->varies;
  return combined(a, b, [&](int64_t x, int64_t y) {
    return x && y ? x & y : aWins && x ? x : bWins && y ? y : 0;
  });
}

Idle Counter::ofOperands(ValueRange operands) {
  Idle result;
  for (Value operand : operands) {
    result = together(result, idleOf(operand));
  }
  return result;
}

Idle Counter::ofLoad(Value loaded, Value mask) {
  const KnownValue *known = mask ? get(mask) : nullptr;
  IdleElements result = notIdle(loaded);
  if (known) {
    work -= int64_t(known->elements.size());
    result.states = *known;
    for (int64_t &element : result.states.elements) {
      element = element ? 0 : idleHere;
    }
  }
  return result;
}

/// As the side that is chosen; where that is not known, idle if both are. A
/// constant that is chosen instead of an element goes with it.
Idle Counter::ofSelect(arith::SelectOp select) {
  const Idle &yes = idleOf(select.getTrueValue()),
             &no = idleOf(select.getFalseValue());
  if (!yes && !no) {
    return idleOf(select.getCondition());
  }
  const KnownValue *known = get(select.getCondition());
  if (!yes || !no || !known) {
    return combined(yes, no, both);
  }
  IdleElements result{*known, yes->varies | no->varies};
  if (result.size() == 1) {
    return known->at(0) ? yes : no;
  }
  work -= int64_t(result.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result.states.elements[i] = known->at(i) ? yes->at(i) : no->at(i);
  }
  return result;
}

Idle Counter::ofMoved(Operation *op) {
  Idle of = idleOf(op->getOperand(0));
  if (!of) {
    return of;
  }
  std::optional<KnownValue> states = moved(op, of->states, work);
  if (!states) {
    return notIdle(op->getResult(0));
  }
  uint32_t from = of->varies;
  uint32_t to =
      llvm::TypeSwitch<Operation *, uint32_t>(op)
          .Case([&](tile::ExpandDimsOp expand) {
            uint32_t below = (uint32_t{1} << expand.getAxis()) - 1;
            return (from & below) | (from & ~below) << 1;
          })
          .Case([&](tile::TransposeOp transpose) {
            uint32_t order = 0;
            for (auto [d, old] : llvm::enumerate(transpose.getOrder())) {
              order |= (from >> old & 1) << d;
            }
            return order;
          })
          .Case([&](tile::ReshapeOp) {
            return from ? dimensionsOf(op->getResult(0)) : 0;
          })
          .Default([&](Operation *) { return from; });
  return IdleElements{std::move(*states), to};
}

void Counter::setAll(ValueRange values, const Idle &to) {
  for (Value value : values) {
    idle[value] = to;
  }
}

/// Of [outer, axis, inner] the elements that are not idle, for each outer and
/// inner.
static std::vector<int64_t>
activeAlong(const IdleElements &idle, ArrayRef<int64_t> shape, unsigned axis) {
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
  auto setResults = [&](const KnownValue &states) {
    for (Value result : reduce.getResults()) {
      idle[result] = IdleElements{states, dimensionsOf(result)};
    }
  };
  if (!of || of->size() == 1) {
    bool isIdle = of && of->at(0);
    int64_t all = elementsOf(reduce.getSources()[0]);
    counted.floats +=
        isIdle ? 0
               : each * double(all - all / std::max<int64_t>(shape[axis], 1));
    if (of) {
      setResults(of->states);
    } else {
      setAll(reduce.getResults(), of);
    }
    return;
  }
  std::vector<int64_t> counts = activeAlong(*of, shape, axis);
  work -= int64_t(of->size());
  KnownValue result;
  for (int64_t count : counts) {
    counted.floats += each * double(std::max<int64_t>(count - 1, 0));
    result.elements.push_back(count == 0 ? idleHere : 0);
  }
  setResults(result);
}

void Counter::countScan(tile::ScanOp scan) {
  double each = operationsIn(scan.getCombine());
  ArrayRef<int64_t> shape = scan.getSourceShape();
  Idle of = ofOperands(scan.getSources());
  work -= elementsOf(scan.getSources()[0]);
  for (int64_t count :
       activeAlong(of ? *of : IdleElements{{{0}, {}}}, shape, scan.getAxis())) {
    counted.floats += each * double(std::max<int64_t>(count - 1, 0));
  }
  setAll(scan.getResults(), of);
}

/// lhs is [b, m, k], rhs [b, k, n]. A row that is idle as a whole, or a column,
/// makes an idle row or column of the result.
void Counter::countDot(tile::DotOp dot) {
  auto lhs = cast<RankedTensorType>(dot.getLhs().getType());
  auto rhs = cast<RankedTensorType>(dot.getRhs().getType());
  unsigned rank = unsigned(lhs.getRank());
  int64_t m = lhs.getDimSize(rank - 2), k = lhs.getDimSize(rank - 1),
          n = rhs.getDimSize(rank - 1),
          batches = rank == 3 ? lhs.getDimSize(0) : 1;
  IdleElements none{{{0}, {}}};
  const Idle &a = idleOf(dot.getLhs()), &b = idleOf(dot.getRhs());
  double all = 2.0 * double(batches * m * n * k), some = all;
  IdleElements result = notIdle(dot.getResult());
  auto hasIdle = [](const Idle &of) {
    return of && (of->size() > 1 || of->at(0));
  };
  if (hasIdle(a) || hasIdle(b)) {
    work -= batches * (m * k + k * n + m * n);
    ArrayRef<int64_t> aShape = lhs.getShape(), bShape = rhs.getShape();
    const IdleElements &left = a ? *a : none, &right = b ? *b : none;
    std::vector<int64_t> rows = activeAlong(left, aShape, rank - 2),
                         columns = activeAlong(right, bShape, rank - 1);
    some = 0;
    for (int64_t i = 0; i < batches * k; ++i) {
      some += 2.0 * double(rows[size_t(i)] * columns[size_t(i)]);
    }
    rows = activeAlong(left, aShape, rank - 1);
    columns = activeAlong(right, bShape, rank - 2);
    result.states.elements.clear();
    for (int64_t i = 0; i < batches * m * n; ++i) {
      bool isActive =
          rows[size_t(i / n)] && columns[size_t(i / (m * n) * n + i % n)];
      result.states.elements.push_back(isActive ? 0 : idleHere);
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
    Idle next = isAgain && now ? combined(now, idleOf(target), both) : now;
    if (isAgain && next) {
      for (int64_t &element : next->states.elements) {
        element = element ? idleSoFar : 0;
      }
    }
    values.push_back(std::move(next));
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
    idle[result] = notIdle(result);
  }
}

/// What a mask keeps out is not added to what is there.
int64_t Counter::additions(const Idle &a, const Idle &b, int64_t all) {
  auto isOne = [](const Idle &of) { return !of || of->size() == 1; };
  Idle sum = together(a, b);
  if (!sum) {
    return all;
  }
  size_t size = isOne(a) && isOne(b) ? 1 : size_t(all);
  int64_t count = 0;
  work -= int64_t(size);
  for (size_t i = 0; i < size; ++i) {
    count += !sum->at(i) && !(a && a->at(i) == idleHere) &&
             !(b && b->at(i) == idleHere);
  }
  return size == 1 ? count * all : count;
}

void Counter::countElementwise(Operation *op) {
  Value result = op->getResult(0);
  double each = operationsOf(op);
  int64_t all = elementsOf(result);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    idle[result] = ofSelect(select);
  } else if (isa<arith::AddFOp, arith::SubFOp>(op)) {
    const Idle &a = idleOf(op->getOperand(0)), &b = idleOf(op->getOperand(1));
    counted.floats += each * double(additions(a, b, all));
    idle[result] = together(a, b);
  } else if (auto fma = dyn_cast<math::FmaOp>(op)) {
    Idle product = together(idleOf(fma.getA()), idleOf(fma.getB()));
    const Idle &addend = idleOf(fma.getC());
    // Where only the sum is idle, the product is still computed.
    Idle some = addend;
    if (some) {
      for (int64_t &element : some->states.elements) {
        element = element ? idleSoFar : 0;
      }
    }
    counted.floats += each * double(additions(product, some, all));
    idle[result] = together(product, addend);
  } else {
    idle[result] = ofOperands(op->getOperands());
    if (each) {
      counted.floats += each * double(active(result));
    }
  }
}

void Counter::onOperation(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case<tile::LoadAccess>([&](auto load) {
        idle[load.getResult()] = ofLoad(load.getResult(), load.getMask());
      })
      .Case([&](tile::ReduceOp reduce) { countReduce(reduce); })
      .Case([&](tile::ScanOp scan) { countScan(scan); })
      .Case([&](tile::DotOp dot) { countDot(dot); })
      .Case<tile::SplatOp, tile::BroadcastOp, tile::TransposeOp,
            tile::ExpandDimsOp, tile::ReshapeOp, tile::HintOp>([&](auto) {
        Idle of = ofMoved(op);
        if (isa<tile::SplatOp>(op) && of) {
          of->varies = 0;
        }
        idle[op->getResult(0)] = std::move(of);
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
          countElementwise(op);
          return;
        }
        bool isOfMemory = op->getNumOperands() && !isa<tile::AddPtrOp>(op);
        for (Value result : op->getResults()) {
          idle[result] = isOfMemory ? Idle(notIdle(result)) : std::nullopt;
        }
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
