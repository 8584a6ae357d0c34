//===- Pointer.h - Addresses as kernel arguments ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs with memory of their own: a typed address in place of a Tensor.
// Nothing is known of how much memory lies there, so that bounds checks and
// streaming stores do without it, nor of the device that it belongs to, which
// the launch then says (Kernel::on).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_POINTER_H
#define NEREID_RUNTIME_POINTER_H

#include "nereid/ABI/DType.h"

#include <type_traits>

namespace nereid {

// Elements that C++20 has no type for, as bits. Their pointers tell dtypes
// apart that share an integer type.
struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};
struct Float8E4M3 {
  uint8_t bits;
};
struct Float8E5M2 {
  uint8_t bits;
};

/// The DType of memory that a T * points to; void for others.
template <typename T>
constexpr auto pointeeOf() {
  if constexpr (std::is_same_v<T, Float16>) {
    return DType::Float16;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return DType::BFloat16;
  } else if constexpr (std::is_same_v<T, Float8E4M3>) {
    return DType::Float8E4M3;
  } else if constexpr (std::is_same_v<T, Float8E5M2>) {
    return DType::Float8E5M2;
  } else if constexpr (std::is_same_v<T, float>) {
    return DType::Float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return DType::Float64;
  } else if constexpr (std::is_same_v<T, bool>) {
    return DType::Int1;
  } else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
    constexpr DType signedOnes[] = {DType::Int8, DType::Int16, DType::Int32,
                                    DType::Int64};
    constexpr DType unsignedOnes[] = {DType::UInt8, DType::UInt16,
                                      DType::UInt32, DType::UInt64};
    constexpr int log2Bytes = sizeof(T) == 1   ? 0
                              : sizeof(T) == 2 ? 1
                              : sizeof(T) == 4 ? 2
                                               : 3;
    return std::is_signed_v<T> ? signedOnes[log2Bytes]
                               : unsignedOnes[log2Bytes];
  }
}

struct Pointer {
  template <typename T>
    requires(!std::is_void_v<decltype(pointeeOf<std::remove_const_t<T>>())>)
  Pointer(T *address)
      : address(address), dtype(pointeeOf<std::remove_const_t<T>>()) {}
  Pointer(const void *address, DType dtype) : address(address), dtype(dtype) {}

  const void *address;
  DType dtype;
};

} // namespace nereid

#endif // NEREID_RUNTIME_POINTER_H
