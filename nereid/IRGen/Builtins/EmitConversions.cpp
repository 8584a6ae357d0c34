//===- EmitConversions.cpp - libdevice's conversions -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// float2int_rn and its 60 siblings: the name tells source, result and rounding
// (rn nearest even, rz toward zero, rd down, ru up). A float to an integer can
// be rounded any way first; to a float, Tile IR rounds to nearest, or toward
// zero from a wider float. The others are refused rather than approximated.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/EmitMath.h"

#include <deque>

namespace nereid::irgen {

namespace {

namespace math = mlir::math;

struct NamedType {
  const char *name;
  DType dtype;
};
constexpr NamedType floats[] = {{"float", DType::Float32},
                                {"double", DType::Float64}};
constexpr NamedType integers[] = {{"int", DType::Int32},
                                  {"uint", DType::UInt32},
                                  {"ll", DType::Int64},
                                  {"ull", DType::UInt64}};

std::optional<DType> dtypeNamed(llvm::StringRef name) {
  for (NamedType type : floats) {
    if (name == type.name) {
      return type.dtype;
    }
  }
  for (NamedType type : integers) {
    if (name == type.name) {
      return type.dtype;
    }
  }
  return std::nullopt;
}

/// The argument, which has exactly this type; a number becomes it.
FailureOr<Tensor> argumentOf(CallContext &ctx, const BoundArguments &args,
                             DType dtype) {
  if (args["x"].isNumber()) {
    return ctx.emitter.numberAs(args["x"], dtype);
  }
  FailureOr<Tensor> x = tensorArgument(ctx, args, "x");
  if (failed(x)) {
    return failure();
  }
  if (!(x->type == ScalarType(dtype))) {
    return argumentError(ctx, args, "x", ScalarType(dtype).str(), x->typeStr(),
                         "convert it: .to(tl." + ScalarType(dtype).str() + ")");
  }
  return x;
}

FailureOr<Value> emitConversion(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  auto [from, rest] = llvm::StringRef(ctx.builtin.name).split('2');
  auto [to, mode] = rest.split('_');
  DType source = *dtypeNamed(from), target = *dtypeNamed(to);
  FailureOr<Tensor> x = argumentOf(ctx, args, source);
  if (failed(x)) {
    return failure();
  }
  if (nereid::isFloat(target)) {
    if (nereid::isFloat(source) && mode == "rz") {
      return asValue(e.cast(*x, target, Rounding::TowardZero));
    }
    if (mode == "rn") {
      return asValue(e.cast(*x, target));
    }
    llvm::SmallVector<Argument> arguments = {{"", Value(*x), args.span("x")}};
    if (!nereid::isFloat(source)) {
      arguments.push_back({"", Value(ScalarType(target)), args.span("x")});
    }
    arguments.push_back({"", Value(mode.str()), args.span("x")});
    return callLibrary(ctx, "rounding",
                       nereid::isFloat(source) ? "narrow" : "from_integer",
                       arguments);
  }
  Tensor rounded = mode == "rn"   ? emitUnary<math::RoundEvenOp>(e, *x)
                   : mode == "rd" ? emitUnary<math::FloorOp>(e, *x)
                   : mode == "ru" ? emitUnary<math::CeilOp>(e, *x)
                                  : *x;
  return asValue(e.cast(rounded, target));
}

/// add_rz(x, y) and its like: stdlib/rounding.py has add(x, y, "rz").
FailureOr<Value> emitDirected(CallContext &ctx, const BoundArguments &args) {
  llvm::SmallVector<llvm::StringRef> names;
  for (const BuiltinParameter &parameter : ctx.builtin.parameters) {
    names.push_back(parameter.name);
  }
  auto operands = promoteArguments(ctx, args, names);
  if (failed(operands) ||
      failed(requireFloat(ctx, args, names[0], (*operands)[0],
                          FloatWidths::Only32And64))) {
    return failure();
  }
  llvm::SmallVector<Argument> arguments;
  for (const Tensor &operand : *operands) {
    arguments.push_back({"", Value(operand), args.span(names[0])});
  }
  auto [function, mode] = llvm::StringRef(ctx.builtin.name).split('_');
  arguments.push_back({"", Value(mode.str()), args.span(names[0])});
  return callLibrary(ctx, "rounding", function, arguments);
}

template <DType from, DType to>
FailureOr<Value> emitBits(CallContext &ctx, const BoundArguments &args) {
  FailureOr<Tensor> x = argumentOf(ctx, args, from);
  if (failed(x)) {
    return failure();
  }
  return asValue(ctx.emitter.bitcast(*x, to));
}

} // namespace

void registerConversionBuiltins(BuiltinTable &table) {
  // Rows hold views of their texts.
  static std::deque<std::string> texts;
  const char *directed =
      "Rounded toward zero (_rz), down (_rd) or up (_ru), exactly.";
  auto add = [&](std::string name, EmitFn emit, const char *summary) {
    texts.push_back(name + "(x)");
    table.add({"libdevice", texts.back(), emit, summary});
  };
  for (NamedType from : floats) {
    for (NamedType to : integers) {
      for (const char *mode : {"_rn", "_rz", "_rd", "_ru"}) {
        add(from.name + std::string("2") + to.name + mode, emitConversion,
            "A float as an integer, rounded as the name says.");
      }
    }
  }
  for (NamedType from : integers) {
    for (NamedType to : floats) {
      bool isExact = byteSize(from.dtype) < byteSize(to.dtype);
      add(from.name + std::string("2") + to.name + "_rn", emitConversion,
          "An integer as a float, to nearest.");
      for (const char *mode : {"_rz", "_rd", "_ru"}) {
        if (!isExact) {
          add(from.name + std::string("2") + to.name + mode, emitConversion,
              directed);
        }
      }
    }
  }
  add("double2float_rn", emitConversion, "float64 to float32, to nearest.");
  add("double2float_rz", emitConversion, "float64 to float32, toward zero.");
  add("double2float_rd", emitConversion, directed);
  add("double2float_ru", emitConversion, directed);

  add("float_as_int", emitBits<DType::Float32, DType::Int32>, "The bits.");
  add("float_as_uint", emitBits<DType::Float32, DType::UInt32>, "The bits.");
  add("int_as_float", emitBits<DType::Int32, DType::Float32>, "The bits.");
  add("uint_as_float", emitBits<DType::UInt32, DType::Float32>, "The bits.");
  add("double_as_longlong", emitBits<DType::Float64, DType::Int64>,
      "The bits.");
  add("longlong_as_double", emitBits<DType::Int64, DType::Float64>,
      "The bits.");

  for (const char *function : {"add", "sub", "mul", "div"}) {
    for (const char *mode : {"_rz", "_rd", "_ru"}) {
      texts.push_back(function + std::string(mode) + "(x, y)");
      table.add({"libdevice", texts.back(), emitDirected, directed});
    }
  }
  for (const char *mode : {"_rz", "_rd", "_ru"}) {
    add(std::string("rcp") + mode, emitDirected, directed);
    add(std::string("sqrt") + mode, emitDirected, directed);
    texts.push_back(std::string("fma") + mode + "(x, y, z)");
    table.add({"libdevice", texts.back(), emitDirected, directed});
  }
}

} // namespace nereid::irgen
