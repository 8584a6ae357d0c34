//===- reference.h - Residual sum and norm in double precision -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ADD_NORM_REFERENCE_H
#define NEREID_KERNELS_ADD_NORM_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// `factors`: what dropout multiplies x with, 0 or 1 / (1 - p). The norms are
/// those of layer_norm/reference.h and rms_norm/reference.h.
inline Numbers residualSum(const Numbers &x, const Numbers &residual,
                           const Numbers &factors) {
  Numbers sum(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    sum[i] = residual[i] + x[i] * factors[i];
  }
  return sum;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_ADD_NORM_REFERENCE_H
