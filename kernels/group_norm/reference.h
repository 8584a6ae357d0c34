//===- reference.h - Group norm in double precision ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_GROUP_NORM_REFERENCE_H
#define NEREID_KERNELS_GROUP_NORM_REFERENCE_H

#include <cmath>
#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

/// x [samples, channels, positions]; `w`, `b`: empty for 1 and 0.
inline Values groupNorm(const Values &x, const Values &w, const Values &b,
                        size_t channels, size_t positions, size_t groups,
                        double eps) {
  Values y(x.size());
  size_t size = channels / groups * positions;
  for (size_t first = 0; first < x.size(); first += size) {
    double mean = 0, var = 0;
    for (size_t i = first; i < first + size; ++i) {
      mean += x[i] / double(size);
    }
    for (size_t i = first; i < first + size; ++i) {
      var += (x[i] - mean) * (x[i] - mean) / double(size);
    }
    for (size_t i = first; i < first + size; ++i) {
      size_t channel = i / positions % channels;
      y[i] =
          (x[i] - mean) / std::sqrt(var + eps) * (w.empty() ? 1 : w[channel]) +
          (b.empty() ? 0 : b[channel]);
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_GROUP_NORM_REFERENCE_H
