//===- reference.h - Attention in double precision -------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ATTENTION_REFERENCE_H
#define NEREID_KERNELS_ATTENTION_REFERENCE_H

#include "kernels/testing/Number.h"

namespace nereid::kernels::reference {

struct AttentionSizes {
  int64_t batch, heads, kvHeads, queries, keys, headSize;
  bool causal;
  int64_t window; ///< 0: none
  double scale;
  DType type = DType::Float32; ///< that weights are rounded to
  /// [batch, heads, queries, keys]: what weights are multiplied by, of dropout;
  /// empty for 1.
  Numbers factors = {};
  /// Of those sizes: what is added to scores; empty for 0. One of minus
  /// infinity hides the key.
  Numbers bias = {};
};

inline Numbers attention(const Numbers &q, const Numbers &k, const Numbers &v,
                         const AttentionSizes &s) {
  Numbers o(q.size());
  int64_t d = s.headSize;
  for (int64_t row = 0; row < s.batch * s.heads * s.queries; ++row) {
    int64_t head = row / s.queries;
    int64_t shared =
        head / s.heads * s.kvHeads + head % s.heads / (s.heads / s.kvHeads);
    int64_t position = row % s.queries + s.keys - s.queries;
    std::vector<int64_t> keys;
    Numbers scores;
    for (int64_t key = 0; key < s.keys; ++key) {
      if ((s.causal && key > position) ||
          (s.window && std::abs(key - position) >= s.window)) {
        continue;
      }
      size_t place = size_t(row * s.keys + key);
      if (!s.bias.empty() && std::isinf(s.bias[place].value)) {
        continue;
      }
      Sum score;
      for (int64_t i = 0; i < d; ++i) {
        score.addProduct(q[size_t(row * d + i)],
                         k[size_t((shared * s.keys + key) * d + i)]);
      }
      keys.push_back(key);
      scores.push_back(gradientIn(score.total(), s.type) * parameter(s.scale));
      if (!s.bias.empty()) {
        scores.back() = scores.back() + s.bias[place];
      }
    }
    if (keys.empty()) {
      continue;
    }
    Number lse = logSumExp(scores);
    std::vector<Sum> sums(static_cast<size_t>(d));
    for (size_t j = 0; j < keys.size(); ++j) {
      Number p = exp(scores[j] - lse);
      if (!s.factors.empty()) {
        p = p * s.factors[size_t(row * s.keys + keys[j])];
      }
      p = storedAs(p, s.type);
      for (int64_t i = 0; i < d; ++i) {
        sums[size_t(i)].addProduct(
            p, v[size_t((shared * s.keys + keys[j]) * d + i)]);
      }
    }
    for (int64_t i = 0; i < d; ++i) {
      o[size_t(row * d + i)] = sums[size_t(i)].total();
    }
  }
  return o;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_ATTENTION_REFERENCE_H
