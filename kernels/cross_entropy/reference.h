//===- reference.h - Cross-entropy in double precision ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_CROSS_ENTROPY_REFERENCE_H
#define NEREID_KERNELS_CROSS_ENTROPY_REFERENCE_H

#include <cmath>
#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

/// The loss of each row; 0 for those whose target is `ignored`.
inline Values crossEntropy(const Values &x, const Values &targets,
                           double ignored, double smoothing) {
  Values losses(targets.size());
  size_t columns = targets.empty() ? 0 : x.size() / targets.size();
  for (size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] == ignored) {
      continue;
    }
    const double *logits = x.data() + row * columns;
    double most = -INFINITY, total = 0, sum = 0;
    for (size_t j = 0; j < columns; ++j) {
      most = std::fmax(most, logits[j]);
      sum += logits[j];
    }
    for (size_t j = 0; j < columns; ++j) {
      total += std::exp(logits[j] - most);
    }
    losses[row] = most + std::log(total) -
                  (1 - smoothing) * logits[size_t(targets[row])] -
                  smoothing * sum / double(columns);
  }
  return losses;
}

/// `losses` in one number.
inline double sumOf(const Values &losses, const Values &targets, double ignored,
                    bool mean) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    sum += losses[i];
    count += targets[i] != ignored;
  }
  return mean && count != 0 ? sum / count : sum;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_CROSS_ENTROPY_REFERENCE_H
