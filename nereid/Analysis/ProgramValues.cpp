//===- ProgramValues.cpp - Integers of one program of a launch ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/ProgramValues.h"

#include "nereid/Dialect/Tile/IR/Kernel.h"
#include "nereid/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace nereid {

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Type elementOf(Value value) { return getElementTypeOrSelf(value); }

/// 0 for what is no integer.
static unsigned widthOf(Type type) {
  return type.isIndex() ? 64
         : type.isIntOrIndex() && type.getIntOrFloatBitWidth() <= 64
             ? type.getIntOrFloatBitWidth()
             : 0;
}

static size_t countOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? size_t(tensor.getNumElements()) : 1;
}

static int64_t wrap(uint64_t value, unsigned width) {
  return width == 1 ? int64_t(value & 1) : llvm::SignExtend64(value, width);
}

static uint64_t asUnsigned(int64_t value, unsigned width) {
  return uint64_t(value) & llvm::maskTrailingOnes<uint64_t>(width);
}

namespace {
/// Two integers of `width` bits, sign-extended; an i1 is 0 or 1, and nothing
/// divides or shifts by it. Nothing where the operation has no result. The
/// result is wrapped by the caller.
using Binary = std::optional<int64_t> (*)(int64_t, int64_t, unsigned width);
} // namespace

static bool divides(int64_t a, int64_t b) {
  return b != 0 && !(b == -1 && a == std::numeric_limits<int64_t>::min());
}

/// A function of unsigned numbers; nothing for a divisor of zero.
template <auto F>
static std::optional<int64_t> onUnsigned(int64_t a, int64_t b, unsigned width) {
  if (!b) {
    return std::nullopt;
  }
  return int64_t(F(asUnsigned(a, width), asUnsigned(b, width)));
}

static Binary divisionOf(Operation *op) {
  using I = int64_t;
  using Maybe = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case([](arith::DivSIOp) -> Binary {
        return [](I a, I b, unsigned) {
          return divides(a, b) ? Maybe(a / b) : std::nullopt;
        };
      })
      .Case([](arith::RemSIOp) -> Binary {
        return [](I a, I b, unsigned) {
          return divides(a, b) ? Maybe(a % b) : std::nullopt;
        };
      })
      .Case([](arith::FloorDivSIOp) -> Binary {
        return [](I a, I b, unsigned) {
          return divides(a, b) ? Maybe(a / b - (a % b && (a < 0) != (b < 0)))
                               : std::nullopt;
        };
      })
      .Case([](arith::CeilDivSIOp) -> Binary {
        return [](I a, I b, unsigned) {
          return divides(a, b) ? Maybe(a / b + (a % b && (a < 0) == (b < 0)))
                               : std::nullopt;
        };
      })
      .Case([](arith::DivUIOp) -> Binary {
        return onUnsigned<[](uint64_t a, uint64_t b) { return a / b; }>;
      })
      .Case([](arith::RemUIOp) -> Binary {
        return onUnsigned<[](uint64_t a, uint64_t b) { return a % b; }>;
      })
      .Default([](Operation *) { return nullptr; });
}

static Binary shiftOf(Operation *op) {
  using I = int64_t;
  using Maybe = std::optional<int64_t>;
  return llvm::TypeSwitch<Operation *, Binary>(op)
      .Case([](arith::ShLIOp) -> Binary {
        return [](I a, I b, unsigned width) {
          return uint64_t(b) < width ? Maybe(I(uint64_t(a) << b))
                                     : std::nullopt;
        };
      })
      .Case([](arith::ShRSIOp) -> Binary {
        return [](I a, I b, unsigned width) {
          return uint64_t(b) < width ? Maybe(a >> b) : std::nullopt;
        };
      })
      .Case([](arith::ShRUIOp) -> Binary {
        return [](I a, I b, unsigned width) {
          return uint64_t(b) < width ? Maybe(I(asUnsigned(a, width) >> b))
                                     : std::nullopt;
        };
      })
      .Default([](Operation *) { return nullptr; });
}

