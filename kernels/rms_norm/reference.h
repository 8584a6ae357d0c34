//===- reference.h - RMS norm in double precision --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_RMS_NORM_REFERENCE_H
#define NEREID_KERNELS_RMS_NORM_REFERENCE_H

#include <cmath>
#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

/// `w`: empty for 1.
inline Values rmsNorm(const Values &x, const Values &w, size_t columns,
                      double eps) {
  Values y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    double squares = 0;
    for (size_t j = 0; j < columns; ++j) {
      squares += x[row + j] * x[row + j] / double(columns);
    }
    for (size_t j = 0; j < columns; ++j) {
      y[row + j] =
          x[row + j] / std::sqrt(squares + eps) * (w.empty() ? 1 : w[j]);
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_RMS_NORM_REFERENCE_H
