//===- Indexing.h - Elements by their number -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      of three dimensions and axis 1: indexSelect: y[a, j, b] = x[a,
//               index[j], b]; gather: y[a, j, b] = x[a, index[a, j, b], b];
//               scatterAdd: y = x, then y[a, index[a, j, b], b] += source[a, j,
//               b]; oneHot: y[.., c] = (index[..] == c)
// Shapes:       x of any, with any strides; the index of indexSelect has one
//               dimension, that of `take` any; that of gather has x's rank, and
//               along other dimensions no larger sizes; source is as the index
// Types:        x of any (scatterAdd: no fp8 and int1), index of i32 or i64.
//               Sums are fp32, rounded once; of fp64 and integers in their type
// Gradients:    x; source
// Memory:       the result, and a copy of what is not row-major. The gradient
//               of x is written whole; sums of halves are fp32 tensors of its
//               size
// Determinism:  the same bits in each run on one device: what goes to one
//               element is added from the first to the last, by one lane,
//               without atomics
// Source:       none
//
// An index on a host device that x lacks is refused; on a GPU its result is NaN
// (0 of integers and fp8), and its gradient goes nowhere. scatterAdd, and with
// it the gradient of gather, takes a lane for each line of the result along the
// axis: few lines leave a GPU idle. The gradient of indexSelect along the first
// axis is embeddingBackward.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_INDEXING_INDEXING_H
#define NEREID_KERNELS_INDEXING_INDEXING_H

#include "kernels/expression/Values.h"

namespace nereid::kernels {

Tensor indexSelect(const Tensor &x, int axis, const Tensor &index);
Variable indexSelect(const Variable &x, int axis, const Tensor &index);
inline Expression indexSelect(const Expression &x, int axis,
                              const Tensor &index) {
  return indexSelect(x.variable(), axis, index);
}

/// indexSelect with an index of any rank, whose dimensions take the place of
/// the axis.
Tensor take(const Tensor &x, const Tensor &index, int axis = 0);
Variable take(const Variable &x, const Tensor &index, int axis = 0);
inline Expression take(const Expression &x, const Tensor &index, int axis = 0) {
  return take(x.variable(), index, axis);
}
/// x[index], as an array is indexed.
template <Value T>
T index(const T &x, const Tensor &index) {
  return take(x, index, 0);
}

Tensor gather(const Tensor &x, int axis, const Tensor &index);
Variable gather(const Variable &x, int axis, const Tensor &index);
inline Expression gather(const Expression &x, int axis, const Tensor &index) {
  return gather(x.variable(), axis, index);
}

Tensor scatterAdd(const Tensor &x, int axis, const Tensor &index,
                  const Tensor &source);
Variable scatterAdd(const Variable &x, int axis, const Tensor &index,
                    const Variable &source);
template <typename X, typename S>
  requires WithExpression<X, S>
Expression scatterAdd(const X &x, int axis, const Tensor &index,
                      const S &source) {
  return scatterAdd(asVariable(x), axis, index, asVariable(source));
}

/// 1 where the index is the number of the last dimension, else 0.
Tensor oneHot(const Tensor &index, int64_t classes, DType dtype = i64);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_INDEXING_INDEXING_H
