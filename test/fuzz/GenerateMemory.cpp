//===- GenerateMemory.cpp - Loads, stores and atomics of the generator ----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Generator.h"

#include "test/fuzz/Launch.h"

#include <numeric>

namespace nereid::fuzz {

using namespace mlir;

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

Value Generator::parameter(Type type, ArrayRef<NamedAttribute> attrs) {
  parameterAttrs.push_back(b.getDictionaryAttr(attrs));
  return function.getBody().front().addArgument(type, loc);
}

/// An existing scalar parameter in the range, or a new one.
KnownScalar Generator::scalarParameter(int64_t low, int64_t high) {
  int64_t value = random.between(low, high);
  auto number = b.getI32IntegerAttr(int32_t(value));
  SmallVector<NamedAttribute> attrs = {b.getNamedAttr(valueAttr, number)};
  if (value % 16 == 0 && random.chance(isPlain ? 100 : 50)) {
    attrs.push_back(
        b.getNamedAttr(tile::divisibilityAttr, b.getI32IntegerAttr(16)));
  }
  return {parameter(b.getI32Type(), attrs), value};
}

Value Generator::arrayParameter(Type element, int64_t count, StringRef fill,
                                bool isOutput, int alignedPercent) {
  SmallVector<NamedAttribute> attrs = {
      b.getNamedAttr(countAttr, b.getI64IntegerAttr(count))};
  if (!fill.empty()) {
    attrs.push_back(b.getNamedAttr(fillAttr, b.getStringAttr(fill)));
  }
  if (isOutput) {
    attrs.push_back(b.getNamedAttr(outputAttr, b.getUnitAttr()));
  }
  if (random.chance(alignedPercent)) {
    attrs.push_back(
        b.getNamedAttr(tile::divisibilityAttr, b.getI32IntegerAttr(16)));
  }
  // An i1 is a byte in memory.
  Type pointee = element.isInteger(1) ? Type(b.getI8Type()) : element;
  return parameter(tile::PtrType::get(pointee), attrs);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Row-major or another order of the dimensions, with or without gaps; if the
/// places need not be distinct, also with dimensions that do not move.
Placement Generator::placement(ArrayRef<int64_t> shape, bool disjoint) {
  SmallVector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0); // outermost first
  if (random.chance(25)) {
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[random.below(int64_t(i))]);
    }
  }
  Placement result;
  result.strides.resize(shape.size());
  int64_t stride = random.chance(85) ? 1 : random.between(2, 3);
  for (size_t i = order.size(); i-- > 0;) {
    size_t d = order[i];
    bool still = !disjoint && random.chance(8);
    result.strides[d] = still ? 0 : stride;
    result.extent += (shape[d] - 1) * result.strides[d];
    if (!still) {
      stride *= shape[d];
      stride += random.chance(25) ? random.between(1, 5) : 0;
    }
  }
  return result;
}

/// `line`, one element for each index of `dim`, in every element of `shape`.
Value Generator::alongDim(Value line, ArrayRef<int64_t> shape, size_t dim) {
  Type element = tile::getElement(line.getType());
  Dims thin(shape.size(), 1);
  thin[dim] = shape[dim];
  Value value = line;
  if (shape.size() > 1 && random.chance(isPlain ? 0 : 30)) {
    value = create<tile::ReshapeOp>(RankedTensorType::get(thin, element), value,
                                    /*reorder=*/false);
  } else {
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d == dim) {
        continue;
      }
      Dims grown(tile::getShape(value.getType()));
      grown.insert(grown.begin() + d, 1);
      value = create<tile::ExpandDimsOp>(RankedTensorType::get(grown, element),
                                         value, int32_t(d));
    }
  }
  if (thin == Dims(shape)) {
    return value;
  }
  return create<tile::BroadcastOp>(RankedTensorType::get(shape, element),
                                   value);
}

/// The element offsets of a placement, i32 or i64.
Value Generator::offsets(ArrayRef<int64_t> shape, const Placement &placement,
                         Type element) {
  Value sum;
  for (size_t d = 0; d < shape.size(); ++d) {
    Type lineType = RankedTensorType::get({shape[d]}, b.getI32Type());
    Value line = create<tile::RangeOp>(cast<RankedTensorType>(lineType), 0,
                                       int32_t(shape[d]));
    if (element != b.getI32Type()) {
      lineType = tile::withElement(lineType, element);
      line = create<arith::ExtSIOp>(lineType, line);
    }
    int64_t stride = placement.strides[d];
    line = hinted(line, 16, shape[d]);
    bool before = random.chance(50);
    Value scale;
    if (stride != 1 || random.chance(10)) {
      if (element.isInteger(32) && random.chance(40)) {
        scale = scalarParameter(stride, stride).value;
      } else {
        scale = number(element, stride);
      }
    }
    auto scaled = [&](Value value) -> Value {
      Value spread =
          create<tile::SplatOp>(cast<RankedTensorType>(value.getType()), scale);
      return create<arith::MulIOp>(value, spread);
    };
    if (scale && before) {
      line = scaled(line);
    }
    Value block = alongDim(line, shape, d);
    if (scale && !before) {
      block = scaled(block);
    }
    sum = sum ? create<arith::AddIOp>(sum, block).getResult() : block;
  }
  return sum;
}

