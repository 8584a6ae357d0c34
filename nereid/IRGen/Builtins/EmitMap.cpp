//===- EmitMap.cpp - Functions of scalars -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

namespace nereid::irgen {

namespace {

/// The results of the function, one for each of its values: with pack, those of
/// the first element.
FailureOr<llvm::SmallVector<Tensor>>
callScalarFunction(CallContext &ctx, const BoundArguments &args,
                   llvm::ArrayRef<Tensor> scalars, bool &isSingle) {
  int64_t pack = args.integer("pack");
  llvm::SmallVector<Argument> arguments;
  for (const Tensor &scalar : scalars) {
    for (int64_t i = 0; i < pack; ++i) {
      arguments.push_back({"", Value(scalar), args.span("args")});
    }
  }
  FailureOr<Value> returned = ctx.evaluator.call(args["scalar_fn"], arguments);
  if (failed(returned)) {
    return failure();
  }
  isSingle = !returned->isSequence();
  std::vector<Value> items = {*returned};
  if (!isSingle) {
    items = returned->items();
  }
  if (returned->isNone() || items.empty() || items.size() % pack) {
    return callError(
        ctx,
        "the function must return " +
            (pack == 1 ? std::string("a value")
                       : "a multiple of " + std::to_string(pack) + " values") +
            ", it returns " +
            (returned->isNone() ? "none" : std::to_string(items.size())));
  }
  llvm::SmallVector<Tensor> results;
  for (size_t i = 0; i < items.size(); i += pack) {
    FailureOr<Tensor> item = ctx.emitter.toTensor(
        items[i], ctx.name() + ": a result of the function");
    if (failed(item)) {
      return failure();
    }
    if (item->isBlock()) {
      return callError(ctx, "the function must return scalars, it returns " +
                                item->typeStr());
    }
    results.push_back(*item);
  }
  return results;
}

/// What the region may not do; null if there is nothing.
mlir::Operation *offenderIn(mlir::Region &region) {
  mlir::Operation *offender = nullptr;
  region.walk([&](mlir::Operation *op) {
    bool touchesMemory = op->getNumRegions() == 0 && !isMemoryEffectFree(op);
    bool hasBlock = llvm::any_of(op->getResultTypes(), [](mlir::Type type) {
      return mlir::isa<mlir::RankedTensorType>(type);
    });
    if (!offender && (touchesMemory || hasBlock) &&
        !mlir::isa<tile::AssumeOp>(op)) {
      offender = op;
    }
  });
  return offender;
}

FailureOr<Value> emitMap(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  if (args.integer("pack") < 1 || args.integer("pack") > 64) {
    return argumentError(ctx, args, "pack", "1 to 64",
                         llvm::Twine(args.integer("pack")));
  }
  auto sources = tensorsArgument(ctx, args, "args");
  if (failed(sources)) {
    return failure();
  }
  if (sources->empty()) {
    return argumentError(ctx, args, "args", "at least one value", "none");
  }
  if (failed(spreadAll(ctx, *sources))) {
    return failure();
  }
  bool isSingle = false;
  auto asResult = [&](llvm::ArrayRef<Tensor> results) -> Value {
    return isSingle || (results.size() == 1 && args.integer("pack") > 1)
               ? Value(results[0])
               : Value::tuple(
                     std::vector<Value>(results.begin(), results.end()));
  };
  if (!sources->front().isBlock()) {
    auto results = callScalarFunction(ctx, args, *sources, isSingle);
    if (failed(results)) {
      return failure();
    }
    return asResult(*results);
  }
  mlir::Region region;
  llvm::SmallVector<Tensor> scalars, results;
  llvm::SmallVector<mlir::Value> operands;
  {
    mlir::OpBuilder::InsertionGuard guard(e.builder);
    mlir::Block *block = e.builder.createBlock(&region);
    for (const Tensor &source : *sources) {
      operands.push_back(source.value);
      scalars.push_back(
          {block->addArgument(e.typeOf(source.type), e.loc()), source.type});
    }
    auto returned = callScalarFunction(ctx, args, scalars, isSingle);
    if (failed(returned)) {
      return failure();
    }
    results = *returned;
    llvm::SmallVector<mlir::Value> yields;
    for (const Tensor &result : results) {
      yields.push_back(result.value);
    }
    e.create<tile::YieldOp>(yields);
  }
  if (mlir::Operation *op = offenderIn(region)) {
    return callError(ctx,
                     "the function must compute with scalars alone; it uses '" +
                         op->getName().getStringRef() + "'",
                     "load before the call and store after it");
  }
  llvm::ArrayRef<int64_t> shape = sources->front().shape();
  llvm::SmallVector<mlir::Type> types;
  for (const Tensor &result : results) {
    types.push_back(e.typeOf(result.type, shape));
  }
  auto op =
      e.create<tile::MapOp>(mlir::TypeRange(types), mlir::ValueRange(operands));
  op.getFunction().takeBody(region);
  for (auto [result, value] : llvm::zip_equal(results, op.getResults())) {
    result.value = value;
  }
  return asResult(results);
}

} // namespace

void registerMapBuiltins(BuiltinTable &table) {
  table.add({"tl", "map_elementwise(scalar_fn: function, *args, pack: int=1)",
             emitMap,
             "A function of scalars, which may branch and loop, for every "
             "element."});
}

} // namespace nereid::irgen
