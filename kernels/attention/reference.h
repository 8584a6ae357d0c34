//===- reference.h - Attention in double precision -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ATTENTION_REFERENCE_H
#define NEREID_KERNELS_ATTENTION_REFERENCE_H

#include <cmath>
#include <cstdint>
#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

struct AttentionSizes {
  int64_t batch, heads, kvHeads, queries, keys, headSize;
  bool causal;
  int64_t window; ///< 0: none
  double scale;
  /// [batch, heads, queries, keys]: what weights are multiplied by, of dropout;
  /// empty for 1.
  Values factors = {};
};

/// All row-major, of the shapes that Attention.h says. Scores are small enough
/// for plain exponentials.
inline Values attention(const Values &q, const Values &k, const Values &v,
                        const AttentionSizes &s) {
  Values o(q.size());
  int64_t d = s.headSize;
  for (int64_t row = 0; row < s.batch * s.heads * s.queries; ++row) {
    int64_t head = row / s.queries;
    int64_t shared =
        head / s.heads * s.kvHeads + head % s.heads / (s.heads / s.kvHeads);
    int64_t position = row % s.queries + s.keys - s.queries;
    double total = 0;
    for (int64_t key = 0; key < s.keys; ++key) {
      if ((s.causal && key > position) ||
          (s.window && std::abs(key - position) >= s.window)) {
        continue;
      }
      double score = 0;
      for (int64_t i = 0; i < d; ++i) {
        score +=
            q[size_t(row * d + i)] * k[size_t((shared * s.keys + key) * d + i)];
      }
      double p = std::exp(s.scale * score);
      total += p;
      if (!s.factors.empty()) {
        p *= s.factors[size_t(row * s.keys + key)];
      }
      for (int64_t i = 0; i < d; ++i) {
        o[size_t(row * d + i)] +=
            p * v[size_t((shared * s.keys + key) * d + i)];
      }
    }
    for (int64_t i = 0; i < d && total != 0; ++i) {
      o[size_t(row * d + i)] /= total;
    }
  }
  return o;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_ATTENTION_REFERENCE_H
