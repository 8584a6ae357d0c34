//===- HostIteration.cpp - Python functions on sequences --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/HostFunctions.h"

#include <cmath>

namespace nereid::irgen {

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// A list in host code; a tuple in a kernel, which has no lists.
static Value collection(CallContext &ctx, std::vector<Value> items) {
  return ctx.evaluator.inKernel() ? Value::tuple(std::move(items))
                                  : Value::list(std::move(items));
}

static FailureOr<Value> emitEnumerate(CallContext &ctx,
                                      const BoundArguments &args) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], "enumerate");
  if (failed(items)) {
    return failure();
  }
  std::vector<Value> pairs;
  Int index = args.integer("start");
  for (Value &item : *items) {
    pairs.push_back(Value::tuple({Value(index++), std::move(item)}));
  }
  return collection(ctx, std::move(pairs));
}

static FailureOr<Value> emitZip(CallContext &ctx, const BoundArguments &args) {
  std::vector<std::vector<Value>> columns;
  for (const Value &values : args["values"].items()) {
    FailureOr<std::vector<Value>> items = ctx.evaluator.iterate(values, "zip");
    if (failed(items)) {
      return failure();
    }
    columns.push_back(std::move(*items));
  }
  size_t length = columns.empty() ? 0 : columns[0].size();
  for (const std::vector<Value> &column : columns) {
    length = std::min(length, column.size());
  }
  std::vector<Value> rows;
  for (size_t i = 0; i < length; ++i) {
    std::vector<Value> row;
    for (const std::vector<Value> &column : columns) {
      row.push_back(column[i]);
    }
    rows.push_back(Value::tuple(std::move(row)));
  }
  return collection(ctx, std::move(rows));
}

static FailureOr<Value> emitReversed(CallContext &ctx,
                                     const BoundArguments &args) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], "reversed");
  if (failed(items)) {
    return failure();
  }
  std::reverse(items->begin(), items->end());
  return collection(ctx, std::move(*items));
}

static FailureOr<Value> emitMap(CallContext &ctx, const BoundArguments &args) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], "map");
  if (failed(items)) {
    return failure();
  }
  for (Value &item : *items) {
    FailureOr<Value> mapped = ctx.evaluator.call(
        args["function"], {Argument{"", item, args.span("values")}});
    if (failed(mapped)) {
      return failure();
    }
    item = std::move(*mapped);
  }
  return collection(ctx, std::move(*items));
}

static FailureOr<Value> emitFilter(CallContext &ctx,
                                   const BoundArguments &args) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], "filter");
  if (failed(items)) {
    return failure();
  }
  std::vector<Value> kept;
  for (const Value &item : *items) {
    FailureOr<Value> holds = item;
    if (!args.isNone("function")) {
      holds = ctx.evaluator.call(args["function"],
                                 {Argument{"", item, args.span("values")}});
    }
    if (failed(holds)) {
      return failure();
    }
    if (holds->isOpaque()) {
      return ctx.diag.hostError("filter: the condition is " +
                                holds->describe());
    }
    if (truth(*holds)) {
      kept.push_back(item);
    }
  }
  return collection(ctx, std::move(kept));
}

/// Insertion sort: lists here have tens of elements, and comparing may fail.
static FailureOr<Value> emitSorted(CallContext &ctx,
                                   const BoundArguments &args) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], "sorted");
  if (failed(items)) {
    return failure();
  }
  if (items->size() > 2000) {
    return ctx.diag.error(
        "sorted: more than 2000 elements; expected at most 2000");
  }
  std::vector<std::pair<Value, Value>> keyed;
  for (Value &item : *items) {
    FailureOr<Value> key = item;
    if (!args.isNone("key")) {
      key = ctx.evaluator.call(args["key"],
                               {Argument{"", item, args.span("values")}});
    }
    if (failed(key)) {
      return failure();
    }
    size_t at = keyed.size();
    auto op = args.boolean("reverse") ? ast::CompareOperator::Gt
                                      : ast::CompareOperator::Lt;
    while (at > 0) {
      FailureOr<Value> before =
          ctx.evaluator.staticCompare(op, *key, keyed[at - 1].first);
      if (failed(before)) {
        return failure();
      }
      if (!truth(*before)) {
        break;
      }
      --at;
    }
    keyed.insert(keyed.begin() + static_cast<int64_t>(at), {*key, item});
  }
  std::vector<Value> sorted;
  for (auto &entry : keyed) {
    sorted.push_back(std::move(entry.second));
  }
  return collection(ctx, std::move(sorted));
}

static FailureOr<Value> quantify(CallContext &ctx, const BoundArguments &args,
                                 bool all) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], ctx.name());
  if (failed(items)) {
    return failure();
  }
  for (const Value &item : *items) {
    if (item.isTensor()) {
      return ctx.diag.error(
          ctx.name() +
              " works while compiling, but an "
              "element is " +
              item.describe() + "; expected values known while compiling",
          "blocks are combined with & and |, or reduced with tl.max");
    }
    if (item.isOpaque()) {
      return ctx.diag.hostError(ctx.name() + ": an element is " +
                                item.describe());
    }
    if (truth(item) != all) {
      return Value(!all);
    }
  }
  return Value(all);
}

