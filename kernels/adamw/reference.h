//===- reference.h - AdamW in double precision ------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ADAMW_REFERENCE_H
#define NEREID_KERNELS_ADAMW_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

struct AdamW {
  double rate, beta1, beta2, eps, decay;
  Numbers w;
  Numbers m = {}, v = {};
  int t = 0;

  void step(const Numbers &g) {
    m.resize(w.size());
    v.resize(w.size());
    ++t;
    Number first = parameter(rate / (1 - std::pow(beta1, t))),
           root = parameter(1 / std::sqrt(1 - std::pow(beta2, t)));
    for (size_t i = 0; i < w.size(); ++i) {
      m[i] = m[i] * parameter(beta1) + g[i] * parameter(1 - beta1);
      v[i] = v[i] * parameter(beta2) + g[i] * g[i] * parameter(1 - beta2);
      w[i] = w[i] * (1 - parameter(rate) * parameter(decay)) -
             first * m[i] / (sqrt(v[i]) * root + parameter(eps));
    }
  }
};

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_ADAMW_REFERENCE_H
