//===- HostConversions.cpp - int(x), float(x), tuple(x), tl.constexpr(x), ... *-
// C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/HostFunctions.h"

#include <cmath>

namespace nereid::irgen {

LogicalResult wrongArgument(CallContext &ctx, const BoundArguments &args,
                            llvm::StringRef parameter,
                            llvm::StringRef expected) {
  const Value &value = args[parameter];
  std::string message =
      ctx.name() + ": expected " + expected.str() + ", got " + value.describe();
  if (value.isOpaque()) {
    return ctx.diag.hostError(message);
  }
  return ctx.diag.error(args.span(parameter), message);
}

static FailureOr<Value> toInt(CallContext &ctx, const BoundArguments &args) {
  const Value &x = args["x"];
  if (x.isIntegral()) {
    return Value(x.integer());
  }
  if (x.isFloat() && std::fabs(x.number()) < 1e38) {
    return Value(static_cast<Int>(x.number()));
  }
  if (x.isString()) {
    int64_t number;
    if (!llvm::StringRef(x.string()).trim().getAsInteger(10, number)) {
      return Value(number);
    }
  }
  if (x.isTensor()) {
    return ctx.diag.error("int() works while compiling, but its argument is " +
                              x.describe(),
                          "convert run-time values with x.to(tl.int32)");
  }
  return wrongArgument(ctx, args, "x", "a number");
}

static FailureOr<Value> toFloat(CallContext &ctx, const BoundArguments &args) {
  const Value &x = args["x"];
  if (x.isNumber()) {
    return Value(x.number());
  }
  if (x.isString()) {
    std::string text = llvm::StringRef(x.string()).trim().lower();
    llvm::StringRef rest(text);
    bool negative = rest.consume_front("-");
    if (!negative) {
      rest.consume_front("+");
    }
    double sign = negative ? -1 : 1;
    if (rest == "inf" || rest == "infinity") {
      return Value(sign * HUGE_VAL);
    }
    if (rest == "nan") {
      return Value(std::numeric_limits<double>::quiet_NaN());
    }
    double number;
    if (!rest.getAsDouble(number)) {
      return Value(sign * number);
    }
  }
  if (x.isTensor()) {
    return ctx.diag.error("float() works while compiling, but its argument "
                          "is " +
                              x.describe(),
                          "convert run-time values with x.to(tl.float32)");
  }
  return wrongArgument(ctx, args, "x", "a number");
}

static FailureOr<Value> toBool(CallContext &ctx, const BoundArguments &args) {
  if (args["x"].isTensor()) {
    return ctx.diag.error("bool() works while compiling, but its argument is " +
                              args["x"].describe(),
                          "write x != 0");
  }
  if (args["x"].isOpaque()) {
    return wrongArgument(ctx, args, "x", "a value");
  }
  FailureOr<Value> value = ctx.evaluator.tested(args["x"]);
  return failed(value) ? value : FailureOr<Value>(Value(truth(*value)));
}

static FailureOr<Value> toStr(CallContext &ctx, const BoundArguments &args) {
  FailureOr<std::string> text = ctx.evaluator.textOf(args["x"]);
  return failed(text) ? FailureOr<Value>(failure())
                      : FailureOr<Value>(Value(std::move(*text)));
}

static FailureOr<Value> toRepr(CallContext &ctx, const BoundArguments &args) {
  return Value(args["x"].repr());
}

static FailureOr<Value> toSequence(CallContext &ctx, const BoundArguments &args,
                                   bool isTuple) {
  if (args["x"].isNone()) {
    return isTuple ? Value::tuple({}) : Value::list({});
  }
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["x"], ctx.name());
  if (failed(items)) {
    return failure();
  }
  return isTuple || ctx.evaluator.inKernel() ? Value::tuple(std::move(*items))
                                             : Value::list(std::move(*items));
}

static FailureOr<Value> toTuple(CallContext &ctx, const BoundArguments &args) {
  return toSequence(ctx, args, /*isTuple=*/true);
}

static FailureOr<Value> toList(CallContext &ctx, const BoundArguments &args) {
  return toSequence(ctx, args, /*isTuple=*/false);
}

static FailureOr<Value> toSet(CallContext &ctx, const BoundArguments &args) {
  FailureOr<Value> items = toSequence(ctx, args, /*isTuple=*/false);
  if (succeeded(items) && items->isList()) {
    std::vector<Value> copy = items->list();
    removeEquals(copy);
    return Value::list(std::move(copy));
  }
  return items;
}

static FailureOr<Value> toDict(CallContext &ctx, const BoundArguments &args) {
  if (args["x"].isNone()) {
    return Value::dict({});
  }
  if (args["x"].isDict()) {
    return Value::dict(args["x"].dict());
  }
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["x"], "dict");
  if (failed(items)) {
    return failure();
  }
  std::vector<std::pair<Value, Value>> entries;
  for (const Value &item : *items) {
    if (!item.isSequence() || item.items().size() != 2) {
      return ctx.diag.error("dict: expected pairs, got " + item.describe());
    }
    entries.emplace_back(item.items()[0], item.items()[1]);
  }
  return Value::dict(std::move(entries));
}

