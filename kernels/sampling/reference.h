//===- reference.h - Sampling in double precision --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SAMPLING_REFERENCE_H
#define NEREID_KERNELS_SAMPLING_REFERENCE_H

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace nereid::kernels::reference {

/// The least logit that is kept (p: up to what rounding of `p` may move it).
inline double leastKept(std::vector<double> x, size_t k, double p) {
  std::sort(x.begin(), x.end(), std::greater<>());
  double least = k && k < x.size() ? x[k - 1] : x.back();
  double total = 0, sum = 0;
  for (double v : x) {
    total += v >= least ? std::exp(v - x[0]) : 0;
  }
  for (double v : x) {
    sum += std::exp(v - x[0]);
    if (v < least || sum >= p * total) {
      return std::max(v, least);
    }
  }
  return least;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_SAMPLING_REFERENCE_H
