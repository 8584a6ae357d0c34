//===- TensorMapAccess.cpp - Loads that are boxes of a tensor -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Analysis/TensorMapAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace nereid {

namespace {

/// Element i of a tile is scalar + the sum over d of i[d] * steps[d].
struct Linear {
  IndexPolynomial scalar;
  SmallVector<IndexPolynomial> steps;

  bool isSplat() const {
    return llvm::all_of(steps, [](auto &step) { return step.isZero(); });
  }
};

/// A pointer, or a tile of them: an argument and elements past it.
struct Pointers {
  BlockArgument base;
  Linear offset;
};

/// What a mask says of one dimension of a tile, of its own indices from 0 on.
struct Limits {
  std::optional<IndexPolynomial> below, from;
};

class Finder {
public:
  Finder(IndexReader &indices, const IntegerRanges &ranges, StringRef &why)
      : indices(indices), ranges(ranges), why(why) {}
  std::optional<TensorMapAccess> find(tile::LoadAccess load);

private:
  std::optional<Linear> integers(Value value);
  std::optional<Pointers> pointers(Value value);
  bool addLimits(Value mask, SmallVectorImpl<Limits> &limits);
  bool addLimit(arith::CmpIOp compare, SmallVectorImpl<Limits> &limits);
  bool place(const Linear &offset, ArrayRef<int64_t> shape,
             TensorMapAccess &access);
  bool placeTerm(const IndexPolynomial::Product &product, int64_t coefficient,
                 TensorMapAccess &access);
  bool isNonNegative(const IndexPolynomial &index) const;
  std::nullopt_t fail(StringRef reason) {
    why = reason;
    return std::nullopt;
  }

  IndexReader &indices;
  const IntegerRanges &ranges;
  StringRef &why;
};

} // namespace

static bool isArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

static bool isHostNumber(const IndexPolynomial &number) {
  return number.consistsOf(isArgument);
}

/// Of a tile that is made from one of fewer dimensions, or of a size of 1.
static std::optional<Linear> reshaped(Operation *op, Linear linear) {
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    linear.steps.insert(linear.steps.begin() + expand.getAxis(),
                        IndexPolynomial());
    return linear;
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    auto from = cast<RankedTensorType>(broadcast.getSource().getType());
    for (auto [size, step] : llvm::zip_equal(from.getShape(), linear.steps)) {
      step = size == 1 ? IndexPolynomial() : step;
    }
    return linear;
  }
  return std::nullopt;
}

static size_t rankOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getRank() : 0;
}

std::optional<Linear> Finder::integers(Value value) {
  if (!rankOf(value)) {
    return Linear{indices.read(value), {}};
  }
  Operation *op = value.getDefiningOp();
  DenseElementsAttr dense;
  if (matchPattern(value, m_Constant(&dense)) && dense.isSplat()) {
    return Linear{IndexPolynomial(dense.getSplatValue<APInt>().getSExtValue()),
                  SmallVector<IndexPolynomial>(rankOf(value))};
  }
  if (!op) {
    return std::nullopt;
  }
  if (auto range = dyn_cast<tile::RangeOp>(op)) {
    return Linear{IndexPolynomial(int64_t(int32_t(range.getStart()))),
                  {IndexPolynomial(1)}};
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op)) {
    return Linear{indices.read(splat.getSource()),
                  SmallVector<IndexPolynomial>(rankOf(value))};
  }
  if (!isa<tile::ExpandDimsOp, tile::BroadcastOp, arith::ExtSIOp, arith::AddIOp,
           arith::SubIOp, arith::MulIOp, tile::HintOp>(op)) {
    return std::nullopt;
  }
  std::optional<Linear> a = integers(op->getOperand(0));
  if (!a || isa<arith::ExtSIOp, tile::HintOp>(op)) {
    return a;
  }
  if (isa<tile::ExpandDimsOp, tile::BroadcastOp>(op)) {
    return reshaped(op, std::move(*a));
  }
  std::optional<Linear> b = integers(op->getOperand(1));
  if (!b) {
    return std::nullopt;
  }
  if (isa<arith::MulIOp>(op)) {
    if (!a->isSplat() && !b->isSplat()) {
      return std::nullopt;
    }
    const Linear &tile = b->isSplat() ? *a : *b;
    const IndexPolynomial &factor = b->isSplat() ? b->scalar : a->scalar;
    Linear product{tile.scalar * factor, {}};
    for (const IndexPolynomial &step : tile.steps) {
      product.steps.push_back(step * factor);
    }
    return product;
  }
  bool isSum = isa<arith::AddIOp>(op);
  Linear sum{isSum ? a->scalar + b->scalar : a->scalar - b->scalar, {}};
  for (auto [x, y] : llvm::zip_equal(a->steps, b->steps)) {
    sum.steps.push_back(isSum ? x + y : x - y);
  }
  return sum;
}

