//===- AxisInfo.cpp - How integers and addresses run along a tile ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/AxisInfo.h"

#include "nereid/Dialect/TileGPU/IR/TileGPU.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace nereid {

/// Stands for zero, which everything divides; products stay below 2^63.
static constexpr int64_t zeroDivisor = int64_t{1} << 62;

static int64_t powerDivisor(int64_t value) {
  auto bits = static_cast<uint64_t>(value);
  return value == 0 ? zeroDivisor
                    : static_cast<int64_t>(std::min<uint64_t>(
                          bits & -bits, static_cast<uint64_t>(zeroDivisor)));
}

static int64_t product(int64_t a, int64_t b) {
  __int128 wide = static_cast<__int128>(a) * b;
  return wide > zeroDivisor ? zeroDivisor : static_cast<int64_t>(wide);
}

static SmallVector<int64_t> sizesOf(Type type) {
  ArrayRef<int64_t> shape = tile::getShape(type);
  return shape.empty() ? SmallVector<int64_t>{1} : SmallVector<int64_t>(shape);
}

AxisInfo AxisInfo::unknown(Type type) {
  size_t rank = sizesOf(type).size();
  AxisInfo info;
  info.contiguity.assign(rank, 1);
  info.divisibility.assign(rank, 1);
  info.constancy.assign(rank, 1);
  return info;
}

AxisInfo AxisInfo::meet(const AxisInfo &a, const AxisInfo &b) {
  AxisInfo info = a;
  for (size_t d = 0; d < a.contiguity.size(); ++d) {
    info.contiguity[d] = std::gcd(a.contiguity[d], b.contiguity[d]);
    info.divisibility[d] = std::min(a.divisibility[d], b.divisibility[d]);
    info.constancy[d] = std::gcd(a.constancy[d], b.constancy[d]);
    // Runs got shorter: what divided their first elements need not divide the
    // first elements of the pieces.
    if (info.contiguity[d] != a.contiguity[d] ||
        info.contiguity[d] != b.contiguity[d]) {
      info.divisibility[d] =
          std::min(info.divisibility[d], powerDivisor(info.contiguity[d]));
    }
  }
  if (a.constant != b.constant) {
    info.constant.reset();
  }
  return info;
}

/// All elements are equal.
static AxisInfo uniform(Type type, int64_t divisibility,
                        std::optional<int64_t> constant) {
  AxisInfo info = AxisInfo::unknown(type);
  info.divisibility.assign(info.divisibility.size(), divisibility);
  info.constancy = sizesOf(type);
  info.constant = constant;
  return info;
}

/// Steps between elements of a run: 1 in the unit of divisibility, except for
/// addresses, whose elements are several bytes.
static int64_t unitOf(Type type) {
  auto ptr = dyn_cast<tile::PtrType>(tile::getElement(type));
  return ptr ? tile::getElementBytes(ptr.getPointee()) : 1;
}

/// What divides every element along `d`, not only the first of a run.
static int64_t everyDivisor(const AxisInfo &info, Type type, size_t d) {
  return info.contiguity[d] > 1
             ? std::min(info.divisibility[d], powerDivisor(unitOf(type)))
             : info.divisibility[d];
}

/// Of an integer or a block of them; 64 for addresses.
static unsigned widthOf(Type type) {
  Type element = tile::getElement(type);
  return isa<IntegerType>(element) ? element.getIntOrFloatBitWidth() : 64;
}

/// Runs of at most `length` elements. What divided the first elements of longer
/// ones need not divide those of the pieces.
static void cutRuns(AxisInfo &info, size_t d, int64_t length) {
  int64_t pieces = std::gcd(info.contiguity[d], length);
  if (pieces != info.contiguity[d]) {
    info.contiguity[d] = pieces;
    info.divisibility[d] = std::min(info.divisibility[d], powerDivisor(pieces));
  }
}

