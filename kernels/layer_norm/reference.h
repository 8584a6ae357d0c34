//===- reference.h - Layer norm in double precision ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LAYER_NORM_REFERENCE_H
#define NEREID_KERNELS_LAYER_NORM_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// `w`, `b`: empty for 1 and 0. The variance is mean((x - mean)^2).
inline Numbers layerNorm(const Numbers &x, const Numbers &w, const Numbers &b,
                         size_t columns, double eps) {
  Numbers y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    Sum sum, squares;
    for (size_t j = row; j < row + columns; ++j) {
      sum.add(x[j]);
    }
    Number mean = sum.total() / double(columns);
    for (size_t j = row; j < row + columns; ++j) {
      Number centred = x[j] - mean;
      squares.addProduct(centred, centred);
    }
    Number variance = squares.total() / double(columns);
    Number factor = rsqrt(variance + parameter(eps), eps);
    for (size_t j = 0; j < columns; ++j) {
      Number &result = y[row + j];
      result = (x[row + j] - mean) * factor;
      if (!w.empty()) {
        result = result * w[j];
      }
      if (!b.empty()) {
        result = result + b[j];
      }
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_LAYER_NORM_REFERENCE_H
