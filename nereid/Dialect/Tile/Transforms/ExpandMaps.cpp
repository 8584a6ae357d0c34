//===- ExpandMaps.cpp - Functions of elements as blocks -------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scalars of a tile.map become blocks, and its branches masks: both sides
// of an scf.if are computed and chosen from, a loop runs until its condition
// holds for no element, and an element that has left keeps its values. What a
// map computes has no effect, so nothing else is to be undone. A divisor of
// elements that are not there is 1.
//
//===----------------------------------------------------------------------===//

#include "nereid/Dialect/Tile/IR/Tile.h"
#include "nereid/Dialect/Tile/Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

namespace nereid::tile {

#define GEN_PASS_DEF_EXPANDMAPS
#include "nereid/Dialect/Tile/Transforms/Passes.h.inc"

namespace {

class Expansion {
public:
  explicit Expansion(MapOp op)
      : op(op), b(op), loc(op.getLoc()),
        shape(cast<RankedTensorType>(op.getSources()[0].getType())) {}

  LogicalResult run() {
    Block &body = op.getFunction().front();
    for (auto [argument, source] :
         llvm::zip_equal(body.getArguments(), op.getSources())) {
      blocks.map(argument, source);
    }
    if (failed(expand(body, {}))) {
      return failure();
    }
    SmallVector<Value> results;
    for (Value value : body.getTerminator()->getOperands()) {
      results.push_back(blockOf(value));
    }
    op->replaceAllUsesWith(results);
    op->erase();
    return success();
  }

private:
  Type blockType(Type element) { return withElement(shape, element); }

  /// A scalar of the map as a block: what it became, or a splat of one that was
  /// there before the map.
  Value blockOf(Value scalar) {
    if (Value known = blocks.lookupOrNull(scalar)) {
      return known;
    }
    return SplatOp::create(
        b, loc, cast<RankedTensorType>(blockType(scalar.getType())), scalar);
  }

