//===- Comprehensions.cpp - Comprehensions and f-strings --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Evaluator.h"
#include "nereid/IRGen/Host/Objects.h"

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
        return diag.error("a comprehension's condition: expected one known "
                          "while compiling, got " +
                              holds->describe(),
                          "run-time conditions are tl.where");
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
    return diag.error("a dict is not supported in a kernel; expected a tuple",
                      "make the dict at module level");
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
  if (ast::isa<ast::SetComp>(expr)) {
    removeEquals(items);
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
      return diag.error(what.str() +
                        " needs a range with constant bounds; expected bounds "
                        "known while compiling: numbers or tl.constexpr");
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
  if (value.isClass() && value.pythonClass().isEnum) {
    return enumMembers(value.pythonClass());
  }
  if (auto items = callSpecial(value, "__iter__")) {
    if (failed(*items)) {
      return failure();
    }
    if (!(*items)->isObject()) {
      return iterate(**items, what);
    }
    return diag.hostError(what.str() + " goes over " + value.describe() +
                          ", whose __iter__ returns an object; expected a "
                          "generator or iter(list)");
  }
  if (value.isOpaque()) {
    return diag.hostError(what.str() + " goes over " + value.describe());
  }
  return diag.error(what.str() +
                    ": expected a tuple, a list, a string, a dict or a range, "
                    "got " +
                    value.describe());
}

//===----------------------------------------------------------------------===//
// f-strings
//===----------------------------------------------------------------------===//

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
  if (value->isObject() && expr->conversion != 'r') {
    FailureOr<std::string> text = textOf(*value);
    if (failed(text)) {
      return failure();
    }
    value = Value(std::move(*text));
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
  return formatValue(*value, spec);
}

FailureOr<Value> Evaluator::joinedStr(const ast::JoinedStr *expr) {
  std::string text;
  for (const ast::Expr *part : expr->values) {
    if (const auto *value = ast::dynCast<ast::FormattedValue>(part)) {
      FailureOr<std::string> piece = formatted(value);
      if (failed(piece)) {
        return failure();
      }
      if (!Budget::make(piece->size())) {
        break;
      }
      text += *piece;
    } else {
      text += ast::cast<ast::Constant>(part)->text;
    }
  }
  return Value(std::move(text));
}

} // namespace nereid::irgen
