//===- Variables.cpp - Statements and variables of the generator ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

#include <cmath>

namespace nereid::fuzz::source {

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

VariableId Generator::variable(const char *prefix, std::optional<Type> type,
                               bool isMutable) {
  program.variables.push_back(
      {prefix + std::to_string(names++), std::move(type), isMutable});
  return {unsigned(program.variables.size() - 1)};
}

Stmt &Generator::emit(Stmt stmt) {
  here->push_back(std::move(stmt));
  return here->back();
}

void Generator::effect(Expr expr) {
  Stmt stmt{Stmt::Kind::Effect};
  stmt.head = std::move(expr);
  emit(std::move(stmt));
}

bool Generator::isMutable(const Expr &expr) const {
  for (const auto &piece : expr.pieces) {
    if (auto *id = std::get_if<VariableId>(&piece);
        id && program.variables[id->index].isMutable) {
      return true;
    }
  }
  return false;
}

/// Variables in an expression; those printed in place count by the length of
/// their names, which is kept small by `define`.
size_t Generator::sizeOf(const Expr &expr) const {
  size_t size = 0;
  for (const auto &piece : expr.pieces) {
    size += std::holds_alternative<VariableId>(piece) ? 1 : 0;
  }
  return size;
}

Item Generator::define(Expr expr, Type type, bool isExact, double magnitude,
                       bool isWhole, bool isPure) {
  Stmt stmt{Stmt::Kind::Assign};
  VariableId id = variable("v", type);
  stmt.targets = {id};
  // One level of nesting is what most kernels write; a second one happens
  // where an operand was itself printed in place.
  stmt.isInline =
      isPure && !isMutable(expr) && sizeOf(expr) <= 3 && random.chance(25);
  stmt.head = std::move(expr);
  emit(std::move(stmt));
  Item item{id, std::move(type), isExact, isWhole, magnitude};
  pool.push_back(item);
  return item;
}

void Generator::assign(VariableId target, Expr expr, const char *augmented) {
  Stmt stmt{Stmt::Kind::Assign};
  stmt.targets = {target};
  stmt.augmented = augmented;
  stmt.head = std::move(expr);
  emit(std::move(stmt));
}

std::vector<Stmt> Generator::block(const std::function<void()> &grow) {
  std::vector<Stmt> own, *outer = here;
  here = &own;
  {
    ScopeOf scope(pool);
    size_t known = statics.size();
    grow();
    statics.erase(statics.begin() + std::ptrdiff_t(known), statics.end());
  }
  here = outer;
  return own;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

DType Generator::intType(bool withBool) {
  if (withBool && random.chance(12)) {
    return DType::Int1;
  }
  return random.pick({DType::Int32, DType::Int32, DType::Int32, DType::Int32,
                      DType::Int8, DType::Int16, DType::Int64, DType::Int64,
                      DType::UInt8, DType::UInt8, DType::UInt16, DType::UInt32,
                      DType::UInt32, DType::UInt64});
}

DType Generator::floatType() {
  return random.pick({DType::Float32, DType::Float32, DType::Float32,
                      DType::Float32, DType::Float16, DType::Float16,
                      DType::BFloat16, DType::BFloat16, DType::Float64});
}

DType Generator::anyElement() {
  return random.chance(50) ? floatType() : intType(/*withBool=*/true);
}

Dims Generator::anyShape() {
  if (!shapes.empty() && random.chance(75)) {
    return random.pickFrom(shapes);
  }
  Dims shape;
  int64_t left = options.maxElements;
  for (int64_t rank = random.pick<int64_t>({0, 1, 1, 1, 1, 2, 2, 2, 3}); rank;
       --rank) {
    int64_t size = int64_t{1} << random.below(8);
    if (options.anySizes && random.chance(60)) {
      size = random.between(1, 40);
    }
    size = std::min(size, left);
    left /= size;
    shape.push_back(size);
  }
  return shape;
}

Dims Generator::shapeAround(const Dims &shape) {
  Dims other = shape;
  if (random.chance(40)) {
    return {};
  }
  for (int64_t &size : other) {
    if (random.chance(40)) {
      size = 1;
    }
  }
  if (other.size() > 1 && random.chance(30)) {
    other.erase(other.begin());
  }
  return other;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::optional<Item> Generator::find(const Predicate &wanted) {
  std::vector<const Item *> found;
  for (const Item &item : pool) {
    if (wanted(item)) {
      found.push_back(&item);
    }
  }
  if (found.empty()) {
    return std::nullopt;
  }
  // Late ones more often: programs should be deep.
  size_t a = size_t(random.below(int64_t(found.size())));
  size_t b = size_t(random.below(int64_t(found.size())));
  return *found[std::max(a, b)];
}

Item Generator::integer(bool withBool) {
  auto item = find([&](const Item &i) {
    return isInteger(i.type.element) &&
           (withBool || i.type.element != DType::Int1);
  });
  if (item && random.chance(85)) {
    return *item;
  }
  return fresh({intType(), anyShape()});
}

Item Generator::floating() {
  auto item =
      find([&](const Item &i) { return isArithmeticFloat(i.type.element); });
  if (item && random.chance(85)) {
    return *item;
  }
  return fresh({floatType(), anyShape()});
}

Item Generator::operand(const Type &type) {
  auto same = find([&](const Item &i) { return i.type == type; });
  if (same && random.chance(80)) {
    return *same;
  }
  auto castable = find([&](const Item &i) {
    return i.type.shape == type.shape &&
           isFloat(i.type.element) == isFloat(type.element);
  });
  if (castable && random.chance(60)) {
    return castTo(*castable, type.element);
  }
  return fresh(type);
}

Item Generator::exactOperand(const Type &type) {
  auto same = find([&](const Item &i) { return i.type == type && i.isExact; });
  return same && random.chance(80) ? *same : fresh(type);
}

Item Generator::fresh(const Type &type) {
  if (inHelper || random.chance(15)) {
    return constant(type);
  }
  if (type.element == DType::Int32 && !type.isScalar() && random.chance(20)) {
    return indices(type);
  }
  return load(type);
}

Item Generator::constant(const Type &type) {
  if (isFloat(type.element)) {
    double number = double(random.between(-12, 12)) / 4;
    std::string value = std::to_string(number).substr(0, number < 0 ? 5 : 4);
    Expr expr =
        type.isScalar() || isFp8(type.element)
            ? join("tl.full(", text(type.shape), ", ", value, ", tl.float32)",
                   type.element == DType::Float32
                       ? std::string()
                       : ".to(" + text(type.element) + ")")
            : join("tl.full(", text(type.shape), ", ", value, ", ",
                   text(type.element), ")");
    return define(expr, type, true, 3, number == std::floor(number));
  }
  if (type.element == DType::Int1) {
    return comparison(type.shape);
  }
  if (random.chance(20)) {
    return define(
        join("tl.zeros(", text(type.shape), ", ", text(type.element), ")"),
        type);
  }
  if (!type.isScalar() && random.chance(50)) {
    return castTo(indices(type.with(DType::Int32)), type.element);
  }
  int64_t low = isSigned(type.element) ? -20 : 0;
  return define(join("tl.full(", text(type.shape), ", ",
                     random.between(low, 100), ", ", text(type.element), ")"),
                type);
}

Item Generator::range(int64_t size) {
  int64_t start = random.chance(10) ? random.between(1, 9) : 0;
  Type type{DType::Int32, {size}};
  if (start == 0) {
    return define(join("tl.arange(0, ", size, ")"), type);
  }
  return define(join("tl.arange(", start, ", ", start + size, ")"), type);
}

/// arange(0, shape[dim]) with its dimension in place.
Expr Generator::alongDim(const Dims &shape, size_t dim) {
  Expr expr = join("tl.arange(0, ", shape[dim], ")");
  if (shape.size() == 1) {
    return expr;
  }
  std::string subscript;
  for (size_t i = 0; i < shape.size(); ++i) {
    subscript += std::string(i ? ", " : "") + (i == dim ? ":" : "None");
  }
  return join(expr, "[", subscript, "]");
}

Item Generator::indices(const Type &type) {
  if (type.isScalar()) {
    return define(join("tl.full([], ", random.between(0, 100), ", tl.int32)"),
                  type);
  }
  Expr sum;
  for (size_t dim = 0; dim < type.shape.size(); ++dim) {
    if (dim) {
      sum += " + ";
    }
    sum += alongDim(type.shape, dim);
    sum += join(" * ", random.between(1, 9));
  }
  return define(sum, type);
}

Item Generator::partner(const Item &x,
                        const std::function<bool(DType)> &wanted) {
  auto fits = [&](const Item &i) {
    return wanted(i.type.element) && canBroadcast(i.type.shape, x.type.shape) &&
           Type{x.type.element, broadcast(i.type.shape, x.type.shape)}
                   .count() <= 2 * options.maxElements;
  };
  auto item = find([&](const Item &i) {
    return fits(i) && i.type.shape == x.type.shape &&
           !(i.variable == x.variable);
  });
  if (item && random.chance(60)) {
    return *item;
  }
  item = find(fits);
  if (item && random.chance(60)) {
    return *item;
  }
  DType element = wanted(DType::Float32) ? floatType() : intType();
  if (!wanted(element)) {
    element = x.type.element;
  }
  return fresh(
      {element, random.chance(70) ? x.type.shape : shapeAround(x.type.shape)});
}

Item Generator::tame(const Item &item, double limit) {
  if (item.magnitude <= limit) {
    return item;
  }
  double factor = 0.5;
  while (item.magnitude * factor > limit) {
    factor /= 2;
  }
  std::string number = std::to_string(factor);
  if (factor < 1e-3) {
    char buffer[32];
    snprintf(buffer, sizeof(buffer), "%.9e", factor);
    number = buffer;
  }
  return define(join(item.variable, " * ", number), item.type, false,
                item.magnitude * factor * 1.001);
}

Item Generator::castTo(const Item &item, DType element) {
  DType from = item.type.element;
  if (from == element) {
    return item;
  }
  bool small = isInteger(from) || isInteger(element);
  Item source = item;
  if (isFp8(element) && (isInteger(from))) {
    source = castTo(item, DType::Float32);
  } else if (isFp8(from) && isInteger(element)) {
    source = castTo(item, DType::Float32);
  }
  from = source.type.element;
  (void)small;
  if (isInteger(from) && isFloat(element) && bitWidth(from) > 8) {
    // Of any size before: of a few bits now.
    source = define(join("(", source.variable, " & 63)"), source.type);
    from = source.type.element;
  }
  double magnitude = source.magnitude;
  bool isExact = true, isWhole = source.isWhole;
  if (isFloat(element)) {
    if (isInteger(from)) {
      magnitude = from == DType::Int1 ? 1 : bitWidth(from) == 8 ? 255 : 64;
      isWhole = true;
      isExact = magnitude <= std::ldexp(1, precision(element));
      if (magnitude > comfortable(element)) {
        source = define(join("(", source.variable, " & 31)"), source.type);
        magnitude = 32;
        isExact = magnitude <= std::ldexp(1, precision(element));
      }
      isWhole = isExact;
    } else {
      source = tame(source, comfortable(element));
      magnitude = source.magnitude * 1.13;
      bool fits = precision(element) >= precision(from) && !isFp8(element);
      bool fitsAsWhole = source.isWhole &&
                         source.magnitude <= std::ldexp(1, precision(element));
      isExact = source.isExact && (fits || fitsAsWhole);
      isWhole = fitsAsWhole && source.isWhole;
      if (isWhole) {
        magnitude = source.magnitude;
      }
    }
  } else if (isFloat(from)) {
    // Needs an equal number everywhere, inside of the type's range.
    if (!source.isExact) {
      source = exactOperand(source.type);
    }
    if (element != DType::Int1) {
      double limit = isSigned(element) ? 100 : 200;
      if (source.magnitude > limit || !isSigned(element)) {
        Expr low = isSigned(element) ? Expr("-100.0") : Expr("0.0");
        source = define(join("tl.minimum(tl.maximum(", source.variable, ", ",
                             low, "), 100.0)"),
                        source.type.with(promoteNumber(source.type.element,
                                                       DType::Float32)));
      }
    }
  }
  if (element == DType::Int1) {
    count(Feature::castBool);
  }
  if (isFp8(element) || isFp8(from)) {
    count(Feature::castFp8);
  }
  if (element == DType::BFloat16 || from == DType::BFloat16) {
    count(Feature::castBf16);
  }
  if (element == DType::UInt64 || from == DType::UInt64) {
    count(Feature::castU64);
  }
  if (isInteger(element) && isFloat(from)) {
    count(Feature::castFloatToInt);
  }
  count(Feature::cast);
  Expr expr = random.chance(80)
                  ? join(source.variable, ".to(", text(element), ")")
                  : join("tl.cast(", source.variable, ", ", text(element), ")");
  return define(expr, source.type.with(element), isExact, magnitude, isWhole);
}

//===----------------------------------------------------------------------===//
// Numbers of the source
//===----------------------------------------------------------------------===//

Literal Generator::intLiteral(DType beside, int64_t low, int64_t high) {
  if (isInteger(beside) && beside != DType::Int1) {
    low = std::max(low, smallest(beside));
    if (largest(beside) < uint64_t(INT64_MAX)) {
      high = std::min(high, int64_t(largest(beside)));
    }
  }
  if (random.chance(30)) {
    for (const StaticItem &item : statics) {
      if (item.number >= low && item.number <= high && random.chance(50)) {
        return {item.variable, typeOfInteger(item.number), item.number,
                std::fabs(double(item.number))};
      }
    }
  }
  int64_t number = random.between(low, high);
  if (!isInteger(beside) || random.chance(80)) {
    number = std::min<int64_t>(number, std::max<int64_t>(low, 9));
    number = std::max<int64_t>(number, std::min<int64_t>(high, -9));
  }
  std::string text = std::to_string(number);
  return {number < 0 ? "(" + text + ")" : text, typeOfInteger(number), number,
          std::fabs(double(number))};
}

Literal Generator::literal(DType beside) {
  if (isFloat(beside) && random.chance(70)) {
    double number = double(random.between(-16, 16)) / 8;
    std::string text = std::to_string(number);
    return {number < 0 ? "(" + text + ")" : text, DType::Float32, 0,
            std::fabs(number)};
  }
  if (isFloat(beside)) {
    return intLiteral(beside, -4, 9);
  }
  return intLiteral(beside, -200, 0x7fffffff);
}

} // namespace nereid::fuzz::source
