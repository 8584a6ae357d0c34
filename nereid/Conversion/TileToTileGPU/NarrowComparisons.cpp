//===- NarrowComparisons.cpp - Bounds in 32 bits --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Block pointers and descriptors compare 64-bit indices, one a row of a thread:
// start + i < size. With i from a short range that is i < size - start, the
// difference computed once in 64 bits and cut to where the range lies. A GPU
// compares 64 bits in two instructions and keeps the sums in two registers
// each (docs/TileToTileGPU.md, "Bounds in 32 bits").
//
//===----------------------------------------------------------------------===//

#include "nereid/Conversion/TileToTileGPU/Passes.h"

using namespace mlir;

namespace nereid {

#define GEN_PASS_DEF_NARROWCOMPARISONS
#include "nereid/Conversion/TileToTileGPU/Passes.h.inc"

namespace {
struct Interval {
  int64_t least, greatest;
};
} // namespace

static std::optional<Interval> rangeOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (
      isa_and_nonnull<tile::ExpandDimsOp, tile::BroadcastOp, tile::TransposeOp>(
          op)) {
    op = op->getOperand(0).getDefiningOp();
  }
  auto range = dyn_cast_or_null<tile::RangeOp>(op);
  if (!range) {
    return std::nullopt;
  }
  int64_t start = static_cast<int32_t>(range.getStart());
  return Interval{start, start + range.getType().getShape()[0] - 1};
}

/// Is a 64-bit scalar far from where sums wrap?
static bool isModest(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op)) {
    int64_t number = cast<IntegerAttr>(constant.getValue()).getInt();
    return number > -(int64_t{1} << 60) && number < int64_t{1} << 60;
  }
  return isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op);
}

static void narrow(arith::CmpIOp op) {
  using P = arith::CmpIPredicate;
  P predicate = op.getPredicate();
  auto type = dyn_cast<RankedTensorType>(op.getLhs().getType());
  if (!type || !type.getElementType().isInteger(64) ||
      !llvm::is_contained({P::slt, P::sle, P::sgt, P::sge}, predicate)) {
    return;
  }
  OpBuilder b(op);
  Location loc = op.getLoc();
  Value wide = op.getLhs(), start;
  if (auto sum = wide.getDefiningOp<arith::AddIOp>()) {
    for (unsigned i : {0, 1}) {
      if (auto splat = sum->getOperand(i).getDefiningOp<tile::SplatOp>()) {
        start = splat.getSource();
        wide = sum->getOperand(1 - i);
        break;
      }
    }
  }
  auto extended = wide.getDefiningOp<arith::ExtSIOp>();
  if (!extended ||
      !getElementTypeOrSelf(extended.getIn().getType()).isInteger(32)) {
    return;
  }
  Value index = extended.getIn();
  std::optional<Interval> range = rangeOf(index);
  Value limit = tile::scalarOf(b, op.getRhs());
  if (!range || !limit || !isModest(limit) || (start && !isModest(start))) {
    return;
  }
  if (start) {
    limit = arith::SubIOp::create(b, loc, limit, start);
  }
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value));
  };
  bool below = predicate == P::slt || predicate == P::sle;
  if (predicate == P::sle || predicate == P::sgt) {
    limit = arith::AddIOp::create(b, loc, limit, constant(1));
  }
  limit = arith::MaxSIOp::create(b, loc, limit, constant(range->least));
  limit = arith::MinSIOp::create(b, loc, limit, constant(range->greatest + 1));
  limit = arith::TruncIOp::create(b, loc, b.getI32Type(), limit);
  Value limits = tile::SplatOp::create(b, loc, index.getType(), limit);
  Value narrowed =
      arith::CmpIOp::create(b, loc, below ? P::slt : P::sge, index, limits);
  op.replaceAllUsesWith(narrowed);
  op.erase();
}

namespace {
struct NarrowComparisonsPass
    : impl::NarrowComparisonsBase<NarrowComparisonsPass> {
  void runOnOperation() override {
    SmallVector<arith::CmpIOp> comparisons;
    getOperation().walk([&](arith::CmpIOp op) { comparisons.push_back(op); });
    for (arith::CmpIOp op : comparisons) {
      narrow(op);
    }
  }
};
} // namespace

} // namespace nereid
