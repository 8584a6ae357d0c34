//===- EmitAssembly.cpp - Inline assembly -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

#include "llvm/Support/MathExtras.h"

namespace nereid::irgen {

namespace {

/// How many registers the constraints name.
struct RegisterList {
  llvm::SmallVector<llvm::StringRef> outputs, inputs;

  explicit RegisterList(llvm::StringRef constraints) {
    llvm::SmallVector<llvm::StringRef> parts;
    constraints.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (llvm::StringRef part : parts) {
      part = part.trim();
      if (part.starts_with("=")) {
        outputs.push_back(part);
      } else if (!part.empty() && !part.starts_with("~")) {
        inputs.push_back(part);
      }
    }
  }

  /// The registers that `pack` elements of each type take, in turn from the
  /// front of `names`: elements narrower than a register share it.
  static size_t count(llvm::ArrayRef<ScalarType> types, int64_t pack,
                      llvm::ArrayRef<llvm::StringRef> names) {
    size_t next = 0;
    for (ScalarType type : types) {
      bool isShort = next < names.size() && names[next].ltrim("=&") == "h";
      uint64_t width = isShort ? 16 : 32;
      next += type.bits() >= width
                  ? pack
                  : llvm::divideCeil(static_cast<uint64_t>(pack) * type.bits(),
                                     width);
    }
    return next;
  }
};

std::string registerCounts(size_t outputs, size_t inputs) {
  auto words = [](size_t n, const char *noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
  };
  return words(outputs, "output") + " and " + words(inputs, "input");
}

FailureOr<llvm::SmallVector<ScalarType>>
resultTypes(CallContext &ctx, const BoundArguments &args) {
  const Value &dtype = args["dtype"];
  std::vector<Value> items = {dtype};
  if (dtype.isSequence()) {
    items = dtype.items();
  }
  llvm::SmallVector<ScalarType> types;
  for (const Value &item : items) {
    if (!item.isType() || item.type().isBlock) {
      return argumentError(ctx, args, "dtype",
                           "a type such as tl.float32, or a tuple of them",
                           item.describe());
    }
    types.push_back(item.type().scalar);
  }
  if (types.empty()) {
    return argumentError(ctx, args, "dtype", "at least one type",
                         "an empty tuple", "return a value that is not used");
  }
  return types;
}

FailureOr<Value> emitInlineAsm(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  auto inputs = tensorsArgument(ctx, args, "args");
  auto types = resultTypes(ctx, args);
  if (failed(inputs) || failed(types)) {
    return failure();
  }
  int64_t pack = args.integer("pack");
  if (pack < 1 || pack > 64) {
    return argumentError(ctx, args, "pack", "1 to 64", llvm::Twine(pack));
  }
  if (!inputs->empty() && failed(spreadAll(ctx, *inputs))) {
    return failure();
  }
  RegisterList named(args.string("constraints"));
  llvm::SmallVector<ScalarType> inputTypes;
  llvm::SmallVector<mlir::Value> operands;
  for (const Tensor &input : *inputs) {
    inputTypes.push_back(input.type);
    operands.push_back(input.value);
  }
  size_t outputCount = RegisterList::count(*types, pack, named.outputs);
  size_t inputCount = RegisterList::count(inputTypes, pack, named.inputs);
  if (named.outputs.size() != outputCount ||
      named.inputs.size() != inputCount) {
    return argumentError(
        ctx, args, "constraints",
        registerCounts(outputCount, inputCount) +
            " for pack=" + llvm::Twine(pack),
        registerCounts(named.outputs.size(), named.inputs.size()),
        "elements narrower than 32 bits share a register, wider ones have "
        "one each");
  }
  llvm::SmallVector<int64_t> shape;
  if (!inputs->empty()) {
    llvm::append_range(shape, inputs->front().shape());
  }
  llvm::SmallVector<mlir::Type> results;
  for (ScalarType type : *types) {
    results.push_back(e.typeOf(type, shape));
  }
  auto op = e.create<tile::InlineAsmOp>(
      results, e.builder.getStringAttr(args.string("asm")),
      e.builder.getStringAttr(args.string("constraints")),
      e.builder.getI32IntegerAttr(static_cast<int32_t>(pack)),
      args.boolean("is_pure") ? e.builder.getUnitAttr() : mlir::UnitAttr(),
      operands);
  std::vector<Value> values;
  for (auto [result, type] : llvm::zip_equal(op.getOutputs(), *types)) {
    values.push_back(Tensor{result, type});
  }
  return args["dtype"].isSequence() ? Value::tuple(std::move(values))
                                    : values[0];
}

} // namespace

void registerAssemblyBuiltins(BuiltinTable &table) {
  table.add({"tl",
             "inline_asm_elementwise(asm: str, constraints: str, args, dtype, "
             "is_pure: bool, pack: int)",
             emitInlineAsm,
             "PTX for every element, `pack` at a time; on other devices than "
             "GPUs what it computes, if it is straight-line arithmetic."});
}

} // namespace nereid::irgen
