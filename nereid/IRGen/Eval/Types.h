//===- Types.h - Types of the language -------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The types that run-time values have in the language, and the rules by which
// two of them meet in an operator. MLIR integers are signless, so signedness
// lives here: a Tile value is always carried together with its ScalarType.
//
//   language          ScalarType             Tile IR
//   int32             {Int32}                i32
//   uint32            {UInt32}               i32
//   pointer<float16>  {Float16, pointer}     !tile.ptr<f16>
//   pointer<int1>     {Int1, pointer}        !tile.ptr<i8>   (one byte each)
//   float32[64, 32]   {Float32} + shape      tensor<64x32xf32>
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_TYPES_H
#define NEREID_IRGEN_EVAL_TYPES_H

#include "nereid/ABI/DType.h"
#include "nereid/ABI/LanguageVersion.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

#include <optional>
#include <string>

namespace nereid::irgen {

/// The type of one element: a number, or a pointer to numbers.
struct ScalarType {
  DType dtype = DType::Int32; ///< the pointee's, for a pointer
  bool isPointer = false;
  bool isConst = false; ///< a pointer that must not be stored through

  ScalarType() = default;
  ScalarType(DType dtype) : dtype(dtype) {}
  static ScalarType pointer(DType pointee, bool isConst = false) {
    ScalarType type(pointee);
    type.isPointer = true;
    type.isConst = isConst;
    return type;
  }

  bool isFloat() const { return !isPointer && nereid::isFloat(dtype); }
  /// 8-bit floats.
  bool isFp8() const {
    return !isPointer &&
           (dtype == DType::Float8E4M3 || dtype == DType::Float8E5M2);
  }
  /// Any integer, int1 included.
  bool isInteger() const { return !isPointer && !nereid::isFloat(dtype); }
  bool isBool() const { return !isPointer && dtype == DType::Int1; }
  bool isSignedInt() const { return !isPointer && isSigned(dtype); }
  /// uint8 .. uint64 and int1.
  bool isUnsignedInt() const { return isInteger() && !isSigned(dtype); }
  /// Bits of the value: 1 for int1, 64 for a pointer.
  unsigned bits() const { return isPointer ? 64 : bitWidth(dtype); }
  ScalarType pointee() const { return ScalarType(dtype); }

  /// "float32", "uint8", "pointer<float16>", "pointer<const float16>".
  std::string str() const;
  /// The spelling of TileDialect's `tile.dtype`: "fp32", "u8", "*fp16".
  std::string signature() const;

  bool operator==(const ScalarType &) const = default;
};

/// "float32[64, 32]"; just the scalar's name when the shape is empty.
std::string str(ScalarType type, llvm::ArrayRef<int64_t> shape);
/// "[64, 32]".
std::string shapeStr(llvm::ArrayRef<int64_t> shape);

/// The Tile type of one value, and of a block of them (scalar when the shape
/// is empty).
mlir::Type toMlir(mlir::MLIRContext *context, ScalarType type);
mlir::Type toMlir(mlir::MLIRContext *context, ScalarType type,
                  llvm::ArrayRef<int64_t> shape);

/// The type that a Python number has as a run-time value: int32, else uint32,
/// int64, uint64; null when it fits none. (language rule B3)
std::optional<DType> typeOfInteger(__int128 value);
/// float32 where its range suffices (0, inf and nan included), else float64.
DType typeOfFloat(double value);

/// Smallest and largest value of an integer type (0 and 1 for int1).
__int128 minValue(DType dtype);
__int128 maxValue(DType dtype);
/// Largest finite value of a float type.
double maxFinite(DType dtype);

/// Which operators ask: the types of mixed operands depend on it. (rule B4)
enum class OperatorClass {
  Plain,    ///< + - * & | ^ << >> where, comparisons, minimum, maximum
  Division, ///< / // %: narrow floats become float32, mixed signs are refused
};

/// The common type of two run-time operands. Null when there is none; `why`
/// then says so in words ("float8e5 and int32 have no common type").
std::optional<ScalarType> promote(ScalarType a, ScalarType b, OperatorClass cls,
                                  std::string &why,
                                  LanguageVersion language = newestLanguage);

/// The shape both operands broadcast to: ranks are made equal by size-1 axes
/// in front, then each pair of extents is equal or one of them 1. (rule B8)
std::optional<llvm::SmallVector<int64_t>>
broadcastShape(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Elements one tensor may have.
inline constexpr int64_t maxTensorElements = 1048576;

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_TYPES_H
