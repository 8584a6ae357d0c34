//===- StaticOps.cpp - Python's operators on static values ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers have 128 bits; a result that needs more is an error and not a wrong
// number. `//` and `%` round down, as in Python and unlike the run-time ones.
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/HostAnswers.h"

#include <cmath>

namespace nereid::irgen {

using ast::Operator;

/// Strings and tuples longer than this are a mistake, not a kernel.
static constexpr size_t maxStaticLength = 1 << 16;

static Int floorDivide(Int a, Int b) {
  Int quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static LogicalResult overflow(Diagnostics &diag, const Value &a, Operator op,
                              const Value &b) {
  return diag.error("the result of " + a.repr() + " " + spelling(op) + " " +
                        b.repr() + " does not fit 128 bits",
                    "numbers that are known while compiling have 128 bits");
}

static LogicalResult tooLong(Diagnostics &diag) {
  return diag.error("the result would have more than " +
                    std::to_string(maxStaticLength) +
                    " elements; expected at most so many while compiling");
}

static FailureOr<Value> shiftIntegers(Diagnostics &diag, Operator op,
                                      const Value &a, const Value &b) {
  Int value = a.integer(), count = b.integer();
  if (count < 0) {
    return diag.error("negative shift count " + b.repr() +
                      "; expected a count from 0 on");
  }
  if (op == Operator::RShift) {
    return Value(count > 127 ? Int{value < 0 ? -1 : 0} : value >> int(count));
  }
  if (value == 0) {
    return Value(Int{0});
  }
  Int shifted = count > 126
                    ? 0
                    : static_cast<Int>(static_cast<unsigned __int128>(value)
                                       << int(count));
  if (count > 126 || (shifted >> int(count)) != value) {
    return overflow(diag, a, op, b);
  }
  return Value(shifted);
}

static FailureOr<Value> powerOfIntegers(Diagnostics &diag, const Value &a,
                                        const Value &b) {
  Int base = a.integer(), exponent = b.integer();
  if (exponent < 0) {
    if (base == 0) {
      return diag.error("0 cannot be raised to a negative power; expected a "
                        "base other than 0, or an exponent from 0 on");
    }
    return Value(std::pow(double(base), double(exponent)));
  }
  Int result = 1;
  while (exponent > 0) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) {
      return overflow(diag, a, Operator::Pow, b);
    }
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
      return overflow(diag, a, Operator::Pow, b);
    }
  }
  return Value(result);
}

static FailureOr<Value> integers(Diagnostics &diag, Operator op, const Value &a,
                                 const Value &b) {
  Int x = a.integer(), y = b.integer(), result;
  bool divides =
      op == Operator::Div || op == Operator::FloorDiv || op == Operator::Mod;
  if (divides && y == 0) {
    return diag.error("division by zero: " + a.repr() + " " + spelling(op) +
                      " 0; expected a divisor other than 0");
  }
  bool both = a.isBool() && b.isBool();
  switch (op) {
  case Operator::Add:
    return __builtin_add_overflow(x, y, &result)
               ? FailureOr<Value>(overflow(diag, a, op, b))
               : FailureOr<Value>(Value(result));
  case Operator::Sub:
    return __builtin_sub_overflow(x, y, &result)
               ? FailureOr<Value>(overflow(diag, a, op, b))
               : FailureOr<Value>(Value(result));
  case Operator::Mult:
    return __builtin_mul_overflow(x, y, &result)
               ? FailureOr<Value>(overflow(diag, a, op, b))
               : FailureOr<Value>(Value(result));
  case Operator::Div:
    return Value(static_cast<double>(x) / static_cast<double>(y));
  case Operator::FloorDiv:
    return y == -1 && __builtin_sub_overflow(Int{0}, x, &result)
               ? FailureOr<Value>(overflow(diag, a, op, b))
               : FailureOr<Value>(Value(floorDivide(x, y)));
  case Operator::Mod:
    return Value(y == -1 ? Int{0} : x - floorDivide(x, y) * y);
  case Operator::Pow:
    return powerOfIntegers(diag, a, b);
  case Operator::LShift:
  case Operator::RShift:
    return shiftIntegers(diag, op, a, b);
  case Operator::BitAnd:
    return both ? Value((x & y) != 0) : Value(x & y);
  case Operator::BitOr:
    return both ? Value((x | y) != 0) : Value(x | y);
  case Operator::BitXor:
    return both ? Value((x ^ y) != 0) : Value(x ^ y);
  case Operator::MatMult:
    break;
  }
  return diag.error("operator '@' is not defined for int; expected blocks",
                    "numbers multiply with '*'");
}