/// base + shift + offsets, in one of the ways kernels write it. `shift` is an
/// i32 scalar or null.
Value Generator::address(Value base, Value shift, ArrayRef<int64_t> shape,
                         const Placement &placement) {
  Type pointer = base.getType();
  base = disguised(base);
  if (shape.empty()) {
    return shift ? create<tile::AddPtrOp>(pointer, base, shift).getResult()
                 : base;
  }
  auto block = RankedTensorType::get(shape, pointer);
  Type element = random.chance(75) ? b.getI32Type() : b.getI64Type();
  Value offset = offsets(shape, placement, element);
  int64_t form = random.below(3);
  if (shift && form == 0) { // on the scalar
    base = create<tile::AddPtrOp>(pointer, base, shift);
    shift = nullptr;
  }
  Value spread = create<tile::SplatOp>(block, base);
  if (shift && form == 1 && element.isInteger(32)) { // on the offsets
    Value wide = create<tile::SplatOp>(
        RankedTensorType::get(shape, b.getI32Type()), shift);
    offset = create<arith::AddIOp>(wide, offset);
    shift = nullptr;
  }
  Value result = create<tile::AddPtrOp>(block, spread, offset);
  if (shift) { // on the address
    Value wide = create<tile::SplatOp>(
        RankedTensorType::get(shape, b.getI32Type()), shift);
    result = create<tile::AddPtrOp>(block, result, wide);
  }
  return result;
}

/// i < n along some dimensions, or anything.
Value Generator::mask(ArrayRef<int64_t> shape) {
  Type type = typeOf(shape, b.getI1Type());
  if (shape.empty() || random.chance(25)) {
    return operand(type).value;
  }
  Value all;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (all && random.chance(40)) {
      continue;
    }
    auto lineType = RankedTensorType::get({shape[d]}, b.getI32Type());
    Value line = create<tile::RangeOp>(lineType, 0, int32_t(shape[d]));
    if (random.chance(12)) { // padding: quotients of what lies before the start
      line = create<arith::SubIOp>(
          line, number(lineType, random.pick<int64_t>({16, 32, 64, 5})));
      line = create<arith::DivSIOp>(
          line, number(lineType, random.pick<int64_t>({8, 16, 32, 3})));
      Value least = number(lineType, random.between(-3, 1));
      Value inside = create<arith::CmpIOp>(
          random.pick({arith::CmpIPredicate::slt, arith::CmpIPredicate::sge}),
          line, least);
      Value block = alongDim(inside, shape, d);
      all = all ? create<arith::AndIOp>(all, block).getResult() : block;
      continue;
    }
    int64_t bound = random.chance(80) ? random.between(0, shape[d])
                                      : shape[d] + random.below(3);
    Value end = random.chance(60) ? scalarParameter(bound, bound).value
                                  : number(b.getI32Type(), bound);
    Value ends = create<tile::SplatOp>(lineType, end);
    auto predicate =
        random.pick({arith::CmpIPredicate::slt, arith::CmpIPredicate::slt,
                     arith::CmpIPredicate::ult, arith::CmpIPredicate::sge});
    Value inside = create<arith::CmpIOp>(predicate, line, ends);
    Value block = alongDim(inside, shape, d);
    all = all ? create<arith::AndIOp>(all, block).getResult() : block;
  }
  return all;
}

