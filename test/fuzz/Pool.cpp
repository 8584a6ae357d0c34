//===- Pool.cpp - Types and values of the generator -----------------------===//
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
// Types and shapes
//===----------------------------------------------------------------------===//

Type Generator::intType(bool withBool) {
  if (withBool && random.chance(15)) {
    return b.getI1Type();
  }
  // i32 is what kernels are made of.
  return b.getIntegerType(random.pick({8, 16, 32, 32, 32, 64}));
}

Type Generator::floatType() {
  switch (random.below(8)) {
  case 0:
    return b.getF16Type();
  case 1:
    return b.getBF16Type();
  case 2:
    return b.getF64Type();
  default:
    return b.getF32Type();
  }
}

Type Generator::mathFloatType() {
  return random.chance(15) ? Type(b.getF64Type()) : Type(b.getF32Type());
}

Type Generator::anyElement() {
  if (random.chance(6)) {
    return random.chance(50) ? Type(Float8E5M2Type::get(b.getContext()))
                             : Type(Float8E4M3FNType::get(b.getContext()));
  }
  return random.chance(50) ? intType() : floatType();
}

/// One, small, primes, powers of two and their neighbours, no power of two.
static int64_t anyDim(Random &random, int64_t limit) {
  int64_t dim = 1;
  if (random.chance(50)) {
    dim = random.pick<int64_t>({1, 2, 3, 4, 5, 7, 8, 13});
  } else if (random.chance(70)) {
    dim = random.pick<int64_t>({15, 16, 17, 31, 32, 33, 48, 61, 64, 65});
  } else {
    dim = random.pick<int64_t>(
        {100, 127, 128, 129, 255, 256, 257, 768, 1023, 1024, 1025});
  }
  return std::min(dim, limit);
}

Dims Generator::anyShape() {
  // beginFunction adds an empty favourite while it asks for its shape.
  if (!shapes.empty() && !shapes.back().empty() && random.chance(80)) {
    return random.pickFrom(shapes);
  }
  int64_t rank = random.pick<int64_t>({0, 1, 1, 1, 1, 2, 2, 2, 2, 3});
  Dims shape;
  int64_t left = options.maxElements;
  for (int64_t d = 0; d < rank; ++d) {
    shape.push_back(anyDim(random, left));
    left /= shape.back();
  }
  return shape;
}

Type Generator::typeOf(ArrayRef<int64_t> shape, Type element) {
  return shape.empty() ? element : Type(RankedTensorType::get(shape, element));
}

//===----------------------------------------------------------------------===//
// The pool
//===----------------------------------------------------------------------===//

Item Generator::add(Value value, bool isExact, double magnitude) {
  Item item{value, isExact, magnitude};
  // Overflow makes a value incomparable: scale by a power of two in time.
  if (isa<FloatType>(tile::getElement(value.getType())) && magnitude > 1e3) {
    item = bounded(item, 64);
  }
  pool.push_back(item);
  return item;
}

std::optional<Item>
Generator::find(const std::function<bool(const Item &)> &wanted) {
  if (pool.empty()) {
    return std::nullopt;
  }
  size_t n = pool.size(), first = static_cast<size_t>(random.below(n));
  for (size_t i = 0; i < n; ++i) {
    const Item &item = pool[(first + i) % n];
    if (wanted(item)) {
      return item;
    }
  }
  return std::nullopt;
}

Item Generator::operand(Type type) {
  if (random.chance(75)) {
    if (auto item = find([&](const Item &i) { return i.type() == type; })) {
      return *item;
    }
  }
  return fresh(type);
}