static FailureOr<Value> emitAll(CallContext &ctx, const BoundArguments &args) {
  return quantify(ctx, args, /*all=*/true);
}

static FailureOr<Value> emitAny(CallContext &ctx, const BoundArguments &args) {
  return quantify(ctx, args, /*all=*/false);
}

static FailureOr<Value> emitDivmod(CallContext &ctx,
                                   const BoundArguments &args) {
  FailureOr<Value> quotient =
      ctx.evaluator.staticBinary(ast::Operator::FloorDiv, args["a"], args["b"]);
  FailureOr<Value> rest =
      failed(quotient) ? quotient
                       : ctx.evaluator.staticBinary(ast::Operator::Mod,
                                                    args["a"], args["b"]);
  return failed(rest) ? rest
                      : FailureOr<Value>(Value::tuple({*quotient, *rest}));
}

static FailureOr<Value> emitRound(CallContext &ctx,
                                  const BoundArguments &args) {
  double x = args["x"].number();
  if (args.isNone("digits")) {
    double whole = std::nearbyint(x);
    if (std::fabs(whole) < 1e38) {
      return Value(static_cast<Int>(whole));
    }
    return ctx.diag.error(
        "round: the number is too large; expected one below 1e38 in size");
  }
  double scale = std::pow(10.0, double(args.integer("digits")));
  return Value(std::nearbyint(x * scale) / scale);
}

void registerIterationFunctions(BuiltinTable &table) {
  table.add({"python", "enumerate(values, start: int=0)", emitEnumerate,
             "Elements with their index.", HostToo});
  table.add(
      {"python", "zip(*values)", emitZip, "Elements side by side.", HostToo});
  table.add({"python", "reversed(values)", emitReversed, "Elements in reverse.",
             HostToo});
  table.add({"python", "map(function, values)", emitMap,
             "A function of each element.", HostToo});
  table.add({"python", "filter(function, values)", emitFilter,
             "The elements for which a function holds.", HostToo});
  table.add({"python", "sorted(values, *, key=None, reverse: bool=False)",
             emitSorted, "Elements in order.", HostToo});
  table.add(
      {"python", "all(values)", emitAll, "Whether all are true.", HostToo});
  table.add(
      {"python", "any(values)", emitAny, "Whether any is true.", HostToo});
  table.add({"python", "divmod(a, b)", emitDivmod, "(a // b, a % b)", HostToo});
  table.add({"python", "round(x: float, digits: int=None)", emitRound,
             "The nearest integer, ties to even.", HostToo});
}

//===----------------------------------------------------------------------===//
// import math
//===----------------------------------------------------------------------===//

/// A function of one number.
template <double (*function)(double)>
static FailureOr<Value> ofNumber(CallContext &ctx, const BoundArguments &args) {
  double result = function(args["x"].number());
  if (std::isnan(result) && !std::isnan(args["x"].number())) {
    return ctx.diag.error(ctx.name() + " is not defined for " +
                          args["x"].repr() +
                          "; expected a number where the function is defined");
  }
  return Value(result);
}

template <double (*function)(double)>
static FailureOr<Value> toInteger(CallContext &ctx,
                                  const BoundArguments &args) {
  if (args["x"].isIntegral()) {
    return Value(args["x"].integer());
  }
  double result = function(args["x"].number());
  if (!(std::fabs(result) < 1e38)) {
    return ctx.diag.error(ctx.name() + " of " + args["x"].repr() +
                          "; expected a finite number");
  }
  return Value(static_cast<Int>(result));
}

static FailureOr<Value> mathLog(CallContext &ctx, const BoundArguments &args) {
  double x = args["x"].number();
  double base = args.isNone("base") ? 0 : args["base"].number();
  if (x <= 0 || (!args.isNone("base") && (base <= 0 || base == 1))) {
    return ctx.diag.error("math.log is not defined for " + args["x"].repr() +
                          "; expected a number above 0");
  }
  return Value(args.isNone("base") ? std::log(x)
                                   : std::log(x) / std::log(base));
}

static FailureOr<Value> mathPow(CallContext &ctx, const BoundArguments &args) {
  return Value(std::pow(args["x"].number(), args["y"].number()));
}

static FailureOr<Value> mathGcd(CallContext &ctx, const BoundArguments &args) {
  Int a = args["a"].integer(), b = args["b"].integer();
  while (b != 0) {
    Int rest = a % b;
    a = b;
    b = rest;
  }
  return Value(a < 0 ? -a : a);
}