/// The beginning of `extent` elements that only this program, in this
/// iteration, uses; `count` becomes the number of all of them.
Value Generator::exclusiveShift(int64_t extent, int64_t &count) {
  Type i32 = b.getI32Type();
  Value index = programIndex;
  int64_t programs = int64_t{grid[0]} * grid[1] * grid[2];
  if (iteration) {
    index = create<arith::AddIOp>(
        create<arith::MulIOp>(index, number(i32, iterations)), iteration);
  }
  count = extent * programs * iterations;
  return hinted(create<arith::MulIOp>(index, number(i32, extent)), extent, 1);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

static StringRef anyFill(Random &random) {
  return random.pick<StringRef>({"normal", "normal", "normal", "normal",
                                 "whole", "whole", "whole", "positive",
                                 "positive", "positive", "any", "special"});
}

Item Generator::load(Type type) {
  Type element = tile::getElement(type);
  ArrayRef<int64_t> shape = tile::getShape(type);
  Placement place = placement(shape, /*disjoint=*/false);
  int64_t count = place.extent;
  Value shift;
  if (random.chance(50)) {
    shift = exclusiveShift(place.extent, count);
    if (count > 1 << 16) {
      shift = nullptr;
      count = place.extent;
    }
  }
  StringRef fill = anyFill(random);
  Value base = arrayParameter(element, count, fill, /*isOutput=*/false);
  Value pointer = address(base, shift, shape, place);
  Value active, other;
  if (random.chance(45)) {
    active = mask(shape);
    if (random.chance(50)) {
      other = random.chance(70) ? constant(type).value : operand(type).value;
    }
  }
  auto loaded = create<tile::LoadOp>(type, pointer, active, other);
  if (random.chance(10)) {
    loaded.setEvict(tile::EvictionPolicy::First);
  }
  loaded.setIsVolatile(random.chance(4));
  bool isExact = true;
  if (other) {
    auto known = find([&](const Item &i) { return i.value == other; });
    isExact = known && known->isExact;
  }
  return add(loaded, isExact, 8);
}

/// Through addresses made of any integers.
Item Generator::gatherLoad(Type type) {
  ArrayRef<int64_t> shape = tile::getShape(type);
  int64_t count = random.pick<int64_t>({1, 7, 64, 333});
  Value base;
  Type indexType = typeOf(shape, b.getI32Type());
  Value index;
  if (!shape.empty() && random.chance(30)) {
    // Of a range that may begin below zero: -15 to 15 elements past the 16th.
    count = random.pick<int64_t>({16, 32, 8});
    index = create<arith::RemSIOp>(indices(indexType).value,
                                   number(indexType, count));
    index = create<arith::AddIOp>(index, number(indexType, count));
    base = arrayParameter(tile::getElement(type), 2 * count, anyFill(random),
                          /*isOutput=*/false);
  } else {
    base = arrayParameter(tile::getElement(type), count, anyFill(random),
                          /*isOutput=*/false);
    index = create<arith::RemUIOp>(operand(indexType).value,
                                   number(indexType, count));
  }
  Value pointer = base;
  if (!shape.empty()) {
    pointer = create<tile::SplatOp>(
        RankedTensorType::get(shape, base.getType()), base);
  }
  pointer = create<tile::AddPtrOp>(pointer.getType(), pointer, index);
  Value active = random.chance(40) ? mask(shape) : Value();
  return add(create<tile::LoadOp>(type, pointer, active, Value()));
}

//===----------------------------------------------------------------------===//
// Stores and atomics
//===----------------------------------------------------------------------===//

void Generator::store(const Item &item, bool reread) {
  Value value = item.value;
  Type element = tile::getElement(value.getType());
  if (isa<tile::PtrType>(element)) {
    return;
  }
  if (element.isInteger(1)) {
    element = b.getI8Type();
    value = create<arith::ExtUIOp>(tile::withElement(value.getType(), element),
                                   value);
  }
  ArrayRef<int64_t> shape = tile::getShape(value.getType());
  Placement place = placement(shape, /*disjoint=*/true);
  int64_t count;
  Value shift = exclusiveShift(place.extent, count);
  if (count > 1 << 16) {
    return;
  }
  StringRef fill = random.chance(20) || reread ? "normal" : "";
  Value base = arrayParameter(element, count, fill, /*isOutput=*/true);
  Value pointer = address(base, shift, shape, place);
  Value active = random.chance(35) ? mask(shape) : Value();
  create<tile::StoreOp>(pointer, value, active);
  if (reread) {
    create<tile::BarrierOp>();
    add(create<tile::LoadOp>(value.getType(), pointer, Value(), Value()),
        item.isExact, std::max(item.magnitude, 8.0));
  }
}

/// To places of its own, whose old values are used, or to shared ones.
void Generator::growAtomic() {
  using Kind = tile::AtomicKind;
  Dims shape = anyShape();
  bool isFloat = random.chance(25);
  Type element = isFloat ? Type(b.getF32Type())
                         : Type(b.getIntegerType(random.pick({32, 32, 64})));
  Kind kind =
      isFloat
          ? random.pick({Kind::FAdd, Kind::FMax, Kind::FMin})
          : random.pick({Kind::Add, Kind::Add, Kind::Max, Kind::Min, Kind::UMax,
                         Kind::UMin, Kind::And, Kind::Or, Kind::Xor});
  Type type = typeOf(shape, element);
  Item value = operand(type);
  Value active = random.chance(50) ? mask(shape) : Value();
  bool shared = random.chance(60);
  auto emit = [&](Value pointer) {
    return create<tile::AtomicRMWOp>(
        type, kind,
        random.pick({tile::MemSemantic::AcqRel, tile::MemSemantic::Relaxed}),
        tile::MemScope::Device, pointer, value.value, active);
  };
  if (!shared) {
    Placement place = placement(shape, /*disjoint=*/true);
    int64_t count;
    Value shift = exclusiveShift(place.extent, count);
    if (count > 1 << 16) {
      return;
    }
    Value base = arrayParameter(element, count, "whole", /*isOutput=*/true);
    add(emit(address(base, shift, shape, place)), value.isExact,
        value.magnitude + 8);
    return;
  }
  int64_t count = random.pick<int64_t>({1, 5, 64});
  Value base = arrayParameter(element, count, "whole", /*isOutput=*/true);
  Type indexType = typeOf(shape, b.getI32Type());
  Value index = create<arith::RemUIOp>(operand(indexType).value,
                                       number(indexType, count));
  Value pointer = base;
  if (!shape.empty()) {
    pointer = create<tile::SplatOp>(
        RankedTensorType::get(shape, base.getType()), base);
  }
  emit(create<tile::AddPtrOp>(pointer.getType(), pointer, index));
}

} // namespace nereid::fuzz
