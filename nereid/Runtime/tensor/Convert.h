//===- Convert.h - Arrays of one element type into another ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_RUNTIME_TENSOR_CONVERT_H
#define NEREID_RUNTIME_TENSOR_CONVERT_H

#include "nereid/ABI/DType.h"

namespace nereid {

/// dst[i * dstStride] = convert(src[i * srcStride]) for i < count, by the
/// rules at the head of Tensor.h. Strides in elements.
using ConvertFunction = void (*)(const void *src, int64_t srcStride, void *dst,
                                 int64_t dstStride, int64_t count);
ConvertFunction convertFunction(DType from, DType to);

} // namespace nereid

#endif // NEREID_RUNTIME_TENSOR_CONVERT_H
