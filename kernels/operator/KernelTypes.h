//===- KernelTypes.h - Element types of the library's kernels ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_KERNELTYPES_H
#define NEREID_KERNELS_OPERATOR_KERNELTYPES_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

/// The floats that the library's kernels are compiled for ahead of time, and
/// that have sums in fp32.
inline bool isKernelFloat(DType t) { return t == f32 || t == f16 || t == bf16; }

/// What products take beside those, without gradients.
inline bool isFloat8(DType t) {
  return t == DType::Float8E4M3 || t == DType::Float8E5M2;
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_KERNELTYPES_H