  Value select(Value mask, Value x, Value y) {
    return arith::SelectOp::create(b, loc, mask, x, y);
  }
  Value both(Value x, Value y) {
    return x ? Value(arith::AndIOp::create(b, loc, x, y)) : y;
  }
  Value constant(Type element, int64_t value) {
    return arith::ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(cast<RankedTensorType>(blockType(element)),
                               Attribute(IntegerAttr::get(element, value))));
  }
  /// All bits zero, of any element type.
  Value zero(Type element) {
    if (auto pointer = dyn_cast<PtrType>(element)) {
      return IntToPtrOp::create(b, loc, blockType(element),
                                constant(b.getI64Type(), 0));
    }
    if (isa<FloatType>(element)) {
      return arith::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(cast<RankedTensorType>(blockType(element)),
                                 Attribute(FloatAttr::get(element, 0.0))));
    }
    return constant(element, 0);
  }
  Value complement(Value mask) {
    return arith::XOrIOp::create(b, loc, mask, constant(b.getI1Type(), 1));
  }
  /// Does `mask` hold for any element?
  Value any(Value mask) {
    auto flat = RankedTensorType::get({shape.getNumElements()}, b.getI1Type());
    Value source = shape.getRank() == 1
                       ? mask
                       : Value(ReshapeOp::create(b, loc, flat, mask, true));
    auto reduce = ReduceOp::create(b, loc, TypeRange{b.getI1Type()},
                                   ValueRange{source}, /*axis=*/0u);
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&reduce.getCombine(), {},
                                 {b.getI1Type(), b.getI1Type()}, {loc, loc});
    Value either = arith::OrIOp::create(b, loc, block->getArgument(0),
                                        block->getArgument(1));
    YieldOp::create(b, loc, either);
    return reduce.getResult(0);
  }

  /// The operations of `block` for the elements of `mask` (null: all).
  LogicalResult expand(Block &block, Value mask) {
    for (Operation &inner : block.without_terminator()) {
      loc = inner.getLoc();
      if (failed(expand(&inner, mask))) {
        return failure();
      }
    }
    return success();
  }

  LogicalResult expand(Operation *inner, Value mask) {
    if (auto branch = dyn_cast<scf::IfOp>(inner)) {
      return expandIf(branch, mask);
    }
    if (auto loop = dyn_cast<scf::ForOp>(inner)) {
      return expandFor(loop, mask);
    }
    if (auto loop = dyn_cast<scf::WhileOp>(inner)) {
      return expandWhile(loop, mask);
    }
    if (isa<AssumeOp>(inner)) {
      return success();
    }
    if (!isElementwise(inner)) {
      if (inner->getNumOperands() == 0 && inner->getNumRegions() == 0 &&
          isMemoryEffectFree(inner)) {
        b.clone(*inner, scalars); // a constant, program_id
        for (Value result : inner->getResults()) {
          blocks.map(result, blockOf(scalars.lookup(result)));
        }
        return success();
      }
      return inner->emitError("'")
             << inner->getName() << "' cannot stand in a tile.map";
    }
    SmallVector<Value> operands;
    for (Value operand : inner->getOperands()) {
      operands.push_back(blockOf(operand));
    }
    if (mask &&
        isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(
            inner)) {
      operands[1] =
          select(mask, operands[1], constant(inner->getResult(0).getType(), 1));
    }
    SmallVector<Type> types;
    for (Type type : inner->getResultTypes()) {
      types.push_back(blockType(type));
    }
    Operation *made = recreate(b, inner, operands, types);
    blocks.map(inner->getResults(), made->getResults());
    return success();
  }

  LogicalResult expandIf(scf::IfOp branch, Value mask) {
    Value condition = blockOf(branch.getCondition());
    if (failed(expand(branch.getThenRegion().front(), both(mask, condition)))) {
      return failure();
    }
    if (branch.getElseRegion().empty()) {
      return success();
    }
    if (failed(expand(branch.getElseRegion().front(),
                      both(mask, complement(condition))))) {
      return failure();
    }
    for (auto [i, result] : llvm::enumerate(branch.getResults())) {
      blocks.map(result,
                 select(condition, blockOf(branch.thenYield().getOperand(i)),
                        blockOf(branch.elseYield().getOperand(i))));
    }
    return success();
  }

  /// A loop over (index, carried ...) while the index of any element is below
  /// its bound.
  LogicalResult expandFor(scf::ForOp loop, Value mask) {
    Value upper = blockOf(loop.getUpperBound()), step = blockOf(loop.getStep());
    SmallVector<Value> inits = {blockOf(loop.getLowerBound())};
    for (Value init : loop.getInitArgs()) {
      inits.push_back(blockOf(init));
    }
    auto predicate = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                           : arith::CmpIPredicate::slt;
    auto active = [&](Value index) {
      Value below = arith::CmpIOp::create(b, loc, predicate, index, upper);
      return both(mask, below);
    };
    SmallVector<Type> types = llvm::to_vector(ValueRange(inits).getTypes());
    auto made = scf::WhileOp::create(b, loc, types, inits);
    SmallVector<Location> locations(types.size(), loc);
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&made.getBefore(), {}, types, locations);
    scf::ConditionOp::create(b, loc, any(active(before->getArgument(0))),
                             before->getArguments());
    Block *after = b.createBlock(&made.getAfter(), {}, types, locations);
    Value index = after->getArgument(0), now = active(index);
    blocks.map(loop.getInductionVar(), index);
    for (auto [inside, argument] : llvm::zip_equal(
             loop.getRegionIterArgs(), after->getArguments().drop_front())) {
      blocks.map(inside, argument);
    }
    if (failed(expand(*loop.getBody(), now))) {
      return failure();
    }
    SmallVector<Value> yields = {
        select(now, arith::AddIOp::create(b, loc, index, step), index)};
    for (auto [value, argument] : llvm::zip_equal(
             loop.getYieldedValues(), after->getArguments().drop_front())) {
      yields.push_back(select(now, blockOf(value), argument));
    }
    scf::YieldOp::create(b, loc, yields);
    b.setInsertionPointAfter(made);
    for (auto [result, value] :
         llvm::zip_equal(loop.getResults(), made.getResults().drop_front())) {
      blocks.map(result, value);
    }
    return success();
  }

  /// A loop over (carried ..., results so far ..., which elements still run).
  LogicalResult expandWhile(scf::WhileOp loop, Value mask) {
    SmallVector<Value> inits;
    for (Value init : loop.getInits()) {
      inits.push_back(blockOf(init));
    }
    size_t carried = inits.size();
    for (Type type : loop.getResultTypes()) {
      inits.push_back(zero(type));
    }
    inits.push_back(mask ? mask : constant(b.getI1Type(), 1));
    SmallVector<Type> types = llvm::to_vector(ValueRange(inits).getTypes());
    SmallVector<Location> locations(types.size(), loc);
    auto made = scf::WhileOp::create(b, loc, types, inits);
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&made.getBefore(), {}, types, locations);
    Value running = before->getArguments().back();
    for (auto [inside, argument] :
         llvm::zip(loop.getBeforeArguments(), before->getArguments())) {
      blocks.map(inside, argument);
    }
    if (failed(expand(*loop.getBeforeBody(), running))) {
      return failure();
    }
    scf::ConditionOp condition = loop.getConditionOp();
    SmallVector<Value> state;
    llvm::append_range(state, before->getArguments().take_front(carried));
    for (auto [value, last] : llvm::zip(
             condition.getArgs(), before->getArguments().drop_front(carried))) {
      state.push_back(select(running, blockOf(value), last));
    }
    state.push_back(both(running, blockOf(condition.getCondition())));
    scf::ConditionOp::create(b, loc, any(state.back()), state);
    Block *after = b.createBlock(&made.getAfter(), {}, types, locations);
    Value now = after->getArguments().back();
    for (auto [inside, argument] :
         llvm::zip(loop.getAfterArguments(),
                   after->getArguments().drop_front(carried))) {
      blocks.map(inside, argument);
    }
    if (failed(expand(*loop.getAfterBody(), now))) {
      return failure();
    }
    SmallVector<Value> yields;
    for (auto [value, argument] :
         llvm::zip(loop.getYieldOp().getOperands(), after->getArguments())) {
      yields.push_back(select(now, blockOf(value), argument));
    }
    llvm::append_range(yields, after->getArguments().drop_front(carried));
    scf::YieldOp::create(b, loc, yields);
    b.setInsertionPointAfter(made);
    for (auto [result, value] :
         llvm::zip(loop.getResults(), made.getResults().drop_front(carried))) {
      blocks.map(result, value);
    }
    return success();
  }

  MapOp op;
  OpBuilder b;
  Location loc;
  RankedTensorType shape;
  IRMapping blocks;  ///< scalars of the map to blocks
  IRMapping scalars; ///< those that do not depend on an element, to copies
};

struct ExpandMaps : impl::ExpandMapsBase<ExpandMaps> {
  void runOnOperation() override {
    SmallVector<MapOp> maps;
    getOperation().walk([&](MapOp op) { maps.push_back(op); });
    for (MapOp op : maps) {
      if (failed(Expansion(op).run())) {
        return signalPassFailure();
      }
    }
  }
};

} // namespace

} // namespace nereid::tile
