//===- Precision.h - How products of fp32 are computed ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_PRECISION_H
#define NEREID_KERNELS_OPERATOR_PRECISION_H

#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/DeviceProperties.h"

namespace nereid::kernels {

/// Of products of fp32 operands. Exact: each product and sum is one of fp32.
/// Split: three products of tf32 (docs/decisions/Products.md), on GPUs that
/// have them. Tf32: one, of operands of 11 digits.
enum class Precision { Exact, Split, Tf32 };

/// As `tl.dot` calls it.
inline const char *nameOf(Precision precision) {
  return precision == Precision::Exact   ? "ieee"
         : precision == Precision::Split ? "tf32x3"
                                         : "tf32";
}

/// `least`: from so many products a sum on, errors of three products of tf32
/// are no larger than those of fp32.
inline Precision precisionOf(DType type, bool tf32, Device device,
                             int64_t products, int64_t least) {
  constexpr int ampere = 80;
  if (tf32) {
    return Precision::Tf32;
  }
  bool splits = type == f32 && products >= least && !device.isHost() &&
                hasCompiler() && properties(device).computeCapability >= ampere;
  return splits ? Precision::Split : Precision::Exact;
}

/// Of a matrix product [m, k] @ [k, n].
inline Precision precisionOfProduct(DType type, bool tf32, Device device,
                                    int64_t k) {
  constexpr int64_t least = 512;
  return precisionOf(type, tf32, device, k, least);
}

/// Of attention, whose scores are sums of few products: their errors are below
/// those of PyTorch's three products of tf32 at any size. Heads of fewer
/// elements gain nothing, and those of more fill the registers. Of few keys
/// the time is that of one program, whose exact form has smaller blocks.
inline Precision precisionOfAttention(DType type, bool tf32, Device device,
                                      int64_t headSize, int64_t keys) {
  constexpr int64_t least = 32, most = 128, leastKeys = 256;
  bool gains = headSize <= most && keys >= leastKeys;
  return precisionOf(type, tf32, device, gains ? headSize : 0, least);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_PRECISION_H
