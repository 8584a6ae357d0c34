//===- SafetensorsTypes.h - Names of element types -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_WEIGHTS_SAFETENSORSTYPES_H
#define NEREID_WEIGHTS_SAFETENSORSTYPES_H

#include "nereid/ABI/DType.h"

#include <utility>

namespace nereid {

inline constexpr std::pair<const char *, DType> safetensorsTypes[] = {
    {"BOOL", DType::Int1},          {"I8", DType::Int8},
    {"I16", DType::Int16},          {"I32", DType::Int32},
    {"I64", DType::Int64},          {"U8", DType::UInt8},
    {"U16", DType::UInt16},         {"U32", DType::UInt32},
    {"U64", DType::UInt64},         {"F8_E4M3", DType::Float8E4M3},
    {"F8_E5M2", DType::Float8E5M2}, {"F16", DType::Float16},
    {"BF16", DType::BFloat16},      {"F32", DType::Float32},
    {"F64", DType::Float64}};

inline constexpr uint64_t mostHeaderBytes = 100'000'000;

} // namespace nereid

#endif // NEREID_WEIGHTS_SAFETENSORSTYPES_H
