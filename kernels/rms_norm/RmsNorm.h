//===- RmsNorm.h - RMS norm, forward and backward --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      y = x * rstd * weight, over the last dimension;
//               rstd = 1 / sqrt(mean(x^2) + eps)
// Shapes:       x [..., N]; weight [N] or absent; y as x
// Types:        x, weight of fp32, fp16, bf16; y has x's; arithmetic fp32. Of
//               fp64 it is an expression in fp64, to check gradients with
// Gradients:    x, weight
// Memory:       reads x twice where a row exceeds 65,536 elements, else once;
//               keeps a float a row; the backward reads x and dy once and needs
//               N * min(rows, programs) floats of scratch; programs: 1 to
//               8 a multiprocessor, 64 on a host
// Determinism:  the same bits in each run on one device
// Source:       Zhang, Sennrich, "Root Mean Square Layer Normalization",
//               arXiv 1910.07467
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_RMS_NORM_RMSNORM_H
#define NEREID_KERNELS_RMS_NORM_RMSNORM_H

#include "kernels/expression/Values.h"

namespace nereid::kernels {

/// `weight`: undefined for 1.
Tensor rmsNorm(const Tensor &x, const Tensor &weight = {}, double eps = 1e-6);
Variable rmsNorm(const Variable &x, const Variable &weight = {},
                 double eps = 1e-6);
template <typename X, typename W = Variable>
  requires WithExpression<X, W>
Expression rmsNorm(const X &x, const W &weight = {}, double eps = 1e-6) {
  return rmsNorm(asVariable(x), asVariable(weight), eps);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_RMS_NORM_RMSNORM_H
