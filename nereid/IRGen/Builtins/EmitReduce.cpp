//===- EmitReduce.cpp - Reductions -----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// sum, max and their like become one tile.reduce directly, not through a
// combine function in the language: they stand in nearly every kernel, whose
// compile time is short.
//
// 16-bit floats are summed in float32 and rounded once, which is as exact as a
// target can be asked to be and keeps all targets alike.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitReduce.h"

#include "nereid/Dialect/Tile/IR/PairOrder.h"

namespace nereid::irgen {

namespace arith = mlir::arith;

FailureOr<Tensor> sumOperand(CallContext &ctx, const BoundArguments &args,
                             Tensor x) {
  if (!args.isNone("dtype")) {
    ScalarType type = args.dtype("dtype");
    if (type.isPointer) {
      return argumentError(ctx, args, "dtype", "a type of numbers", type.str());
    }
    return ctx.emitter.cast(x, type);
  }
  if (x.type.isInteger() && x.type.bits() < 32) {
    return ctx.emitter.cast(x, x.type.isSignedInt() ? DType::Int32
                                                    : DType::UInt32);
  }
  return x;
}

ScalarType accumulatorType(ScalarType type) {
  return type.isFloat() && type.bits() < 32 ? ScalarType(DType::Float32) : type;
}

void fillCombine(Emitter &e, mlir::Region &region,
                 llvm::ArrayRef<ScalarType> types, CombineFn combine) {
  llvm::SmallVector<mlir::Type> argumentTypes;
  for (int side = 0; side < 2; ++side) {
    for (ScalarType type : types) {
      argumentTypes.push_back(e.typeOf(type));
    }
  }
  llvm::SmallVector<mlir::Location> locations(argumentTypes.size(), e.loc());
  mlir::OpBuilder::InsertionGuard guard(e.builder);
  mlir::Block *block =
      e.builder.createBlock(&region, {}, argumentTypes, locations);
  llvm::SmallVector<Tensor> operands;
  for (auto [i, argument] : llvm::enumerate(block->getArguments())) {
    operands.push_back({argument, types[i % types.size()]});
  }
  llvm::SmallVector<mlir::Value> results;
  for (const Tensor &result :
       combine(e, llvm::ArrayRef(operands).take_front(types.size()),
               llvm::ArrayRef(operands).drop_front(types.size()))) {
    results.push_back(result.value);
  }
  e.create<tile::YieldOp>(results);
}

namespace {

Tensor bitwise(Emitter &e, Tensor a, Tensor b, bool isXor) {
  if (isXor) {
    return {e.create<arith::XOrIOp>(a.value, b.value), a.type};
  }
  return {e.create<arith::OrIOp>(a.value, b.value), a.type};
}

Tensor compare(Emitter &e, Tensor a, Tensor b, arith::CmpFPredicate onFloats,
               arith::CmpIPredicate onSigned, arith::CmpIPredicate onUnsigned) {
  mlir::Value result;
  if (a.type.isFloat()) {
    result = e.create<arith::CmpFOp>(onFloats, a.value, b.value);
  } else {
    result = e.create<arith::CmpIOp>(
        a.type.isUnsignedInt() ? onUnsigned : onSigned, a.value, b.value);
  }
  return {result, DType::Int1};
}

Tensor greater(Emitter &e, Tensor a, Tensor b) {
  return compare(e, a, b, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt,
                 arith::CmpIPredicate::ugt);
}

Tensor equal(Emitter &e, Tensor a, Tensor b) {
  return compare(e, a, b, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq,
                 arith::CmpIPredicate::eq);
}

Tensor both(Emitter &e, Tensor a, Tensor b) {
  return {e.create<arith::AndIOp>(a.value, b.value), a.type};
}

Tensor compareFloats(Emitter &e, arith::CmpFPredicate predicate, Tensor a,
                     Tensor b) {
  return {e.create<arith::CmpFOp>(predicate, a.value, b.value), DType::Int1};
}

llvm::SmallVector<Tensor> combineSum(Emitter &e, llvm::ArrayRef<Tensor> a,
                                     llvm::ArrayRef<Tensor> b) {
  return {e.add(a[0], b[0])};
}
llvm::SmallVector<Tensor> combineXor(Emitter &e, llvm::ArrayRef<Tensor> a,
                                     llvm::ArrayRef<Tensor> b) {
  return {bitwise(e, a[0], b[0], true)};
}
llvm::SmallVector<Tensor> combineOr(Emitter &e, llvm::ArrayRef<Tensor> a,
                                    llvm::ArrayRef<Tensor> b) {
  return {bitwise(e, a[0], b[0], false)};
}

template <bool isMax>
llvm::SmallVector<Tensor> combineExtremum(Emitter &e, llvm::ArrayRef<Tensor> a,
                                          llvm::ArrayRef<Tensor> b) {
  return {isMax ? e.maximum(a[0], b[0]) : e.minimum(a[0], b[0])};
}

/// (value, index) pairs: the better value, on a tie the smaller index. Without
/// tieLeft the caller does not mind which of equal ones it gets. A NaN is worse
/// than every number, as in a reduction without indices, and NaNs tie: then the
/// order in which a target combines pairs does not show.
template <bool isMax, bool tieLeft>
llvm::SmallVector<Tensor> combineIndexed(Emitter &e, llvm::ArrayRef<Tensor> a,
                                         llvm::ArrayRef<Tensor> b) {
  Tensor x = a[0], y = b[0], first, tie = equal(e, x, y);
  if (x.type.isFloat()) {
    using P = arith::CmpFPredicate;
    first = both(e, compareFloats(e, P::ORD, x, x),
                 compareFloats(e, isMax ? P::UGT : P::ULT, x, y));
    // Where y is NaN and x a number, x is first already.
    tie = bitwise(e, tie, compareFloats(e, P::UNO, y, y), false);
  } else {
    first = isMax ? greater(e, x, y) : greater(e, y, x);
  }
  if (tieLeft) {
    first = bitwise(e, first, both(e, tie, greater(e, b[1], a[1])), false);
  }
  return {e.select(first, a[0], b[0]), e.select(first, a[1], b[1])};
}

/// The axis to reduce; all of the block as one dimension for None.
struct ReducedAxis {
  llvm::SmallVector<int64_t> source; ///< shape as reduced
  llvm::SmallVector<int64_t> kept;   ///< shape of the result with keep_dims
  int64_t axis = 0;
};

FailureOr<ReducedAxis> reducedAxis(CallContext &ctx, const BoundArguments &args,
                                   llvm::ArrayRef<int64_t> shape) {
  ReducedAxis result;
  result.source.assign(shape.begin(), shape.end());
  result.kept = result.source;
  const Value &given = args["axis"];
  if (given.isNone()) {
    int64_t count = 1;
    for (int64_t extent : shape) {
      count *= extent;
    }
    result.source = {count};
    result.kept.assign(shape.size(), 1);
    return result;
  }
  if (!given.isInt()) {
    return argumentError(ctx, args, "axis", "an integer or None",
                         given.describe());
  }
  FailureOr<int64_t> axis =
      axisArgument(ctx, args, "axis", static_cast<int64_t>(shape.size()));
  if (failed(axis)) {
    return failure();
  }
  result.axis = *axis;
  result.kept[*axis] = 1;
  return result;
}

/// `x` in another shape; with `reorder` its elements may be taken in any order.
Tensor reshaped(Emitter &e, Tensor x, llvm::ArrayRef<int64_t> shape,
                bool reorder = false) {
  if (x.shape() == shape) {
    return x;
  }
  if (!x.isBlock()) {
    return e.splat(x, shape);
  }
  return {e.create<tile::ReshapeOp>(e.typeOf(x.type, shape), x.value, reorder),
          x.type};
}

/// tile.reduce of sources of shape `axis.source`; `fill` makes its region.
FailureOr<llvm::SmallVector<Tensor>>
emitReduceOp(CallContext &ctx, const BoundArguments &args,
             const ReducedAxis &axis, llvm::ArrayRef<Tensor> sources,
             llvm::function_ref<LogicalResult(mlir::Region &)> fill,
             std::optional<tile::PairOrder> order = std::nullopt) {
  Emitter &e = ctx.emitter;
  llvm::SmallVector<int64_t> reduced = axis.source;
  reduced.erase(reduced.begin() + axis.axis);
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Type> types;
  for (const Tensor &source : sources) {
    operands.push_back(source.value);
    types.push_back(e.typeOf(source.type, reduced));
  }
  auto op = e.create<tile::ReduceOp>(mlir::TypeRange(types),
                                     mlir::ValueRange(operands),
                                     static_cast<uint32_t>(axis.axis));
  if (failed(fill(op.getCombine()))) {
    return failure();
  }
  if (order) {
    tile::setPairOrder(op, *order);
  }
  llvm::SmallVector<Tensor> results;
  for (auto [result, source] : llvm::zip(op.getResults(), sources)) {
    Tensor x{result, source.type};
    results.push_back(args.boolean("keep_dims") ? reshaped(e, x, axis.kept)
                                                : x);
  }
  return results;
}

FailureOr<llvm::SmallVector<Tensor>>
reduceWith(CallContext &ctx, const BoundArguments &args,
           const ReducedAxis &axis, llvm::ArrayRef<Tensor> sources,
           CombineFn combine,
           std::optional<tile::PairOrder> order = std::nullopt) {
  llvm::SmallVector<ScalarType> types;
  for (const Tensor &source : sources) {
    types.push_back(source.type);
  }
  return emitReduceOp(
      ctx, args, axis, sources,
      [&](mlir::Region &region) {
        fillCombine(ctx.emitter, region, types, combine);
        return success();
      },
      order);
}

/// One block of numbers, where the order of elements does not matter.
FailureOr<Tensor> reduceOne(CallContext &ctx, const BoundArguments &args,
                            Tensor x, CombineFn combine) {
  FailureOr<ReducedAxis> axis = reducedAxis(ctx, args, x.shape());
  if (failed(axis)) {
    return failure();
  }
  Tensor source = reshaped(ctx.emitter, x, axis->source, /*reorder=*/true);
  auto results = reduceWith(ctx, args, *axis, {source}, combine);
  if (failed(results)) {
    return failure();
  }
  return (*results)[0];
}

/// The operand of a reduction: a block of numbers.
FailureOr<Tensor> numbersArgument(CallContext &ctx,
                                  const BoundArguments &args) {
  const Tensor &x = args.tensor("input");
  if (failed(requireBlock(ctx, args, "input", x))) {
    return failure();
  }
  if (x.type.isPointer) {
    return argumentError(ctx, args, "input", "numbers", x.typeStr());
  }
  return x;
}

FailureOr<Value> emitSum(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  FailureOr<Tensor> x = numbersArgument(ctx, args);
  if (failed(x)) {
    return failure();
  }
  x = sumOperand(ctx, args, *x);
  if (failed(x)) {
    return failure();
  }
  FailureOr<Tensor> wide = e.cast(*x, accumulatorType(x->type));
  if (failed(wide)) {
    return failure();
  }
  FailureOr<Tensor> sum = reduceOne(ctx, args, *wide, combineSum);
  if (failed(sum)) {
    return failure();
  }
  return asValue(e.cast(*sum, x->type));
}

template <CombineFn combine>
FailureOr<Value> emitBitwise(CallContext &ctx, const BoundArguments &args) {
  FailureOr<Tensor> x = numbersArgument(ctx, args);
  if (failed(x)) {
    return failure();
  }
  if (!x->type.isInteger()) {
    return argumentError(ctx, args, "input", "integers", x->typeStr());
  }
  return asValue(reduceOne(ctx, args, *x, combine));
}

/// Values and int32 positions along the axis (in the whole block for None).
template <bool isMax>
FailureOr<llvm::SmallVector<Tensor>> reduceIndexed(CallContext &ctx,
                                                   const BoundArguments &args,
                                                   Tensor x, bool tieLeft) {
  Emitter &e = ctx.emitter;
  FailureOr<ReducedAxis> axis = reducedAxis(ctx, args, x.shape());
  if (failed(axis)) {
    return failure();
  }
  int64_t extent = axis->source[axis->axis];
  Tensor index{e.create<tile::RangeOp>(e.typeOf(DType::Int32, {extent}), 0u,
                                       static_cast<uint32_t>(extent)),
               DType::Int32};
  for (int64_t d = 0; d < static_cast<int64_t>(axis->source.size()); ++d) {
    if (d != axis->axis) {
      index = e.expandDims(index, d);
    }
  }
  FailureOr<Tensor> positions = e.broadcastTo(index, axis->source);
  if (failed(positions)) {
    return failure();
  }
  // Of equal values the least index will do without tieLeft, too.
  using P = tile::PairOrder;
  bool isUnsigned = x.type.isUnsignedInt();
  return reduceWith(
      ctx, args, *axis, {reshaped(e, x, axis->source), *positions},
      tieLeft ? combineIndexed<isMax, true> : combineIndexed<isMax, false>,
      isMax ? (isUnsigned ? P::GreatestUnsigned : P::Greatest)
            : (isUnsigned ? P::LeastUnsigned : P::Least));
}

template <bool isMax>
FailureOr<Value> emitExtremum(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  FailureOr<Tensor> x = numbersArgument(ctx, args);
  if (failed(x)) {
    return failure();
  }
  // Before 3.9 the maximum beside an index was float32.
  ScalarType own =
      e.means(LanguageVersion::V3_9) ? x->type : accumulatorType(x->type);
  x = promoteBFloat16(ctx, *x);
  if (failed(x)) {
    return failure();
  }
  if (args.boolean("return_indices")) {
    auto pair = reduceIndexed<isMax>(
        ctx, args, *x, args.boolean("return_indices_tie_break_left"));
    if (failed(pair)) {
      return failure();
    }
    if (own == ScalarType(DType::BFloat16)) {
      FailureOr<Tensor> narrow = e.cast((*pair)[0], own);
      if (failed(narrow)) {
        return failure();
      }
      (*pair)[0] = *narrow;
    }
    return Value::tuple({(*pair)[0], (*pair)[1]});
  }
  if (x->type.bits() < 32) {
    x = e.cast(*x, x->type.isFloat() ? DType::Float32 : DType::Int32);
    if (failed(x)) {
      return failure();
    }
  }
  return asValue(reduceOne(ctx, args, *x, combineExtremum<isMax>));
}

template <bool isMax>
FailureOr<Value> emitArgExtremum(CallContext &ctx, const BoundArguments &args) {
  FailureOr<Tensor> x = numbersArgument(ctx, args);
  if (failed(x)) {
    return failure();
  }
  x = promoteBFloat16(ctx, *x);
  if (failed(x)) {
    return failure();
  }
  auto pair =
      reduceIndexed<isMax>(ctx, args, *x, args.boolean("tie_break_left"));
  if (failed(pair)) {
    return failure();
  }
  return Value((*pair)[1]);
}

FailureOr<Value> emitReduce(CallContext &ctx, const BoundArguments &args) {
  FailureOr<llvm::SmallVector<Tensor>> sources = blocksArgument(ctx, args);
  if (failed(sources)) {
    return failure();
  }
  FailureOr<ReducedAxis> axis = reducedAxis(ctx, args, (*sources)[0].shape());
  if (failed(axis)) {
    return failure();
  }
  llvm::SmallVector<ScalarType> types;
  for (Tensor &source : *sources) {
    types.push_back(source.type);
    source = reshaped(ctx.emitter, source, axis->source);
  }
  auto results =
      emitReduceOp(ctx, args, *axis, *sources, [&](mlir::Region &region) {
        return ctx.evaluator.buildCombineRegion(region, args["combine_fn"],
                                                types, ctx.name());
      });
  if (failed(results)) {
    return failure();
  }
  return blocksResult(args, *results);
}

} // namespace

FailureOr<llvm::SmallVector<Tensor>>
blocksArgument(CallContext &ctx, const BoundArguments &args) {
  const Value &input = args["input"];
  llvm::SmallVector<Value> items;
  if (input.isSequence()) {
    items.assign(input.items().begin(), input.items().end());
  } else {
    items.push_back(input);
  }
  if (items.empty()) {
    return argumentError(ctx, args, "input", "a block or a tuple of blocks",
                         "an empty tuple");
  }
  llvm::SmallVector<Tensor> blocks;
  for (const Value &item : items) {
    if (!item.isTensor() || !item.tensor().isBlock()) {
      return argumentError(ctx, args, "input", "a block or a tuple of blocks",
                           item.describe());
    }
    blocks.push_back(item.tensor());
    if (blocks.back().shape() != blocks.front().shape()) {
      return argumentError(ctx, args, "input", "blocks of one shape",
                           shapeStr(blocks.front().shape()) + " and " +
                               shapeStr(blocks.back().shape()));
    }
  }
  return blocks;
}

Value blocksResult(const BoundArguments &args, llvm::ArrayRef<Tensor> results) {
  if (!args["input"].isSequence()) {
    return results[0];
  }
  return Value::tuple(std::vector<Value>(results.begin(), results.end()));
}

void registerReduceBuiltins(BuiltinTable &table) {
  table.add(
      {"tl",
       "sum(input: tensor, axis: static=None, keep_dims: bool=False, dtype: "
       "dtype=None)",
       emitSum, "Sum along an axis, or of all elements.", Member});
  table.add(
      {"tl",
       "max(input: tensor, axis: static=None, return_indices: bool=False, "
       "return_indices_tie_break_left: bool=True, keep_dims: bool=False)",
       emitExtremum<true>,
       "Maximum along an axis, or of all elements; with return_indices "
       "also where. Any number wins over NaN.",
       Member});
  table.add(
      {"tl",
       "min(input: tensor, axis: static=None, return_indices: bool=False, "
       "return_indices_tie_break_left: bool=True, keep_dims: bool=False)",
       emitExtremum<false>,
       "Minimum along an axis, or of all elements; with return_indices "
       "also where. Any number wins over NaN.",
       Member});
  table.add(
      {"tl",
       "argmax(input: tensor, axis: static=None, tie_break_left: bool=True, "
       "keep_dims: bool=False)",
       emitArgExtremum<true>,
       "Where the maximum along an axis stands; NaN counts as the smallest.",
       Member});
  table.add(
      {"tl",
       "argmin(input: tensor, axis: static=None, tie_break_left: bool=True, "
       "keep_dims: bool=False)",
       emitArgExtremum<false>,
       "Where the minimum along an axis stands; NaN counts as the largest.",
       Member});
  table.add({"tl",
             "xor_sum(input: tensor, axis: static=None, keep_dims: bool=False)",
             emitBitwise<combineXor>, "Exclusive or of integers along an axis.",
             Member});
  table.add(
      {"tl",
       "reduce_or(input: tensor, axis: static=None, keep_dims: bool=False)",
       emitBitwise<combineOr>, "Bitwise or of integers along an axis.",
       Member});
  table.add({"tl",
             "reduce(input, axis: static, combine_fn: function, keep_dims: "
             "bool=False)",
             emitReduce,
             "Blocks combined along an axis by an associative function of the "
             "language.",
             Member});
  registerScanBuiltins(table);
  registerDotBuiltins(table);
}

} // namespace nereid::irgen
