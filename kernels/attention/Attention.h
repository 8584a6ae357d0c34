//===- Attention.h - Attention, forward and backward ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Formula:      dropout(softmax(scale * q @ k^T + bias)) @ v, for each head,
// over
//               the keys that a query sees
// Shapes:       q [B, H, Tq, D], k and v [B, G, Tk, D], where G divides H: each
//               H / G heads of queries share one of keys; D from 1 to 256; any
//               strides. The result has q's shape, and its order in memory.
//               bias: what broadcasts to [B, H, Tq, Tk], of any strides
//               Packed sequences: B is 1, Tq and Tk are sums of lengths
// Types:        fp32, fp16, bf16, all of one; sums and exponentials fp32. fp64
//               by products and a softmax, which hold all scores, without
//               dropout; so is a bias in a program without a compiler
// Gradients:    q, k, v, bias
// Memory:       O(B H Tq) beyond the results: the logarithm of each query's sum
//               of exponentials is saved, and no matrix of scores is held. The
//               backward computes scores twice; the gradient of a bias is
//               fp32 [B, H, Tq, Tk] before it is summed
// Determinism:  the same bits in each run on one device; no atomics. Dropout
//               draws from Philox, whose counter is key, query, head and site
// Source:       Dao, "FlashAttention-2", arXiv 2307.08691; grouped heads:
//               Ainslie et al., arXiv 2305.13245
//
// Query i stands at position i + Tk - Tq among the keys: the last query at the
// last key. A query that sees no key has the result 0.
//
// Packed sequences lie after each other in one row of tokens, and each attends
// to itself alone, as if it were a batch of its own. A launch needs no longest
// length: it may be captured in a graph while lengths change.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_ATTENTION_ATTENTION_H
#define NEREID_KERNELS_ATTENTION_ATTENTION_H

#include "kernels/expression/Values.h"

#include <optional>

namespace nereid::kernels {

/// Dropout of the weights that values are summed with: each is 0 with
/// probability `p`, else multiplied by 1 / (1 - p). The same seed and site draw
/// the same.
struct AttentionDropout {
  double p = 0; ///< from 0 to below 1
  int64_t seed = 0;
  Tensor seedOnDevice = {}; ///< i64 [1], instead of `seed`; or undefined
  int32_t site = 0;
};

struct AttentionOptions {
  bool causal = false; ///< no key after the query's position
  /// If more than 0: only keys nearer to the query's position than this.
  int64_t window = 0;
  std::optional<double> scale = {}; ///< more than 0; 1 / sqrt(D) when absent
  /// On a GPU, operands of fp32 are read as tf32 (10 bits of mantissa).
  bool tf32 = false;
  AttentionDropout dropout = {};
  /// int1: which keys a query sees (a query that sees none has a result of 0).
  /// Floats: added to the scaled scores; for its gradient, see below.
  Tensor bias = {};
  /// Of packed sequences, i32 or i64 [sequences + 1], on q's device: where each
  /// begins among the queries, and where the last one ends: from 0 to Tq,
  /// ascending (a GPU does not check it: results are wrong else, and nothing
  /// beyond the tensors is touched). `keyStarts` undefined: the same. No bias.
  /// Without a compiler the host reads them, launches once for each sequence,
  /// and drops nothing.
  Tensor queryStarts = {}, keyStarts = {};
};

Tensor attention(const Tensor &q, const Tensor &k, const Tensor &v,
                 const AttentionOptions &options = {});
Variable attention(const Variable &q, const Variable &k, const Variable &v,
                   const AttentionOptions &options = {});
template <typename Q, typename K, typename V>
  requires WithExpression<Q, K, V>
Expression attention(const Q &q, const K &k, const V &v,
                     const AttentionOptions &options = {}) {
  return attention(asVariable(q), asVariable(k), asVariable(v), options);
}

/// With the gradient of a bias of floats. Undefined, that of `options` is
/// taken; both are refused.
Variable attention(const Variable &q, const Variable &k, const Variable &v,
                   const Variable &bias, const AttentionOptions &options = {});

struct AttentionResult {
  Tensor o;
  /// [B, H, Tq] fp32: the logarithm of the query's sum of exponentials, divided
  /// by `scale`, which is exact of one score of any size; of a query without
  /// keys -inf. Undefined unless asked for.
  Tensor lse;
};

AttentionResult attentionForward(const Tensor &q, const Tensor &k,
                                 const Tensor &v,
                                 const AttentionOptions &options,
                                 bool keepsLse);

struct AttentionGradients {
  Tensor q, k, v; ///< undefined where they were not asked for
  Tensor bias;    ///< of its shape and type
};

/// `into`: where gradients are written, if it is defined; neighbours along D
/// must be neighbours in memory.
AttentionGradients
attentionBackward(const Tensor &grad, const Tensor &q, const Tensor &k,
                  const Tensor &v, const AttentionResult &result,
                  const AttentionOptions &options, bool wantsQ, bool wantsKV,
                  const AttentionGradients &into = {}, bool wantsBias = false);

/// Takes one packed product: qkv [B, T, 3 H D] holds queries, keys and values
/// of all heads beside each other; the result is [B, T, H D]. Nothing is copied
/// where qkv is row-major.
Tensor selfAttention(const Tensor &qkv, int64_t heads,
                     const AttentionOptions &options = {});
Variable selfAttention(const Variable &qkv, int64_t heads,
                       const AttentionOptions &options = {});
inline Expression selfAttention(const Expression &qkv, int64_t heads,
                                const AttentionOptions &options = {}) {
  return selfAttention(qkv.variable(), heads, options);
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_ATTENTION_ATTENTION_H
