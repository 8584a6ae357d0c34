//===- reference.h - Quantized products in double precision -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_QUANTIZED_REFERENCE_H
#define NEREID_KERNELS_QUANTIZED_REFERENCE_H

#include "kernels/testing/Number.h"

#include <algorithm>
#include <vector>

namespace nereid::kernels::reference {

/// x [.., k] by rows of whole numbers q [n, k], whose groups have scales [n,
/// groups]; `bias` may be empty. `type`: x's.
inline Numbers quantizedLinear(const Numbers &x, const std::vector<double> &q,
                               const std::vector<double> &scales,
                               const Numbers &bias, size_t k, size_t group,
                               DType type) {
  size_t n = q.size() / k, groups = scales.size() / n;
  Numbers y;
  for (size_t row = 0; row < x.size() / k; ++row) {
    for (size_t j = 0; j < n; ++j) {
      Sum sum;
      for (size_t g = 0; g < groups; ++g) {
        Sum part;
        for (size_t i = g * group; i < std::min(k, (g + 1) * group); ++i) {
          part.addProduct(x[row * k + i], Number(q[j * k + i]));
        }
        sum.addProduct(gradientIn(part.total(), type),
                       Number(scales[j * groups + g]));
      }
      if (!bias.empty()) {
        sum.add(bias[j]);
      }
      y.push_back(sum.total());
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_QUANTIZED_REFERENCE_H
