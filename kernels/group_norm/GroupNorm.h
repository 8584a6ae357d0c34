//===- GroupNorm.h - Group norm, forward and backward ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      y = (x - mean) * rstd * weight + bias, mean and variance over
//               the positions of C / groups neighbouring channels of a sample;
//               rstd = 1 / sqrt(var + eps)
// Shapes:       x [samples, C, positions ...]; weight, bias [C] or absent; y as
//               x, in the memory order of x: row-major (NCHW), or channels last
//               (NHWC in memory: `x.permute({0, 3, 1, 2})`)
// Types:        x, weight, bias of fp32, fp16, bf16; y has x's; arithmetic
//               fp32. Of x of fp64, all is
// Gradients:    x, weight, bias
// Memory:       reads x twice, its backward x and dy twice; keeps x and two
//               floats a group, and needs 2 * samples * C floats of scratch;
//               any other memory order is copied
// Determinism:  the same bits in each run on one device
// Source:       Wu, He, "Group Normalization", arXiv 1803.08494
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_GROUP_NORM_GROUPNORM_H
#define NEREID_KERNELS_GROUP_NORM_GROUPNORM_H

#include "kernels/expression/Values.h"

namespace nereid::kernels {

/// `weight`, `bias`: undefined for 1 and 0.
Tensor groupNorm(const Tensor &x, int64_t groups, const Tensor &weight = {},
                 const Tensor &bias = {}, double eps = 1e-5);
Variable groupNorm(const Variable &x, int64_t groups,
                   const Variable &weight = {}, const Variable &bias = {},
                   double eps = 1e-5);
template <typename X, typename W = Variable, typename B = Variable>
  requires WithExpression<X, W, B>
Expression groupNorm(const X &x, int64_t groups, const W &weight = {},
                     const B &bias = {}, double eps = 1e-5) {
  return groupNorm(asVariable(x), groups, asVariable(weight), asVariable(bias),
                   eps);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_GROUP_NORM_GROUPNORM_H
