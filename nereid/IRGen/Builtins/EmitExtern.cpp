//===- EmitExtern.cpp - Symbols of libdevice --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

namespace nereid::irgen {

namespace {

/// The built-in that a symbol stands for: __nv_sinf is libdevice.sin. Symbols
/// mark the type at either end (llabs, fadd_rn, isnand), which the operands
/// tell anyway.
const Builtin *builtinOfSymbol(llvm::StringRef symbol) {
  const BuiltinTable &table = BuiltinTable::get();
  if (!symbol.consume_front("__nv_")) {
    return nullptr;
  }
  if (symbol == "mul64hi" || symbol == "umul64hi") {
    symbol = "mulhi";
  } else if (symbol == "powi" || symbol == "powif") {
    symbol = "pow";
  } else if (symbol == "fast_fdividef") {
    symbol = "fast_dividef";
  }
  llvm::StringRef rounding =
      symbol.size() > 3 && symbol[symbol.size() - 3] == '_'
          ? symbol.take_back(3)
          : llvm::StringRef();
  llvm::SmallVector<llvm::StringRef> stems = {
      symbol.drop_back(rounding.size())};
  auto withoutPrefixes = [&](llvm::StringRef stem) {
    for (llvm::StringRef prefix : {"ull", "ll", "u", "f", "d"}) {
      llvm::StringRef shorter = stem;
      if (shorter.consume_front(prefix)) {
        stems.push_back(shorter);
      }
    }
  };
  llvm::StringRef whole = stems[0];
  for (llvm::StringRef suffix : {"f", "ll", "d"}) {
    llvm::StringRef shorter = whole;
    if (shorter.consume_back(suffix)) {
      stems.push_back(shorter);
    }
  }
  withoutPrefixes(whole);
  if (llvm::StringRef shorter = whole; shorter.consume_back("f")) {
    withoutPrefixes(shorter);
  }
  for (llvm::StringRef stem : stems) {
    if (const Builtin *row = table.find("libdevice", (stem + rounding).str())) {
      return row;
    }
  }
  return nullptr;
}

/// The entry of the table for these operand types: (symbol, result type).
const Value *symbolFor(const Value &table, llvm::ArrayRef<Tensor> operands) {
  for (const auto &[key, entry] : table.dict()) {
    std::vector<Value> types = {key};
    if (key.isSequence()) {
      types = key.items();
    }
    bool fits = types.size() == operands.size();
    for (size_t i = 0; fits && i < types.size(); ++i) {
      fits = types[i].isType() && types[i].type().scalar == operands[i].type;
    }
    if (fits) {
      return &entry;
    }
  }
  return nullptr;
}

/// All in one type, by the operators' rules.
LogicalResult promoteAll(CallContext &ctx,
                         llvm::MutableArrayRef<Tensor> operands) {
  for (Tensor &operand : operands) {
    auto pair = ctx.emitter.promoteOperands(Value(operands[0]), Value(operand),
                                            ctx.name());
    if (failed(pair)) {
      return failure();
    }
    operands[0] = pair->first;
  }
  for (Tensor &operand : operands.drop_front()) {
    FailureOr<Tensor> cast = ctx.emitter.cast(operand, operands[0].type);
    if (failed(cast)) {
      return failure();
    }
    operand = *cast;
  }
  return success();
}

FailureOr<Value> emitExtern(CallContext &ctx, const BoundArguments &args) {
  const Value &table = args["arg_type_symbol_dict"];
  if (!table.isDict()) {
    return argumentError(ctx, args, "arg_type_symbol_dict",
                         "a dict from operand types to (symbol, result type)",
                         table.describe());
  }
  auto operands = tensorsArgument(ctx, args, "args");
  if (failed(operands)) {
    return failure();
  }
  if (operands->empty()) {
    return argumentError(ctx, args, "args", "at least one value", "none");
  }
  if (failed(spreadAll(ctx, *operands))) {
    return failure();
  }
  std::string given;
  for (const Tensor &operand : *operands) {
    given += (given.empty() ? "" : ", ") + operand.type.str();
  }
  const Value *entry = symbolFor(table, *operands);
  if (!entry) {
    if (failed(promoteAll(ctx, *operands))) {
      return failure();
    }
    entry = symbolFor(table, *operands);
  }
  if (!entry) {
    return argumentError(ctx, args, "args",
                         "types of 'arg_type_symbol_dict', " + table.repr(),
                         given);
  }
  if (!entry->isSequence() || entry->items().size() != 2 ||
      !entry->items()[0].isString() || !entry->items()[1].isType()) {
    return argumentError(ctx, args, "arg_type_symbol_dict",
                         "values (symbol, result type)", entry->repr());
  }
  const std::string &symbol = entry->items()[0].string();
  const Builtin *row = builtinOfSymbol(symbol);
  if (!row) {
    return argumentError(ctx, args, "arg_type_symbol_dict",
                         "symbols of libdevice (__nv_sinf, ...)",
                         "'" + symbol + "'",
                         "functions of other libraries cannot be called");
  }
  llvm::SmallVector<Argument> arguments;
  for (const Tensor &operand : *operands) {
    arguments.push_back({"", Value(operand), args.span("args")});
  }
  FailureOr<Value> result = ctx.evaluator.call(Value(row), arguments);
  if (failed(result) || !result->isTensor()) {
    return result;
  }
  return asValue(
      ctx.emitter.cast(result->tensor(), entry->items()[1].type().scalar));
}

} // namespace

void registerExternBuiltins(BuiltinTable &table) {
  table.add({"tl",
             "extern_elementwise(lib_name: str, lib_path: str, args, "
             "arg_type_symbol_dict: static, is_pure: bool)",
             emitExtern,
             "The libdevice function that the operands' types pick from a "
             "table of symbols."});
}

} // namespace nereid::irgen
