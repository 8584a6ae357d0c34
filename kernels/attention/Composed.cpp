//===- Composed.cpp - Attention as two products -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/Composed.h"

#include "kernels/attention/PackedSequences.h"
#include "kernels/join/Join.h"
#include "kernels/linear/Linear.h"
#include "kernels/operator/Checks.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/softmax/Softmax.h"

#include <cmath>
#include <cstdlib>
#include <limits>

using namespace nereid;
using namespace nereid::kernels;

static constexpr double beyond = -std::numeric_limits<double>::infinity();

/// fp32 [Tq, Tk]: 0 of keys that are near to a query, and else -inf.
static Tensor windowOf(int64_t queries, int64_t keys, int64_t window,
                       Device device) {
  std::vector<float> added;
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < keys; ++j) {
      bool isNear = std::llabs(i + keys - queries - j) < window;
      added.push_back(isNear ? 0.0F : float(beyond));
    }
  }
  return Tensor::fromVector(added, Shape{queries, keys}, device);
}

static Variable ofPackedSequences(const Variable &q, const Variable &k,
                                  const Variable &v,
                                  const AttentionOptions &options) {
  std::vector<Variable> results;
  forEachSequence(options, [&](const Sequence &one) {
    auto queries = [&](const Variable &t) {
      return t.slice(2, one.firstQuery, one.lastQuery);
    };
    auto keys = [&](const Variable &t) {
      return t.slice(2, one.firstKey, one.lastKey);
    };
    results.push_back(
        attentionComposed(queries(q), keys(k), keys(v), {}, one.options));
  });
  return concat(std::span<const Variable>(results), 2);
}

Variable kernels::attentionComposed(const Variable &q, const Variable &k,
                                    const Variable &v, const Variable &bias,
                                    const AttentionOptions &options) {
  checkAttention("attention", q.value(), k.value(), v.value(), options,
                 /*takesDoubles=*/true);
  bool isDouble = q.dtype() == f64;
  Checks("attention")
      .require(options.dropout.p == 0, "dropout",
               isDouble ? "0, where q is of fp64"
                        : "0 with a bias in a program without a compiler",
               options.dropout.p);
  if (options.queryStarts.defined()) {
    return ofPackedSequences(q, k, v, options);
  }
  int64_t batch = q.size(0), heads = q.size(1), queries = q.size(2),
          size = q.size(3), groups = k.size(1), keys = k.size(2);
  Tensor given = bias.defined() ? bias.value() : options.bias;
  if (given.defined()) {
    checkAttentionBias("attention", q.value(), k.value(), given);
  }
  if (groups == 0) {
    return q * 1;
  }
  // Heads that share keys lie under each other.
  int64_t shared = heads / groups;
  Variable rows = q.reshape({batch, groups, shared * queries, size});
  VariableMatmulOptions product;
  product.scale = options.scale.value_or(1 / std::sqrt(double(size)));
  if (!isDouble) {
    product.type = f32;
  }
  Expression scores = matmul(rows, k.transpose(2, 3), product)
                          .reshape({batch, heads, queries, keys});
  if (given.defined() && given.dtype() == i1) {
    scores = where(given.to(f32), scores, beyond);
  } else if (given.defined()) {
    scores = bias.defined() ? scores + bias : scores + given;
  }
  SoftmaxOptions softmaxOptions;
  softmaxOptions.causal = options.causal;
  if (options.window > 0) {
    softmaxOptions.mask = windowOf(queries, keys, options.window, q.device());
  }
  Variable weights = softmax(scores.variable(), softmaxOptions);
  if (!isDouble && q.dtype() != f32) {
    weights = cast(weights, q.dtype());
  }
  return matmul(weights.reshape({batch, groups, shared * queries, keys}), v)
      .reshape({batch, heads, queries, size});
}
