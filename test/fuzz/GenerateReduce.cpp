//===- GenerateReduce.cpp - Reductions, scans and products of the generator
//-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Generator.h"

namespace nereid::fuzz {

using namespace mlir;

static Dims withRank(Dims shape) {
  if (shape.empty()) {
    shape.push_back(37);
  }
  return shape;
}

/// A block for each operand. Welford's weight is one; an index counts.
SmallVector<Item> Generator::combineOperands(const Combine &combine,
                                             ArrayRef<int64_t> shape) {
  SmallVector<Item> items;
  for (Type element : combine.elements) {
    items.push_back(bounded(operand(typeOf(shape, element)), combine.limit));
  }
  if (combine.elements.size() == 3) {
    items[2] = {number(typeOf(shape, combine.elements[2]), 1.0), true, 1};
    items[1] = {create<math::AbsFOp>(items[1].value), items[1].isExact,
                items[1].magnitude};
  }
  // An index that repeats makes the first of equal ones ambiguous only among
  // equal pairs: any integers will do. What decides must be exact.
  if (combine.elements.size() == 2 && combine.isExact &&
      isa<FloatType>(combine.elements[0]) && !items[0].isExact) {
    items[0] = load(typeOf(shape, combine.elements[0]));
  }
  return items;
}

void Generator::fillRegion(Region &region, const Combine &combine) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types(combine.elements);
  types.append(combine.elements);
  SmallVector<Location> locations(types.size(), loc);
  Block *block = b.createBlock(&region, {}, types, locations);
  b.setInsertionPointToStart(block);
  create<tile::YieldOp>(combine.build(block->getArguments()));
}

void Generator::growReduce() {
  Dims shape = withRank(anyShape());
  Combine how = combine(/*forScan=*/false);
  int64_t axis = random.below(int64_t(shape.size()));
  SmallVector<Value> sources;
  double largest = 0;
  bool isExact = how.isExact;
  for (const Item &item : combineOperands(how, shape)) {
    sources.push_back(item.value);
    largest = std::max(largest, item.magnitude);
    isExact &= item.isExact;
  }
  double magnitude = largest * std::max(1.0, how.growth * double(shape[axis]));
  Dims left = shape;
  left.erase(left.begin() + axis);
  SmallVector<Type> results;
  for (Type element : how.elements) {
    results.push_back(typeOf(left, element));
  }
  auto reduce = create<tile::ReduceOp>(results, sources, int32_t(axis));
  fillRegion(reduce.getCombine(), how);
  for (Value result : reduce.getResults()) {
    add(result, isExact, magnitude);
  }
}

void Generator::growScan() {
  Dims shape = withRank(anyShape());
  Combine how = combine(/*forScan=*/true);
  int64_t axis = random.below(int64_t(shape.size()));
  SmallVector<Value> sources;
  SmallVector<Type> results;
  double largest = 0;
  bool isExact = how.isExact;
  for (const Item &item : combineOperands(how, shape)) {
    sources.push_back(item.value);
    results.push_back(item.type());
    largest = std::max(largest, item.magnitude);
    isExact &= item.isExact;
  }
  auto scan =
      create<tile::ScanOp>(results, sources, int32_t(axis), random.chance(40));
  fillRegion(scan.getCombine(), how);
  double magnitude = largest * std::max(1.0, how.growth * double(shape[axis]));
  for (Value result : scan.getResults()) {
    add(result, isExact, magnitude);
  }
}

/// Every row of the table of tile.dot.
void Generator::growDot() {
  auto dim = [&] {
    return random.pick<int64_t>({1, 2, 3, 5, 8, 13, 16, 17, 20, 32, 33});
  };
  int64_t m = dim(), n = dim(), k = dim();
  while (m * k > options.maxElements || k * n > options.maxElements ||
         m * n > options.maxElements) {
    m = (m + 1) / 2, n = (n + 1) / 2, k = (k + 1) / 2;
  }
  Dims batch;
  if (random.chance(20)) {
    batch.push_back(random.between(1, 3));
  }
  MLIRContext *context = b.getContext();
  Type f32 = b.getF32Type(), f16 = b.getF16Type();
  Type e5m2 = Float8E5M2Type::get(context),
       e4m3 = Float8E4M3FNType::get(context);
  struct Row {
    Type lhs, rhs, c;
  };
  Row row = random.pick<Row>({{f32, f32, f32},
                              {f32, f32, f32},
                              {f16, f16, f32},
                              {f16, f16, f16},
                              {b.getBF16Type(), b.getBF16Type(), f32},
                              {b.getBF16Type(), b.getBF16Type(), f32},
                              {b.getF64Type(), b.getF64Type(), b.getF64Type()},
                              {b.getI8Type(), b.getI8Type(), b.getI32Type()},
                              {b.getI8Type(), b.getI8Type(), b.getI32Type()},
                              {e5m2, e4m3, f32},
                              {e4m3, e4m3, f16}});
  auto block = [&](int64_t rows, int64_t columns, Type element) {
    Dims shape = batch;
    shape.append({rows, columns});
    return bounded(operand(RankedTensorType::get(shape, element)), 16);
  };
  Item lhs = block(m, k, row.lhs), rhs = block(k, n, row.rhs),
       c = block(m, n, row.c);
  auto dot = create<tile::DotOp>(c.type(), lhs.value, rhs.value, c.value);
  dot.setIsUnsigned(row.lhs.isInteger(8) && random.chance(30));
  dot.setPrecision(
      random.pick({tile::InputPrecision::IEEE, tile::InputPrecision::TF32}));
  add(dot, false, lhs.magnitude * rhs.magnitude * double(k) + c.magnitude);
}

void Generator::growHistogram() {
  Type type = RankedTensorType::get({random.pick<int64_t>({1, 17, 64, 300})},
                                    b.getIntegerType(random.pick({32, 64})));
  Value values = operand(type).value;
  if (random.chance(60)) { // into the range, mostly
    values = create<arith::RemSIOp>(values, number(type, int64_t{40}));
  }
  Value active = random.chance(40) ? mask(tile::getShape(type)) : Value();
  auto bins = RankedTensorType::get({random.pick<int64_t>({1, 7, 16, 32, 100})},
                                    b.getI32Type());
  add(create<tile::HistogramOp>(bins, values, active));
}

} // namespace nereid::fuzz
