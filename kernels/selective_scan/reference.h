//===- reference.h - Selective scans in double precision --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_SELECTIVE_SCAN_REFERENCE_H
#define NEREID_KERNELS_SELECTIVE_SCAN_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

struct ScanSizes {
  size_t batch, steps, channels, states;
};

/// `state` [batch, channels, states] becomes the last one; `d` may be empty.
inline Numbers selectiveScan(const Numbers &x, const Numbers &dt,
                             const Numbers &a, const Numbers &b,
                             const Numbers &c, const Numbers &d,
                             const ScanSizes &s, Numbers &state) {
  Numbers y;
  for (size_t row = 0; row < s.batch * s.steps; ++row) {
    for (size_t i = 0; i < s.channels; ++i) {
      size_t at = row * s.channels + i;
      Sum sum;
      for (size_t n = 0; n < s.states; ++n) {
        Number &h = state[(row / s.steps * s.channels + i) * s.states + n];
        Sum next;
        next.addProduct(exp(dt[at] * a[i * s.states + n]), h);
        next.addProduct(dt[at] * x[at], b[row * s.states + n]);
        h = next.total();
        sum.addProduct(c[row * s.states + n], h);
      }
      if (!d.empty()) {
        sum.addProduct(d[i], x[at]);
      }
      y.push_back(sum.total());
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_SELECTIVE_SCAN_REFERENCE_H
