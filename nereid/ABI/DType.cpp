//===- DType.cpp - Element types of tensors and kernel parameters ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/DType.h"

#include <array>

namespace nereid {
namespace {
struct Row {
  DType dtype;
  uint8_t bits;
  bool isFloat, isSigned;
  std::string_view shortName, languageName;
  std::array<std::string_view, 4> aliases;
};
} // namespace

static constexpr std::array<Row, numDTypes> rows = {{
    {DType::Int1, 1, false, false, "i1", "int1", {"u1", "bool", "uint1"}},
    {DType::Int8, 8, false, true, "i8", "int8", {}},
    {DType::Int16, 16, false, true, "i16", "int16", {}},
    {DType::Int32, 32, false, true, "i32", "int32", {"int"}},
    {DType::Int64, 64, false, true, "i64", "int64", {"long"}},
    {DType::UInt8, 8, false, false, "u8", "uint8", {}},
    {DType::UInt16, 16, false, false, "u16", "uint16", {}},
    {DType::UInt32, 32, false, false, "u32", "uint32", {}},
    {DType::UInt64, 64, false, false, "u64", "uint64", {}},
    {DType::Float8E4M3,
     8,
     true,
     false,
     "fp8e4nv",
     "float8e4nv",
     {"float8_e4m3fn", "f8e4m3", "f8e4m3fn", "fp8e4m3"}},
    {DType::Float8E5M2,
     8,
     true,
     false,
     "fp8e5",
     "float8e5",
     {"float8_e5m2", "f8e5m2", "fp8e5m2"}},
    {DType::Float16, 16, true, false, "fp16", "float16", {"f16", "half"}},
    {DType::BFloat16, 16, true, false, "bf16", "bfloat16", {}},
    {DType::Float32, 32, true, false, "fp32", "float32", {"f32", "float"}},
    {DType::Float64, 64, true, false, "fp64", "float64", {"f64", "double"}},
}};

static const Row &row(DType dtype) { return rows[static_cast<size_t>(dtype)]; }

size_t byteSize(DType dtype) { return (row(dtype).bits + 7) / 8; }
unsigned bitWidth(DType dtype) { return row(dtype).bits; }
bool isFloat(DType dtype) { return row(dtype).isFloat; }
bool isSigned(DType dtype) { return row(dtype).isSigned; }
std::string_view shortName(DType dtype) { return row(dtype).shortName; }
std::string_view languageName(DType dtype) { return row(dtype).languageName; }

std::optional<DType> parseDType(std::string_view name) {
  for (std::string_view prefix : {"tl.", "torch.", "triton.language."}) {
    if (name.substr(0, prefix.size()) == prefix) {
      name.remove_prefix(prefix.size());
    }
  }
  if (name.empty()) {
    return std::nullopt;
  }
  for (const Row &r : rows) {
    if (name == r.shortName || name == r.languageName) {
      return r.dtype;
    }
    for (std::string_view alias : r.aliases) {
      if (name == alias) {
        return r.dtype;
      }
    }
  }
  return std::nullopt;
}

} // namespace nereid
