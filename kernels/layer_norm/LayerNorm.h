//===- LayerNorm.h - Layer norm, forward and backward ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      y = (x - mean) * rstd * weight + bias, over the last dimension;
//               rstd = 1 / sqrt(var + eps), var = mean((x - mean)^2)
// Shapes:       x [..., N]; weight, bias [N] or absent; y as x;
//               mean, rstd [rows] fp32
// Types:        x, weight, bias of fp32, fp16, bf16; y has x's; arithmetic
//               fp32. Of fp64 it is an expression in fp64, to check gradients
//               with
// Gradients:    x, weight, bias
// Memory:       reads x twice where a row exceeds 65,536 elements, else once;
//               the backward reads x and dy once and needs
//               2 * N * min(rows, programs) floats of scratch; programs: 1 to
//               8 a multiprocessor, 64 on a host
// Determinism:  the same bits in each run on one device
// Source:       Ba, Kiros, Hinton, "Layer Normalization", arXiv 1607.06450
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LAYER_NORM_LAYERNORM_H
#define NEREID_KERNELS_LAYER_NORM_LAYERNORM_H

#include "kernels/expression/Values.h"

namespace nereid::kernels {

struct LayerNormResult {
  Tensor y, mean, rstd; ///< mean and rstd undefined unless asked for
};

/// `weight`, `bias`: undefined for 1 and 0.
LayerNormResult layerNormForward(const Tensor &x, const Tensor &weight,
                                 const Tensor &bias, double eps,
                                 bool keepStatistics);

struct LayerNormGradients {
  Tensor x, weight, bias; ///< undefined where they were not asked for
};

/// The gradients of x, and where they are wanted, of weight and bias.
LayerNormGradients layerNormBackward(const Tensor &dy, const Tensor &x,
                                     const Tensor &weight, const Tensor &mean,
                                     const Tensor &rstd, bool wantsWeight,
                                     DType biasType, bool wantsBias);

/// The plain function, and the same on a tape (docs/operators/Autograd.md).
Tensor layerNorm(const Tensor &x, const Tensor &weight = {},
                 const Tensor &bias = {}, double eps = 1e-5);
Variable layerNorm(const Variable &x, const Variable &weight = {},
                   const Variable &bias = {}, double eps = 1e-5);
template <typename X, typename W = Variable, typename B = Variable>
  requires WithExpression<X, W, B>
Expression layerNorm(const X &x, const W &weight = {}, const B &bias = {},
                     double eps = 1e-5) {
  return layerNorm(asVariable(x), asVariable(weight), asVariable(bias), eps);
}

/// y = layerNorm(x + added): `added` [N] is one row for all of them. The
/// variance is that of differences from the mean, as layerNorm's.
Tensor fusedBiasLayerNorm(const Tensor &x, const Tensor &added,
                          const Tensor &weight, const Tensor &bias,
                          double eps = 1e-5);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LAYER_NORM_LAYERNORM_H