/// In a type of `width` bits: the constant is what the bits say, and no run is
/// so long that a piece of it would have two signs.
static AxisInfo fitted(AxisInfo info, Type type) {
  unsigned width = widthOf(type);
  if (width >= 64) {
    return info;
  }
  if (info.constant) {
    info.constant =
        llvm::SignExtend64(static_cast<uint64_t>(*info.constant), width);
  }
  int64_t longest = int64_t{1} << (width - 1);
  for (size_t d = 0; d < info.contiguity.size(); ++d) {
    if (info.contiguity[d] > longest) {
      cutRuns(info, d, longest);
    }
  }
  return info;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

namespace {
struct Operands {
  const AxisInfo &x, &y;
  Type type; ///< of the result
  Type xType, yType;
  size_t rank() const { return x.contiguity.size(); }
};
} // namespace

/// A wider type. A run in a narrow one may wrap between two of its elements,
/// unless the interval `range` has no end of the type in it; pieces do not.
static AxisInfo widened(AxisInfo info, Type from, const IntegerRange &range,
                        bool isUnsigned) {
  unsigned width = widthOf(from);
  if (isUnsigned && info.constant && width < 64) {
    info.constant =
        static_cast<int64_t>(static_cast<uint64_t>(*info.constant) &
                             llvm::maskTrailingOnes<uint64_t>(width));
  }
  if (width >= 32) {
    return info;
  }
  int64_t most = (int64_t{1} << (width - 1)) - 1;
  bool wraps = isUnsigned ? range.low < 0 && range.high >= 0
                          : range.low == -most - 1 && range.high == most;
  for (size_t d = 0; wraps && d < info.contiguity.size(); ++d) {
    cutRuns(info, d, info.divisibility[d]);
  }
  return info;
}

/// x + y, x - y and addresses. Where one side is equal throughout a run of the
/// other, the sum runs as the other does.
static AxisInfo addition(const Operands &o, int64_t scale, bool subtract) {
  AxisInfo info = AxisInfo::unknown(o.type);
  for (size_t d = 0; d < o.rank(); ++d) {
    int64_t xRuns = std::gcd(o.x.contiguity[d], o.y.constancy[d]);
    int64_t yRuns =
        subtract ? 1 : std::gcd(o.x.constancy[d], o.y.contiguity[d]);
    info.contiguity[d] = std::max(xRuns, yRuns);
    info.constancy[d] = std::gcd(o.x.constancy[d], o.y.constancy[d]);
    // The first element of a run is one of a shorter run of each side.
    auto divides = [&](const AxisInfo &i, int64_t unit) {
      if (info.contiguity[d] % i.contiguity[d] == 0) {
        return i.divisibility[d];
      }
      int64_t steps = std::gcd(info.contiguity[d], i.contiguity[d]);
      return std::min(i.divisibility[d], product(powerDivisor(steps), unit));
    };
    info.divisibility[d] =
        std::min(divides(o.x, unitOf(o.xType)),
                 product(divides(o.y, 1), powerDivisor(scale)));
  }
  if (o.x.constant && o.y.constant && scale == 1) {
    auto x = static_cast<uint64_t>(*o.x.constant),
         y = static_cast<uint64_t>(*o.y.constant);
    info.constant = static_cast<int64_t>(subtract ? x - y : x + y);
    info.divisibility.assign(o.rank(), powerDivisor(*info.constant));
  }
  return info;
}

/// x * y, of any sign: divisors multiply modulo 2^width too.
static AxisInfo multiplication(const Operands &o) {
  if (o.y.constant == 1) {
    return o.x;
  }
  if (o.x.constant == 1) {
    return o.y;
  }
  AxisInfo info = AxisInfo::unknown(o.type);
  for (size_t d = 0; d < o.rank(); ++d) {
    info.constancy[d] = std::gcd(o.x.constancy[d], o.y.constancy[d]);
    info.divisibility[d] =
        product(everyDivisor(o.x, o.xType, d), everyDivisor(o.y, o.yType, d));
  }
  if (o.x.constant && o.y.constant) {
    info.constant = static_cast<int64_t>(static_cast<uint64_t>(*o.x.constant) *
                                         static_cast<uint64_t>(*o.y.constant));
  }
  return info;
}

/// x / y and x % y. Both truncate: a piece of x that begins at a multiple of k,
/// where k divides y, stays between two multiples of y only where it is not
/// negative (-32 / 32 is -1, and -31 / 32 is 0). The sign of y does not matter.
/// `isCounted`: x is unsigned or not negative.
static AxisInfo division(const Operands &o, bool remainder, bool isCounted) {
  AxisInfo info = AxisInfo::unknown(o.type);
  for (size_t d = 0; d < o.rank(); ++d) {
    info.constancy[d] = std::gcd(o.x.constancy[d], o.y.constancy[d]);
    int64_t together =
        isCounted ? std::gcd(std::gcd(o.x.contiguity[d], o.y.constancy[d]),
                             std::min(o.x.divisibility[d], o.y.divisibility[d]))
                  : 1;
    if (remainder) {
      info.contiguity[d] = together;
      info.divisibility[d] =
          std::min({o.x.divisibility[d], o.y.divisibility[d],
                    together < o.x.contiguity[d] ? powerDivisor(together)
                                                 : zeroDivisor});
    } else {
      info.constancy[d] = std::max(info.constancy[d], together);
    }
  }
  return info;
}

/// Which side of a bound: with x in runs and the bound equal along them, the
/// answer is equal for `gcd` neighbours when both start at its multiples. Such
/// pieces do not wrap, as signed numbers or as unsigned ones (`fitted`).
static AxisInfo comparison(arith::CmpIPredicate predicate, const Operands &o) {
  using P = arith::CmpIPredicate;
  AxisInfo info = AxisInfo::unknown(o.type);
  for (size_t d = 0; d < o.rank(); ++d) {
    info.constancy[d] = std::gcd(o.x.constancy[d], o.y.constancy[d]);
    bool below = predicate == P::slt || predicate == P::ult ||
                 predicate == P::sge || predicate == P::uge;
    bool above = predicate == P::sgt || predicate == P::ugt ||
                 predicate == P::sle || predicate == P::ule;
    int64_t divides = std::min(o.x.divisibility[d], o.y.divisibility[d]);
    int64_t runs = 1;
    if (below) {
      runs = std::gcd(o.x.contiguity[d], o.y.constancy[d]);
    } else if (above) {
      runs = std::gcd(o.x.constancy[d], o.y.contiguity[d]);
    }
    info.constancy[d] = std::max(info.constancy[d], std::gcd(runs, divides));
  }
  return info;
}

static AxisInfo selection(const AxisInfo &condition, bool isScalar,
                          const AxisInfo &x, const AxisInfo &y) {
  AxisInfo info = AxisInfo::meet(x, y);
  for (size_t d = 0; d < info.contiguity.size(); ++d) {
    // One condition for all: 0, which every length divides.
    int64_t equal = isScalar ? 0 : condition.constancy[d];
    cutRuns(info, d, equal);
    info.constancy[d] = std::gcd(info.constancy[d], equal);
  }
  info.constant.reset();
  return info;
}

/// Any element-wise function: equal arguments give equal results.
static AxisInfo function(Operation *op,
                         llvm::function_ref<const AxisInfo &(Value)> get) {
  AxisInfo info = AxisInfo::unknown(op->getResult(0).getType());
  info.constancy = sizesOf(op->getResult(0).getType());
  for (Value operand : op->getOperands()) {
    const AxisInfo &of = get(operand);
    for (size_t d = 0; d < info.constancy.size() &&
                       of.constancy.size() == info.constancy.size();
         ++d) {
      info.constancy[d] = std::gcd(info.constancy[d], of.constancy[d]);
    }
  }
  return info;
}

static AxisInfo constantInfo(arith::ConstantOp op) {
  Attribute value = op.getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(value)) {
    value = splat.getSplatValue<Attribute>();
  }
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    int64_t number = integer.getValue().getSExtValue();
    return uniform(op.getType(), powerDivisor(number), number);
  }
  return isa<ElementsAttr>(value) ? AxisInfo::unknown(op.getType())
                                  : uniform(op.getType(), 1, std::nullopt);
}