static FailureOr<Value> floats(Diagnostics &diag, Operator op, const Value &a,
                               const Value &b) {
  double x = a.number(), y = b.number();
  bool divides =
      op == Operator::Div || op == Operator::FloorDiv || op == Operator::Mod;
  if (divides && y == 0) {
    return diag.error("division by zero: " + a.repr() + " " + spelling(op) +
                      " " + b.repr() + "; expected a divisor other than 0");
  }
  switch (op) {
  case Operator::Add:
    return Value(x + y);
  case Operator::Sub:
    return Value(x - y);
  case Operator::Mult:
    return Value(x * y);
  case Operator::Div:
    return Value(x / y);
  case Operator::FloorDiv:
    return Value(std::floor(x / y));
  case Operator::Mod: {
    double rest = std::fmod(x, y);
    if (rest == 0) {
      return Value(std::copysign(0.0, y));
    }
    return Value((rest < 0) != (y < 0) ? rest + y : rest);
  }
  case Operator::Pow: {
    double power = std::pow(x, y);
    if (!std::isfinite(power) && std::isfinite(x) && std::isfinite(y)) {
      return diag.error("the result of " + a.repr() + " ** " + b.repr() +
                        " is not a finite number; expected a smaller exponent");
    }
    return Value(power);
  }
  default:
    return diag.error("operator '" + std::string(spelling(op)) +
                      "' is not defined for " + a.describe() + " and " +
                      b.describe() + "; expected two integers");
  }
}

/// `"a" * 3`, `(1, 2) * 2`, in either order.
static FailureOr<Value> repeat(Diagnostics &diag, const Value &what,
                               Int count) {
  size_t length = what.isString() ? what.string().size() : what.items().size();
  size_t times =
      count > 0 ? static_cast<size_t>(std::min<Int>(count, maxStaticLength + 1))
                : 0;
  if (length * times > maxStaticLength) {
    return tooLong(diag);
  }
  if (what.isString()) {
    std::string text;
    for (size_t i = 0; i < times; ++i) {
      text += what.string();
    }
    return Value(std::move(text));
  }
  std::vector<Value> items;
  for (size_t i = 0; i < times; ++i) {
    items.insert(items.end(), what.items().begin(), what.items().end());
  }
  return what.isList() ? Value::list(std::move(items))
                       : Value::tuple(std::move(items));
}

static FailureOr<Value> concatenate(Diagnostics &diag, const Value &a,
                                    const Value &b) {
  std::vector<Value> items(a.items().begin(), a.items().end());
  items.insert(items.end(), b.items().begin(), b.items().end());
  if (items.size() > maxStaticLength) {
    return tooLong(diag);
  }
  return a.isList() ? Value::list(std::move(items))
                    : Value::tuple(std::move(items));
}

static Value setOperation(Operator op, const Value &a, const Value &b) {
  auto has = [](const Value &list, const Value &item) {
    return llvm::any_of(list.items(),
                        [&](const Value &other) { return equal(other, item); });
  };
  std::vector<Value> items;
  for (const Value &item : a.items()) {
    bool keeps = op == Operator::BitOr    ? true
                 : op == Operator::BitAnd ? has(b, item)
                                          : !has(b, item);
    if (keeps) {
      items.push_back(item);
    }
  }
  if (op == Operator::BitOr || op == Operator::BitXor) {
    for (const Value &item : b.items()) {
      if (!has(a, item)) {
        items.push_back(item);
      }
    }
  }
  return Value::list(std::move(items));
}

/// `a | b` of dicts: the right side wins.
static Value mergeDicts(const Value &a, const Value &b) {
  std::vector<std::pair<Value, Value>> entries = a.dict();
  for (const auto &[key, value] : b.dict()) {
    auto it = llvm::find_if(entries, [&, k = key](const auto &entry) {
      return equal(entry.first, k);
    });
    if (it != entries.end()) {
      it->second = value;
    } else {
      entries.emplace_back(key, value);
    }
  }
  return Value::dict(std::move(entries));
}

