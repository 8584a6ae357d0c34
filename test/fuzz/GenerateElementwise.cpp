//===- GenerateElementwise.cpp - Arithmetic of the generator --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Generator.h"

#include <cmath>

namespace nereid::fuzz {

using namespace mlir;

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

void Generator::growIntBinary() {
  Type type = typeOf(anyShape(), intType(/*withBool=*/true));
  Value x = operand(type).value, y = operand(type).value;
  unsigned width = tile::getElement(type).getIntOrFloatBitWidth();
  auto divisor = [&]() -> Value { // 1 .. 8
    Value low = create<arith::AndIOp>(y, number(type, int64_t{7}));
    return create<arith::AddIOp>(low, number(type, int64_t{1}));
  };
  auto distance = [&]() -> Value { // by the width and more, too: it clamps
    switch (random.below(4)) {
    case 0:
      return y;
    case 1:
      return number(type, random.below(2 * width));
    default:
      break;
    }
    return create<arith::AndIOp>(y, number(type, int64_t{width - 1}));
  };
  int64_t choice = random.below(width == 1 ? 3 : 22);
  switch (choice) {
  case 0:
    add(create<arith::AndIOp>(x, y));
    return;
  case 1:
    add(create<arith::OrIOp>(x, y));
    return;
  case 2:
    add(create<arith::XOrIOp>(x, y));
    return;
  case 3:
  case 4:
  case 5:
    add(create<arith::AddIOp>(x, y));
    return;
  case 6:
  case 7:
    add(create<arith::SubIOp>(x, y));
    return;
  case 8:
  case 9:
    add(create<arith::MulIOp>(x, y));
    return;
  case 10:
    add(create<arith::MaxSIOp>(x, y));
    return;
  case 11:
    add(create<arith::MinSIOp>(x, y));
    return;
  case 12:
    add(create<arith::MaxUIOp>(x, y));
    return;
  case 13:
    add(create<arith::MinUIOp>(x, y));
    return;
  case 14:
    add(create<arith::DivSIOp>(x, divisor()));
    return;
  case 15:
    add(create<arith::RemSIOp>(x, divisor()));
    return;
  case 16:
    add(create<arith::DivUIOp>(x, divisor()));
    return;
  case 17:
    add(create<arith::RemUIOp>(x, divisor()));
    return;
  case 18:
    add(create<arith::ShLIOp>(x, distance()));
    return;
  case 19:
    add(create<arith::ShRUIOp>(x, distance()));
    return;
  case 20:
    add(create<arith::ShRSIOp>(x, distance()));
    return;
  default: {
    Operation *wide = random.chance(50)
                          ? create<arith::MulUIExtendedOp>(x, y).getOperation()
                          : create<arith::MulSIExtendedOp>(x, y).getOperation();
    add(wide->getResult(0));
    add(wide->getResult(1));
    return;
  }
  }
}

void Generator::growIntUnary() {
  Type type = typeOf(anyShape(), intType());
  Value x = operand(type).value;
  switch (random.below(5)) {
  case 4:
    add(create<math::CountTrailingZerosOp>(x));
    return;
  case 0:
    add(create<math::AbsIOp>(x));
    return;
  case 1:
    add(create<math::CtPopOp>(x));
    return;
  case 2:
    add(create<math::CountLeadingZerosOp>(x));
    return;
  default:
    add(create<arith::SubIOp>(number(type, int64_t{0}), x));
    return;
  }
}

//===----------------------------------------------------------------------===//
// Comparisons and selection
//===----------------------------------------------------------------------===//

void Generator::growCompare() {
  Dims shape = anyShape();
  if (random.chance(65)) {
    Type type = typeOf(shape, intType(true));
    auto predicate = static_cast<arith::CmpIPredicate>(random.below(10));
    add(create<arith::CmpIOp>(predicate, operand(type).value,
                              operand(type).value));
    return;
  }
  // What rounding has touched decides nothing that can be checked.
  Type type = typeOf(shape, floatType());
  auto exact = [&] {
    auto item =
        find([&](const Item &i) { return i.type() == type && i.isExact; });
    return item ? *item : load(type);
  };
  auto predicate = static_cast<arith::CmpFPredicate>(random.between(1, 14));
  add(create<arith::CmpFOp>(predicate, exact().value, exact().value));
}

void Generator::growSelect() {
  Dims shape = anyShape();
  Type element = random.chance(50) ? intType() : anyElement();
  Type type = typeOf(shape, element);
  Item yes = operand(type), no = operand(type);
  bool scalar = !shape.empty() && random.chance(10);
  Value condition =
      operand(scalar ? Type(b.getI1Type()) : typeOf(shape, b.getI1Type()))
          .value;
  add(create<arith::SelectOp>(condition, yes.value, no.value),
      yes.isExact && no.isExact, std::max(yes.magnitude, no.magnitude));
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

void Generator::growFloatBinary() {
  Type type = typeOf(anyShape(), floatType());
  Item x = operand(type), y = operand(type);
  bool exact = x.isExact && y.isExact;
  double larger = std::max(x.magnitude, y.magnitude);
  switch (random.below(14)) {
  case 0:
  case 1:
  case 2:
    add(create<arith::AddFOp>(x.value, y.value), false, 2 * larger);
    return;
  case 3:
  case 4:
    add(create<arith::SubFOp>(x.value, y.value), false, 2 * larger);
    return;
  case 5:
  case 6:
  case 7:
    add(create<arith::MulFOp>(x.value, y.value), false,
        x.magnitude * y.magnitude);
    return;
  case 8: { // by at least a half, or by anything that is exact
    Value divisor = y.value;
    if (!y.isExact || random.chance(80)) {
      divisor = create<arith::AddFOp>(create<math::AbsFOp>(y.value),
                                      number(type, 0.5));
    }
    add(create<arith::DivFOp>(x.value, divisor, approximation()), false,
        2 * x.magnitude);
    return;
  }
  case 9:
    add(create<arith::MaximumFOp>(x.value, y.value), exact, larger);
    return;
  case 10:
    add(create<arith::MinimumFOp>(x.value, y.value), exact, larger);
    return;
  case 11:
    add(random.chance(50)
            ? create<arith::MaxNumFOp>(x.value, y.value).getResult()
            : create<arith::MinNumFOp>(x.value, y.value),
        exact, larger);
    return;
  case 12: {
    Item z = operand(type);
    add(create<math::FmaOp>(x.value, y.value, z.value), false,
        x.magnitude * y.magnitude + z.magnitude);
    return;
  }
  default:
    if (exact && random.chance(50)) {
      add(create<arith::RemFOp>(x.value, y.value), true, x.magnitude);
    } else {
      add(create<math::CopySignOp>(x.value, y.value), exact, x.magnitude);
    }
    return;
  }
}

void Generator::growFloatUnary() {
  Type type = typeOf(anyShape(), floatType());
  Item x = operand(type);
  switch (random.below(8)) {
  case 5:
    add(create<math::RoundOp>(x.value), x.isExact, x.magnitude);
    return;
  case 6:
    if (x.isExact) {
      add(random.chance(50) ? create<math::IsNaNOp>(x.value).getResult()
                            : create<math::IsInfOp>(x.value));
    }
    return;
  case 0:
    add(create<arith::NegFOp>(x.value), x.isExact, x.magnitude);
    return;
  case 1:
    add(create<math::AbsFOp>(x.value), x.isExact, x.magnitude);
    return;
  case 2:
    add(create<math::FloorOp>(x.value), x.isExact, x.magnitude);
    return;
  case 3:
    add(create<math::CeilOp>(x.value), x.isExact, x.magnitude);
    return;
  case 4:
    add(create<math::TruncOp>(x.value), x.isExact, x.magnitude);
    return;
  default:
    add(create<math::RoundEvenOp>(x.value), x.isExact, x.magnitude);
    return;
  }
}

namespace {

/// Where a function is asked: neither overflow nor a pole is near.
enum class Domain { Any, Positive, Unit, AboveOne };

struct Function {
  const char *name;
  Domain domain;
  double magnitude; ///< of the result; 0: that of cosh
};

constexpr Function functions[] = {
    {"math.exp", Domain::Any, 0},        {"math.exp2", Domain::Any, 256},
    {"math.expm1", Domain::Any, 0},      {"math.log", Domain::Positive, 4},
    {"math.log2", Domain::Positive, 4},  {"math.log10", Domain::Positive, 2},
    {"math.log1p", Domain::Positive, 4}, {"math.sqrt", Domain::Positive, 4},
    {"math.rsqrt", Domain::Positive, 2}, {"math.cbrt", Domain::Any, 2},
    {"math.sin", Domain::Any, 1},        {"math.cos", Domain::Any, 1},
    {"math.tan", Domain::Unit, 2},       {"math.asin", Domain::Unit, 1},
    {"math.acos", Domain::Unit, 3},      {"math.atan", Domain::Any, 2},
    {"math.sinh", Domain::Any, 0},       {"math.cosh", Domain::Any, 0},
    {"math.tanh", Domain::Any, 1},       {"math.asinh", Domain::Any, 4},
    {"math.acosh", Domain::AboveOne, 4}, {"math.atanh", Domain::Unit, 1},
    {"math.erf", Domain::Any, 1},        {"math.erfc", Domain::Any, 2}};

} // namespace

void Generator::growMath() {
  Type type = typeOf(anyShape(), mathFloatType());
  Item item = operand(type);
  Value x = bounded(item, 8).value;
  double limit = std::min(item.magnitude, 8.0);
  auto positive = [&](double least) -> Value {
    return create<arith::AddFOp>(create<math::AbsFOp>(x), number(type, least));
  };
  auto unit = [&]() -> Value {
    return create<arith::MulFOp>(create<math::SinOp>(x), number(type, 0.75));
  };
  int64_t choice = random.below(std::size(functions) + 4);
  if (choice < int64_t(std::size(functions))) {
    const Function &function = functions[choice];
    Value argument = function.domain == Domain::Any        ? x
                     : function.domain == Domain::Unit     ? unit()
                     : function.domain == Domain::Positive ? positive(0.25)
                                                           : positive(1.0);
    OperationState state(loc, function.name, argument, type);
    if (state.name.getStringRef() == "math.exp") {
      state.addAttribute("fastmath", arith::FastMathFlagsAttr::get(
                                         b.getContext(), approximation()));
    }
    double magnitude =
        function.magnitude == 0 ? std::cosh(limit) : function.magnitude;
    add(b.create(state)->getResult(0), false, magnitude);
  } else if (choice % 4 == 0) {
    add(create<math::PowFOp>(positive(0.25), unit()), false, 8);
  } else if (choice % 4 == 1) {
    add(create<math::Atan2Op>(x, positive(0.25)), false, 2);
  } else { // the logistic function, as kernels write it
    Value one = number(type, 1.0);
    Value e = create<math::ExpOp>(create<arith::NegFOp>(x), approximation());
    Value sum = create<arith::AddFOp>(one, e);
    add(create<arith::DivFOp>(one, sum, approximation()), false, 1);
  }
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

void Generator::growCast() {
  auto item = find([&](const Item &i) {
    return !isa<tile::PtrType>(tile::getElement(i.type()));
  });
  Item source = item ? *item : fresh(typeOf(anyShape(), anyElement()));
  Type element = anyElement();
  // To an integer, only from what is the same everywhere.
  if (isa<IntegerType>(element) &&
      isa<FloatType>(tile::getElement(source.type())) && !source.isExact) {
    element = floatType();
  }
  Item result = castTo(source, element);
  add(result.value, result.isExact, result.magnitude);
}

void Generator::growBitcast() {
  Dims shape = anyShape();
  unsigned width = random.pick({16u, 32u, 32u, 64u});
  Type integer = b.getIntegerType(width);
  Type floating =
      width == 16   ? Type(random.chance(50) ? b.getF16Type() : b.getBF16Type())
      : width == 32 ? Type(b.getF32Type())
                    : Type(b.getF64Type());
  Type from = typeOf(shape, floating), to = typeOf(shape, integer);
  auto item =
      find([&](const Item &i) { return i.type() == from && i.isExact; });
  if (!item || random.chance(40)) { // any bits, then mostly quiet ones
    Value bits = operand(to).value;
    add(create<arith::BitcastOp>(from, bits), true, 64);
    return;
  }
  Value clean =
      create<arith::SelectOp>(create<arith::CmpFOp>(arith::CmpFPredicate::ORD,
                                                    item->value, item->value),
                              item->value, number(from, 1.0));
  add(create<arith::BitcastOp>(to, clean));
}

} // namespace nereid::fuzz