/// In one piece: a table with a row for each operation.
AxisInfo AxisInfoAnalysis::infer(Operation *op) {
  Type type = op->getResult(0).getType();
  auto of = [&](unsigned i) -> const AxisInfo & {
    return get(op->getOperand(i));
  };
  auto both = [&]() {
    return Operands{of(0), of(1), type, op->getOperand(0).getType(),
                    op->getOperand(1).getType()};
  };
  return llvm::TypeSwitch<Operation *, AxisInfo>(op)
      .Case([&](arith::ConstantOp constant) { return constantInfo(constant); })
      .Case([&](tile::RangeOp range) {
        auto start = static_cast<int32_t>(range.getStart());
        AxisInfo info = AxisInfo::unknown(type);
        info.contiguity = sizesOf(type);
        info.divisibility = {powerDivisor(start)};
        return info;
      })
      .Case([&](tile::SplatOp) {
        return uniform(type, of(0).divisibility[0], of(0).constant);
      })
      .Case([&](arith::AddIOp) { return addition(both(), 1, false); })
      .Case([&](arith::SubIOp) { return addition(both(), 1, true); })
      .Case([&](tile::AddPtrOp) {
        Operands o = both();
        AxisInfo offset = widened(o.y, o.yType, ranges.get(op->getOperand(1)),
                                  /*isUnsigned=*/false);
        return addition({o.x, offset, type, o.xType, o.yType}, unitOf(type),
                        false);
      })
      .Case([&](arith::MulIOp) { return multiplication(both()); })
      .Case([&](arith::ShLIOp) {
        Operands o = both();
        int64_t width = tile::getElement(op->getResult(0).getType())
                            .getIntOrFloatBitWidth();
        if (!o.y.constant || *o.y.constant < 0 ||
            *o.y.constant > std::min<int64_t>(61, width - 1)) {
          return function(op,
                          [&](Value v) -> const AxisInfo & { return get(v); });
        }
        AxisInfo factor = uniform(type, int64_t{1} << *o.y.constant,
                                  int64_t{1} << *o.y.constant);
        return multiplication({o.x, factor, type, o.xType, o.yType});
      })
      .Case<arith::DivSIOp, arith::RemSIOp>([&](Operation *) {
        return division(both(), isa<arith::RemSIOp>(op),
                        ranges.isNonNegative(op->getOperand(0)));
      })
      .Case<arith::DivUIOp, arith::RemUIOp>([&](Operation *) {
        return division(both(), isa<arith::RemUIOp>(op), true);
      })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>([&](Operation *) {
        AxisInfo info = of(0);
        if (!isa<arith::TruncIOp>(op)) {
          info =
              widened(info, op->getOperand(0).getType(),
                      ranges.get(op->getOperand(0)), isa<arith::ExtUIOp>(op));
        }
        if (getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1)) {
          info.constant.reset(); // true is 1 or -1
          info.divisibility.assign(info.divisibility.size(), 1);
        }
        return info;
      })
      .Case<tile::IntToPtrOp, tile::PtrToIntOp, tile::PtrCastOp>(
          [&](Operation *) {
            AxisInfo info = of(0);
            if (unitOf(type) != unitOf(op->getOperand(0).getType())) {
              for (size_t d = 0; d < info.contiguity.size(); ++d) {
                info.divisibility[d] =
                    everyDivisor(info, op->getOperand(0).getType(), d);
                info.contiguity[d] = 1;
              }
            }
            info.constant.reset();
            return info;
          })
      .Case([&](arith::CmpIOp compare) {
        return comparison(compare.getPredicate(), both());
      })
      .Case<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](Operation *) {
            AxisInfo info = function(
                op, [&](Value v) -> const AxisInfo & { return get(v); });
            for (size_t d = 0; d < info.divisibility.size(); ++d) {
              info.divisibility[d] = std::min(everyDivisor(of(0), type, d),
                                              everyDivisor(of(1), type, d));
            }
            return info;
          })
      .Case([&](arith::SelectOp) {
        bool isScalar = !isa<RankedTensorType>(op->getOperand(0).getType());
        return selection(of(0), isScalar, of(1), of(2));
      })
      .Case([&](tile::ExpandDimsOp expand) {
        AxisInfo info = of(0);
        // Along the new dimension every element starts a run.
        int64_t divisibility = 1;
        for (size_t d = 0; d < info.divisibility.size(); ++d) {
          divisibility = std::max(
              divisibility, everyDivisor(info, op->getOperand(0).getType(), d));
        }
        auto at = [&](SmallVector<int64_t> &list, int64_t value) {
          list.insert(list.begin() + expand.getAxis(), value);
        };
        at(info.contiguity, 1);
        at(info.divisibility, divisibility);
        at(info.constancy, 1);
        return info;
      })
      .Case([&](tile::BroadcastOp) {
        AxisInfo info = of(0);
        SmallVector<int64_t> from = sizesOf(op->getOperand(0).getType()),
                             to = sizesOf(type);
        for (size_t d = 0; d < to.size(); ++d) {
          if (from[d] == 1 && to[d] != 1) {
            info.contiguity[d] = 1;
            info.constancy[d] = to[d];
          }
        }
        return info;
      })
      .Case([&](tile::TransposeOp transpose) {
        const AxisInfo &source = of(0);
        AxisInfo info = AxisInfo::unknown(type);
        for (auto [d, from] : llvm::enumerate(transpose.getOrder())) {
          info.contiguity[d] = source.contiguity[from];
          info.divisibility[d] = source.divisibility[from];
          info.constancy[d] = source.constancy[from];
        }
        info.constant = source.constant;
        return info;
      })
      .Case([&](tilegpu::ConvertLayoutOp) { return of(0); })
      .Case([&](tile::HintOp hint) {
        AxisInfo info = of(0);
        auto merge = [](SmallVector<int64_t> &known,
                        std::optional<ArrayRef<int64_t>> said) {
          for (size_t d = 0; said && d < known.size() && d < said->size();
               ++d) {
            known[d] = std::max(known[d], powerDivisor((*said)[d]));
          }
        };
        merge(info.divisibility, hint.getDivisibility());
        merge(info.contiguity, hint.getContiguity());
        merge(info.constancy, hint.getConstancy());
        return info;
      })
      .Default([&](Operation *) {
        if (isa<tile::MemoryAccess>(op) || op->getNumOperands() == 0 ||
            !op->hasTrait<OpTrait::Elementwise>()) {
          return isa<RankedTensorType>(type) ? AxisInfo::unknown(type)
                                             : uniform(type, 1, std::nullopt);
        }
        return function(op,
                        [&](Value v) -> const AxisInfo & { return get(v); });
      });
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