template <auto F>
static std::optional<int64_t> plain(int64_t a, int64_t b, unsigned width) {
  return int64_t(F(uint64_t(a), uint64_t(b), a, b, width));
}

#define NEREID_PLAIN(Op, expression)                                           \
  .Case([](arith::Op) -> Binary {                                              \
    return plain<[]([[maybe_unused]] uint64_t ua,                              \
                    [[maybe_unused]] uint64_t ub, [[maybe_unused]] int64_t a,  \
                    [[maybe_unused]] int64_t b,                                \
                    [[maybe_unused]] unsigned width) { return expression; }>;  \
  })

static Binary plainOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, Binary>(op)
      // clang-format off
      NEREID_PLAIN(AddIOp, ua + ub)
      NEREID_PLAIN(SubIOp, ua - ub)
      NEREID_PLAIN(MulIOp, ua * ub)
      NEREID_PLAIN(AndIOp, ua & ub)
      NEREID_PLAIN(OrIOp, ua | ub)
      NEREID_PLAIN(XOrIOp, ua ^ ub)
      NEREID_PLAIN(MaxSIOp, width == 1 ? a & b : std::max(a, b)) // -1 and 0
      NEREID_PLAIN(MinSIOp, width == 1 ? a | b : std::min(a, b))
      NEREID_PLAIN(MaxUIOp, std::max(asUnsigned(a, width), asUnsigned(b, width)))
      NEREID_PLAIN(MinUIOp, std::min(asUnsigned(a, width), asUnsigned(b, width)))
              // clang-format on
              .Default([](Operation *) { return nullptr; });
}
#undef NEREID_PLAIN

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b,
                    unsigned width) {
  // An i1 that is set is -1.
  if (width == 1) {
    a = -a;
    b = -b;
  }
  uint64_t ua = asUnsigned(a, width), ub = asUnsigned(b, width);
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return a == b;
  case arith::CmpIPredicate::ne:
    return a != b;
  case arith::CmpIPredicate::slt:
    return a < b;
  case arith::CmpIPredicate::sle:
    return a <= b;
  case arith::CmpIPredicate::sgt:
    return a > b;
  case arith::CmpIPredicate::sge:
    return a >= b;
  case arith::CmpIPredicate::ult:
    return ua < ub;
  case arith::CmpIPredicate::ule:
    return ua <= ub;
  case arith::CmpIPredicate::ugt:
    return ua > ub;
  case arith::CmpIPredicate::uge:
    return ua >= ub;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const KnownValue *ProgramValues::get(Value value) const {
  auto found = known.find(value);
  return found == known.end() ? nullptr : &found->second;
}

void ProgramValues::set(Value value, Maybe to) {
  if (to) {
    known[value] = std::move(*to);
  } else {
    known.erase(value); // of an earlier iteration
  }
}

std::optional<int64_t> ProgramValues::scalar(Value value) const {
  const KnownValue *found = get(value);
  return found && !found->root && found->elements.size() == 1
             ? std::optional(found->elements[0])
             : std::nullopt;
}

std::vector<ProgramValues::Maybe>
ProgramValues::getAll(ValueRange values) const {
  std::vector<Maybe> all;
  for (Value value : values) {
    const KnownValue *found = get(value);
    all.push_back(found ? Maybe(*found) : std::nullopt);
  }
  return all;
}

void ProgramValues::setAll(ValueRange values, const std::vector<Maybe> &to) {
  for (auto [value, one] : llvm::zip(values, to)) {
    set(value, one);
  }
}

void ProgramValues::copy(ValueRange from, ValueRange to, bool isAgain) {
  setAll(to, getAll(from)); // all are read before one is written
  onCopy(from, to, isAgain);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static std::optional<KnownValue> constantOf(arith::ConstantOp op) {
  unsigned width = widthOf(elementOf(op));
  if (!width) {
    return std::nullopt;
  }
  auto number = [&](const APInt &value) {
    return width == 1 ? int64_t(value.getZExtValue()) : value.getSExtValue();
  };
  KnownValue result;
  if (auto integer = dyn_cast<IntegerAttr>(op.getValue())) {
    result.elements = {number(integer.getValue())};
  } else if (auto dense = dyn_cast<DenseIntElementsAttr>(op.getValue())) {
    if (dense.isSplat()) {
      result.elements = {number(dense.getSplatValue<APInt>())};
    } else {
      for (const APInt &value : dense) {
        result.elements.push_back(number(value));
      }
    }
  }
  return result.elements.empty() ? std::nullopt : std::optional(result);
}

/// The result of `f(i)` for each element, once where all operands are single.
template <typename F>
static std::optional<KnownValue> elementwise(size_t count, bool isSingle,
                                             int64_t &work, F f) {
  KnownValue result;
  result.elements.resize(isSingle ? 1 : count);
  work -= int64_t(result.elements.size());
  for (size_t i = 0; i < result.elements.size(); ++i) {
    std::optional<int64_t> value = f(i);
    if (!value) {
      return std::nullopt;
    }
    result.elements[i] = *value;
  }
  return result;
}

static bool isSingle(const KnownValue &value) {
  return value.elements.size() == 1;
}

ProgramValues::Maybe ProgramValues::evaluateInteger(Operation *op) {
  unsigned width = widthOf(elementOf(op->getResult(0)));
  size_t count = countOf(op->getResult(0));
  const KnownValue *a = get(op->getOperand(0));
  if (!width || !a || a->root) {
    return std::nullopt;
  }
  unsigned from = widthOf(elementOf(op->getOperand(0)));
  if (isa<arith::ExtUIOp, arith::TruncIOp, arith::IndexCastUIOp>(op)) {
    return elementwise(count, isSingle(*a), work, [&](size_t i) {
      return wrap(asUnsigned(a->at(i), from), width);
    });
  }
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op)) {
    return elementwise(count, isSingle(*a), work, [&](size_t i) {
      int64_t value = a->at(i);
      return std::optional(wrap(uint64_t(from == 1 ? -value : value), width));
    });
  }
  const KnownValue *b =
      op->getNumOperands() == 2 ? get(op->getOperand(1)) : nullptr;
  if (!b || b->root) {
    return std::nullopt;
  }
  bool single = isSingle(*a) && isSingle(*b);
  if (auto comparison = dyn_cast<arith::CmpIOp>(op)) {
    return elementwise(count, single, work, [&](size_t i) {
      return int64_t(
          compare(comparison.getPredicate(), a->at(i), b->at(i), from));
    });
  }
  Binary f = plainOf(op);
  if (!f && width > 1) {
    f = divisionOf(op);
    f = f ? f : shiftOf(op);
  }
  if (!f) {
    return std::nullopt;
  }
  return elementwise(count, single, work, [&](size_t i) {
    std::optional<int64_t> value = f(a->at(i), b->at(i), width);
    return value ? std::optional(wrap(uint64_t(*value), width)) : std::nullopt;
  });
}

