//===- reference.h - Decoding in double precision --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_DECODING_REFERENCE_H
#define NEREID_KERNELS_DECODING_REFERENCE_H

#include "kernels/testing/Number.h"

#include <algorithm>

namespace nereid::kernels::reference {

/// q [B, H, D], k and v [B, G, capacity, D], all row-major. `window` 0: none.
/// Weights are rounded to `type`.
inline Numbers decoding(const Numbers &q, const Numbers &k, const Numbers &v,
                        const std::vector<int64_t> &lengths, int64_t heads,
                        int64_t kvHeads, int64_t capacity, int64_t headSize,
                        int64_t window, double scale, DType type) {
  Numbers o(q.size());
  int64_t d = headSize;
  for (int64_t row = 0; row < int64_t(q.size()) / d; ++row) {
    int64_t sequence = row / heads,
            shared = sequence * kvHeads + row % heads / (heads / kvHeads);
    int64_t length =
        std::clamp<int64_t>(lengths[size_t(sequence)], 0, capacity);
    int64_t first = window ? std::max<int64_t>(length - window, 0) : 0;
    Numbers scores;
    for (int64_t key = first; key < length; ++key) {
      Sum score;
      for (int64_t i = 0; i < d; ++i) {
        score.addProduct(q[size_t(row * d + i)],
                         k[size_t((shared * capacity + key) * d + i)]);
      }
      scores.push_back(score.total() * parameter(scale));
    }
    Number lse = logSumExp(scores);
    std::vector<Sum> sums(static_cast<size_t>(d));
    for (size_t j = 0; j < scores.size(); ++j) {
      Number p = storedAs(exp(scores[j] - lse), type);
      for (int64_t i = 0; i < d; ++i) {
        sums[size_t(i)].addProduct(
            p, v[size_t((shared * capacity + first + int64_t(j)) * d + i)]);
      }
    }
    for (int64_t i = 0; i < d; ++i) {
      o[size_t(row * d + i)] = sums[size_t(i)].total();
    }
  }
  return o;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_DECODING_REFERENCE_H
