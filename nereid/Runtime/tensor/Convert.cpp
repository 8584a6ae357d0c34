//===- Convert.cpp - Arrays of one element type into another --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every pair of types is one instance of convertArray. A small float is loaded
// as float (exact); storing one rounds once, from double.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/tensor/Convert.h"

#include "nereid/Support/FloatFormats.h"

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace nereid {
namespace {

/// How a type lies in memory, and what it is computed with.
template <DType dtype>
struct Element;
template <typename T>
struct NativeElement {
  using Stored = T;
  static T load(Stored s) { return s; }
};
template <>
struct Element<DType::Int8> : NativeElement<int8_t> {};
template <>
struct Element<DType::Int16> : NativeElement<int16_t> {};
template <>
struct Element<DType::Int32> : NativeElement<int32_t> {};
template <>
struct Element<DType::Int64> : NativeElement<int64_t> {};
template <>
struct Element<DType::UInt8> : NativeElement<uint8_t> {};
template <>
struct Element<DType::UInt16> : NativeElement<uint16_t> {};
template <>
struct Element<DType::UInt32> : NativeElement<uint32_t> {};
template <>
struct Element<DType::UInt64> : NativeElement<uint64_t> {};
template <>
struct Element<DType::Float32> : NativeElement<float> {};
template <>
struct Element<DType::Float64> : NativeElement<double> {};
template <>
struct Element<DType::Int1> {
  using Stored = uint8_t;
  static uint8_t load(Stored s) { return s != 0; }
};
template <>
struct Element<DType::Float16> {
  using Stored = uint16_t;
  static float load(Stored s) { return decodeFloat16(s); }
  static Stored store(double v) { return encodeFloat16(v); }
};
template <>
struct Element<DType::BFloat16> {
  using Stored = uint16_t;
  static float load(Stored s) { return decodeBFloat16(s); }
  static Stored store(double v) { return encodeBFloat16(v); }
};
template <>
struct Element<DType::Float8E5M2> {
  using Stored = uint8_t;
  static float load(Stored s) { return decodeFloat8E5M2(s); }
  static Stored store(double v) { return encodeFloat8E5M2(v); }
};
template <>
struct Element<DType::Float8E4M3> {
  using Stored = uint8_t;
  static float load(Stored s) { return decodeFloat8E4M3(s); }
  static Stored store(double v) { return encodeFloat8E4M3(v); }
};

template <typename Int, typename Float>
Int saturate(Float v) {
  // The limits as Float: the upper one rounds up to a power of two for wide
  // Int, hence >=.
  constexpr Float low = static_cast<Float>(std::numeric_limits<Int>::min());
  constexpr Float high = static_cast<Float>(std::numeric_limits<Int>::max());
  if (std::isnan(v)) {
    return 0;
  }
  if (v <= low) {
    return std::numeric_limits<Int>::min();
  }
  if (v >= high) {
    return std::numeric_limits<Int>::max();
  }
  return static_cast<Int>(v);
}

/// An integer as a double that a second rounding, to 11 bits or fewer, cannot
/// tell from the integer itself: bits below the 53rd are folded into one
/// sticky bit (rounding to odd), so that no tie is made or lost.
template <typename Int>
double sticky(Int v) {
  if constexpr (sizeof(Int) < 8) {
    return static_cast<double>(v);
  } else {
    bool negative = v < 0;
    uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
    if (magnitude >> 53) {
      magnitude = (magnitude & ~uint64_t{0x7ff}) |
                  (magnitude & 0x7ff ? uint64_t{0x800} : 0);
    }
    double d = static_cast<double>(magnitude);
    return negative ? -d : d;
  }
}

template <DType to, typename From>
typename Element<to>::Stored convertOne(From v) {
  using Stored = typename Element<to>::Stored;
  if constexpr (to == DType::Int1) {
    return v != 0;
  } else if constexpr (requires { Element<to>::store(0.0); }) {
    if constexpr (std::is_integral_v<From>) {
      return Element<to>::store(sticky(v));
    } else {
      return Element<to>::store(v);
    }
  } else if constexpr (std::is_integral_v<Stored> &&
                       std::is_floating_point_v<From>) {
    return saturate<Stored>(v);
  } else {
    return static_cast<Stored>(v);
  }
}

template <DType from, DType to>
void convertArray(const void *src, int64_t srcStride, void *dst,
                  int64_t dstStride, int64_t count) {
  auto *in = static_cast<const typename Element<from>::Stored *>(src);
  auto *out = static_cast<typename Element<to>::Stored *>(dst);
  auto one = [](auto stored) {
    // Equal types copy bits: a NaN keeps its payload, an int1 its byte.
    if constexpr (from == to) {
      return stored;
    } else {
      return convertOne<to>(Element<from>::load(stored));
    }
  };
  if (srcStride == 1 && dstStride == 1) {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = one(in[i]);
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    out[i * dstStride] = one(in[i * srcStride]);
  }
}

using Table = std::array<std::array<ConvertFunction, numDTypes>, numDTypes>;

template <int from, int... to>
constexpr std::array<ConvertFunction, numDTypes>
makeRow(std::integer_sequence<int, to...>) {
  return {&convertArray<static_cast<DType>(from), static_cast<DType>(to)>...};
}

template <int... from>
constexpr Table makeTable(std::integer_sequence<int, from...> all) {
  return {makeRow<from>(all)...};
}
} // namespace

ConvertFunction convertFunction(DType from, DType to) {
  static constexpr Table table =
      makeTable(std::make_integer_sequence<int, numDTypes>());
  return table[static_cast<size_t>(from)][static_cast<size_t>(to)];
}

} // namespace nereid