ProgramValues::Maybe ProgramValues::select(Operation *op) {
  const KnownValue *condition = get(op->getOperand(0));
  const KnownValue *a = get(op->getOperand(1)), *b = get(op->getOperand(2));
  if (!condition || !a || !b || a->root != b->root) {
    return std::nullopt;
  }
  Maybe result = elementwise(
      countOf(op->getResult(0)),
      isSingle(*condition) && isSingle(*a) && isSingle(*b), work,
      [&](size_t i) { return condition->at(i) ? a->at(i) : b->at(i); });
  result->root = a->root;
  return result;
}

/// Bytes of what a pointer points to; 0 where it is no pointer.
static int64_t pointeeBytes(Value pointer) {
  auto type = dyn_cast<tile::PtrType>(elementOf(pointer));
  return type ? (type.getPointee().getIntOrFloatBitWidth() + 7) / 8 : 0;
}

ProgramValues::Maybe ProgramValues::advance(Operation *op) {
  const KnownValue *from = get(op->getOperand(0)), *by = get(op->getOperand(1));
  if (!from || !by || by->root) {
    return std::nullopt;
  }
  int64_t bytes = pointeeBytes(op->getOperand(0));
  bool isBit = widthOf(elementOf(op->getOperand(1))) == 1;
  Maybe result =
      elementwise(countOf(op->getResult(0)), isSingle(*from) && isSingle(*by),
                  work, [&](size_t i) -> std::optional<int64_t> {
                    int64_t offset = isBit ? -by->at(i) : by->at(i), scaled,
                            sum;
                    if (__builtin_mul_overflow(offset, bytes, &scaled) ||
                        __builtin_add_overflow(from->at(i), scaled, &sum)) {
                      return std::nullopt;
                    }
                    return sum;
                  });
  if (result) {
    result->root = from->root;
  }
  return result;
}

