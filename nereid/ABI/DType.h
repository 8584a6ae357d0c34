//===- DType.h - Element types of tensors and kernel parameters -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scalar element types of the language, as both the compiler and the
// runtime name them. An int1 occupies one byte in memory.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_ABI_DTYPE_H
#define NEREID_ABI_DTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid {

enum class DType : uint8_t {
  Int1,
  Int8,
  Int16,
  Int32,
  Int64,
  UInt8,
  UInt16,
  UInt32,
  UInt64,
  Float8E4M3, ///< fp8e4nv: E4M3FN, no infinity, 0x7f is NaN
  Float8E5M2, ///< fp8e5
  Float16,
  BFloat16,
  Float32,
  Float64,
};

inline constexpr int numDTypes = static_cast<int>(DType::Float64) + 1;

/// Bytes of one element in memory (1 for Int1).
size_t byteSize(DType dtype);
/// Bits of the value (1 for Int1).
unsigned bitWidth(DType dtype);
bool isFloat(DType dtype);
bool isSigned(DType dtype); ///< signed integers only; Int1 counts as unsigned

/// Triton's short name: i1 i8 .. u64 fp8e4nv fp8e5 fp16 bf16 fp32 fp64.
std::string_view shortName(DType dtype);
/// The name in `tl.`: int1 .. uint64 float8e4nv float8e5 float16 .. float64.
std::string_view languageName(DType dtype);

/// Accepts every spelling in use: "fp32", "f32", "float32"; "i32", "int32";
/// "u8", "uint8"; "fp8e4nv", "float8_e4m3fn"; "i1", "bool"; with or without
/// "tl." or "torch." in front. Null when nothing matches.
std::optional<DType> parseDType(std::string_view name);

} // namespace nereid

#endif // NEREID_ABI_DTYPE_H
