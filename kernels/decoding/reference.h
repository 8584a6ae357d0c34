//===- reference.h - Decoding in double precision --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_DECODING_REFERENCE_H
#define NEREID_KERNELS_DECODING_REFERENCE_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

/// q [B, H, D], k and v [B, G, capacity, D], all row-major. `window` 0: none.
inline Values decoding(const Values &q, const Values &k, const Values &v,
                       const std::vector<int64_t> &lengths, int64_t heads,
                       int64_t kvHeads, int64_t capacity, int64_t headSize,
                       int64_t window, double scale) {
  Values o(q.size());
  int64_t d = headSize;
  for (int64_t row = 0; row < int64_t(q.size()) / d; ++row) {
    int64_t sequence = row / heads,
            shared = sequence * kvHeads + row % heads / (heads / kvHeads);
    int64_t length =
        std::clamp<int64_t>(lengths[size_t(sequence)], 0, capacity);
    double total = 0;
    for (int64_t key = window ? std::max<int64_t>(length - window, 0) : 0;
         key < length; ++key) {
      double score = 0;
      for (int64_t i = 0; i < d; ++i) {
        score += q[size_t(row * d + i)] *
                 k[size_t((shared * capacity + key) * d + i)];
      }
      double p = std::exp(scale * score);
      total += p;
      for (int64_t i = 0; i < d; ++i) {
        o[size_t(row * d + i)] +=
            p * v[size_t((shared * capacity + key) * d + i)];
      }
    }
    for (int64_t i = 0; i < d && total != 0; ++i) {
      o[size_t(row * d + i)] /= total;
    }
  }
  return o;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_DECODING_REFERENCE_H