const AxisInfo &AxisInfoAnalysis::get(Value value) const {
  auto known = infos.find(value);
  assert(known != infos.end() && "a value that was not visited");
  return known->second;
}

/// True if something became less known.
bool AxisInfoAnalysis::join(Value value, AxisInfo info) {
  auto [it, isNew] = infos.try_emplace(value, info);
  if (isNew) {
    return true;
  }
  AxisInfo met = AxisInfo::meet(it->second, info);
  if (met == it->second) {
    return false;
  }
  it->second = std::move(met);
  return true;
}

void AxisInfoAnalysis::visit(Block &block) {
  for (Operation &op : block) {
    visit(&op);
  }
}

void AxisInfoAnalysis::visit(Operation *op) {
  auto forget = [&](ValueRange values) {
    for (Value value : values) {
      infos[value] = AxisInfo::unknown(value.getType());
    }
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    AxisInfo counter = AxisInfo::unknown(loop.getInductionVar().getType());
    counter.divisibility[0] =
        std::min(get(loop.getLowerBound()).divisibility[0],
                 get(loop.getStep()).divisibility[0]);
    infos[loop.getInductionVar()] = counter;
    // Optimistic from the initial values; facts only get fewer.
    for (auto [argument, init] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs())) {
      set(argument, get(init));
    }
    bool changed = true;
    while (changed) {
      visit(*loop.getBody());
      changed = false;
      for (auto [argument, next] :
           llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues())) {
        changed |= join(argument, get(next));
      }
    }
    for (auto [result, argument] :
         llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs())) {
      set(result, get(argument));
    }
    return;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (Region &region : branch->getRegions()) {
      for (Block &block : region) {
        visit(block);
      }
    }
    for (auto [i, result] : llvm::enumerate(branch.getResults())) {
      infos[result] = AxisInfo::meet(get(branch.thenYield().getOperand(i)),
                                     get(branch.elseYield().getOperand(i)));
    }
    return;
  }
  for (Region &region : op->getRegions()) {
    for (Block &block : region) {
      forget(block.getArguments());
      visit(block);
    }
  }
  if (op->getNumResults() == 1 && op->getNumRegions() == 0) {
    infos[op->getResult(0)] = fitted(infer(op), op->getResult(0).getType());
  } else {
    forget(op->getResults());
  }
}