ProgramValues::Maybe ProgramValues::moved(Operation *op, const KnownValue &from,
                                          int64_t &work) {
  if (isSingle(from) ||
      isa<tile::ExpandDimsOp, tile::ReshapeOp, tile::HintOp>(op)) {
    return from;
  }
  auto source = cast<RankedTensorType>(op->getOperand(0).getType());
  auto target = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> strides(source.getRank(), 1);
  for (int64_t d = source.getRank() - 1; d > 0; --d) {
    strides[d - 1] = strides[d] * source.getDimSize(d);
  }
  // Of each dimension of the result: how far a step goes in the source.
  SmallVector<int64_t> steps(target.getRank(), 0);
  for (int64_t d = 0; d < target.getRank(); ++d) {
    if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
      steps[d] = strides[transpose.getOrder()[d]];
    } else if (source.getDimSize(d) > 1) {
      steps[d] = strides[d];
    }
  }
  Maybe result =
      elementwise(countOf(op->getResult(0)), false, work, [&](size_t i) {
        int64_t at = 0, rest = int64_t(i);
        for (int64_t d = target.getRank(); d-- > 0;) {
          at += rest % target.getDimSize(d) * steps[d];
          rest /= target.getDimSize(d);
        }
        return from.elements[size_t(at)];
      });
  result->root = from.root;
  return result;
}

ProgramValues::Maybe ProgramValues::evaluate(Operation *op) {
  auto one = [](int64_t value) { return KnownValue{{value}, {}}; };
  return llvm::TypeSwitch<Operation *, Maybe>(op)
      .Case([](arith::ConstantOp constant) { return constantOf(constant); })
      .Case([&](tile::ProgramIdOp id) { return one(program[id.getAxis()]); })
      .Case(
          [&](tile::NumProgramsOp n) { return one(launch.grid[n.getAxis()]); })
      .Case([&](tile::RangeOp range) {
        auto start = static_cast<int32_t>(range.getStart());
        return elementwise(countOf(range), false, work, [&](size_t i) {
          return std::optional(int64_t(start) + int64_t(i));
        });
      })
      .Case<tile::SplatOp, tile::BroadcastOp, tile::TransposeOp,
            tile::ExpandDimsOp, tile::ReshapeOp, tile::HintOp>(
          [&](Operation *) {
            const KnownValue *from = get(op->getOperand(0));
            return from ? moved(op, *from, work) : std::nullopt;
          })
      .Case([&](tile::AddPtrOp) { return advance(op); })
      .Case([&](tile::PtrCastOp cast) {
        const KnownValue *from = get(cast.getSource());
        return from ? Maybe(*from) : std::nullopt;
      })
      .Case([&](arith::SelectOp) { return select(op); })
      .Default([&](Operation *) {
        bool isArithmetic = isa<arith::ArithDialect>(op->getDialect()) &&
                            op->getNumResults() == 1 && op->getNumOperands();
        return isArithmetic ? evaluateInteger(op) : std::nullopt;
      });
}

//===----------------------------------------------------------------------===//
// Flow
//===----------------------------------------------------------------------===//

