//===- reference.h - Logits by a product, in double precision --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_CROSS_ENTROPY_REFERENCE_H
#define NEREID_KERNELS_LINEAR_CROSS_ENTROPY_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// x [rows, columns] @ w [classes, columns]^T, in memory of `type`; the loss is
/// that of cross_entropy/reference.h.
inline Numbers logitsOf(const Numbers &x, const Numbers &w, size_t columns,
                        DType type) {
  size_t rows = x.size() / columns, classes = w.size() / columns;
  Numbers logits(rows * classes);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < classes; ++j) {
      Sum sum;
      for (size_t k = 0; k < columns; ++k) {
        sum.addProduct(x[i * columns + k], w[j * columns + k]);
      }
      logits[i * classes + j] = storedAs(sum.total(), type);
    }
  }
  return logits;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_LINEAR_CROSS_ENTROPY_REFERENCE_H