AxisInfoAnalysis::AxisInfoAnalysis(Operation *op) : ranges(op) {
  auto function = cast<func::FuncOp>(op);
  for (BlockArgument argument : function.getArguments()) {
    AxisInfo info = AxisInfo::unknown(argument.getType());
    auto divides = function.getArgAttrOfType<IntegerAttr>(
        argument.getArgNumber(), tile::divisibilityAttr);
    info.divisibility[0] =
        divides ? powerDivisor(divides.getInt()) : unitOf(argument.getType());
    infos[argument] = info;
  }
  visit(function.getBody().front());
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

AccessWidth AxisInfoAnalysis::accessWidth(Value pointers, Value mask,
                                          unsigned axis,
                                          unsigned maxBytes) const {
  const AxisInfo &info = get(pointers);
  int64_t bytes = unitOf(pointers.getType());
  AccessWidth width{static_cast<unsigned>(maxBytes / bytes), WidthLimit::Most};
  auto limit = [&](int64_t elements, WidthLimit why) {
    if (elements < width.elements) {
      width = {static_cast<unsigned>(elements), why};
    }
  };
  limit(powerDivisor(info.contiguity[axis]), WidthLimit::Runs);
  limit(info.divisibility[axis] / bytes, WidthLimit::Alignment);
  if (mask) {
    limit(powerDivisor(get(mask).constancy[axis]), WidthLimit::Mask);
  }
  width.elements = std::max(width.elements, 1u);
  return width;
}

SmallVector<unsigned> AxisInfoAnalysis::order(Value pointers) const {
  const AxisInfo &info = get(pointers);
  SmallVector<unsigned> order;
  for (unsigned d = info.contiguity.size(); d-- > 0;) {
    order.push_back(d);
  }
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return info.contiguity[a] > info.contiguity[b];
  });
  return order;
}

} // namespace nereid