Item Generator::fresh(Type type) {
  Type element = tile::getElement(type);
  ArrayRef<int64_t> shape = tile::getShape(type);
  if (element.isInteger(1)) {
    Item a = operand(typeOf(shape, b.getI32Type()));
    return add(create<arith::CmpIOp>(arith::CmpIPredicate::slt, a.value,
                                     constant(a.type()).value));
  }
  if (random.chance(12)) {
    return constant(type);
  }
  if (isa<IntegerType>(element) && !shape.empty() && random.chance(20)) {
    return indices(type);
  }
  if (random.chance(25)) { // a value of the shape, or a scalar, cast
    auto same = find([&](const Item &i) {
      ArrayRef<int64_t> other = tile::getShape(i.type());
      return (other == shape || other.empty()) &&
             !isa<tile::PtrType>(tile::getElement(i.type()));
    });
    if (same) {
      Item item = castTo(*same, element);
      if (tile::getShape(item.type()) != shape) {
        item.value =
            create<tile::SplatOp>(cast<RankedTensorType>(type), item.value);
      }
      return add(item.value, item.isExact, item.magnitude);
    }
  }
  return load(type);
}

Value Generator::number(Type type, double value) {
  auto element = cast<FloatType>(tile::getElement(type));
  TypedAttr attr = b.getFloatAttr(element, value);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    attr = DenseElementsAttr::get(tensor, Attribute(attr));
  }
  return create<arith::ConstantOp>(attr);
}

Value Generator::number(Type type, int64_t value) {
  auto element = cast<IntegerType>(tile::getElement(type));
  APInt bits(element.getWidth(), static_cast<uint64_t>(value), false, true);
  TypedAttr attr = b.getIntegerAttr(element, bits);
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    attr = DenseElementsAttr::get(tensor, Attribute(attr));
  }
  return create<arith::ConstantOp>(attr);
}

Item Generator::constant(Type type) {
  Type element = tile::getElement(type);
  ArrayRef<int64_t> shape = tile::getShape(type);
  bool isFloat = isa<FloatType>(element);
  auto any = [&]() -> Attribute {
    if (isFloat) {
      return b.getFloatAttr(
          element, random.pick({0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 7.0, 1.25}));
    }
    int64_t value =
        random.chance(70) ? random.between(-4, 16) : int64_t(random.next());
    unsigned width = element.getIntOrFloatBitWidth();
    return b.getIntegerAttr(element,
                            APInt(width, uint64_t(value), false, true));
  };
  TypedAttr attr = cast<TypedAttr>(any());
  if (!shape.empty()) {
    SmallVector<Attribute> values = {attr};
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getNumElements() <= 16 && random.chance(50)) {
      while (int64_t(values.size()) < tensor.getNumElements()) {
        values.push_back(any());
      }
    }
    attr = DenseElementsAttr::get(tensor, values);
  }
  return add(create<arith::ConstantOp>(attr));
}

/// start + i along one dimension, in the width asked for.
Item Generator::indices(Type type) {
  ArrayRef<int64_t> shape = tile::getShape(type);
  size_t dim = static_cast<size_t>(random.below(int64_t(shape.size())));
  // Whole multiples below zero: quotients and remainders change there.
  int64_t start = random.chance(60)   ? 0
                  : random.chance(50) ? random.between(-9, 9)
                                      : -random.pick<int64_t>({16, 32, 64, 8});
  Value line =
      create<tile::RangeOp>(RankedTensorType::get({shape[dim]}, b.getI32Type()),
                            int32_t(start), int32_t(start + shape[dim]));
  Item item{alongDim(line, shape, dim)};
  item = castTo(item, tile::getElement(type));
  return add(item.value);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Scales by a power of two: nothing is rounded unless it underflows.
Item Generator::bounded(const Item &item, double limit) {
  if (item.magnitude <= limit ||
      !isa<FloatType>(tile::getElement(item.type()))) {
    return item;
  }
  int down = std::min(60, std::ilogb(item.magnitude / limit) + 1);
  Type element = tile::getElement(item.type());
  if (element.getIntOrFloatBitWidth() == 8) {
    return {number(item.type(), 1.0), true, 1};
  }
  if (element.isF16()) {
    down = std::min(down, 14);
  }
  Value scaled = create<arith::MulFOp>(
      item.value, number(item.type(), std::ldexp(1.0, -down)));
  return {scaled, item.isExact, std::ldexp(item.magnitude, -down)};
}

static bool isFp8(Type element) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(element);
}

