//===- Scan.h - Running sums along a dimension -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      cumsum: y[j] = x[0] + ... + x[j] along the axis
// Shapes:       x of any, with any strides; y as x, row-major
// Types:        fp32, fp16, bf16, fp64, integers but u64, int1. Sums are fp32
//               (fp64 of fp64), rounded once for each element; those of
//               integers are i64, as y is
// Gradients:    x: the running sum of dy from the last one on
// Memory:       reads x once (a copy of it where it is not row-major), writes y
//               once
// Determinism:  the same bits in each run on one device
// Source:       none
//
// A program goes along a whole line, so that a GPU is idle where lines are few.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SCAN_SCAN_H
#define NEREID_KERNELS_SCAN_SCAN_H

#include "kernels/expression/Expression.h"

namespace nereid::kernels {

Tensor cumsum(const Tensor &x, int axis);
Variable cumsum(const Variable &x, int axis);
inline Expression cumsum(const Expression &x, int axis) {
  return cumsum(x.variable(), axis);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_SCAN_SCAN_H
