//===- CombinedLinear.h - A linear layer of attention in parts --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_COMBINEDLINEAR_H
#define NEREID_KERNELS_LINEAR_COMBINEDLINEAR_H

#include "nereid/Runtime/Tensor.h"

namespace nereid::kernels {

/// o @ weight^T + bias, [B, N] in weight's type, where o [B, H * D] are the
/// means of `parts` fp32 [B, H, splits, D], weighted by two to the power of
/// `lse` fp32 [B, H, splits]. Undefined where combining them first takes less
/// time, or has to be done.
Tensor combinedLinear(const Tensor &parts, const Tensor &lse,
                      const Tensor &weight, const Tensor &bias);

} // namespace nereid::kernels

#endif // NEREID_KERNELS_LINEAR_COMBINEDLINEAR_H
