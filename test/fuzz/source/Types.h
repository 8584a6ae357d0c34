//===- Types.h - Types of the language, for the generator -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What type an expression of the language has. The rules are written here a
// second time on purpose: nothing of nereid/IRGen is used, so that a mistake
// there shows as a program that does not compile.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_FUZZ_SOURCE_TYPES_H
#define NEREID_TEST_FUZZ_SOURCE_TYPES_H

#include "nereid/ABI/DType.h"

#include "llvm/ADT/SmallVector.h"

#include <string>

namespace nereid::fuzz::source {

using Dims = llvm::SmallVector<int64_t, 4>;

/// Of a tensor; a scalar has no dimensions.
struct Type {
  DType element = DType::Int32;
  Dims shape;

  bool operator==(const Type &) const = default;
  bool isScalar() const { return shape.empty(); }
  int64_t count() const;
  Type with(DType other) const { return {other, shape}; }
  Type with(Dims other) const { return {element, std::move(other)}; }
};

bool isInteger(DType type); ///< int1 too
bool isUnsigned(DType type);
bool isFp8(DType type);
/// Floats that arithmetic has.
bool isArithmeticFloat(DType type);
/// Bits of precision, the hidden one included.
int precision(DType type);
/// Largest number that programs are to make of the type: far from overflow.
double comfortable(DType type);
int64_t smallest(DType integer);
uint64_t largest(DType integer);

/// "tl.float32".
std::string text(DType type);
/// "[16, 32]".
std::string text(llvm::ArrayRef<int64_t> shape);

enum class Operator { Plain, Division };

/// The type in which two tensors or scalars of these element types meet.
/// Not for fp8, and not for a division of integers of both signs.
DType promote(DType a, DType b, Operator op = Operator::Plain);
/// The same beside a number of the source, where numbers adopt types: `literal`
/// is the type that the number has by itself.
DType promoteNumber(DType tensor, DType literal, Operator op = Operator::Plain);
/// The type of a number in the source.
DType typeOfInteger(int64_t number);

/// Broadcast; the shapes must fit.
Dims broadcast(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
bool canBroadcast(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// What reductions widen small types to.
DType widenedSum(DType type);
DType widenedExtreme(DType type);

} // namespace nereid::fuzz::source

#endif // NEREID_TEST_FUZZ_SOURCE_TYPES_H
