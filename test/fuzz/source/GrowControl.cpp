//===- GrowControl.cpp - Branches, loops, compile-time control ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

namespace nereid::fuzz::source {

/// No carried float exceeds this.
static constexpr double carriedLimit = 64;

/// One to three variables with a value before the loop or the branch.
std::vector<Carried> Generator::carriedItems(int64_t trips) {
  std::vector<Carried> carried;
  for (int64_t n = random.between(1, 3); n > 0; --n) {
    auto item = find([](const Item &i) { return !isFp8(i.type.element); });
    if (!item) {
      item = fresh({anyElement(), anyShape()});
    }
    bool isFloating = isFloat(item->type.element);
    Item start = isFloating ? tame(*item, carriedLimit) : *item;
    VariableId id = variable("c", start.type, /*isMutable=*/true);
    assign(id, start.variable);
    Carried one{id, start, 0};
    one.item.variable = id;
    if (isFloating) {
      one.item.isExact = one.item.isWhole = false;
      one.step = random.chance(50) ? 4 : 0;
      one.item.magnitude =
          carriedLimit + one.step * double(std::max<int64_t>(trips, 1));
    }
    carried.push_back(one);
    pool.push_back(one.item);
  }
  return carried;
}

/// The end of a body: what the next iteration begins with.
void Generator::updateCarried(std::vector<Carried> &carried) {
  if (carried.size() > 1 && carried[0].item.type == carried[1].item.type &&
      carried[0].step == 0 && carried[1].step == 0 && random.chance(40)) {
    // Both at once: (a, b) = (b, f(a)).
    Item next = operand(carried[0].item.type);
    next = isFloat(next.type.element) ? tame(next, carriedLimit) : next;
    count(Feature::tuple);
    Stmt stmt{Stmt::Kind::Assign};
    stmt.targets = {carried[0].variable, carried[1].variable};
    stmt.head = join(carried[1].variable, ", ", next.variable);
    emit(std::move(stmt));
    return;
  }
  for (Carried &one : carried) {
    const Type &type = one.item.type;
    if (one.step > 0) {
      count(Feature::augmented);
      Item more = tame(operand(type), one.step);
      assign(one.variable, more.variable, random.pick({"+", "-"}));
      continue;
    }
    if (isFloat(type.element)) {
      assign(one.variable, tame(operand(type), carriedLimit).variable);
      continue;
    }
    if (type.element != DType::Int1 && !one.isNew && random.chance(40)) {
      count(Feature::augmented);
      Item more = operand(type);
      assign(one.variable, more.variable,
             random.pick({"+", "-", "*", "^", "|"}));
      continue;
    }
    assign(one.variable, operand(type).variable);
  }
}

void Generator::growIf(int depth) {
  count(Feature::ifRuntime);
  if (nesting > 0) {
    count(Feature::ifNested);
  }
  Item condition = scalarCondition();
  // Assigned before and in one branch or both, or first assigned in both.
  bool isNew = random.chance(30);
  std::vector<Carried> carried;
  if (isNew) {
    Type type{random.chance(50) ? floatType() : intType(true), anyShape()};
    Carried one{variable("c", type, true), Item{}, 0};
    one.item =
        Item{one.variable, type, !isFloat(type.element), false, carriedLimit};
    one.isNew = true;
    carried.push_back(one);
  } else {
    carried = carriedItems(1);
  }
  Stmt stmt{Stmt::Kind::If};
  stmt.head = condition.variable;
  ++nesting;
  auto branch = [&] {
    growBlock(int(random.between(0, 3)), depth);
    updateCarried(carried);
    if (!inHelper && random.chance(20)) {
      storeResults(1);
    }
  };
  bool hasElse = isNew || random.chance(40);
  stmt.body = block(branch);
  if (hasElse) {
    if (!isNew && random.chance(30) && depth > 0) {
      // elif, as the language has it: a branch in the other one.
      stmt.orelse = block([&] {
        Stmt inner{Stmt::Kind::If};
        inner.head = scalarCondition().variable;
        inner.body = block(branch);
        emit(std::move(inner));
      });
    } else {
      stmt.orelse = block(branch);
    }
  }
  --nesting;
  emit(std::move(stmt));
  if (isNew) {
    pool.push_back(carried[0].item);
  }
}

void Generator::growFor(int depth) {
  int64_t trips = random.pick<int64_t>({0, 1, 2, 3, 3, 5});
  if (serials * std::max<int64_t>(1, trips) > 64) {
    return;
  }
  count(Feature::forLoop);
  if (nesting > 0) {
    count(Feature::forLoopNested);
  }
  bool isStatic = random.chance(25);
  int64_t from = random.chance(60) ? 0 : random.between(-7, 9);
  int64_t step = random.chance(60) ? 1 : random.between(1, 6);
  bool isBackward = random.chance(10);
  int64_t slack = trips == 0 ? 0 : random.below(step);
  int64_t end =
      isBackward ? from - trips * step + slack : from + trips * step - slack;
  auto number = [&](int64_t value) {
    return isStatic ? Expr(std::to_string(value)) : knownNumber(value);
  };
  Expr bounds;
  if (from != 0 || step != 1 || isBackward) {
    bounds = join(number(from), ", ");
  }
  bounds += number(end);
  if (step != 1 || isBackward) {
    bounds +=
        join(", ", isBackward ? Expr(std::to_string(-step)) : number(step));
  }
  std::vector<Carried> carried = carriedItems(trips);
  const char *name = "range(";
  Expr hints;
  if (isStatic) {
    count(Feature::staticRange);
    name = "tl.static_range(";
  } else if (random.chance(40)) {
    count(Feature::forLoopHints);
    name = "tl.range(";
    hints = random.pick(
        {"", "", ", num_stages=2", ", num_stages=3", ", loop_unroll_factor=2"});
    if (random.chance(4)) {
      hints = ", flatten=True";
    }
  }
  Stmt stmt{Stmt::Kind::For};
  VariableId index = variable(
      "i", isStatic ? std::nullopt : std::optional(Type{DType::Int32, {}}));
  stmt.targets = {index};
  stmt.first = std::to_string(from);
  stmt.head = join(name, bounds, hints, ")");
  Expr outer = serial;
  int64_t times = std::max<int64_t>(1, trips);
  Expr iteration = index;
  if (from != 0 || step != 1 || isBackward) {
    iteration = isBackward ? join("((", from, " - ", index, ") // ", step, ")")
                           : join("((", index, " - ", from, ") // ", step, ")");
  }
  serial = join("(", outer, ") * ", times, " + ", iteration);
  serials *= times;
  ++nesting;
  unrolled += isStatic ? 1 : 0;
  stmt.body = block([&] {
    if (!isStatic) {
      pool.push_back({index, {DType::Int32, {}}});
    }
    growBlock(int(random.between(1, 4)), depth);
    if (!inHelper && random.chance(20)) {
      storeResults(1);
    }
    updateCarried(carried);
  });
  unrolled -= isStatic ? 1 : 0;
  --nesting;
  serial = outer;
  serials /= times;
  emit(std::move(stmt));
}

void Generator::growWhile(int depth) {
  int64_t trips = random.between(0, 4);
  if (serials * std::max<int64_t>(1, trips) > 64) {
    return;
  }
  count(Feature::whileLoop);
  VariableId counter = variable("w", Type{DType::Int32, {}}, true);
  assign(counter, "0");
  std::vector<Carried> carried = carriedItems(trips);
  Stmt stmt{Stmt::Kind::While};
  Expr limit = knownNumber(trips);
  // A second condition may end it early.
  auto flag =
      find([&](const Item &i) { return i.type == Type{DType::Int32, {}}; });
  stmt.head = join(counter, " < ", limit);
  if (flag && random.chance(30)) {
    stmt.head = join("(", stmt.head, ") & (", flag->variable, " + ", counter,
                     " != ", random.between(0, 9), ")");
  }
  Expr outer = serial;
  int64_t times = std::max<int64_t>(1, trips);
  serial = join("(", outer, ") * ", times, " + ", counter);
  serials *= times;
  ++nesting;
  stmt.body = block([&] {
    pool.push_back({counter, {DType::Int32, {}}});
    growBlock(int(random.between(1, 3)), depth);
    updateCarried(carried);
    assign(counter, "1", "+");
  });
  --nesting;
  serial = outer;
  serials /= times;
  emit(std::move(stmt));
}

/// One side is taken while compiling; the other need not make sense.
void Generator::growConstexprIf(int depth) {
  if (statics.empty()) {
    return;
  }
  count(Feature::constexprIf);
  const StaticItem which = random.pickFrom(statics);
  int64_t against = random.between(0, 40);
  bool isTaken = which.number > against;
  Stmt stmt{Stmt::Kind::If};
  stmt.head = join(which.variable, " > ", against);
  std::vector<Carried> carried = carriedItems(1);
  auto taken = [&] {
    growBlock(int(random.between(1, 3)), depth);
    updateCarried(carried);
  };
  auto other = [&] { effect(join("tl.static_assert(False, \"not taken\")")); };
  if (isTaken) {
    stmt.body = block(taken);
    if (random.chance(50)) {
      stmt.orelse = block(other);
    }
  } else {
    stmt.body = block(other);
    stmt.orelse = block(taken);
  }
  emit(std::move(stmt));
}

/// A compile-time number of others.
void Generator::growStatic() {
  // Once in a scope: not where the same statement is unrolled.
  if (statics.empty() || statics.size() > 6 || unrolled > 0) {
    return;
  }
  count(Feature::constexprLocal);
  const StaticItem x = random.pickFrom(statics), y = random.pickFrom(statics);
  int64_t number = 0;
  Expr expr;
  switch (random.below(8)) {
  case 0:
    number = x.number + y.number;
    expr = join(x.variable, " + ", y.variable);
    break;
  case 1:
    number = x.number * 3 - y.number;
    expr = join(x.variable, " * 3 - ", y.variable);
    break;
  case 2: // floors, while run-time division truncates
    number = x.number - 40;
    number = (number - (number % 7 + 7) % 7) / 7;
    expr = join("(", x.variable, " - 40) // 7");
    break;
  case 3:
    number = ((x.number - 40) % 7 + 7) % 7;
    expr = join("(", x.variable, " - 40) % 7");
    break;
  case 4:
    number = x.number > y.number ? x.number : y.number + 1;
    expr = join(x.variable, " if ", x.variable, " > ", y.variable, " else ",
                y.variable, " + 1");
    break;
  case 5:
    number = std::min(x.number, y.number);
    expr = join("min(", x.variable, ", ", y.variable, ")");
    break;
  case 6:
    number = (x.number + 7) / 8;
    if (x.number < 0) {
      return;
    }
    expr = join("triton.cdiv(", x.variable, ", 8)");
    break;
  default:
    number = (x.number & 15) | 16;
    expr = join("(", x.variable, " & 15) | 16");
  }
  if (number > 100000 || number < -100000) {
    return;
  }
  Stmt stmt{Stmt::Kind::Assign};
  VariableId id = variable("S", std::nullopt);
  stmt.targets = {id};
  stmt.annotation = "tl.constexpr";
  stmt.head = expr;
  emit(std::move(stmt));
  statics.push_back({id, number});
}

/// A plain assignment ends the static life of a number.
void Generator::growNumberVariable() {
  count(Feature::numberVariable);
  if (random.chance(40)) {
    double number = double(random.between(-12, 12)) / 4;
    std::string value = std::to_string(number).substr(0, number < 0 ? 5 : 4);
    define(value, {DType::Float32, {}}, true, 3, false);
  } else if (!statics.empty() && random.chance(50)) {
    const StaticItem &which = random.pickFrom(statics);
    define(which.variable, {typeOfInteger(which.number), {}});
  } else {
    int64_t number =
        random.chance(80)
            ? random.between(-9, 100)
            : random.pick<int64_t>(
                  {0x80000000, 0x7fffffff, 0x123456789abc, -0x80000001ll});
    define(std::to_string(number), {typeOfInteger(number), {}});
  }
  // In place it would be a number still.
  here->back().isInline = false;
}

void Generator::growTuple() {
  count(Feature::tuple);
  std::vector<Item> parts;
  Expr expr = "(";
  for (int64_t i = random.between(2, 3); i > 0; --i) {
    Item part = random.chance(50) ? integer() : floating();
    expr += join(parts.empty() ? "" : ", ", part.variable);
    parts.push_back(part);
  }
  expr += ")";
  VariableId tuple = variable("t", std::nullopt);
  assign(tuple, expr);
  if (random.chance(50)) {
    Stmt stmt{Stmt::Kind::Assign};
    for (const Item &part : parts) {
      stmt.targets.push_back(variable("v", part.type));
    }
    stmt.head = tuple;
    std::vector<VariableId> targets = stmt.targets;
    emit(std::move(stmt));
    for (size_t i = 0; i < parts.size(); ++i) {
      Item item = parts[i];
      item.variable = targets[i];
      pool.push_back(item);
    }
    return;
  }
  size_t which = size_t(random.below(int64_t(parts.size())));
  like(join(tuple, "[", int64_t(which), "]"), parts[which].type, parts[which]);
}

/// The rest of the kernel is for the programs that stay.
void Generator::growEarlyReturn(int depth) {
  if (inHelper || nesting > 0) {
    return;
  }
  count(Feature::earlyReturn);
  Stmt stmt{Stmt::Kind::If};
  stmt.head = random.chance(50) ? join(serial, " >= ", knownNumber(serials - 1))
                                : Expr(scalarCondition().variable);
  ++nesting;
  stmt.body = block([&] {
    growBlock(int(random.between(0, 2)), depth);
    if (random.chance(50)) {
      storeResults(1);
    }
    emit(Stmt{Stmt::Kind::Return});
  });
  --nesting;
  emit(std::move(stmt));
}

} // namespace nereid::fuzz::source
