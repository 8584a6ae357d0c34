//===- TileValue.h - What an SSA value of Tile IR holds at run time --*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_INTERP_TILEVALUE_H
#define NEREID_INTERP_TILEVALUE_H

#include "nereid/Interp/FloatFormat.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace mlir {
class Type;
}

namespace nereid::interp {

using Shape = llvm::SmallVector<int64_t, 4>;

/// An element type. Integers, indices and pointers have a width and no format.
struct Element {
  const FloatFormat *format = nullptr;
  unsigned width = 0; ///< bits; 64 for index and pointers
  unsigned bytes = 0; ///< in memory: 1 for i1, 8 for pointers

  bool isFloat() const { return format; }
};

/// The element type of a block, the type itself for a scalar. `bytes` is 0 if
/// the executor does not know the type.
Element elementOf(mlir::Type type);

/// A scalar (empty shape) or a block, row-major. Exactly one of `ints` and
/// `floats` is in use.
struct TileValue {
  Element element;
  Shape shape;
  /// Integers, sign-extended from their width; an i1 is 0 or 1; addresses.
  std::vector<int64_t> ints;
  std::vector<double> floats;
  /// Float64WithBounds only: how far another executor's value may lie from
  /// `floats`; infinite: anywhere. Of an integer, 0 or infinity: it depends on
  /// a rounding. Empty: nowhere, all are exact.
  std::vector<double> errors;
  /// Float64WithBounds only, of a float product: a magnitude an element that no
  /// partial sum of its products passes. Empty for all else.
  std::vector<double> reach;

  int64_t size() const {
    return static_cast<int64_t>(element.isFloat() ? floats.size()
                                                  : ints.size());
  }
  void resize(int64_t count) {
    element.isFloat() ? floats.resize(count) : ints.resize(count);
    errors.clear();
    reach.clear();
  }
  double errorAt(int64_t i) const { return errors.empty() ? 0.0 : errors[i]; }
  /// May element `i` be anything elsewhere? A single element serves for all.
  bool isUnknown(int64_t i) const {
    return !errors.empty() && std::isinf(errors[errors.size() == 1 ? 0 : i]);
  }
  void setUnknown(int64_t i) {
    errors.resize(size());
    errors[i] = std::numeric_limits<double>::infinity();
  }
};

/// The low `width` bits of `value`, as TileValue keeps them.
inline int64_t wrap(unsigned width, int64_t value) {
  if (width == 1) {
    return value & 1;
  }
  unsigned shift = 64 - width;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
}

/// The same bits read as an unsigned number.
inline uint64_t asUnsigned(unsigned width, int64_t value) {
  return static_cast<uint64_t>(value) << (64 - width) >> (64 - width);
}

/// The same bits read as a signed number: differs from the kept form for i1
/// alone, whose 1 is -1.
inline int64_t asSigned(unsigned width, int64_t value) {
  return width == 1 ? -value : value;
}

int64_t countOf(llvm::ArrayRef<int64_t> shape);
/// Distance in elements between neighbours along each dimension.
Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Bits of element `i` as memory holds them, in the low bytes. Floats that
/// carry more precision than their format (the float64 modes) are rounded.
uint64_t bitsOf(const TileValue &value, int64_t i);
/// Sets element `i` from bits; the element's errors are not touched.
void setBits(TileValue &value, int64_t i, uint64_t bits);

} // namespace nereid::interp

#endif // NEREID_INTERP_TILEVALUE_H