FailureOr<Value> Evaluator::staticBinary(Operator op, const Value &a,
                                         const Value &b) {
  auto mark = [&](FailureOr<Value> result) {
    if (succeeded(result)) {
      result->constexprGlobal = a.constexprGlobal || b.constexprGlobal;
    }
    return result;
  };
  if (a.isIntegral() && b.isIntegral()) {
    return mark(integers(diag, op, a, b));
  }
  if (a.isNumber() && b.isNumber()) {
    return mark(floats(diag, op, a, b));
  }
  if (op == Operator::Add) {
    if (a.isString() && b.isString()) {
      if (a.string().size() + b.string().size() > maxStaticLength) {
        return repeat(diag, a, Int{1} << 40);
      }
      return mark(Value(a.string() + b.string()));
    }
    if (a.isSequence() && b.isSequence() && a.isList() == b.isList()) {
      return mark(concatenate(diag, a, b));
    }
  }
  auto repeats = [](const Value &v) { return v.isString() || v.isSequence(); };
  if (op == Operator::Mult && repeats(a) && b.isIntegral()) {
    return mark(repeat(diag, a, b.integer()));
  }
  if (op == Operator::Mult && repeats(b) && a.isIntegral()) {
    return mark(repeat(diag, b, a.integer()));
  }
  if (op == Operator::Mod && a.isString()) {
    return mark(percentFormat(a.string(), b));
  }
  // Sets are lists without equals.
  bool isSetOperator = op == Operator::BitOr || op == Operator::BitAnd ||
                       op == Operator::Sub || op == Operator::BitXor;
  if (isSetOperator && a.isList() && b.isList()) {
    return setOperation(op, a, b);
  }
  if (op == Operator::BitOr && a.isDict() && b.isDict()) {
    return mergeDicts(a, b);
  }
  if (std::optional<FailureOr<Value>> done = specialBinary(op, a, b)) {
    return *done;
  }
  std::string message = "operator '" + std::string(spelling(op)) +
                        "' is not defined for " + a.describe() + " and " +
                        b.describe();
  if (a.isOpaque() || b.isOpaque()) {
    return diag.hostError(message, bindHint(a.isOpaque() ? a : b));
  }
  std::string hint;
  if (a.isNone() || b.isNone()) {
    hint = "the value is None here; test it first: if x is not None";
  }
  if (hint.empty()) {
    message += "; expected two numbers, or two strings or tuples where Python "
               "has the operator for them";
  }
  return diag.error(message, hint);
}

FailureOr<Value> Evaluator::staticUnary(ast::UnaryOperator op,
                                        const Value &value) {
  if (value.isOpaque()) {
    Value known = resolved(value);
    return known.isOpaque() ? FailureOr<Value>(diag.hostError(
                                  "operator '" + std::string(spelling(op)) +
                                      "' of " + value.describe(),
                                  bindHint(value)))
                            : staticUnary(op, known);
  }
  if (op == ast::UnaryOperator::Not) {
    return Value(!truth(value));
  }
  FailureOr<Value> result = failure();
  if (value.isFloat() && op != ast::UnaryOperator::Invert) {
    result = Value(op == ast::UnaryOperator::USub ? -value.number()
                                                  : value.number());
  } else if (value.isIntegral()) {
    Int x = value.integer();
    Int least = Int{1} << 126;
    if (op == ast::UnaryOperator::USub && x == -least - least) {
      return diag.error(
          "the result does not fit 128 bits; expected a number of 128 bits");
    }
    result = Value(op == ast::UnaryOperator::USub     ? -x
                   : op == ast::UnaryOperator::Invert ? ~x
                                                      : x);
  }
  if (failed(result)) {
    return diag.error("operator '" + std::string(spelling(op)) +
                      "' is not defined for " + value.describe() +
                      "; expected a number");
  }
  result->constexprGlobal = value.constexprGlobal;
  return result;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// -1, 0, 1; 2 when unordered (NaN); null when the kinds have no order.
static std::optional<int> order(const Value &a, const Value &b) {
  if (a.isIntegral() && b.isIntegral()) {
    return a.integer() < b.integer() ? -1 : a.integer() > b.integer();
  }
  if (a.isNumber() && b.isNumber()) {
    double x = a.number(), y = b.number();
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
  }
  if (a.isString() && b.isString()) {
    int result = a.string().compare(b.string());
    return result < 0 ? -1 : result > 0;
  }
  if (!a.isSequence() || !b.isSequence() || a.isList() != b.isList()) {
    return std::nullopt;
  }
  llvm::ArrayRef<Value> x = a.items(), y = b.items();
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (!equal(x[i], y[i])) {
      return order(x[i], y[i]);
    }
  }
  return x.size() < y.size() ? -1 : x.size() > y.size();
}

