//===- reference.h - Experts in double precision ----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPERTS_REFERENCE_H
#define NEREID_KERNELS_EXPERTS_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

/// Row i of a [.., k] by the matrix b[e] [k, n] of the group that it is in.
inline Numbers groupedMatmul(const Numbers &a, const Numbers &b,
                             const std::vector<int64_t> &starts, size_t k,
                             size_t n) {
  Numbers y(a.size() / k * n);
  for (size_t e = 0; e + 1 < starts.size(); ++e) {
    for (size_t i = size_t(starts[e]); i < size_t(starts[e + 1]); ++i) {
      for (size_t j = 0; j < n; ++j) {
        Sum sum;
        for (size_t l = 0; l < k; ++l) {
          sum.addProduct(a[i * k + l], b[(e * k + l) * n + j]);
        }
        y[i * n + j] = sum.total();
      }
    }
  }
  return y;
}

/// The sum over each token's `shared` choices, of places [tokens, shared];
/// `weights` empty: 1.
inline Numbers combine(const Numbers &x, const Numbers &weights,
                       const std::vector<int64_t> &places, size_t shared,
                       size_t n) {
  Numbers y;
  for (size_t t = 0; t < places.size() / shared; ++t) {
    for (size_t j = 0; j < n; ++j) {
      Sum sum;
      for (size_t i = t * shared; i < (t + 1) * shared; ++i) {
        if (places[i] < 0) {
          continue;
        }
        const Number &value = x[size_t(places[i]) * n + j];
        weights.empty() ? sum.add(value) : sum.addProduct(weights[i], value);
      }
      y.push_back(sum.total());
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_EXPERTS_REFERENCE_H