std::optional<Pointers> Finder::pointers(Value value) {
  if (isArgument(value)) {
    return Pointers{cast<BlockArgument>(value), {}};
  }
  Operation *op = value.getDefiningOp();
  if (!op || !isa<tile::AddPtrOp, tile::SplatOp, tile::ExpandDimsOp,
                  tile::BroadcastOp, tile::HintOp>(op)) {
    return std::nullopt;
  }
  std::optional<Pointers> from = pointers(op->getOperand(0));
  if (!from || isa<tile::HintOp>(op)) {
    return from;
  }
  if (isa<tile::SplatOp>(op)) {
    from->offset.steps.resize(rankOf(value));
    return from;
  }
  if (!isa<tile::AddPtrOp>(op)) {
    from->offset = *reshaped(op, std::move(from->offset));
    return from;
  }
  std::optional<Linear> added = integers(op->getOperand(1));
  if (!added) {
    return std::nullopt;
  }
  from->offset.scalar = from->offset.scalar + added->scalar;
  for (auto [step, other] : llvm::zip_equal(from->offset.steps, added->steps)) {
    step = step + other;
  }
  return from;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// `i < n` and `i >= n` of indices i in [0, size) do not change where n is
/// clamped to [0, size], which is how bounds of 64 bits are narrowed.
static Value unclamped(Value bound, int64_t size) {
  while (Operation *op = bound.getDefiningOp()) {
    APInt constant;
    bool isClamp = (isa<arith::MinSIOp>(op) &&
                    matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
                    constant.getSExtValue() >= size) ||
                   (isa<arith::MaxSIOp>(op) &&
                    matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
                    constant.getSExtValue() <= 0);
    bool isNarrowed = isa<arith::TruncIOp>(op) &&
                      op->getOperand(0).getDefiningOp<arith::MinSIOp>();
    if (!isClamp && !isNarrowed) {
      break;
    }
    bound = op->getOperand(0);
  }
  return bound;
}

bool Finder::addLimit(arith::CmpIOp compare, SmallVectorImpl<Limits> &limits) {
  using P = arith::CmpIPredicate;
  std::optional<Linear> left = integers(compare.getLhs());
  P kind = compare.getPredicate();
  if (!left || (kind != P::slt && kind != P::sge)) {
    return false;
  }
  std::optional<unsigned> dimension;
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(compare.getLhs().getType()).getShape();
  for (auto [d, step] : llvm::enumerate(left->steps)) {
    if (step.isZero() || shape[d] == 1) {
      continue;
    }
    if (dimension || step.getConstant() != 1) {
      return false;
    }
    dimension = d;
  }
  if (!dimension) {
    return false;
  }
  int64_t size = shape[*dimension];
  std::optional<Linear> right;
  if (auto splat = compare.getRhs().getDefiningOp<tile::SplatOp>()) {
    Value bound = splat.getSource();
    bool isOwnIndex = left->scalar.isZero();
    right =
        Linear{indices.read(isOwnIndex ? unclamped(bound, size) : bound), {}};
  } else {
    right = integers(compare.getRhs());
  }
  if (!right || !right->isSplat()) {
    return false;
  }
  auto &limit =
      kind == P::slt ? limits[*dimension].below : limits[*dimension].from;
  if (limit) {
    return false;
  }
  limit = right->scalar - left->scalar;
  return true;
}

bool Finder::addLimits(Value mask, SmallVectorImpl<Limits> &limits) {
  Operation *op = mask.getDefiningOp();
  if (!op) {
    return false;
  }
  if (isa<arith::AndIOp>(op)) {
    return addLimits(op->getOperand(0), limits) &&
           addLimits(op->getOperand(1), limits);
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    return addLimit(compare, limits);
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    return addLimits(broadcast.getSource(), limits);
  }
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    SmallVector<Limits> inner(limits.size() - 1);
    if (!addLimits(expand.getSource(), inner)) {
      return false;
    }
    for (auto [i, limit] : llvm::enumerate(inner)) {
      Limits &own = limits[i + (i >= expand.getAxis())];
      for (auto member : {&Limits::below, &Limits::from}) {
        if (own.*member && limit.*member) {
          return false;
        }
        own.*member = limit.*member ? limit.*member : own.*member;
      }
    }
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

bool Finder::placeTerm(const IndexPolynomial::Product &product,
                       int64_t coefficient, TensorMapAccess &access) {
  // Of several strides that divide it, the one with the most factors.
  TensorMapAccess::Dimension *best = nullptr;
  IndexPolynomial::Product left;
  int64_t leftCoefficient = 0;
  size_t factors = 0;
  for (TensorMapAccess::Dimension &dimension :
       llvm::drop_begin(access.dimensions)) {
    const auto &[stride, times] = dimension.stride.getTerms().front();
    auto quotient = quotientOf(product, stride);
    bool isBetter = !best || stride.size() > factors ||
                    (stride.size() == factors &&
                     std::abs(times) > std::abs(coefficient / leftCoefficient));
    if (quotient && coefficient % times == 0 && isBetter) {
      best = &dimension;
      left = *quotient;
      leftCoefficient = coefficient / times;
      factors = stride.size();
    }
  }
  if (!best) {
    // A batch: what the program says times what the launch does.
    IndexPolynomial::Product launch, program;
    for (Value factor : product) {
      (isArgument(factor) ? launch : program).push_back(factor);
    }
    constexpr size_t mostDimensions = 5;
    if (!launch.empty() && !program.empty()) {
      if (access.dimensions.size() == mostDimensions || coefficient < 1) {
        return false;
      }
      TensorMapAccess::Dimension batch;
      batch.stride.add(launch, coefficient);
      batch.start.add(program, 1);
      access.dimensions.push_back(std::move(batch));
      return true;
    }
    best = &access.dimensions[0];
    left = product;
    leftCoefficient = coefficient;
  }
  best->start.add(left, leftCoefficient);
  return true;
}

bool Finder::place(const Linear &offset, ArrayRef<int64_t> shape,
                   TensorMapAccess &access) {
  for (auto [d, step] : llvm::enumerate(offset.steps)) {
    if (step.getConstant() == 1) {
      access.dimensions.push_back(
          {step, std::nullopt, {}, unsigned(shape[d]), unsigned(d)});
      break;
    }
  }
  if (access.dimensions.empty()) {
    return false;
  }
  for (auto [d, step] : llvm::enumerate(offset.steps)) {
    if (d == access.dimensions[0].tileDimension) {
      continue;
    }
    if (step.getTerms().size() != 1 || !isHostNumber(step)) {
      return false;
    }
    access.dimensions.push_back(
        {step, std::nullopt, {}, unsigned(shape[d]), unsigned(d)});
  }
  return llvm::all_of(offset.scalar.getTerms(), [&](auto &term) {
    return placeTerm(term.first, term.second, access);
  });
}

bool Finder::isNonNegative(const IndexPolynomial &index) const {
  return llvm::all_of(index.getTerms(), [&](auto &term) {
    return term.second > 0 && llvm::all_of(term.first, [&](Value factor) {
             return ranges.isNonNegative(factor);
           });
  });
}

/// The engine counts in 32 bits. A mask says that what is beyond does not
/// count; else an index is small where it is made of such numbers by factors of
/// blocks, or in one row by counters of loops: what else is added to a row may
/// be rows of a tensor whose strides were not recognised.
static bool isNarrow(const IndexPolynomial &index, bool isRow) {
  constexpr int64_t mostFactor = 1 << 16, mostInRow = 1 << 10;
  return llvm::all_of(index.getTerms(), [&](auto &term) {
    auto [product, factor] = term;
    return std::abs(factor) <= (isRow ? mostInRow : mostFactor) &&
           product.size() <= 1 && llvm::all_of(product, [](Value atom) {
             Type type = atom.getType();
             return type.isIndex() || type.getIntOrFloatBitWidth() <= 32;
           });
  });
}

std::optional<TensorMapAccess> Finder::find(tile::LoadAccess load) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type) {
    return fail("it is a scalar");
  }
  std::optional<Pointers> from = pointers(load.getPtr());
  if (!from) {
    return fail("its addresses are not a row of steps in each dimension");
  }
  TensorMapAccess access;
  access.base = from->base;
  if (!place(from->offset, type.getShape(), access)) {
    return fail("the host does not know its strides, or none is 1");
  }
  SmallVector<Limits> limits(type.getRank());
  if (load.getMask() && !addLimits(load.getMask(), limits)) {
    return fail("its mask is not `index < size` in each dimension");
  }
  for (TensorMapAccess::Dimension &dimension : access.dimensions) {
    const Limits limit =
        dimension.tileDimension ? limits[*dimension.tileDimension] : Limits();
    if (limit.below) {
      dimension.size = dimension.start + *limit.below;
      if (!isHostNumber(*dimension.size)) {
        return fail("its mask compares with what the host does not know");
      }
    }
    bool hasLower = limit.from && (dimension.start + *limit.from).isZero();
    if (limit.from && !hasLower) {
      return fail("its mask leaves out elements in front");
    }
    if (!hasLower && !isNonNegative(dimension.start)) {
      return fail("an index may be negative");
    }
    if (!limit.below &&
        !isNarrow(dimension.start, &dimension == access.dimensions.begin())) {
      return fail("an index may have more than 32 bits");
    }
  }
  return access;
}

std::optional<TensorMapAccess> tensorMapAccess(tile::LoadAccess load,
                                               const IntegerRanges &ranges,
                                               IndexReader &indices,
                                               StringRef &why) {
  return Finder(indices, ranges, why).find(load);
}

} // namespace nereid
