//===- Reductions.h - Sums, means, extremes over dimensions ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      over the elements of the dimensions `axes` (all of them where
//               none is named): sum, mean, the largest and the smallest;
//               var = sum((x - mean)^2) / max(n - correction, 0);
//               argmax, argmin: the first place of the extreme along an axis,
//               or in the flattened tensor
// Shapes:       x of any, with any strides; the result lacks `axes`, or has
//               them as 1 with `keepDim`
// Types:        fp32, fp16, bf16, fp64, integers, int1. Sums and var are taken
//               in fp32 (fp64 of fp64) and rounded once; the sum of integers is
//               i64, their mean and var fp32; extremes have x's type, places
//               are i64. var takes no int1
// Gradients:    x, but for argmax and argmin. That of an extreme is shared
//               evenly by the elements that are equal to it
// Memory:       reads x once, var twice; a copy of it where the dimensions that
//               are reduced have others between them or x is not row-major
//               (sum: only there); partial results of at most 1/64 of it. The
//               tape keeps shapes for sum and mean, x and the result else
// Determinism:  the same bits in each run on one device: parts of fixed size,
//               whose results a second kernel takes together
// Source:       none
//
// NaN is the extreme wherever there is one, and its place the first. Of no
// elements, the sum is 0, mean and var NaN; the extremes and their places are
// refused. A program without a compiler takes neither fp64 nor u64.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_REDUCE_REDUCTIONS_H
#define NEREID_KERNELS_REDUCE_REDUCTIONS_H

#include "kernels/expression/Expression.h"
#include "kernels/operator/Axes.h"

namespace nereid::kernels {

Tensor sum(const Tensor &x, const Axes &axes = {}, bool keepDim = false);
Variable sum(const Variable &x, const Axes &axes = {}, bool keepDim = false);
inline Expression sum(const Expression &x, const Axes &axes = {},
                      bool keepDim = false) {
  return sum(x.variable(), axes, keepDim);
}

Tensor mean(const Tensor &x, const Axes &axes = {}, bool keepDim = false);
Variable mean(const Variable &x, const Axes &axes = {}, bool keepDim = false);
inline Expression mean(const Expression &x, const Axes &axes = {},
                       bool keepDim = false) {
  return mean(x.variable(), axes, keepDim);
}

Tensor max(const Tensor &x, const Axes &axes = {}, bool keepDim = false);
Variable max(const Variable &x, const Axes &axes = {}, bool keepDim = false);
inline Expression max(const Expression &x, const Axes &axes = {},
                      bool keepDim = false) {
  return max(x.variable(), axes, keepDim);
}

Tensor min(const Tensor &x, const Axes &axes = {}, bool keepDim = false);
Variable min(const Variable &x, const Axes &axes = {}, bool keepDim = false);
inline Expression min(const Expression &x, const Axes &axes = {},
                      bool keepDim = false) {
  return min(x.variable(), axes, keepDim);
}

/// `correction`: 1 for the variance of a sample (Bessel), 0 for that of all.
Tensor var(const Tensor &x, const Axes &axes = {}, bool keepDim = false,
           double correction = 1);
Variable var(const Variable &x, const Axes &axes = {}, bool keepDim = false,
             double correction = 1);
inline Expression var(const Expression &x, const Axes &axes = {},
                      bool keepDim = false, double correction = 1) {
  return var(x.variable(), axes, keepDim, correction);
}
/// sqrt(var).
Expression stddev(const Variable &x, const Axes &axes = {},
                  bool keepDim = false, double correction = 1);
inline Expression stddev(const Tensor &x, const Axes &axes = {},
                         bool keepDim = false, double correction = 1) {
  return stddev(Variable(x), axes, keepDim, correction);
}
inline Expression stddev(const Expression &x, const Axes &axes = {},
                         bool keepDim = false, double correction = 1) {
  return stddev(x.variable(), axes, keepDim, correction);
}

/// Along one axis, or among all elements.
Tensor argmax(const Tensor &x, const Axes &axis = {}, bool keepDim = false);
Tensor argmin(const Tensor &x, const Axes &axis = {}, bool keepDim = false);
inline Tensor argmax(const Variable &x, const Axes &axis = {},
                     bool keepDim = false) {
  return argmax(x.value(), axis, keepDim);
}
inline Tensor argmin(const Variable &x, const Axes &axis = {},
                     bool keepDim = false) {
  return argmin(x.value(), axis, keepDim);
}
inline Tensor argmax(const Expression &x, const Axes &axis = {},
                     bool keepDim = false) {
  return argmax(x.value(), axis, keepDim);
}
inline Tensor argmin(const Expression &x, const Axes &axis = {},
                     bool keepDim = false) {
  return argmin(x.value(), axis, keepDim);
}

/// Is one, is each of the elements not 0? int1; of no elements, no and yes.
Tensor any(const Expression &x, const Axes &axes = {}, bool keepDim = false);
Tensor any(const Tensor &x, const Axes &axes = {}, bool keepDim = false);
inline Tensor any(const Variable &x, const Axes &axes = {},
                  bool keepDim = false) {
  return any(x.value(), axes, keepDim);
}
Tensor all(const Expression &x, const Axes &axes = {}, bool keepDim = false);
Tensor all(const Tensor &x, const Axes &axes = {}, bool keepDim = false);
inline Tensor all(const Variable &x, const Axes &axes = {},
                  bool keepDim = false) {
  return all(x.value(), axes, keepDim);
}

/// log(sum(exp(x))), without overflow.
Variable logSumExp(const Variable &x, const Axes &axes = {},
                   bool keepDim = false);
inline Tensor logSumExp(const Tensor &x, const Axes &axes = {},
                        bool keepDim = false) {
  return logSumExp(Variable(x), axes, keepDim).value();
}
inline Expression logSumExp(const Expression &x, const Axes &axes = {},
                            bool keepDim = false) {
  return logSumExp(x.variable(), axes, keepDim);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_REDUCE_REDUCTIONS_H