static FailureOr<bool> contains(Diagnostics &diag, const Value &container,
                                const Value &item) {
  if (container.isSequence()) {
    return llvm::any_of(container.items(),
                        [&](const Value &v) { return equal(v, item); });
  }
  if (container.isDict()) {
    return llvm::any_of(container.dict(), [&](const auto &entry) {
      return equal(entry.first, item);
    });
  }
  if (container.isString() && item.isString()) {
    return container.string().find(item.string()) != std::string::npos;
  }
  return diag.error("'in' is not defined for " + item.describe() + " and " +
                    container.describe() +
                    "; expected a tuple, a list, a dict or two strings");
}

FailureOr<Value> Evaluator::staticCompare(ast::CompareOperator op,
                                          const Value &a, const Value &b) {
  std::string what = "operator '" + std::string(spelling(op)) + "'";
  if ((a.isOpaque() || b.isOpaque()) && !a.isNone() && !b.isNone()) {
    // A type or a function of this program is never a value of the host.
    // torch's types are known by name.
    auto isTorchType = [](const Value &v) {
      return v.isOpaque() &&
             llvm::StringRef(v.opaque().name).starts_with("torch.") &&
             parseDType(v.opaque().name);
    };
    bool decided =
        (isTorchType(a) && isTorchType(b) &&
         op <= ast::CompareOperator::NotEq) ||
        (isTorchType(a) && !b.isOpaque() && op >= ast::CompareOperator::In) ||
        ((a.isType() || b.isType() || a.isFunction() || b.isFunction()) &&
         op <= ast::CompareOperator::NotEq);
    if (b.isOpaque() && b.opaque().name == "os.environ" &&
        op >= ast::CompareOperator::In) {
      FailureOr<Value> found = environment({Argument{"", a, {}}});
      return failed(found)
                 ? found
                 : FailureOr<Value>(Value(found->isNone() ==
                                          (op == ast::CompareOperator::NotIn)));
    }
    if (b.isOpaque() && b.opaque().name == "sys.modules" && a.isString() &&
        op >= ast::CompareOperator::In) {
      bool isThere = a.string() == "__main__" || hostHasModule(a.string()) ||
                     modules.imports(a.string());
      return Value(isThere == (op == ast::CompareOperator::In));
    }
    if (!decided) {
      return diag.hostError(what + " of " + a.describe() + " and " +
                                b.describe(),
                            bindHint(a.isOpaque() ? a : b));
    }
  }
  if ((op == ast::CompareOperator::Is || op == ast::CompareOperator::IsNot) &&
      a.isNone() != b.isNone()) {
    return Value(op == ast::CompareOperator::IsNot);
  }
  if (!a.isStatic() || !b.isStatic()) {
    return diag.error(what + " is not defined for tuples of run-time values",
                      "compare them one by one");
  }
  if (std::optional<FailureOr<Value>> done = specialCompare(op, a, b)) {
    return *done;
  }
  switch (op) {
  case ast::CompareOperator::Eq:
    return Value(equal(a, b));
  case ast::CompareOperator::NotEq:
    return Value(!equal(a, b));
  case ast::CompareOperator::Is:
  case ast::CompareOperator::IsNot: {
    // `True is 1` is false in Python: kinds must agree.
    bool same = a.storage.index() == b.storage.index() && equal(a, b);
    return Value(same == (op == ast::CompareOperator::Is));
  }
  case ast::CompareOperator::In:
  case ast::CompareOperator::NotIn: {
    FailureOr<bool> found = contains(diag, b, a);
    if (failed(found)) {
      return failure();
    }
    return Value(*found == (op == ast::CompareOperator::In));
  }
  default:
    break;
  }
  std::optional<int> sign = order(a, b);
  if (!sign) {
    return diag.error(what + " is not defined for " + a.describe() + " and " +
                      b.describe() +
                      "; expected two numbers, two strings or two tuples");
  }
  switch (op) {
  case ast::CompareOperator::Lt:
    return Value(*sign == -1);
  case ast::CompareOperator::LtE:
    return Value(*sign == -1 || *sign == 0);
  case ast::CompareOperator::Gt:
    return Value(*sign == 1);
  default:
    return Value(*sign == 1 || *sign == 0);
  }
}

} // namespace nereid::irgen
