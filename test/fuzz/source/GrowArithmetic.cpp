//===- GrowArithmetic.cpp - Operators and functions on numbers ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/SourceGenerator.h"

#include <cmath>

namespace nereid::fuzz::source {

//===----------------------------------------------------------------------===//
// Integers: every operation is exact
//===----------------------------------------------------------------------===//

void Generator::growIntBinary() {
  count(Feature::intArithmetic);
  const char *op = random.pick({"+", "-", "*", "&", "|", "^"});
  bool isBitwise = *op == '&' || *op == '|' || *op == '^';
  Item x = integer(isBitwise);
  if (random.chance(30)) {
    count(Feature::numberBesideTensor);
    Literal number = literal(x.type.element);
    Type type = x.type.with(promoteNumber(x.type.element, number.type));
    define(random.chance(70) ? join(x.variable, " ", op, " ", number.text)
                             : join(number.text, " ", op, " ", x.variable),
           type);
    return;
  }
  Item y = partner(x, [&](DType type) {
    return isInteger(type) && (isBitwise || type != DType::Int1);
  });
  if (isSigned(x.type.element) != isSigned(y.type.element)) {
    count(Feature::mixedSigns);
  }
  if (x.type.shape != y.type.shape) {
    count(Feature::broadcast);
  }
  Type type{promote(x.type.element, y.type.element),
            broadcast(x.type.shape, y.type.shape)};
  bool isWide = type.element == DType::Int32 || type.element == DType::UInt32 ||
                type.element == DType::Int64 || type.element == DType::UInt64;
  if (isWide && x.type == y.type && random.chance(12)) {
    count(Feature::umulhi);
    define(join("tl.umulhi(", x.variable, ", ", y.variable, ")"), type);
    return;
  }
  define(join(x.variable, " ", op, " ", y.variable), type);
}

/// The divisor is from 1 to 8: run-time division truncates, and the smallest
/// number divided by -1 would not exist.
void Generator::growIntDivision() {
  count(Feature::intDivision);
  Item x = integer();
  const char *op = random.chance(50) ? " // " : " % ";
  if (random.chance(40)) {
    Literal number = intLiteral(x.type.element, 1, 100);
    define(join(x.variable, op, number.text),
           x.type.with(
               promoteNumber(x.type.element, number.type, Operator::Division)));
    return;
  }
  Item y = partner(x, [&](DType type) {
    return isInteger(type) && type != DType::Int1 &&
           isSigned(type) == isSigned(x.type.element);
  });
  Type type{promote(x.type.element, y.type.element),
            broadcast(x.type.shape, y.type.shape)};
  Expr divisor = join("((", y.variable, " & 7) + 1)");
  if (random.chance(15)) {
    define(join("tl.cdiv(", x.variable, " & 63, ", divisor, ")"), type);
    return;
  }
  define(join(x.variable, op, divisor), type);
}

void Generator::growShift() {
  count(Feature::shift);
  Item x = integer();
  const char *op = random.chance(50) ? " << " : " >> ";
  if (random.chance(35)) {
    Literal by =
        intLiteral(x.type.element, 0, int64_t(bitWidth(x.type.element)) - 1);
    define(join(x.variable, op, by.text), x.type);
    return;
  }
  Item y = partner(
      x, [&](DType type) { return isInteger(type) && type != DType::Int1; });
  if (isSigned(x.type.element) && isUnsigned(y.type.element)) {
    count(Feature::shiftOfSignedByUnsigned);
  }
  Type type{promote(x.type.element, y.type.element),
            broadcast(x.type.shape, y.type.shape)};
  int64_t width = bitWidth(type.element);
  if (random.chance(70)) {
    define(join(x.variable, op, "(", y.variable, " & ", width - 1, ")"), type);
    return;
  }
  // By more than the width in some elements, which are then not taken.
  count(Feature::shiftTooFarDiscarded);
  Item by = define(
      join(y.variable, " & ", std::min<int64_t>(2 * width - 1, 127)), y.type);
  Expr shift = join(x.variable, op, by.variable);
  Item shifted = options.wideShifts && random.chance(50) ? define(shift, type)
                                                         : step(shift, type);
  Item other = operand(type);
  Type result{promote(shifted.type.element, other.type.element), type.shape};
  define(join("tl.where(", by.variable, " < ", width, ", ", shifted.variable,
              ", ", other.variable, ")"),
         result);
}

void Generator::growIntUnary() {
  count(Feature::intUnary);
  Item x = integer(/*withBool=*/true);
  bool isBool = x.type.element == DType::Int1;
  switch (random.below(isBool ? 1 : 4)) {
  case 0:
    define(join("~", x.variable), x.type);
    return;
  case 1:
    define(join("-", x.variable), x.type);
    return;
  case 2:
    define(join("tl.abs(", x.variable, ")"), x.type);
    return;
  default:
    define(join("(", x.variable, " * ", x.variable, ")"), x.type);
  }
}

void Generator::growMinMax() {
  count(Feature::minMax);
  bool ofInts = random.chance(50);
  Item x = ofInts ? integer() : floating();
  Item y = partner(x, [&](DType type) {
    return ofInts ? isInteger(type) && type != DType::Int1
                  : isArithmeticFloat(type);
  });
  const char *name = random.pick({"tl.minimum(", "tl.maximum("});
  if (random.chance(20)) {
    Literal number =
        ofInts ? intLiteral(x.type.element, 0, 50) : literal(x.type.element);
    define(join(name, x.variable, ", ", number.text, ")"),
           x.type.with(promoteNumber(x.type.element, number.type)), x.isExact,
           std::max(x.magnitude, number.magnitude), false);
    return;
  }
  Type type{promote(x.type.element, y.type.element),
            broadcast(x.type.shape, y.type.shape)};
  bool loses = isFloat(type.element) &&
               (precision(type.element) < precision(x.type.element) ||
                precision(type.element) < precision(y.type.element));
  define(join(name, x.variable, ", ", y.variable, ")"), type,
         x.isExact && y.isExact && !loses, std::max(x.magnitude, y.magnitude),
         x.isWhole && y.isWhole && !loses);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

void Generator::growFloatBinary() {
  count(Feature::floatArithmetic);
  Item x = floating();
  const char *op = random.pick({"+", "-", "*"});
  bool isProduct = *op == '*';
  if (random.chance(25)) {
    count(Feature::numberBesideTensor);
    Literal number = literal(x.type.element);
    double magnitude = isProduct ? x.magnitude * number.magnitude
                                 : x.magnitude + number.magnitude;
    if (magnitude > comfortable(x.type.element)) {
      x = tame(x, comfortable(x.type.element) / 16);
      magnitude = x.magnitude * 16;
    }
    bool isWhole = x.isWhole && isInteger(number.type) &&
                   magnitude <= std::ldexp(1, precision(x.type.element));
    define(random.chance(70) ? join(x.variable, " ", op, " ", number.text)
                             : join(number.text, " ", op, " ", x.variable),
           x.type, x.isExact && isWhole, magnitude, isWhole);
    return;
  }
  bool withInt = random.chance(12);
  Item y = partner(x, [&](DType type) {
    return withInt ? type == DType::Int8 || type == DType::UInt8
                   : isArithmeticFloat(type);
  });
  if (withInt && isInteger(y.type.element)) {
    y.magnitude = 255;
    y.isExact = y.isWhole = true;
    if (bitWidth(y.type.element) > 8) {
      return;
    }
  }
  DType element = promote(x.type.element, y.type.element);
  double limit = comfortable(element);
  x = tame(x, isProduct ? std::sqrt(limit) : limit / 2);
  if (isFloat(y.type.element)) {
    y = tame(y, isProduct ? std::sqrt(limit) : limit / 2);
  } else if (isProduct && limit < 1e5) {
    x = tame(x, limit / 256);
  }
  element = promote(x.type.element, y.type.element);
  double magnitude =
      isProduct ? x.magnitude * y.magnitude : x.magnitude + y.magnitude;
  bool isWhole =
      x.isWhole && y.isWhole &&
      magnitude <= std::ldexp(1, precision(element)) &&
      std::max(x.magnitude, y.magnitude) <= std::ldexp(1, precision(element));
  if (x.type.shape != y.type.shape) {
    count(Feature::broadcast);
  }
  Type type{element, broadcast(x.type.shape, y.type.shape)};
  define(join(x.variable, " ", op, " ", y.variable), type,
         isWhole && x.isExact && y.isExact, magnitude * 1.01, isWhole);
  if (isProduct && x.type == y.type && random.chance(30)) {
    count(Feature::fma);
    Item z = tame(operand(x.type), limit / 2);
    if (z.type.element == x.type.element) {
      define(
          join("tl.fma(", x.variable, ", ", y.variable, ", ", z.variable, ")"),
          x.type, false, magnitude + z.magnitude + 1);
    }
  }
}

void Generator::growFloatDivision() {
  count(Feature::floatDivision);
  Item x = random.chance(75) ? floating() : integer();
  if (isInteger(x.type.element)) {
    x.magnitude = std::ldexp(1, int(bitWidth(x.type.element)));
  }
  if (random.chance(25)) {
    const char *number = random.pick({"2.0", "3.0", "8", "0.75"});
    DType result =
        isInteger(x.type.element)
            ? DType::Float32
            : promoteNumber(x.type.element, DType::Float32, Operator::Division);
    double limit = comfortable(result) / 2;
    if (isInteger(x.type.element) && x.magnitude > limit) {
      return;
    }
    define(join(x.variable, " / ", number), x.type.with(result), false,
           x.magnitude * 1.5);
    return;
  }
  Item y = partner(x, isArithmeticFloat);
  if (!isFloat(y.type.element)) {
    return;
  }
  Expr divisor = join("(tl.abs(", y.variable, ") + 0.5)");
  Type type{promote(x.type.element, y.type.element, Operator::Division),
            broadcast(x.type.shape, y.type.shape)};
  if (x.magnitude > comfortable(DType::Float32) / 4) {
    return;
  }
  if (type.element == DType::Float32 && x.type.element == DType::Float32 &&
      y.type.element == DType::Float32 && random.chance(25)) {
    const char *function = random.pick({"tl.div_rn(", "tl.fdiv("});
    define(join(function, x.variable, ", ", divisor, ")"), type, false,
           x.magnitude * 2.01);
    return;
  }
  define(join(x.variable, " / ", divisor), type, false, x.magnitude * 2.01);
}

void Generator::growFloatUnary() {
  count(Feature::floatUnary);
  Item x = floating();
  switch (random.below(3)) {
  case 0:
    like(join("-", x.variable), x.type, x);
    return;
  case 1:
    like(join("tl.abs(", x.variable, ")"), x.type, x);
    return;
  default:
    if (x.isExact && (x.type.element == DType::Float32 ||
                      x.type.element == DType::Float64)) {
      define(join(random.pick({"tl.floor(", "tl.ceil("}), x.variable, ")"),
             x.type, true, x.magnitude + 1, x.magnitude < 1e6);
      return;
    }
    // Away from numbers where a float ends.
    define(join("tl.clamp(", x.variable, ", -2.0, 2.0)"), x.type, x.isExact, 2,
           false);
  }
}

void Generator::growMath() {
  count(Feature::math);
  Item x = floating();
  if (x.type.element != DType::Float32 && x.type.element != DType::Float64) {
    x = castTo(x, DType::Float32);
  }
  x = tame(x, 8);
  struct Row {
    const char *before, *after;
    double magnitude; ///< of the result, at most, of |x| <= 8
    bool isLibdevice;
  };
  static const Row rows[] = {
      {"tl.exp(", ")", 3000, false},
      {"tl.exp2(", ")", 260, false},
      {"tl.sqrt(tl.abs(", "))", 3, false},
      {"tl.rsqrt(tl.abs(", ") + 0.5)", 1.5, false},
      {"tl.log(tl.abs(", ") + 0.5)", 3, false},
      {"tl.log2(tl.abs(", ") + 0.5)", 4, false},
      {"tl.sin(", ")", 1, false},
      {"tl.cos(", ")", 1, false},
      {"tl.erf(", ")", 1, false},
      {"tl.sigmoid(", ")", 1, false},
      {"libdevice.tanh(", ")", 1, true},
      {"libdevice.log1p(tl.abs(", "))", 3, true},
      {"libdevice.expm1(", ")", 3000, true},
      {"libdevice.atan(", ")", 2, true},
      {"libdevice.pow(tl.abs(", ") + 0.5, 1.5)", 30, true}};
  const Row &row = rows[random.below(std::size(rows))];
  if (row.isLibdevice) {
    // Operands of libdevice functions have exactly one type.
    if (x.type.element != DType::Float32) {
      return;
    }
    count(Feature::libdevice);
    program.needsLibdevice = true;
  }
  define(join(row.before, x.variable, row.after), x.type, false, row.magnitude);
}

} // namespace nereid::fuzz::source