static FailureOr<Value> mathLcm(CallContext &ctx, const BoundArguments &args) {
  Int a = args["a"].integer(), b = args["b"].integer(), product;
  if (a == 0 || b == 0) {
    return Value(0);
  }
  Int x = a, y = b;
  while (y != 0) {
    Int rest = x % y;
    x = y;
    y = rest;
  }
  if (__builtin_mul_overflow(a / x, b, &product)) {
    return ctx.diag.error(
        "math.lcm: the result does not fit 128 bits; expected smaller numbers");
  }
  return Value(product < 0 ? -product : product);
}

static FailureOr<Value> mathFactorial(CallContext &ctx,
                                      const BoundArguments &args) {
  Int n = args["n"].integer();
  if (n < 0 || n > 33) {
    return wrongArgument(ctx, args, "n", "an integer from 0 to 33");
  }
  Int product = 1;
  for (Int i = 2; i <= n; ++i) {
    product *= i;
  }
  return Value(product);
}

static FailureOr<Value> mathIntegerRoot(CallContext &ctx,
                                        const BoundArguments &args) {
  Int n = args["n"].integer(), root = 0;
  if (n < 0) {
    return wrongArgument(ctx, args, "n", "an integer from 0 on");
  }
  // Bit by bit from the top; (2^63)^2 still fits.
  for (int bit = 62; bit >= 0; --bit) {
    Int next = root | Int{1} << bit;
    root = next * next <= n ? next : root;
  }
  return Value(root);
}

static FailureOr<Value> mathProd(CallContext &ctx, const BoundArguments &args) {
  FailureOr<std::vector<Value>> items =
      ctx.evaluator.iterate(args["values"], "math.prod");
  FailureOr<Value> product = Value(1);
  for (size_t i = 0; succeeded(items) && i < items->size(); ++i) {
    product =
        ctx.evaluator.staticBinary(ast::Operator::Mult, *product, (*items)[i]);
    if (failed(product)) {
      return failure();
    }
  }
  return failed(items) ? FailureOr<Value>(failure()) : product;
}

static FailureOr<Value> mathIsInf(CallContext &ctx,
                                  const BoundArguments &args) {
  return Value(std::isinf(args["x"].number()));
}

static FailureOr<Value> mathIsNan(CallContext &ctx,
                                  const BoundArguments &args) {
  return Value(std::isnan(args["x"].number()));
}

void registerMathModule(BuiltinTable &table) {
  auto add = [&](std::string_view signature, EmitFn emit,
                 std::string_view summary) {
    table.add({"math", signature, emit, summary, HostToo});
  };
  add("sqrt(x: float)", ofNumber<std::sqrt>, "Square root.");
  add("exp(x: float)", ofNumber<std::exp>, "e to the power of x.");
  add("log2(x: float)", ofNumber<std::log2>, "Logarithm to base 2.");
  add("log10(x: float)", ofNumber<std::log10>, "Logarithm to base 10.");
  add("sin(x: float)", ofNumber<std::sin>, "Sine.");
  add("cos(x: float)", ofNumber<std::cos>, "Cosine.");
  add("tan(x: float)", ofNumber<std::tan>, "Tangent.");
  add("atan(x: float)", ofNumber<std::atan>, "Inverse tangent.");
  add("asin(x: float)", ofNumber<std::asin>, "Inverse sine.");
  add("acos(x: float)", ofNumber<std::acos>, "Inverse cosine.");
  add("sinh(x: float)", ofNumber<std::sinh>, "Hyperbolic sine.");
  add("cosh(x: float)", ofNumber<std::cosh>, "Hyperbolic cosine.");
  add("erf(x: float)", ofNumber<std::erf>, "Error function.");
  add("exp2(x: float)", ofNumber<std::exp2>, "2 to the power of x.");
  add("expm1(x: float)", ofNumber<std::expm1>, "exp(x) - 1.");
  add("log1p(x: float)", ofNumber<std::log1p>, "log(1 + x).");
  add("cbrt(x: float)", ofNumber<std::cbrt>, "Cube root.");
  add("isqrt(n: int)", mathIntegerRoot, "Square root, rounded down.");
  add("factorial(n: int)", mathFactorial, "1 * 2 * ... * n");
  add("lcm(a: int, b: int)", mathLcm, "Least common multiple.");
  add("tanh(x: float)", ofNumber<std::tanh>, "Hyperbolic tangent.");
  add("fabs(x: float)", ofNumber<std::fabs>, "Magnitude.");
  add("floor(x: float)", toInteger<std::floor>, "Rounded down.");
  add("ceil(x: float)", toInteger<std::ceil>, "Rounded up.");
  add("trunc(x: float)", toInteger<std::trunc>, "Rounded toward zero.");
  add("log(x: float, base: float=None)", mathLog, "Natural logarithm.");
  add("pow(x: float, y: float)", mathPow, "x to the power of y.");
  add("gcd(a: int, b: int)", mathGcd, "Greatest common divisor.");
  add("prod(values)", mathProd, "The product of a sequence.");
  add("isinf(x: float)", mathIsInf, "Whether x is an infinity.");
  add("isnan(x: float)", mathIsNan, "Whether x is not a number.");
}

} // namespace nereid::irgen