Item Generator::castTo(const Item &item, Type element) {
  Type from = tile::getElement(item.type());
  Type type = tile::withElement(item.type(), element);
  if (from == element) {
    return item;
  }
  if (isa<IntegerType>(from) && isa<IntegerType>(element)) {
    if (from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth()) {
      return {create<arith::TruncIOp>(type, item.value)};
    }
    return {random.chance(50)
                ? create<arith::ExtSIOp>(type, item.value).getResult()
                : create<arith::ExtUIOp>(type, item.value)};
  }
  if (isa<IntegerType>(from)) {
    if (isFp8(element)) {
      return castTo(castTo(item, b.getF32Type()), element);
    }
    // Seven bits are exact in every format.
    if (from.getIntOrFloatBitWidth() > 8 &&
        (element.isF16() || random.chance(40))) {
      Value low =
          create<arith::AndIOp>(item.value, number(item.type(), int64_t{127}));
      return {create<arith::UIToFPOp>(type, low), true, 127};
    }
    bool isSigned = random.chance(50);
    unsigned width = from.getIntOrFloatBitWidth();
    Value value = isSigned
                      ? create<arith::SIToFPOp>(type, item.value).getResult()
                      : create<arith::UIToFPOp>(type, item.value);
    Item result{value,
                width <= 8 || (width <= 16 && element.isF32()) ||
                    element.isF64(),
                std::ldexp(1.0, int(width))};
    return bounded(result, 64);
  }
  if (isa<IntegerType>(element)) {
    return fpToInt(item, element);
  }
  bool isNarrow = isFp8(from) || isFp8(element);
  bool narrows = from.getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth();
  if (isFp8(from) && isFp8(element)) {
    return castTo(castTo(item, b.getF32Type()), element);
  }
  bool towardZero = narrows && random.chance(10);
  if (isNarrow || towardZero) {
    auto rounding =
        towardZero ? tile::Rounding::TowardZero : tile::Rounding::Nearest;
    Value value = create<tile::ConvertFloatOp>(type, item.value, rounding);
    return {value, item.isExact && !narrows && !isFp8(element), item.magnitude};
  }
  if (narrows) {
    return {create<arith::TruncFOp>(type, item.value), false, item.magnitude};
  }
  if (from.getIntOrFloatBitWidth() == element.getIntOrFloatBitWidth()) {
    // f16 and bf16 meet in f32.
    return castTo(castTo(item, b.getF32Type()), element);
  }
  return {create<arith::ExtFOp>(type, item.value), item.isExact,
          item.magnitude};
}

/// Of any float, or of one that was brought into the range before: NaN becomes
/// 0, and what lies outside of the range its end, in both.
Item Generator::fpToInt(const Item &item, Type element) {
  Item wide = castTo(item, b.getF32Type());
  if (tile::getElement(item.type()).isF64()) {
    wide = item;
  }
  Type type = wide.type();
  Value ordered =
      create<arith::CmpFOp>(arith::CmpFPredicate::ORD, wide.value, wide.value);
  Value clean = create<arith::SelectOp>(ordered, wide.value, number(type, 0.0));
  bool isSigned = random.chance(60);
  unsigned width = element.getIntOrFloatBitWidth();
  // The largest power of two below the end is in every float format.
  double top = std::ldexp(1.0, int(width) - (isSigned ? 2 : 1));
  Value low =
      create<arith::MaximumFOp>(clean, number(type, isSigned ? -top : 0.0));
  Value both = create<arith::MinimumFOp>(low, number(type, top));
  both = random.chance(50) ? wide.value : both;
  Type result = tile::withElement(type, element);
  return {isSigned ? create<arith::FPToSIOp>(result, both).getResult()
                   : create<arith::FPToUIOp>(result, both)};
}

} // namespace nereid::fuzz
