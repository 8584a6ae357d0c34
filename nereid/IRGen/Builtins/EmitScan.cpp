//===- EmitScan.cpp - Scans and histograms ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitReduce.h"

namespace nereid::irgen {

namespace {

llvm::SmallVector<Tensor> combineSum(Emitter &e, llvm::ArrayRef<Tensor> a,
                                     llvm::ArrayRef<Tensor> b) {
  return {e.add(a[0], b[0])};
}

llvm::SmallVector<Tensor> combineProduct(Emitter &e, llvm::ArrayRef<Tensor> a,
                                         llvm::ArrayRef<Tensor> b) {
  return {e.mul(a[0], b[0])};
}

FailureOr<llvm::SmallVector<Tensor>>
emitScanOp(CallContext &ctx, const BoundArguments &args,
           llvm::ArrayRef<Tensor> sources,
           llvm::function_ref<LogicalResult(mlir::Region &)> fill) {
  FailureOr<int64_t> axis = axisArgument(ctx, args, "axis", sources[0].rank());
  if (failed(axis)) {
    return failure();
  }
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Type> types;
  for (const Tensor &source : sources) {
    operands.push_back(source.value);
    types.push_back(source.value.getType());
  }
  auto op = ctx.emitter.create<tile::ScanOp>(
      mlir::TypeRange(types), mlir::ValueRange(operands),
      static_cast<uint32_t>(*axis), args.boolean("reverse"));
  if (failed(fill(op.getCombine()))) {
    return failure();
  }
  llvm::SmallVector<Tensor> results;
  for (auto [result, source] : llvm::zip(op.getResults(), sources)) {
    results.push_back({result, source.type});
  }
  return results;
}

/// cumsum and cumprod: narrow floats in float32, rounded once for each element
/// (before 3.9 bfloat16 stayed float32).
FailureOr<Value> emitCumulative(CallContext &ctx, const BoundArguments &args,
                                Tensor x, CombineFn combine) {
  Emitter &e = ctx.emitter;
  FailureOr<Tensor> promoted =
      e.means(LanguageVersion::V3_9) ? x : promoteBFloat16(ctx, x);
  if (failed(promoted)) {
    return failure();
  }
  FailureOr<Tensor> wide = e.cast(*promoted, accumulatorType(promoted->type));
  if (failed(wide)) {
    return failure();
  }
  auto results = emitScanOp(ctx, args, {*wide}, [&](mlir::Region &region) {
    fillCombine(e, region, {wide->type}, combine);
    return success();
  });
  if (failed(results)) {
    return failure();
  }
  return asValue(e.cast((*results)[0], promoted->type));
}

LogicalResult requireNumbers(CallContext &ctx, const BoundArguments &args) {
  const Tensor &x = args.tensor("input");
  if (x.type.isPointer) {
    return argumentError(ctx, args, "input", "numbers", x.typeStr());
  }
  return requireBlock(ctx, args, "input", x);
}

FailureOr<Value> emitCumsum(CallContext &ctx, const BoundArguments &args) {
  if (failed(requireNumbers(ctx, args))) {
    return failure();
  }
  FailureOr<Tensor> x = sumOperand(ctx, args, args.tensor("input"));
  if (failed(x)) {
    return failure();
  }
  return emitCumulative(ctx, args, *x, combineSum);
}

FailureOr<Value> emitCumprod(CallContext &ctx, const BoundArguments &args) {
  if (failed(requireNumbers(ctx, args))) {
    return failure();
  }
  FailureOr<Tensor> x = args.tensor("input");
  // Before 3.9 products kept narrow integers, unless a type was asked for.
  if (ctx.emitter.means(LanguageVersion::V3_9) || !args.isNone("dtype")) {
    x = sumOperand(ctx, args, *x);
  }
  if (failed(x)) {
    return failure();
  }
  return emitCumulative(ctx, args, *x, combineProduct);
}

FailureOr<Value> emitScan(CallContext &ctx, const BoundArguments &args) {
  FailureOr<llvm::SmallVector<Tensor>> sources = blocksArgument(ctx, args);
  if (failed(sources)) {
    return failure();
  }
  llvm::SmallVector<ScalarType> types;
  for (const Tensor &source : *sources) {
    types.push_back(source.type);
  }
  auto results = emitScanOp(ctx, args, *sources, [&](mlir::Region &region) {
    return ctx.evaluator.buildCombineRegion(region, args["combine_fn"], types,
                                            ctx.name());
  });
  if (failed(results)) {
    return failure();
  }
  return blocksResult(args, *results);
}

FailureOr<Value> emitHistogram(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  Tensor x = args.tensor("input");
  if (x.rank() != 1 || !x.type.isInteger()) {
    return argumentError(ctx, args, "input",
                         "a one-dimensional block of integers", x.typeStr());
  }
  // Counted as int32 or int64; a narrower type is widened by its own sign.
  if (x.type.bits() < 32) {
    FailureOr<Tensor> wide = e.cast(x, DType::Int32);
    if (failed(wide)) {
      return failure();
    }
    x = *wide;
  }
  llvm::SmallVector<int64_t> shape = {args.integer("num_bins")};
  if (shape[0] < 1) {
    return argumentError(ctx, args, "num_bins", "1 or more",
                         llvm::Twine(shape[0]));
  }
  if (failed(e.checkShape(shape))) {
    return failure();
  }
  mlir::Value mask;
  if (!args.isNone("mask")) {
    FailureOr<Tensor> given = tensorArgument(ctx, args, "mask");
    if (failed(given)) {
      return failure();
    }
    if (!given->type.isBool()) {
      return argumentError(ctx, args, "mask", "int1 (a comparison's result)",
                           given->typeStr());
    }
    given = spreadArgument(ctx, args, "mask", *given, x.shape());
    if (failed(given)) {
      return failure();
    }
    mask = given->value;
  }
  return Value(Tensor{
      e.create<tile::HistogramOp>(e.typeOf(DType::Int32, shape), x.value, mask),
      DType::Int32});
}

} // namespace

void registerScanBuiltins(BuiltinTable &table) {
  table.add({"tl",
             "associative_scan(input, axis: int, combine_fn: function, "
             "reverse: bool=False)",
             emitScan,
             "Running combinations along an axis, inclusive, by an associative "
             "function of the language.",
             Member});
  table.add({"tl",
             "cumsum(input: tensor, axis: int=0, reverse: bool=False, dtype: "
             "dtype=None)",
             emitCumsum, "Running sum along an axis.", Member});
  table.add({"tl",
             "cumprod(input: tensor, axis: int=0, reverse: bool=False, dtype: "
             "dtype=None)",
             emitCumprod, "Running product along an axis.", Member});
  table.add({"tl", "histogram(input: tensor, num_bins: int, mask=None)",
             emitHistogram, "How often each of 0 .. num_bins - 1 occurs.",
             Member});
}

} // namespace nereid::irgen
