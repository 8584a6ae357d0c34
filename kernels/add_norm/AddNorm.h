//===- AddNorm.h - Residual sum, dropout and norm in one -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      sum = residual + dropout(x); y = norm(sum), that is
//               (sum - mean) * rstd * weight + bias for layer norm, and
//               sum * rstd * weight for RMS norm, over the last dimension
// Shapes:       x, residual [..., N]; weight, bias [N] or absent; y, sum as x
// Types:        fp32, fp16, bf16, of each argument its own; y has x's, sum has
//               residual's; arithmetic fp32; the norm is of the sum as
//               stored. Of x and residual of fp64, all is
// Gradients:    x, residual, weight, bias, from those of y and of sum
// Memory:       reads x and residual once, writes y and sum once; keeps sum,
//               and two floats a row; dropout keeps no mask
// Determinism:  the same bits in each run on one device. Element i of x
//               (row-major) is dropped where tl.rand(seed, offset + i) < p
// Source:       Ba, Kiros, Hinton, arXiv 1607.06450; Zhang, Sennrich, "Root
//               Mean Square Layer Normalization", arXiv 1910.07467; Salmon et
//               al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ADD_NORM_ADDNORM_H
#define NEREID_KERNELS_ADD_NORM_ADDNORM_H

#include "nereid/Autograd/Variable.h"

#include <utility>

namespace nereid::kernels {

/// Each element is 0 with probability `p`, else multiplied by 1 / (1 - p).
struct ResidualDropout {
  double p = 0;
  int64_t seed = 0, offset = 0;
  Tensor seedOnDevice = {}; ///< i64 [1], instead of `seed`; or undefined
};

/// y and sum.
std::pair<Tensor, Tensor> addLayerNorm(const Tensor &x, const Tensor &residual,
                                       const Tensor &weight = {},
                                       const Tensor &bias = {},
                                       double eps = 1e-5,
                                       const ResidualDropout &dropout = {});
std::pair<Variable, Variable>
addLayerNorm(const Variable &x, const Variable &residual,
             const Variable &weight = {}, const Variable &bias = {},
             double eps = 1e-5, const ResidualDropout &dropout = {});

std::pair<Tensor, Tensor> addRmsNorm(const Tensor &x, const Tensor &residual,
                                     const Tensor &weight = {},
                                     double eps = 1e-6,
                                     const ResidualDropout &dropout = {});
std::pair<Variable, Variable> addRmsNorm(const Variable &x,
                                         const Variable &residual,
                                         const Variable &weight = {},
                                         double eps = 1e-6,
                                         const ResidualDropout &dropout = {});

/// What `addNormBackward` is given beside the gradients.
struct NormedSum {
  Tensor sum, weight, mean, rstd; ///< mean undefined: RMS norm
  ResidualDropout dropout;
  DType xType = f32, biasType = f32;
};

struct AddNormGradients {
  Tensor x, residual, weight, bias; ///< x and residual may be one
};

/// `dy`, `dsum`: undefined for zeros.
AddNormGradients addNormBackward(const Tensor &dy, const Tensor &dsum,
                                 const NormedSum &of, bool wantsWeight,
                                 bool wantsBias);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_ADD_NORM_ADDNORM_H
