//===- reference.h - Logits by a product, in double precision --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_CROSS_ENTROPY_REFERENCE_H
#define NEREID_KERNELS_LINEAR_CROSS_ENTROPY_REFERENCE_H

#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

/// x [rows, columns] @ w [classes, columns]^T; the loss is that of
/// cross_entropy/reference.h.
inline Values logitsOf(const Values &x, const Values &w, size_t columns) {
  size_t rows = x.size() / columns, classes = w.size() / columns;
  Values logits(rows * classes);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < classes; ++j) {
      for (size_t k = 0; k < columns; ++k) {
        logits[i * classes + j] += x[i * columns + k] * w[j * columns + k];
      }
    }
  }
  return logits;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_LINEAR_CROSS_ENTROPY_REFERENCE_H
