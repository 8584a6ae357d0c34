//===- reference.h - Gradient descent in double precision -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SGD_REFERENCE_H
#define NEREID_KERNELS_SGD_REFERENCE_H

#include "kernels/sgd/Sgd.h"
#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

struct SGD {
  SGDOptions options;
  Numbers w;
  Numbers m = {};

  void step(const Numbers &g) {
    bool isFirst = m.empty();
    m.resize(w.size());
    for (size_t i = 0; i < w.size(); ++i) {
      Number d = g[i] + parameter(options.weightDecay) * w[i];
      if (options.momentum != 0) {
        m[i] = isFirst ? d
                       : m[i] * parameter(options.momentum) +
                             d * parameter(1 - options.dampening);
        d = options.nesterov ? d + parameter(options.momentum) * m[i] : m[i];
      }
      w[i] = w[i] - parameter(options.learningRate) * d;
    }
  }
};

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_SGD_REFERENCE_H
