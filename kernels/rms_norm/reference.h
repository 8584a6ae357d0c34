//===- reference.h - RMS norm in double precision --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_RMS_NORM_REFERENCE_H
#define NEREID_KERNELS_RMS_NORM_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// `w`: empty for 1.
inline Numbers rmsNorm(const Numbers &x, const Numbers &w, size_t columns,
                       double eps) {
  Numbers y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    Sum squares;
    for (size_t j = 0; j < columns; ++j) {
      squares.addProduct(x[row + j], x[row + j]);
    }
    Number factor =
        rsqrt(squares.total() / double(columns) + parameter(eps), eps);
    for (size_t j = 0; j < columns; ++j) {
      y[row + j] = x[row + j] * factor;
      if (!w.empty()) {
        y[row + j] = y[row + j] * w[j];
      }
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_RMS_NORM_REFERENCE_H
