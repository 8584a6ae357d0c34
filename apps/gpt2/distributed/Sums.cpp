//===- Sums.cpp - Sums over processes, on the host ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/distributed/Sums.h"

#include "nereid/Support/FloatFormats.h"

#include <algorithm>

using namespace nereid;

/// Blocks of `T` are read as `Sum`, so that each part is read once.
template <typename T, typename Sum, typename Decode, typename Encode>
static void sumBlocks(std::span<const void *const> parts, void *out,
                      int64_t count, Decode decode, Encode encode) {
  constexpr int64_t block = 1024;
  Sum sums[block];
  for (int64_t begin = 0; begin < count; begin += block) {
    int64_t n = std::min(block, count - begin);
    for (size_t p = 0; p < parts.size(); ++p) {
      const T *from = static_cast<const T *>(parts[p]) + begin;
      for (int64_t i = 0; i < n; ++i) {
        Sum value = decode(from[i]);
        sums[i] = p == 0 ? value : static_cast<Sum>(sums[i] + value);
      }
    }
    T *to = static_cast<T *>(out) + begin;
    for (int64_t i = 0; i < n; ++i) {
      to[i] = encode(sums[i]);
    }
  }
}

bool gpt2::sumInOrder(DType dtype, std::span<const void *const> parts,
                      void *out, int64_t count) {
  auto same = [](auto value) { return value; };
  switch (dtype) {
  case DType::Float32:
    sumBlocks<float, float>(parts, out, count, same, same);
    return true;
  case DType::Float64:
    sumBlocks<double, double>(parts, out, count, same, same);
    return true;
  case DType::BFloat16:
    sumBlocks<uint16_t, float>(parts, out, count, decodeBFloat16,
                               encodeBFloat16);
    return true;
  case DType::Float16:
    sumBlocks<uint16_t, float>(parts, out, count, decodeFloat16, encodeFloat16);
    return true;
  case DType::Int8:
  case DType::UInt8:
    sumBlocks<uint8_t, uint8_t>(parts, out, count, same, same);
    return true;
  case DType::Int16:
  case DType::UInt16:
    sumBlocks<uint16_t, uint16_t>(parts, out, count, same, same);
    return true;
  case DType::Int32:
  case DType::UInt32:
    sumBlocks<uint32_t, uint32_t>(parts, out, count, same, same);
    return true;
  case DType::Int64:
  case DType::UInt64:
    sumBlocks<uint64_t, uint64_t>(parts, out, count, same, same);
    return true;
  default:
    return false;
  }
}
