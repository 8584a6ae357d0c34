//===- EmitDebug.cpp - Printing and assertions -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Builtins/BuiltinEmitter.h"

#include "nereid/Support/PrintPrefix.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdio>

namespace nereid::irgen {

namespace {

/// Before 3.9 hexadecimal showed the bits of floats, too.
FailureOr<Tensor> bitsBefore39(Emitter &e, const Tensor &x) {
  if (!x.type.isFloat() || e.means(LanguageVersion::V3_9)) {
    return x;
  }
  unsigned bits = x.type.bits();
  return e.bitcast(x, bits == 8    ? DType::UInt8
                      : bits == 16 ? DType::UInt16
                      : bits == 32 ? DType::UInt32
                                   : DType::UInt64);
}

/// One tile.print a value; the prefix stands before each of them, with the
/// value's number where there are several.
FailureOr<Value> emitDevicePrint(CallContext &ctx, const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  const std::string &prefix = args.string("prefix");
  if (!llvm::isASCII(prefix)) {
    return argumentError(ctx, args, "prefix", "ASCII text", "'" + prefix + "'");
  }
  llvm::SmallVector<Tensor> values;
  for (const Value &value : args["args"].items()) {
    if (!value.isNumber() && !value.isTensor()) {
      return argumentError(
          ctx, args, "args", "numbers and tensors to print", value.describe(),
          value.isString() ? "put all text into the prefix" : "");
    }
    FailureOr<Tensor> x = e.toTensor(value, "a value to print");
    if (failed(x)) {
      return failure();
    }
    if (args.boolean("hex")) {
      x = bitsBefore39(e, *x);
      if (failed(x)) {
        return failure();
      }
    }
    values.push_back(*x);
  }
  std::string text = printPrefix(prefix, !values.empty());
  if (values.empty()) {
    e.create<tile::PrintOp>(text, mlir::Value(), "", false);
  }
  for (auto [i, x] : llvm::enumerate(values)) {
    std::string which =
        values.size() > 1 ? "(operand " + std::to_string(i) + ") " : "";
    e.create<tile::PrintOp>(text + which, x.value, x.type.signature(),
                            args.boolean("hex"));
  }
  return Value();
}

FailureOr<Value> emitDeviceAssert(CallContext &ctx,
                                  const BoundArguments &args) {
  Emitter &e = ctx.emitter;
  FailureOr<Tensor> condition = tensorArgument(ctx, args, "cond");
  if (failed(condition)) {
    return failure();
  }
  condition = e.toBool(*condition);
  if (failed(condition)) {
    return failure();
  }
  if (!ctx.evaluator.emitAsserts) {
    return Value();
  }
  Tensor holds = *condition;
  if (!args.isNone("mask")) {
    FailureOr<Tensor> mask = tensorArgument(ctx, args, "mask");
    if (failed(mask)) {
      return failure();
    }
    mask = e.toBool(*mask);
    if (failed(mask)) {
      return failure();
    }
    Tensor on = *mask;
    if (failed(e.broadcast(holds, on, ctx.name()))) {
      return failure();
    }
    holds = e.select(on, holds, e.constant(DType::Int1, Int{1}, on.shape()));
  }
  e.create<tile::AssertOp>(holds.value, args.string("msg"));
  return Value();
}

FailureOr<Value> emitStaticAssert(CallContext &ctx,
                                  const BoundArguments &args) {
  const Value &condition = args["cond"];
  if (condition.isTensor()) {
    return argumentError(ctx, args, "cond", "a value known at compile time",
                         condition.describe(),
                         "check run-time values with tl.device_assert");
  }
  if (truth(condition)) {
    return Value();
  }
  std::string message = args["msg"].str();
  return ctx.diag.error(
      "static assertion failed" + (message.empty() ? "" : ": " + message),
      "expected a condition that holds for this specialization");
}

FailureOr<Value> emitStaticPrint(CallContext &ctx, const BoundArguments &args) {
  std::string text;
  for (auto [i, value] : llvm::enumerate(args["values"].items())) {
    text += (i == 0 ? "" : args.string("sep")) + value.str();
  }
  text += args.string("end");
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  return Value();
}

} // namespace

void registerDebugBuiltins(BuiltinTable &table) {
  table.add({"tl", "device_print(prefix: str, *args, hex: bool=False)",
             emitDevicePrint, "Prints values while the kernel runs."});
  table.add({"tl", "device_assert(cond, msg: str='', mask=None)",
             emitDeviceAssert,
             "The launch fails where cond is false; only under "
             "NEREID_CHECK=assert."});
  table.add({"tl", "static_assert(cond, msg='')", emitStaticAssert,
             "Compilation fails if cond is false.", HostToo});
  table.add({"tl",
             "static_print(*values, sep: str=' ', end: str='\n', file=None, "
             "flush: bool=False)",
             emitStaticPrint, "Prints values while compiling.", HostToo});
}

} // namespace nereid::irgen
