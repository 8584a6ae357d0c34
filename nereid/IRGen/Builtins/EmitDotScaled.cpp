//===- EmitDotScaled.cpp - Products of microscaling formats ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks of tl.dot_scaled; what it does is written in stdlib/scaled.py.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

namespace nereid::irgen {

namespace {

using Shape = llvm::SmallVector<int64_t>;

struct Format {
  llvm::StringRef name;
  DType own;  ///< the language's type of it
  DType bits; ///< or its bits
};
constexpr Format formats[] = {
    {"e2m1", DType::UInt8, DType::UInt8},
    {"e4m3", DType::Float8E4M3, DType::UInt8},
    {"e5m2", DType::Float8E5M2, DType::UInt8},
    {"bf16", DType::BFloat16, DType::UInt16},
    {"fp16", DType::Float16, DType::UInt16},
};

/// One side: an operand, its scales and its format.
struct Side {
  const char *name; ///< "lhs"
  bool kIsLast;     ///< of the operand; scales always have it last
  Tensor value;
  Shape unpacked; ///< shape in elements
  int64_t k() const {
    return kIsLast ? unpacked.back() : unpacked[unpacked.size() - 2];
  }
  int64_t other() const {
    return kIsLast ? unpacked[unpacked.size() - 2] : unpacked.back();
  }
};

std::string parameterOf(const Side &side, llvm::StringRef suffix) {
  return (side.name + suffix).str();
}

LogicalResult readSide(CallContext &ctx, const BoundArguments &args,
                       Side &side) {
  side.value = args.tensor(side.name);
  if (failed(requireBlock(ctx, args, side.name, side.value))) {
    return failure();
  }
  if (side.value.rank() != 2 && side.value.rank() != 3) {
    return argumentError(ctx, args, side.name, "2 or 3 dimensions",
                         side.value.typeStr());
  }
  llvm::SmallVector<llvm::StringRef> names;
  for (const Format &format : formats) {
    names.push_back(format.name);
  }
  std::string parameter = parameterOf(side, "_format");
  FailureOr<size_t> choice = choiceArgument(ctx, args, parameter, names);
  if (failed(choice)) {
    return failure();
  }
  const Format &format = formats[*choice];
  if (side.value.type != ScalarType(format.own) &&
      side.value.type != ScalarType(format.bits)) {
    std::string either = ScalarType(format.own).str();
    if (format.own != format.bits) {
      either += " or " + ScalarType(format.bits).str();
    }
    return argumentError(ctx, args, side.name,
                         either + " for the format '" + format.name + "'",
                         side.value.typeStr());
  }
  bool packsK = args.boolean(parameterOf(side, "_k_pack"));
  if (!packsK && format.name != "e2m1") {
    return argumentError(ctx, args, parameterOf(side, "_k_pack"),
                         "True for the format '" + llvm::Twine(format.name) +
                             "'",
                         "False", "only e2m1 packs two elements in a byte");
  }
  llvm::append_range(side.unpacked, side.value.shape());
  if (format.name == "e2m1") {
    bool last = side.kIsLast == packsK;
    side.unpacked[side.unpacked.size() - (last ? 1 : 2)] *= 2;
  }
  return success();
}

/// uint8 (e8m0) or float8e4nv, for groups of 32 or 16 elements as the shape
/// says: [rows, K / 32] or [rows, K / 16].
LogicalResult checkScale(CallContext &ctx, const BoundArguments &args,
                         const Side &side) {
  std::string parameter = parameterOf(side, "_scale");
  const Value &given = args[parameter];
  if (given.isNone()) {
    return success();
  }
  bool isNv =
      given.isTensor() && given.tensor().type == ScalarType(DType::Float8E4M3);
  bool isScale = isNv || (given.isTensor() &&
                          given.tensor().type == ScalarType(DType::UInt8));
  int64_t usual = isNv ? 16 : 32;
  Shape expected(side.unpacked);
  expected[expected.size() - 2] = side.other();
  for (int64_t group : {48 - usual, usual}) {
    expected.back() = side.k() / group;
    if (isScale && side.k() % group == 0 &&
        given.tensor().shape() == llvm::ArrayRef<int64_t>(expected)) {
      return success();
    }
  }
  return argumentError(ctx, args, parameter,
                       "None or a block of uint8" + shapeStr(expected) +
                           ", one for " + llvm::Twine(usual) +
                           " elements along K",
                       given.describe());
}

FailureOr<Value> emitDotScaled(CallContext &ctx, const BoundArguments &args) {
  Side lhs{"lhs", true, {}, {}}, rhs{"rhs", false, {}, {}};
  if (failed(readSide(ctx, args, lhs)) || failed(readSide(ctx, args, rhs))) {
    return failure();
  }
  if (lhs.k() != rhs.k() || lhs.unpacked.size() != rhs.unpacked.size()) {
    return argumentError(ctx, args, "rhs",
                         "as many elements along K as 'lhs', " +
                             llvm::Twine(lhs.k()),
                         llvm::Twine(rhs.k()));
  }
  if (failed(checkScale(ctx, args, lhs)) ||
      failed(checkScale(ctx, args, rhs))) {
    return failure();
  }
  if (!args.isNone("out_dtype") &&
      args.dtype("out_dtype") != ScalarType(DType::Float32)) {
    return argumentError(ctx, args, "out_dtype", "float32",
                         args.dtype("out_dtype").str());
  }
  Shape shape(lhs.unpacked);
  shape.back() = rhs.other();
  const Value &acc = args["acc"];
  if (!acc.isNone() &&
      (!acc.isTensor() || acc.tensor().type != ScalarType(DType::Float32) ||
       acc.tensor().shape() != llvm::ArrayRef<int64_t>(shape))) {
    return argumentError(ctx, args, "acc",
                         "None or a block of float32" + shapeStr(shape),
                         acc.describe());
  }
  llvm::SmallVector<Argument> arguments;
  for (const char *name :
       {"lhs", "lhs_scale", "lhs_format", "rhs", "rhs_scale", "rhs_format",
        "acc", "fast_math", "lhs_k_pack", "rhs_k_pack"}) {
    arguments.push_back({"", args[name], args.span(name)});
  }
  return callLibrary(ctx, "scaled", "dot_scaled", arguments);
}

} // namespace

void registerDotScaledBuiltins(BuiltinTable &table) {
  table.add({"tl",
             "dot_scaled(lhs: tensor, lhs_scale, lhs_format: str, rhs: tensor, "
             "rhs_scale, rhs_format: str, acc=None, fast_math: bool=False, "
             "lhs_k_pack: bool=True, rhs_k_pack: bool=True, out_dtype: "
             "dtype=None)",
             emitDotScaled,
             "Matrix product of microscaling formats (e2m1, e4m3, e5m2, bf16, "
             "fp16), computed in bfloat16, or in float16 beside fp16."});
}

} // namespace nereid::irgen
