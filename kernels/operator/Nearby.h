//===- Nearby.h - Tensors whose blocks span 32 bits -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_NEARBY_H
#define NEREID_KERNELS_OPERATOR_NEARBY_H

#include "nereid/Runtime/Tensor.h"

#include <algorithm>
#include <cstdint>

namespace nereid::kernels {

/// Do offsets within a block of 256 by 256 elements of the last two dimensions
/// fit 32 bits? Where a block begins is counted in 64.
inline bool isNearby(const Tensor &t) {
  constexpr int64_t most = INT32_MAX / 512;
  const Shape &strides = t.strides();
  return std::all_of(strides.end() - std::min(t.rank(), 2), strides.end(),
                     [](int64_t stride) { return stride <= most; });
}

/// `t`, or a copy whose rows lie after each other.
inline Tensor nearby(const Tensor &t) {
  return isNearby(t) ? t : t.contiguous();
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_NEARBY_H
