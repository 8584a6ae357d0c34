//===- reference.h - Cross-entropy in double precision ---------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_CROSS_ENTROPY_REFERENCE_H
#define NEREID_KERNELS_CROSS_ENTROPY_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// The loss of each row; 0 for those whose target is `ignored`.
inline Numbers crossEntropy(const Numbers &x,
                            const std::vector<double> &targets, double ignored,
                            double smoothing) {
  Numbers losses(targets.size());
  size_t columns = targets.empty() ? 0 : x.size() / targets.size();
  for (size_t row = 0; row < targets.size(); ++row) {
    if (targets[row] == ignored) {
      continue;
    }
    std::span logits(&x[row * columns], columns);
    Sum sum;
    for (const Number &logit : logits) {
      sum.add(logit);
    }
    losses[row] = logSumExp(logits) -
                  (1 - parameter(smoothing)) * logits[size_t(targets[row])] -
                  parameter(smoothing) * (sum.total() / double(columns));
  }
  return losses;
}

inline Number sumOf(const Numbers &losses, const std::vector<double> &targets,
                    double ignored, bool mean) {
  Sum sum;
  double count = 0;
  for (size_t i = 0; i < losses.size(); ++i) {
    sum.add(losses[i]);
    count += targets[i] != ignored;
  }
  return mean && count != 0 ? sum.total() / count : sum.total();
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_CROSS_ENTROPY_REFERENCE_H
