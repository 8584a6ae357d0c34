//===- Types.cpp - Types of the language ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/Types.h"

#include "nereid/Dialect/Tile/IR/Tile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace nereid::irgen {

std::string ScalarType::str() const {
  std::string name(languageName(dtype));
  if (!isPointer) {
    return name;
  }
  return isConst ? "pointer<const " + name + ">" : "pointer<" + name + ">";
}

std::string ScalarType::signature() const {
  std::string name(shortName(dtype));
  return isPointer ? (isConst ? "*k" : "*") + name : name;
}

std::string shapeStr(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '[';
  llvm::interleaveComma(shape, out);
  out << ']';
  return text;
}

std::string str(ScalarType type, llvm::ArrayRef<int64_t> shape) {
  return shape.empty() ? type.str() : type.str() + shapeStr(shape);
}

static mlir::Type numberType(mlir::MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::Float8E4M3:
    return mlir::Float8E4M3FNType::get(context);
  case DType::Float8E5M2:
    return mlir::Float8E5M2Type::get(context);
  case DType::Float16:
    return mlir::Float16Type::get(context);
  case DType::BFloat16:
    return mlir::BFloat16Type::get(context);
  case DType::Float32:
    return mlir::Float32Type::get(context);
  case DType::Float64:
    return mlir::Float64Type::get(context);
  default:
    return mlir::IntegerType::get(context, bitWidth(dtype));
  }
}

mlir::Type toMlir(mlir::MLIRContext *context, ScalarType type) {
  if (!type.isPointer) {
    return numberType(context, type.dtype);
  }
  DType pointee = type.dtype == DType::Int1 ? DType::Int8 : type.dtype;
  return tile::PtrType::get(numberType(context, pointee));
}

mlir::Type toMlir(mlir::MLIRContext *context, ScalarType type,
                  llvm::ArrayRef<int64_t> shape) {
  mlir::Type element = toMlir(context, type);
  return shape.empty() ? element : mlir::RankedTensorType::get(shape, element);
}

std::optional<DType> typeOfInteger(__int128 value) {
  for (DType dtype :
       {DType::Int32, DType::UInt32, DType::Int64, DType::UInt64}) {
    if (value >= minValue(dtype) && value <= maxValue(dtype)) {
      return dtype;
    }
  }
  return std::nullopt;
}

DType typeOfFloat(double value) {
  double magnitude = std::fabs(value);
  bool fits = value == 0 || !std::isfinite(value) ||
              (magnitude >= 0x1p-126 && magnitude <= 0x1.fffffep127);
  return fits ? DType::Float32 : DType::Float64;
}

__int128 minValue(DType dtype) {
  return isSigned(dtype) ? -(__int128{1} << (bitWidth(dtype) - 1)) : 0;
}

__int128 maxValue(DType dtype) {
  return (__int128{1} << (bitWidth(dtype) - (isSigned(dtype) ? 1 : 0))) - 1;
}

double maxFinite(DType dtype) {
  switch (dtype) {
  case DType::Float8E4M3:
    return 448;
  case DType::Float8E5M2:
    return 57344;
  case DType::Float16:
    return 65504;
  case DType::BFloat16:
    return 0x1.fep127;
  case DType::Float32:
    return 0x1.fffffep127;
  default:
    return 0x1.fffffffffffffp1023;
  }
}

static std::optional<ScalarType> promoteIntegers(ScalarType a, ScalarType b,
                                                 OperatorClass cls,
                                                 std::string &why) {
  if (a.isSignedInt() == b.isSignedInt()) {
    return a.bits() >= b.bits() ? a : b;
  }
  if (cls == OperatorClass::Division) {
    why = "cannot divide " + a.str() + " and " + b.str() +
          ", which differ in signedness";
    return std::nullopt;
  }
  ScalarType u = a.isSignedInt() ? b : a, s = a.isSignedInt() ? a : b;
  return u.bits() >= s.bits() ? u : s;
}

std::optional<ScalarType> promote(ScalarType a, ScalarType b, OperatorClass cls,
                                  std::string &why, LanguageVersion language) {
  if (a.isPointer || b.isPointer) {
    why = a.str() + " and " + b.str() + " have no common type";
    return std::nullopt;
  }
  auto either = [&](DType dtype) {
    return a.dtype == dtype || b.dtype == dtype;
  };
  if (either(DType::Float64)) {
    return ScalarType(DType::Float64);
  }
  bool divides = cls == OperatorClass::Division;
  bool dividesNarrow = divides && language >= LanguageVersion::V3_9 &&
                       (a.isFloat() || b.isFloat());
  if (either(DType::Float32) || dividesNarrow) {
    return ScalarType(DType::Float32);
  }
  if (either(DType::Float16)) {
    return ScalarType(divides ? DType::Float32 : DType::Float16);
  }
  if (either(DType::BFloat16)) {
    return ScalarType(a.dtype == b.dtype && !divides ? DType::BFloat16
                                                     : DType::Float32);
  }
  if (a.isFp8() && b.isFp8()) {
    return a == b ? a : ScalarType(DType::Float16);
  }
  if (a.isFloat() || b.isFloat()) {
    why = a.str() + " and " + b.str() + " have no common type";
    return std::nullopt;
  }
  return promoteIntegers(a, b, cls, why);
}

std::optional<llvm::SmallVector<int64_t>>
broadcastShape(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  size_t rank = std::max(a.size(), b.size());
  llvm::SmallVector<int64_t> shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1) {
      return std::nullopt;
    }
    shape[i] = x == 1 ? y : x;
  }
  return shape;
}

} // namespace nereid::irgen
