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
  auto distance = [&]() -> Value {
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
    auto wide = create<arith::MulUIExtendedOp>(x, y);
    add(wide.getLow());
    add(wide.getHigh());
    return;
  }
  }
}

void Generator::growIntUnary() {
  Type type = typeOf(anyShape(), intType());
  Value x = operand(type).value;
  switch (random.below(4)) {
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
    add(create<arith::DivFOp>(x.value, divisor), false, 2 * x.magnitude);
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
  switch (random.below(6)) {
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

/// Arguments are brought to where the function neither overflows nor falls
/// into a pole.
void Generator::growMath() {
  Type type = typeOf(anyShape(), mathFloatType());
  Item item = operand(type);
  Value x = bounded(item, 8).value;
  double limit = std::min(item.magnitude, 8.0);
  auto positive = [&]() -> Value {
    return create<arith::AddFOp>(create<math::AbsFOp>(x), number(type, 0.25));
  };
  auto unit = [&]() -> Value { return create<math::SinOp>(x); };
  switch (random.below(18)) {
  case 0:
    add(create<math::ExpOp>(x), false, std::exp(limit));
    return;
  case 1:
    add(create<math::Exp2Op>(x), false, std::exp2(limit));
    return;
  case 2:
    add(create<math::LogOp>(positive()), false, 4);
    return;
  case 3:
    add(create<math::Log2Op>(positive()), false, 4);
    return;
  case 4:
    add(create<math::SqrtOp>(positive()), false, 4);
    return;
  case 5:
    add(create<math::RsqrtOp>(positive()), false, 2);
    return;
  case 6:
    add(create<math::SinOp>(x), false, 1);
    return;
  case 7:
    add(create<math::CosOp>(x), false, 1);
    return;
  case 8:
    add(create<math::TanhOp>(x), false, 1);
    return;
  case 9:
    add(create<math::ErfOp>(x), false, 1);
    return;
  case 10:
    add(create<math::PowFOp>(positive(), unit()), false, 8);
    return;
  case 11:
    add(create<math::Log1pOp>(positive()), false, 4);
    return;
  case 12:
    add(create<math::ExpM1Op>(x), false, std::exp(limit));
    return;
  case 13:
    add(create<math::AtanOp>(x), false, 2);
    return;
  case 14:
    add(create<math::Atan2Op>(x, positive()), false, 2);
    return;
  case 15:
    add(create<math::AsinOp>(create<arith::MulFOp>(unit(), number(type, 0.75))),
        false, 1);
    return;
  case 16:
    add(create<math::CoshOp>(x), false, std::cosh(limit));
    return;
  default: { // the logistic function, as kernels write it
    Value one = number(type, 1.0);
    Value e = create<math::ExpOp>(create<arith::NegFOp>(x));
    add(create<arith::DivFOp>(one, create<arith::AddFOp>(one, e)), false, 1);
    return;
  }
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