/// tl.constexpr(x): x itself, marked as readable by kernels.
static FailureOr<Value> toConstexpr(CallContext &ctx,
                                    const BoundArguments &args) {
  Value value = args["x"];
  if (value.isFunction()) {
    // As a decorator, in older code: host code that kernels may call.
    return ctx.evaluator.call(
        Value(BuiltinTable::get().find("triton", "constexpr_function")),
        {Argument{"", value, args.span("x")}});
  }
  if (!value.isStatic()) {
    return wrongArgument(ctx, args, "x", "a value known while compiling");
  }
  value.constexprGlobal = true;
  return value;
}

static FailureOr<Value> toDType(CallContext &ctx, const BoundArguments &args) {
  return args["x"]; // converted by the row's annotation
}

static FailureOr<Value> emitType(CallContext &ctx, const BoundArguments &args) {
  const Value &x = args["x"];
  if (x.isObject() && x.object().cls) {
    return Value(x.object().cls);
  }
  if (x.isAggregate() && x.aggregate().type->userClass) {
    return Value(x.aggregate().type->userClass);
  }
  const char *name = x.isBool()     ? "bool"
                     : x.isInt()    ? "int"
                     : x.isFloat()  ? "float"
                     : x.isString() ? "str"
                     : x.isTuple()  ? "tuple"
                     : x.isList()   ? "list"
                     : x.isDict()   ? "dict"
                     : x.isTensor() ? "tensor"
                                    : "object";
  auto cls = std::make_shared<PythonClass>();
  cls->name = name;
  return Value(std::shared_ptr<const PythonClass>(std::move(cls)));
}

template <char radix>
static FailureOr<Value> inRadix(CallContext &ctx, const BoundArguments &args) {
  Int x = args["x"].integer();
  FailureOr<std::string> text = ctx.evaluator.formatValue(
      Value(x < 0 ? -x : x), std::string("#") + radix);
  return failed(text) ? FailureOr<Value>(failure())
                      : FailureOr<Value>(Value((x < 0 ? "-" : "") + *text));
}

static FailureOr<Value> toCharacter(CallContext &ctx,
                                    const BoundArguments &args) {
  int64_t code = args.integer("x");
  return code >= 0 && code < 128
             ? FailureOr<Value>(Value(std::string(1, static_cast<char>(code))))
             : FailureOr<Value>(
                   wrongArgument(ctx, args, "x", "a code below 128"));
}

static FailureOr<Value> toCode(CallContext &ctx, const BoundArguments &args) {
  const std::string &text = args["x"].string();
  return text.size() == 1
             ? FailureOr<Value>(Value(int{static_cast<unsigned char>(text[0])}))
             : FailureOr<Value>(
                   wrongArgument(ctx, args, "x", "one ASCII character"));
}

static FailureOr<Value> toPower(CallContext &ctx, const BoundArguments &args) {
  return ctx.evaluator.staticBinary(ast::Operator::Pow, args["a"], args["b"]);
}

static FailureOr<Value> toElements(CallContext &ctx,
                                   const BoundArguments &args) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], "iter");
  return failed(items) ? FailureOr<Value>(failure())
                       : FailureOr<Value>(Value::list(std::move(*items)));
}

static FailureOr<Value> firstOf(CallContext &ctx, const BoundArguments &args) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], "next");
  if (failed(items)) {
    return failure();
  }
  if (!items->empty()) {
    return items->front();
  }
  return args.given("default")
             ? FailureOr<Value>(args["default"])
             : FailureOr<Value>(
                   ctx.diag.error("next: nothing is left; expected an element, "
                                  "or a default: next(values, None)"));
}

/// Rows that classes of the same name call: `int` is a class, isinstance knows
/// it, and calling it calls `_int`.
void registerConversions(BuiltinTable &table) {
  table.add(
      {"python", "repr(x)", toRepr, "The value as source text.", HostToo});
  unsigned inner = HostToo | Internal;
  table.add({"python", "_int(x=0)", toInt, "", inner});
  table.add({"python", "_float(x=0.0)", toFloat, "", inner});
  table.add({"python", "_bool(x=False)", toBool, "", inner});
  table.add({"python", "_str(x='')", toStr, "", inner});
  table.add({"python", "_tuple(x=None)", toTuple, "", inner});
  table.add({"python", "_list(x=None)", toList, "", inner});
  table.add({"python", "_set(x=None)", toSet, "", inner});
  table.add({"python", "_frozenset(x=None)", toSet, "", inner});
  table.add({"python", "_dict(x=None)", toDict, "", inner});
  table.add(
      {"python", "hex(x: int)", inRadix<'x'>, "As hexadecimal text.", HostToo});
  table.add(
      {"python", "bin(x: int)", inRadix<'b'>, "As binary text.", HostToo});
  table.add({"python", "oct(x: int)", inRadix<'o'>, "As octal text.", HostToo});
  table.add({"python", "chr(x: int)", toCharacter,
             "The character of a code below 128.", HostToo});
  table.add(
      {"python", "ord(x: str)", toCode, "The code of a character.", HostToo});
  table.add({"python", "pow(a, b)", toPower, "a ** b", HostToo});
  table.add({"python", "iter(values)", toElements, "The values of a sequence.",
             HostToo});
  table.add({"python", "next(values, default=None)", firstOf,
             "The first value of a sequence, which stays as it is.", HostToo});
  table.add({"python", "_type(x)", emitType, "", inner});
  table.add({"python", "_constexpr(x)", toConstexpr, "", inner});
  table.add({"python", "_dtype(x: dtype)", toDType, "", inner});
}

} // namespace nereid::irgen
