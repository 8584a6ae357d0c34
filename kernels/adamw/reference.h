//===- reference.h - AdamW in double precision ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ADAMW_REFERENCE_H
#define NEREID_KERNELS_ADAMW_REFERENCE_H

#include <cmath>
#include <vector>

namespace nereid::kernels::reference {

struct AdamW {
  double rate, beta1, beta2, eps, decay;
  std::vector<double> w, m, v;
  int t = 0;

  void step(const std::vector<double> &g) {
    m.resize(w.size());
    v.resize(w.size());
    ++t;
    for (size_t i = 0; i < w.size(); ++i) {
      m[i] = beta1 * m[i] + (1 - beta1) * g[i];
      v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
      double first = m[i] / (1 - std::pow(beta1, t));
      double second = v[i] / (1 - std::pow(beta2, t));
      w[i] -= rate * (decay * w[i] + first / (std::sqrt(second) + eps));
    }
  }
};

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_ADAMW_REFERENCE_H
