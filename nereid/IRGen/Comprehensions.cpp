//===- Comprehensions.cpp - Comprehensions and f-strings --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Evaluator.h"

#include <cstdio>

namespace nereid::irgen {

//===----------------------------------------------------------------------===//
// Comprehensions
//===----------------------------------------------------------------------===//

LogicalResult
Evaluator::comprehensionLoop(llvm::ArrayRef<ast::Comprehension *> generators,
                             llvm::function_ref<LogicalResult()> body) {
  if (generators.empty()) {
    return body();
  }
  const ast::Comprehension *generator = generators.front();
  FailureOr<Value> source = evaluate(generator->iter);
  if (failed(source)) {
    return failure();
  }
  FailureOr<std::vector<Value>> items = failure();
  {
    SpanScope at(diag, generator->iter->span);
    items = iterate(*source, "a comprehension");
  }
  if (failed(items)) {
    return failure();
  }
  for (const Value &item : *items) {
    // Straight into the scope: a comprehension's variable does not decay.
    if (const auto *name = ast::dynCast<ast::Name>(generator->target)) {
      bind(name->id, {item, false, name->span});
    } else if (failed(assign(generator->target, item))) {
      return failure();
    }
    bool taken = true;
    for (const ast::Expr *test : generator->ifs) {
      FailureOr<Value> holds = condition(test, "a comprehension's condition");
      if (failed(holds)) {
        return failure();
      }
      if (holds->isTensor()) {
        return diag.error("a comprehension's condition must be static, got " +
                          holds->describe());
      }
      taken = taken && truth(*holds);
    }
    if (taken && failed(comprehensionLoop(generators.drop_front(), body))) {
      return failure();
    }
  }
  return success();
}

/// The names that a comprehension's targets bind.
static void targetNames(const ast::Expr *target,
                        std::vector<llvm::StringRef> &names) {
  if (const auto *name = ast::dynCast<ast::Name>(target)) {
    names.push_back(name->id);
  } else if (const auto *tuple = ast::dynCast<ast::Tuple>(target)) {
    for (const ast::Expr *item : tuple->elts) {
      targetNames(item, names);
    }
  }
}

FailureOr<Value> Evaluator::comprehension(const ast::Expr *expr) {
  ast::Seq<ast::Comprehension *> generators;
  const ast::Expr *element = nullptr, *key = nullptr;
  if (const auto *list = ast::dynCast<ast::ListComp>(expr)) {
    generators = list->generators;
    element = list->elt;
  } else if (const auto *set = ast::dynCast<ast::SetComp>(expr)) {
    generators = set->generators;
    element = set->elt;
  } else if (const auto *lazy = ast::dynCast<ast::GeneratorExp>(expr)) {
    generators = lazy->generators;
    element = lazy->elt;
  } else {
    const auto *map = ast::cast<ast::DictComp>(expr);
    generators = map->generators;
    key = map->key;
    element = map->value;
  }
  if (key && frame->isKernel) {
    return diag.error("a dict is not supported in a kernel");
  }
  // The variables are the comprehension's own.
  std::vector<llvm::StringRef> names;
  for (const ast::Comprehension *generator : generators) {
    targetNames(generator->target, names);
  }
  std::vector<std::pair<llvm::StringRef, std::optional<Scope::Binding>>> saved;
  for (llvm::StringRef name : names) {
    auto it = frame->scope->variables.find(name);
    saved.emplace_back(name, it == frame->scope->variables.end()
                                 ? std::nullopt
                                 : std::optional(it->second));
  }
  std::vector<Value> items;
  std::vector<std::pair<Value, Value>> entries;
  LogicalResult ran = comprehensionLoop(
      {generators.begin(), generators.size()}, [&]() -> LogicalResult {
        FailureOr<Value> k = key ? evaluate(key) : Value();
        FailureOr<Value> value = failed(k) ? k : evaluate(element);
        if (failed(value)) {
          return failure();
        }
        if (key) {
          entries.emplace_back(*k, *value);
        } else {
          items.push_back(*value);
        }
        return success();
      });
  for (auto &[name, binding] : saved) {
    if (binding) {
      bind(name, *binding);
    } else {
      unbind(name);
    }
  }
  if (failed(ran)) {
    return failure();
  }
  if (key) {
    return Value::dict(std::move(entries));
  }
  return frame->isKernel ? Value::tuple(std::move(items))
                         : Value::list(std::move(items));
}

/// Iterations of one loop that runs while compiling.
static constexpr Int maxIterations = 1 << 20;

FailureOr<std::vector<Value>> Evaluator::iterate(const Value &value,
                                                 llvm::StringRef what) {
  if (value.isSequence()) {
    return std::vector<Value>(value.items());
  }
  if (value.isString()) {
    std::vector<Value> characters;
    for (char c : value.string()) {
      characters.emplace_back(std::string(1, c));
    }
    return characters;
  }
  if (value.isDict()) {
    std::vector<Value> keys;
    for (const auto &entry : value.dict()) {
      keys.push_back(entry.first);
    }
    return keys;
  }
  if (value.isRange()) {
    const RangeValue &range = value.range();
    if (!range.start.isIntegral() || !range.stop.isIntegral() ||
        !range.step.isIntegral()) {
      return diag.error(what.str() + " needs a range with constant bounds");
    }
    std::vector<Value> items;
    Int step = range.step.integer(), stop = range.stop.integer();
    Int first = range.start.integer();
    bool isEmpty = step > 0 ? first >= stop : first <= stop;
    if (!isEmpty && (stop - first) / step > maxIterations) {
      return diag.error(what.str() + " over a range of " +
                            toString((stop - first) / step) +
                            " elements would run while compiling",
                        "a run-time loop is 'for i in range(...)' in a kernel");
    }
    for (Int i = first; step > 0 ? i < stop : i > stop; i += step) {
      if (failed(this->step())) {
        return failure();
      }
      items.emplace_back(i);
    }
    return items;
  }
  if (value.isOpaque()) {
    return diag.hostError(what.str() + " goes over " + value.describe());
  }
  return diag.error(what.str() + " needs a tuple or a list, got " +
                    value.describe());
}

//===----------------------------------------------------------------------===//
// f-strings
//===----------------------------------------------------------------------===//

/// The format specifications that configuration code uses: width, zero fill,
/// alignment, precision, and one of d x X b o f e g s %.
static FailureOr<std::string> formatValue(Diagnostics &diag, const Value &value,
                                          llvm::StringRef spec) {
  auto unsupported = [&]() -> FailureOr<std::string> {
    return diag.error("the format '" + spec.str() + "' is not supported for " +
                      value.describe());
  };
  llvm::StringRef rest = spec;
  char fill = ' ', align = 0;
  if (rest.size() > 1 && llvm::StringRef("<>^").contains(rest[1])) {
    fill = rest[0];
    rest = rest.drop_front();
  }
  if (!rest.empty() && llvm::StringRef("<>^").contains(rest[0])) {
    align = rest[0];
    rest = rest.drop_front();
  }
  if (rest.consume_front("0")) {
    fill = '0';
    align = align ? align : '>';
  }
  unsigned width = 0, precision = 6;
  rest.consumeInteger(10, width);
  bool hasPrecision = rest.consume_front(".");
  if (hasPrecision && rest.consumeInteger(10, precision)) {
    return unsupported();
  }
  char type = rest.empty() ? 0 : rest[0];
  if (rest.size() > 1 || width > 1000 || precision > 100) {
    return unsupported();
  }
  std::string text;
  if (type == 0 && !hasPrecision) {
    text = value.str();
  } else if (value.isNumber() && type != 0 &&
             llvm::StringRef("feg%").contains(type)) {
    char pattern[] = {'%', '.', '*', type == '%' ? 'f' : type, 0};
    double number = value.number() * (type == '%' ? 100 : 1);
    char buffer[512];
    int length = std::snprintf(buffer, sizeof buffer, pattern,
                               static_cast<int>(precision), number);
    text.assign(buffer, std::min<size_t>(static_cast<size_t>(length), 511));
    text += type == '%' ? "%" : "";
  } else if (value.isIntegral() && type == 'd') {
    text = toString(value.integer());
  } else if (value.isIntegral() && value.integer() >= 0 &&
             llvm::StringRef("xXbo").contains(type) && type != 0) {
    int radix = type == 'b' ? 2 : type == 'o' ? 8 : 16;
    Int rest = value.integer();
    do {
      char digit = "0123456789abcdef"[int(rest % radix)];
      text.insert(text.begin(), type == 'X' ? llvm::toUpper(digit) : digit);
      rest /= radix;
    } while (rest != 0);
  } else if (value.isString() && (type == 's' || type == 0)) {
    text = hasPrecision ? value.string().substr(0, precision) : value.string();
  } else {
    return unsupported();
  }
  size_t pad = text.size() < width ? width - text.size() : 0;
  char side = align ? align : value.isNumber() ? '>' : '<';
  size_t before = side == '>' ? pad : side == '^' ? pad / 2 : 0;
  return std::string(before, fill) + text + std::string(pad - before, fill);
}

FailureOr<std::string> Evaluator::formatted(const ast::FormattedValue *expr) {
  FailureOr<Value> value = evaluate(expr->value);
  if (failed(value)) {
    return failure();
  }
  if (!value->isStatic()) {
    return diag.error(expr->value->span,
                      "an f-string in a kernel is made while compiling, but "
                      "this part is " +
                          value->describe(),
                      "print run-time values with tl.device_print");
  }
  if (expr->conversion == 'r' || expr->conversion == 'a') {
    value = Value(value->repr());
  } else if (expr->conversion == 's') {
    value = Value(value->str());
  }
  std::string spec;
  if (expr->formatSpec) {
    FailureOr<Value> text =
        joinedStr(ast::cast<ast::JoinedStr>(expr->formatSpec));
    if (failed(text)) {
      return failure();
    }
    spec = text->string();
  }
  return formatValue(diag, *value, spec);
}

FailureOr<Value> Evaluator::joinedStr(const ast::JoinedStr *expr) {
  std::string text;
  for (const ast::Expr *part : expr->values) {
    if (const auto *value = ast::dynCast<ast::FormattedValue>(part)) {
      FailureOr<std::string> piece = formatted(value);
      if (failed(piece)) {
        return failure();
      }
      text += *piece;
    } else {
      text += ast::cast<ast::Constant>(part)->text;
    }
  }
  return Value(std::move(text));
}

} // namespace nereid::irgen
