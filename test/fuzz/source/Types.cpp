//===- Types.cpp - Types of the language, for the generator ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/source/Types.h"

#include <algorithm>
#include <cassert>

namespace nereid::fuzz::source {

int64_t Type::count() const {
  int64_t product = 1;
  for (int64_t size : shape) {
    product *= size;
  }
  return product;
}

bool isInteger(DType type) { return !isFloat(type); }
bool isUnsigned(DType type) { return isInteger(type) && !isSigned(type); }
bool isFp8(DType type) {
  return type == DType::Float8E4M3 || type == DType::Float8E5M2;
}
bool isArithmeticFloat(DType type) { return isFloat(type) && !isFp8(type); }

int precision(DType type) {
  switch (type) {
  case DType::Float8E4M3:
    return 4;
  case DType::Float8E5M2:
    return 3;
  case DType::Float16:
    return 11;
  case DType::BFloat16:
    return 8;
  case DType::Float32:
    return 24;
  default:
    return 53;
  }
}

double comfortable(DType type) {
  switch (type) {
  case DType::Float8E4M3:
  case DType::Float8E5M2:
    return 200;
  case DType::Float16:
    return 4096;
  default:
    return 1e8;
  }
}

int64_t smallest(DType integer) {
  return isSigned(integer) ? -(int64_t{1} << (bitWidth(integer) - 2)) * 2 : 0;
}

uint64_t largest(DType integer) {
  unsigned bits = bitWidth(integer) - (isSigned(integer) ? 1 : 0);
  return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

std::string text(DType type) { return "tl." + std::string(languageName(type)); }

std::string text(llvm::ArrayRef<int64_t> shape) {
  std::string result = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    result += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return result + "]";
}

DType promote(DType a, DType b, Operator op) {
  auto either = [&](DType type) { return a == type || b == type; };
  if (either(DType::Float64)) {
    return DType::Float64;
  }
  bool anyFloat = isFloat(a) || isFloat(b);
  if (either(DType::Float32) || (anyFloat && op == Operator::Division)) {
    return DType::Float32;
  }
  if (either(DType::Float16)) {
    return DType::Float16;
  }
  if (either(DType::BFloat16)) {
    return a == b ? DType::BFloat16 : DType::Float32;
  }
  if (isSigned(a) == isSigned(b)) {
    return bitWidth(a) >= bitWidth(b) ? a : b;
  }
  DType plain = isSigned(a) ? b : a, withSign = isSigned(a) ? a : b;
  return bitWidth(plain) >= bitWidth(withSign) ? plain : withSign;
}

/// bool, int, float: what Python would rank a number of this type.
static int rank(DType type) {
  return type == DType::Int1 ? 0 : isInteger(type) ? 1 : 2;
}

DType promoteNumber(DType tensor, DType literal, Operator op) {
  if (rank(literal) > rank(tensor)) {
    return promote(tensor, literal, op);
  }
  bool isSmallFloat = tensor == DType::Float16 || tensor == DType::BFloat16;
  return op == Operator::Division && isSmallFloat ? DType::Float32 : tensor;
}

DType typeOfInteger(int64_t number) {
  if (number >= INT32_MIN && number <= INT32_MAX) {
    return DType::Int32;
  }
  return number > 0 && number <= int64_t{UINT32_MAX} ? DType::UInt32
                                                     : DType::Int64;
}

bool canBroadcast(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  for (size_t i = 1; i <= std::min(a.size(), b.size()); ++i) {
    int64_t x = a[a.size() - i], y = b[b.size() - i];
    if (x != y && x != 1 && y != 1) {
      return false;
    }
  }
  return true;
}

Dims broadcast(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  assert(canBroadcast(a, b));
  if (a.size() < b.size()) {
    std::swap(a, b);
  }
  Dims result(a.begin(), a.end());
  for (size_t i = 1; i <= b.size(); ++i) {
    int64_t &size = result[a.size() - i];
    size = std::max(size, b[b.size() - i]);
  }
  return result;
}

DType widenedSum(DType type) {
  if (isFloat(type) || bitWidth(type) >= 32) {
    return type;
  }
  return isSigned(type) ? DType::Int32 : DType::UInt32;
}

DType widenedExtreme(DType type) {
  if (bitWidth(type) >= 32) {
    return type;
  }
  return isFloat(type) ? DType::Float32 : DType::Int32;
}

} // namespace nereid::fuzz::source
