//===- reference.h - Group norm in double precision ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_GROUP_NORM_REFERENCE_H
#define NEREID_KERNELS_GROUP_NORM_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// x [samples, channels, positions]; `w`, `b`: empty for 1 and 0.
inline Numbers groupNorm(const Numbers &x, const Numbers &w, const Numbers &b,
                         size_t channels, size_t positions, size_t groups,
                         double eps) {
  Numbers y(x.size());
  size_t size = channels / groups * positions;
  for (size_t first = 0; first < x.size(); first += size) {
    Sum sum, squares;
    for (size_t i = first; i < first + size; ++i) {
      sum.add(x[i]);
    }
    Number mean = sum.total() / double(size);
    for (size_t i = first; i < first + size; ++i) {
      Number centred = x[i] - mean;
      squares.addProduct(centred, centred);
    }
    Number factor = rsqrt(squares.total() / double(size) + parameter(eps), eps);
    for (size_t i = first; i < first + size; ++i) {
      size_t channel = i / positions % channels;
      y[i] = (x[i] - mean) * factor;
      if (!w.empty()) {
        y[i] = y[i] * w[channel];
      }
      if (!b.empty()) {
        y[i] = y[i] + b[channel];
      }
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_GROUP_NORM_REFERENCE_H
