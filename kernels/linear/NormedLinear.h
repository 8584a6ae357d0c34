//===- NormedLinear.h - A norm and a linear layer of it ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      sum = x + residual;
//               y = activation(layerNorm(sum) @ weight^T + bias)
// Shapes:       x, residual [..., K]; normWeight, normBias [K] or absent;
//               weight [N, K]; bias [N] or absent; y [..., N], sum as x. With
//               xRows [...], x is a table [V, K], whose rows these indices
//               choose, as embedding does; residualRows likewise
// Types:        fp32, fp16, bf16; those of addLayerNorm and linear
// Gradients:    none
// Memory:       of one row on a GPU one launch, whose programs each compute
//               the norm; else addLayerNorm and linear
// Determinism:  the same bits in each run on one device
// Source:       Ba, Kiros, Hinton, arXiv 1607.06450
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_NORMEDLINEAR_H
#define NEREID_KERNELS_LINEAR_NORMEDLINEAR_H

#include "kernels/linear/Linear.h"

#include <utility>

namespace nereid::kernels {

struct NormedLinearOptions {
  Tensor normWeight = {}, normBias = {}, bias = {}; ///< or undefined
  Activation activation = Activation::None;
  double eps = 1e-5;
  Tensor xRows = {}, residualRows = {}; ///< indices, or undefined
};

/// y and sum.
std::pair<Tensor, Tensor>
addLayerNormLinear(const Tensor &x, const Tensor &residual,
                   const Tensor &weight,
                   const NormedLinearOptions &options = {});

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LINEAR_NORMEDLINEAR_H
