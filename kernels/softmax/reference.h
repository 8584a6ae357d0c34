//===- reference.h - Softmax in double precision ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SOFTMAX_REFERENCE_H
#define NEREID_KERNELS_SOFTMAX_REFERENCE_H

#include <cmath>
#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

/// `added`: as many as x, -inf for what takes no part.
inline Values softmax(const Values &x, const Values &added, size_t columns,
                      double scale, bool isLog) {
  Values y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    double most = -INFINITY, total = 0;
    for (size_t j = row; j < row + columns; ++j) {
      y[j] = x[j] * scale + added[j];
      most = std::fmax(most, y[j]);
    }
    for (size_t j = row; j < row + columns; ++j) {
      total += std::isinf(y[j]) ? 0 : std::exp(y[j] - most);
    }
    for (size_t j = row; j < row + columns; ++j) {
      bool takesPart = !std::isinf(y[j]);
      if (isLog) {
        y[j] = takesPart ? y[j] - most - std::log(total) : -INFINITY;
      } else {
        y[j] = takesPart ? std::exp(y[j] - most) / total : 0;
      }
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_SOFTMAX_REFERENCE_H
