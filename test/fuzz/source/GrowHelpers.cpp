//===- GrowHelpers.cpp - Functions that kernels call ----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A helper is generated for the types of one call. It is pure: it computes from
// its parameters, and makes no addresses.
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

namespace nereid::fuzz::source {

static constexpr double argumentLimit = 64;

static bool canPass(const Item &item) { return !isFp8(item.type.element); }

void Generator::call(const Helper &helper, const std::vector<Item> &arguments) {
  Expr expr = join(helper.name, "(");
  if (helper.takesTuple) {
    expr += join("(", arguments[0].variable, ", ", arguments[1].variable, ")");
  } else {
    for (size_t i = 0; i < arguments.size(); ++i) {
      expr += join(i ? ", " : "", arguments[i].variable);
    }
  }
  bool byName = false; // after a keyword there are only keywords
  for (size_t i = 0; i < helper.statics.size(); ++i) {
    bool isLast = i + 1 == helper.statics.size();
    if (helper.hasDefault && isLast && random.chance(70)) {
      count(Feature::helperDefault);
      continue;
    }
    byName |= random.chance(40);
    expr += join(", ", byName ? "S" + std::to_string(i) + "=" : "",
                 helper.statics[i]);
  }
  expr += ")";
  if (helper.results.size() == 1) {
    const Item &result = helper.results[0];
    like(expr, result.type, result);
    return;
  }
  count(Feature::helperTuple);
  Stmt stmt{Stmt::Kind::Assign};
  for (const Item &result : helper.results) {
    stmt.targets.push_back(variable("v", result.type));
  }
  stmt.head = expr;
  std::vector<VariableId> targets = stmt.targets;
  emit(std::move(stmt));
  for (size_t i = 0; i < targets.size(); ++i) {
    Item item = helper.results[i];
    item.variable = targets[i];
    pool.push_back(item);
  }
}

void Generator::growHelper(int depth) {
  if (inHelper || helpers.size() >= 3) {
    return;
  }
  count(Feature::helper);
  Helper helper;
  helper.name = "helper" + std::to_string(helpers.size());
  std::vector<Item> arguments;
  for (int64_t i = random.between(1, 3); i > 0; --i) {
    auto item = find(canPass);
    Item argument = item ? *item : fresh({floatType(), anyShape()});
    if (isFloat(argument.type.element)) {
      argument = tame(argument, argumentLimit);
    }
    arguments.push_back(argument);
    helper.parameters.push_back(argument.type);
  }

  Function function;
  function.name = helper.name;
  std::vector<Item> outerPool;
  std::swap(pool, outerPool);
  std::vector<StaticItem> outerStatics;
  std::swap(statics, outerStatics);
  std::vector<Stmt> *outer = here;
  int outerNesting = nesting;
  here = &function.body;
  inHelper = true;
  nesting = 0;

  helper.takesTuple = arguments.size() == 2 && random.chance(25);
  std::vector<VariableId> parts;
  for (const Item &argument : arguments) {
    Item inside = argument;
    // Other calls pass other numbers.
    inside.isExact = !isFloat(argument.type.element);
    inside.isWhole = false;
    inside.magnitude = argumentLimit;
    inside.variable = variable("a", argument.type);
    parts.push_back(inside.variable);
    pool.push_back(inside);
  }
  if (helper.takesTuple) {
    count(Feature::tupleArgument);
    VariableId tuple = variable("t", std::nullopt);
    function.parameters.push_back({tuple, "", ""});
    Stmt stmt{Stmt::Kind::Assign};
    stmt.targets = parts;
    stmt.head = tuple;
    emit(std::move(stmt));
  } else {
    for (VariableId part : parts) {
      function.parameters.push_back({part, "", ""});
    }
  }
  for (int64_t i = random.below(3); i > 0; --i) {
    count(Feature::helperConstexpr);
    int64_t number = random.between(0, 32);
    VariableId id = variable("S", std::nullopt);
    program.variables[id.index].name =
        "S" + std::to_string(helper.statics.size());
    statics.push_back({id, number});
    helper.statics.push_back(std::to_string(number));
    bool hasDefault = i == 1 && random.chance(50);
    function.parameters.push_back(
        {id, "tl.constexpr", hasDefault ? std::to_string(number) : ""});
    helper.hasDefault = hasDefault;
  }

  growBlock(int(random.between(1, 4)), depth);
  std::vector<Type> types;
  for (int64_t i = random.chance(30) ? 2 : 1; i > 0; --i) {
    auto result = find(canPass);
    types.push_back(result ? result->type : Type{DType::Int32, {}});
  }
  auto results = [&] {
    Expr expr;
    for (size_t i = 0; i < types.size(); ++i) {
      Item item = operand(types[i]);
      if (isFloat(item.type.element)) {
        item = tame(item, argumentLimit);
      }
      expr += join(i ? ", " : "", item.variable);
    }
    Stmt stmt{Stmt::Kind::Return};
    stmt.head = expr;
    emit(std::move(stmt));
  };
  // Upstream's compiler fails on most that return a block early.
  bool ofScalars = std::all_of(types.begin(), types.end(),
                               [](const Type &t) { return t.isScalar(); });
  if (random.chance(ofScalars ? 60 : 6)) {
    count(Feature::helperEarlyReturn);
    Stmt stmt{Stmt::Kind::If};
    stmt.head = scalarCondition().variable;
    stmt.body = block(results);
    emit(std::move(stmt));
  }
  results();
  for (const Type &type : types) {
    Item item{{}, type, !isFloat(type.element), false, argumentLimit};
    helper.results.push_back(item);
  }

  inHelper = false;
  nesting = outerNesting;
  here = outer;
  std::swap(pool, outerPool);
  std::swap(statics, outerStatics);
  program.functions.push_back(std::move(function));
  call(helper, arguments);
  helpers.push_back(std::move(helper));
}

void Generator::reuseHelper() {
  if (inHelper || helpers.empty()) {
    return;
  }
  const Helper helper = random.pickFrom(helpers);
  std::vector<Item> arguments;
  for (const Type &type : helper.parameters) {
    Item item = operand(type);
    arguments.push_back(isFloat(type.element) ? tame(item, argumentLimit)
                                              : item);
  }
  count(Feature::helperReused);
  call(helper, arguments);
}

} // namespace nereid::fuzz::source
