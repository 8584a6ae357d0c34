//===- reference.h - Layer norm in double precision ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LAYER_NORM_REFERENCE_H
#define NEREID_KERNELS_LAYER_NORM_REFERENCE_H

#include <cmath>
#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

/// `w`, `b`: empty for 1 and 0.
inline Values layerNorm(const Values &x, const Values &w, const Values &b,
                        size_t columns, double eps) {
  Values y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    double mean = 0, var = 0;
    for (size_t j = 0; j < columns; ++j) {
      mean += x[row + j] / double(columns);
    }
    for (size_t j = 0; j < columns; ++j) {
      var += (x[row + j] - mean) * (x[row + j] - mean) / double(columns);
    }
    for (size_t j = 0; j < columns; ++j) {
      y[row + j] =
          (x[row + j] - mean) / std::sqrt(var + eps) * (w.empty() ? 1 : w[j]) +
          (b.empty() ? 0 : b[j]);
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_LAYER_NORM_REFERENCE_H
