//===- Reduce.h - Sums over dimensions --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      sumTo(x, shape): the sum over each dimension that `shape` has
//               not, or has as 1; the gradient of broadcasting
// Shapes:       x of any; `shape` is one that broadcasts to that of x
// Types:        fp32, fp16, bf16; sums are fp32 and rounded once
// Gradients:    none: it is a part of others' backward
// Memory:       reads x once (a copy of it where it is not row-major); partial
//               sums of at most 1/64 of it
// Determinism:  the same bits in each run on one device: parts of fixed size,
//               whose sums a second kernel adds
// Source:       none
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_REDUCE_REDUCE_H
#define NEREID_KERNELS_REDUCE_REDUCE_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

Tensor sumTo(const Tensor &x, const Shape &shape, DType dtype);
inline Tensor sumTo(const Tensor &x, const Shape &shape) {
  return sumTo(x, shape, x.dtype());
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_REDUCE_REDUCE_H
