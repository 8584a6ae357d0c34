//===- Sort.h - Sorted lines, and the largest of them ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      sort: the elements along an axis in order, and where each was:
//               values = gather(x, axis, indices); topk: the first k of them
// Shapes:       x of any, with any strides, less than 2^31 elements along the
//               axis; results as x, and k along the axis, row-major
// Types:        fp32, fp16, bf16, fp64, integers, int1; indices are i64
// Gradients:    x
// Memory:       two times 8 bytes for each element, and two passes over that
//               for each doubling of 1024 elements; types of 64 bits do it
//               twice
// Determinism:  the same bits on every device: equal elements keep their order.
//               NaN is above all numbers, and the two zeros are equal
// Source:       Batcher, "Sorting networks and their applications", AFIPS 1968
//               (blocks); merging by rank: Satish, Harris, Garland, "Designing
//               efficient sorting algorithms for manycore GPUs", IPDPS 2009
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SORT_SORT_H
#define NEREID_KERNELS_SORT_SORT_H

#include "kernels/expression/Expression.h"

namespace nereid::kernels {

/// `auto [values, indices] = sort(x);`
struct SortedTensors {
  Tensor values, indices;
};
struct SortedVariables {
  Variable values;
  Tensor indices;
};

SortedTensors sort(const Tensor &x, int axis = -1, bool descending = false);
SortedVariables sort(const Variable &x, int axis = -1, bool descending = false);
inline SortedVariables sort(const Expression &x, int axis = -1,
                            bool descending = false) {
  return sort(x.variable(), axis, descending);
}

Tensor argsort(const Tensor &x, int axis = -1, bool descending = false);
inline Tensor argsort(const Variable &x, int axis = -1,
                      bool descending = false) {
  return argsort(x.value(), axis, descending);
}
inline Tensor argsort(const Expression &x, int axis = -1,
                      bool descending = false) {
  return argsort(x.value(), axis, descending);
}

/// The k largest along the axis, the largest first; the smallest with
/// `largest` false.
SortedTensors topk(const Tensor &x, int64_t k, int axis = -1,
                   bool largest = true);
SortedVariables topk(const Variable &x, int64_t k, int axis = -1,
                     bool largest = true);
inline SortedVariables topk(const Expression &x, int64_t k, int axis = -1,
                            bool largest = true) {
  return topk(x.variable(), k, axis, largest);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_SORT_SORT_H