void ProgramValues::recordAccess(Operation *op) {
  auto access = dyn_cast<tile::MemoryAccess>(op);
  if (!access) {
    return;
  }
  Value pointer = access.getPtr(), mask = access.getMask();
  const KnownValue *pointers = get(pointer);
  const KnownValue *known = mask ? get(mask) : nullptr;
  if (pointers && pointers->root && (!mask || known)) {
    work -= int64_t(countOf(pointer));
    onAccess({op, countOf(pointer), *pointers, known});
  }
}

void ProgramValues::runFor(scf::ForOp loop) {
  auto lower = scalar(loop.getLowerBound()),
       upper = scalar(loop.getUpperBound()), step = scalar(loop.getStep());
  if (!lower || !upper || !step || *step <= 0) {
    setAll(loop.getResults(),
           std::vector<Maybe>(loop.getNumResults(), std::nullopt));
    onUnknown(loop);
    return;
  }
  copy(loop.getInitArgs(), loop.getRegionIterArgs());
  for (int64_t i = *lower; i < *upper && work > 0; --work) {
    set(loop.getInductionVar(), KnownValue{{i}, {}});
    run(*loop.getBody());
    copy(loop.getBody()->getTerminator()->getOperands(),
         loop.getRegionIterArgs(), true);
    if (__builtin_add_overflow(i, *step, &i)) {
      break;
    }
  }
  copy(loop.getRegionIterArgs(), loop.getResults());
}

void ProgramValues::runWhile(scf::WhileOp loop) {
  copy(loop.getInits(), loop.getBeforeArguments());
  while (work-- > 0) {
    run(*loop.getBeforeBody());
    scf::ConditionOp condition = loop.getConditionOp();
    std::optional<int64_t> goesOn = scalar(condition.getCondition());
    if (!goesOn) {
      break;
    }
    if (!*goesOn) {
      copy(condition.getArgs(), loop.getResults());
      return;
    }
    copy(condition.getArgs(), loop.getAfterArguments());
    run(*loop.getAfterBody());
    copy(loop.getYieldOp().getOperands(), loop.getBeforeArguments(), true);
  }
  onUnknown(loop);
  setAll(loop.getResults(),
         std::vector<Maybe>(loop.getNumResults(), std::nullopt));
}

void ProgramValues::runIf(scf::IfOp branch) {
  if (std::optional<int64_t> condition = scalar(branch.getCondition())) {
    Region &taken =
        *condition ? branch.getThenRegion() : branch.getElseRegion();
    if (!taken.empty()) {
      run(taken.front());
      copy(taken.front().getTerminator()->getOperands(), branch.getResults());
    }
    return;
  }
  setAll(branch.getResults(),
         std::vector<Maybe>(branch.getNumResults(), std::nullopt));
  onUnknown(branch);
}

void ProgramValues::run(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](scf::ForOp loop) { runFor(loop); })
      .Case([&](scf::WhileOp loop) { runWhile(loop); })
      .Case([&](scf::IfOp branch) { runIf(branch); })
      .Default([&](Operation *) {
        recordAccess(op);
        if (op->getNumResults() == 1) {
          set(op->getResult(0), evaluate(op));
        }
        onOperation(op);
      });
}

void ProgramValues::run(Block &block) {
  for (Operation &op : block) {
    if (--work < 0) {
      return;
    }
    run(&op);
  }
}

void ProgramValues::run(func::FuncOp kernel) {
  for (BlockArgument argument : kernel.getArguments()) {
    auto name = kernel.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                    tile::nameAttr);
    auto found = name ? launch.values.find(name.str()) : launch.values.end();
    if (found == launch.values.end()) {
      continue;
    }
    const ArgumentFact &value = found->second;
    if (value.isPointer) {
      set(argument, KnownValue{{0}, argument});
    } else if (unsigned width = widthOf(argument.getType())) {
      set(argument, KnownValue{{wrap(uint64_t(value.integer), width)}, {}});
    }
  }
  run(kernel.getBody().front());
}

} // namespace nereid
