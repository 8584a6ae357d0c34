//===- GrowSelect.cpp - Comparisons, selections, conversions --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

#include <cmath>

namespace nereid::fuzz::source {

static const char *anyComparison(Random &random) {
  return random.pick({" < ", " <= ", " > ", " >= ", " == ", " != "});
}

/// An int1 of this shape, decided the same way everywhere.
Item Generator::comparison(const Dims &shape) {
  Type type{DType::Int1, shape};
  auto x = find([&](const Item &i) {
    return i.type.shape == shape && i.isExact &&
           i.type.element != DType::Int1 && !isFp8(i.type.element);
  });
  if (!x) {
    x = inHelper || random.chance(50) ? indices({DType::Int32, shape})
                                      : load({intType(), shape});
  }
  return define(join(x->variable, anyComparison(random),
                     intLiteral(isInteger(x->type.element) ? x->type.element
                                                           : DType::Int32,
                                isUnsigned(x->type.element) ? 0 : -5, 40)
                         .text),
                type);
}

void Generator::growCompare() {
  count(Feature::compare);
  bool ofInts = random.chance(60);
  auto x = find([&](const Item &i) {
    return i.isExact && (ofInts ? isInteger(i.type.element)
                                : isArithmeticFloat(i.type.element));
  });
  if (!x) {
    comparison(anyShape());
    return;
  }
  if (random.chance(40)) {
    Literal number = literal(x->type.element);
    define(join(x->variable, anyComparison(random), number.text),
           x->type.with(DType::Int1));
    return;
  }
  Item y = partner(*x, [&](DType type) {
    return ofInts ? isInteger(type) : isArithmeticFloat(type);
  });
  if (!y.isExact) {
    return;
  }
  define(join(x->variable, anyComparison(random), y.variable),
         {DType::Int1, broadcast(x->type.shape, y.type.shape)});
}

/// A scalar int1.
Item Generator::scalarCondition() {
  auto known =
      find([&](const Item &i) { return i.type == Type{DType::Int1, {}}; });
  return known && random.chance(40) ? *known : comparison({});
}

void Generator::growWhere() {
  count(Feature::where);
  bool ofInts = random.chance(50);
  Item x = ofInts ? integer(/*withBool=*/true) : floating();
  auto chosen = find([&](const Item &i) {
    return i.type.element == DType::Int1 && i.type.shape == x.type.shape;
  });
  Item condition =
      chosen && random.chance(70) ? *chosen : comparison(x.type.shape);
  if (random.chance(30)) {
    Literal number = literal(x.type.element);
    DType element = promoteNumber(x.type.element, number.type);
    bool loses = isFloat(element) && precision(element) < 12;
    define(random.chance(50) ? join("tl.where(", condition.variable, ", ",
                                    x.variable, ", ", number.text, ")")
                             : join("tl.where(", condition.variable, ", ",
                                    number.text, ", ", x.variable, ")"),
           x.type.with(element), x.isExact && !loses,
           std::max(x.magnitude, number.magnitude),
           x.isWhole && isInteger(number.type));
    return;
  }
  Item y = partner(x, [&](DType type) {
    return ofInts ? isInteger(type) : isArithmeticFloat(type);
  });
  DType element = promote(x.type.element, y.type.element);
  bool loses = isFloat(element) &&
               precision(element) < std::max(precision(x.type.element),
                                             precision(y.type.element));
  define(join("tl.where(", condition.variable, ", ", x.variable, ", ",
              y.variable, ")"),
         {element, broadcast(x.type.shape, y.type.shape)},
         x.isExact && y.isExact && !loses, std::max(x.magnitude, y.magnitude),
         x.isWhole && y.isWhole && !loses);
}

void Generator::growLogic() {
  count(Feature::boolOperators);
  Item x = scalarCondition(), y = scalarCondition();
  Type type{DType::Int1, {}};
  switch (random.below(3)) {
  case 0:
    define(join(x.variable, " and ", y.variable), type);
    return;
  case 1:
    define(join(x.variable, " or ", y.variable), type);
    return;
  default:
    define(join("not ", x.variable), type);
  }
}

/// `a if c else b`: by a scalar, of blocks of one type; or by a constant.
void Generator::growTernary() {
  count(Feature::ternary);
  Item x = random.chance(50) ? integer() : floating();
  Item y = operand(x.type);
  if (!statics.empty() && random.chance(30)) {
    const StaticItem &which = random.pickFrom(statics);
    int64_t against = random.between(0, 40);
    define(join(x.variable, " if ", which.variable, " > ", against, " else ",
                y.variable),
           x.type, x.isExact && y.isExact, std::max(x.magnitude, y.magnitude),
           x.isWhole && y.isWhole);
    return;
  }
  Item condition = scalarCondition();
  // A branch of its own: in the middle of an expression nothing is won.
  define(join(x.variable, " if ", condition.variable, " else ", y.variable),
         x.type, x.isExact && y.isExact, std::max(x.magnitude, y.magnitude),
         x.isWhole && y.isWhole);
}

void Generator::growCast() {
  auto x = find([](const Item &) { return true; });
  if (!x) {
    return;
  }
  DType to = anyElement();
  if (isFp8(x->type.element) || random.chance(8)) {
    to = isFp8(x->type.element)
             ? random.pick({DType::Float32, DType::Float16, DType::BFloat16})
             : random.pick({DType::Float8E4M3, DType::Float8E5M2});
  }
  castTo(*x, to);
}

/// Between integers, and from exact floats to integers. To floats only numbers
/// that are made for it: any bits would be NaN or huge.
void Generator::growBitcast() {
  count(Feature::bitcast);
  Item x = random.chance(50) ? integer() : floating();
  auto ofWidth = [&](bool withSign) {
    switch (bitWidth(x.type.element)) {
    case 8:
      return withSign ? DType::Int8 : DType::UInt8;
    case 16:
      return withSign ? DType::Int16 : DType::UInt16;
    case 32:
      return withSign ? DType::Int32 : DType::UInt32;
    default:
      return withSign ? DType::Int64 : DType::UInt64;
    }
  };
  if (isInteger(x.type.element)) {
    if (x.type.element == DType::Int32 && random.chance(40)) {
      // From 1 to 2.
      define(join("((", x.variable,
                  " & 0x7FFFFF) | 0x3F800000).to(tl.float32, bitcast=True)"),
             x.type.with(DType::Float32), true, 2);
      return;
    }
    DType to = ofWidth(random.chance(50));
    define(join(x.variable, ".to(", text(to), ", bitcast=True)"),
           x.type.with(to));
    return;
  }
  if (x.isExact) {
    DType to = ofWidth(random.chance(50));
    define(join(x.variable, ".to(", text(to), ", bitcast=True)"),
           x.type.with(to));
  }
}

/// What the generator knows of a variable, said in the program.
void Generator::growStaticAssert() {
  auto x = find([](const Item &) { return true; });
  if (!x) {
    return;
  }
  count(Feature::staticAssert);
  if (random.chance(70) || x->type.isScalar()) {
    effect(join("tl.static_assert(", x->variable,
                ".dtype == ", text(x->type.element), ")"));
    return;
  }
  size_t dim = size_t(random.below(int64_t(x->type.shape.size())));
  effect(join("tl.static_assert(", x->variable, ".shape[", int64_t(dim),
              "] == ", x->type.shape[dim], ")"));
}

} // namespace nereid::fuzz::source
