//===- GenerateShape.cpp - Shapes and element order of the generator ------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Generator.h"

#include <numeric>

namespace nereid::fuzz {

using namespace mlir;

static int64_t countOf(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

void Generator::growShape() {
  if (random.chance(10)) { // numbers side by side
    Item one = operand(anyElement());
    Item both = joinOrSplit(one);
    add(both.value, both.isExact, both.magnitude);
    return;
  }
  auto found =
      find([&](const Item &i) { return isa<RankedTensorType>(i.type()); });
  Item item =
      found ? *found : fresh(typeOf({random.between(1, 40)}, anyElement()));
  Item result = item;
  switch (random.below(9)) {
  case 0: { // another factorisation
    int64_t n = countOf(tile::getShape(item.type()));
    Dims shape;
    for (int64_t factor : {2, 3, 5, 7}) {
      if (n % factor == 0 && random.chance(40)) {
        shape.push_back(factor);
        n /= factor;
      }
    }
    shape.insert(shape.begin() + random.below(int64_t(shape.size()) + 1), n);
    result = reshape(item, shape);
    break;
  }
  case 1:
  case 2:
    result = transpose(item);
    break;
  case 3:
  case 4:
    result = grow(item);
    break;
  case 5:
    result = joinOrSplit(item);
    break;
  case 6:
    result = cat(item);
    break;
  case 7:
    result = slice(item);
    break;
  default:
    result = gather(item);
    break;
  }
  if (result.value != item.value) {
    add(result.value, result.isExact, result.magnitude);
    if (random.chance(30)) {
      shapes.push_back(Dims(tile::getShape(result.type())));
    }
  }
}

Item Generator::reshape(const Item &item, ArrayRef<int64_t> shape) {
  Type element = tile::getElement(item.type());
  return {create<tile::ReshapeOp>(RankedTensorType::get(shape, element),
                                  item.value, /*reorder=*/false),
          item.isExact, item.magnitude};
}

Item Generator::transpose(const Item &item) {
  ArrayRef<int64_t> shape = tile::getShape(item.type());
  SmallVector<int32_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[random.below(int64_t(i))]);
  }
  Dims permuted;
  for (int32_t d : order) {
    permuted.push_back(shape[d]);
  }
  return {create<tile::TransposeOp>(
              RankedTensorType::get(permuted, tile::getElement(item.type())),
              item.value, order),
          item.isExact, item.magnitude};
}

/// A new dimension, made larger; or a dimension of 1 made larger.
Item Generator::grow(const Item &item) {
  Dims shape(tile::getShape(item.type()));
  Type element = tile::getElement(item.type());
  int64_t room = options.maxElements / countOf(shape);
  if (room < 2 || shape.size() >= 4) {
    return item;
  }
  size_t axis = static_cast<size_t>(random.below(int64_t(shape.size()) + 1));
  shape.insert(shape.begin() + axis, 1);
  Value value = create<tile::ExpandDimsOp>(
      RankedTensorType::get(shape, element), item.value, int32_t(axis));
  if (random.chance(85)) {
    shape[axis] = std::min(room, random.pick<int64_t>({2, 3, 4, 7, 16, 33}));
    value =
        create<tile::BroadcastOp>(RankedTensorType::get(shape, element), value);
  }
  return {value, item.isExact, item.magnitude};
}

Item Generator::joinOrSplit(const Item &item) {
  Dims shape(tile::getShape(item.type()));
  Type element = tile::getElement(item.type());
  if (!shape.empty() && shape.back() == 2 && random.chance(70)) {
    shape.pop_back();
    Type half = typeOf(shape, element);
    auto split = create<tile::SplitOp>(half, half, item.value);
    add(split.getLhs(), item.isExact, item.magnitude);
    return {split.getRhs(), item.isExact, item.magnitude};
  }
  if (2 * countOf(shape) > options.maxElements || shape.size() >= 4) {
    return item;
  }
  Item other = operand(item.type());
  shape.push_back(2);
  return {create<tile::JoinOp>(RankedTensorType::get(shape, element),
                               item.value, other.value),
          item.isExact && other.isExact,
          std::max(item.magnitude, other.magnitude)};
}

Item Generator::cat(const Item &item) {
  Dims shape(tile::getShape(item.type()));
  Type element = tile::getElement(item.type());
  size_t axis = static_cast<size_t>(random.below(int64_t(shape.size())));
  Dims second = shape;
  second[axis] = random.pick<int64_t>({1, 2, 3, 5, shape[axis]});
  if (countOf(shape) + countOf(second) > options.maxElements) {
    return item;
  }
  Item other = operand(RankedTensorType::get(second, element));
  Dims both = shape;
  both[axis] += second[axis];
  return {create<tile::CatOp>(RankedTensorType::get(both, element), item.value,
                              other.value, int32_t(axis)),
          item.isExact && other.isExact,
          std::max(item.magnitude, other.magnitude)};
}

Item Generator::slice(const Item &item) {
  Dims shape(tile::getShape(item.type())), sizes;
  SmallVector<int32_t> offsets, strides;
  for (int64_t extent : shape) {
    int64_t stride = random.chance(70) ? 1 : 1 + random.below(4);
    int64_t offset = random.chance(40) ? 0 : random.below(extent);
    int64_t most = (extent - 1 - offset) / stride + 1;
    sizes.push_back(random.chance(40) ? most : 1 + random.below(most));
    offsets.push_back(int32_t(offset));
    strides.push_back(int32_t(stride));
  }
  return {create<tile::SliceOp>(
              RankedTensorType::get(sizes, tile::getElement(item.type())),
              item.value, offsets, strides),
          item.isExact, item.magnitude};
}

Item Generator::gather(const Item &item) {
  Dims shape(tile::getShape(item.type()));
  size_t axis = static_cast<size_t>(random.below(int64_t(shape.size())));
  int64_t extent = shape[axis];
  int64_t others = countOf(shape) / extent;
  shape[axis] = std::min(random.pick<int64_t>({1, 2, 5, 16, 33, extent}),
                         std::max<int64_t>(1, options.maxElements / others));
  Type indexType =
      RankedTensorType::get(shape, b.getIntegerType(random.pick({32, 32, 64})));
  Value any = operand(indexType).value;
  Value index = create<arith::RemUIOp>(any, number(indexType, extent));
  return {create<tile::GatherOp>(
              RankedTensorType::get(shape, tile::getElement(item.type())),
              item.value, index, int32_t(axis)),
          item.isExact, item.magnitude};
}

} // namespace nereid::fuzz
