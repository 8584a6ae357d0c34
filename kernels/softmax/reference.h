//===- reference.h - Softmax in double precision ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SOFTMAX_REFERENCE_H
#define NEREID_KERNELS_SOFTMAX_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// `added`: as many as x, -infinity for what takes no part. Of what takes none
/// the logarithm is -infinity.
inline Numbers softmax(const Numbers &x, const std::vector<double> &added,
                       size_t columns, double scale, bool isLog) {
  Numbers y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    Numbers scores;
    for (size_t j = row; j < row + columns; ++j) {
      if (!std::isinf(added[j])) {
        scores.push_back(x[j] * scale + added[j]);
      }
    }
    Number lse = logSumExp(scores);
    for (size_t j = row, k = 0; j < row + columns; ++j) {
      if (std::isinf(added[j])) {
        y[j] = isLog ? -INFINITY : 0.0;
      } else {
        Number shifted = scores[k++] - lse;
        y[j] = isLog ? shifted : exp(shifted);
      }
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_SOFTMAX_REFERENCE_H
