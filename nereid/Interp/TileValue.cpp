//===- TileValue.cpp - What an SSA value of Tile IR holds at run time -----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Interp/TileValue.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

namespace nereid::interp {

Element elementOf(mlir::Type type) {
  mlir::Type element = tile::getElement(type);
  if (const FloatFormat *format = findFormat(element)) {
    return {format, format->bits, format->bits / 8};
  }
  if (mlir::isa<tile::PtrType, mlir::IndexType>(element)) {
    return {nullptr, 64, 8};
  }
  auto integer = mlir::dyn_cast<mlir::IntegerType>(element);
  if (integer && integer.getWidth() <= 64) {
    return {nullptr, integer.getWidth(), (integer.getWidth() + 7) / 8};
  }
  return {};
}

int64_t countOf(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    count *= extent;
  }
  return count;
}

Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * shape[d];
  }
  return strides;
}

uint64_t bitsOf(const TileValue &value, int64_t i) {
  if (!value.element.isFloat()) {
    return asUnsigned(value.element.width, value.ints[i]);
  }
  const FloatFormat &format = *value.element.format;
  double x = value.floats[i];
  return encode(format, x != x ? x : round(format, x));
}

void setBits(TileValue &value, int64_t i, uint64_t bits) {
  if (value.element.isFloat()) {
    value.floats[i] = decode(*value.element.format, bits);
  } else {
    value.ints[i] = wrap(value.element.width, static_cast<int64_t>(bits));
  }
}

} // namespace nereid::interp
