//===- Transformer.cpp - A model of operators, on a tape ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/operators/Transformer.h"

#include "kernels/add_norm/AddNorm.h"
#include "kernels/attention/Attention.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/expression/Expression.h"
#include "kernels/join/Join.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/linear/Linear.h"

#include <tuple>

using namespace nereid;
using namespace nereid::bench;

/// [B, T, C] as [B, heads, T, C / heads].
static Variable headsOf(const Variable &x, int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads})
      .transpose(1, 2);
}

Outputs bench::transformer(const Inputs &in, const Numbers &numbers) {
  auto next = in.begin();
  const Tensor &tokens = (next++)->value(), &targets = (next++)->value();
  const Variable &words = *next++, &places = *next++;
  auto heads = int64_t(numbers[0]), layers = int64_t(numbers[1]);
  auto take = [&](auto function) {
    const Variable &weight = *next++, &bias = *next++;
    return function(weight, bias);
  };
  auto linear = [&](const Variable &v, kernels::Activation activation =
                                           kernels::Activation::None) {
    return take([&](const Variable &w, const Variable &b) {
      return kernels::linear(v, w, b, activation);
    });
  };
  /// The norm of the sum, and the sum.
  auto addNorm = [&](const Variable &v, const Variable &residual) {
    return take([&](const Variable &w, const Variable &b) {
      return kernels::addLayerNorm(v, residual, w, b);
    });
  };
  kernels::AttentionOptions causal;
  causal.causal = true;
  Variable x = kernels::embedding(tokens, words) + places;
  Variable y = take([&](const Variable &w, const Variable &b) {
    return kernels::layerNorm(x, w, b);
  });
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<Variable> qkv = kernels::chunk(linear(y), 3, -1);
    Variable mixed =
        kernels::attention(headsOf(qkv[0], heads), headsOf(qkv[1], heads),
                           headsOf(qkv[2], heads), causal);
    std::tie(y, x) =
        addNorm(linear(mixed.transpose(1, 2).reshape(x.shape())), x);
    std::tie(y, x) =
        addNorm(linear(linear(y, kernels::Activation::GeluTanh)), x);
  }
  Variable last = y.reshape({targets.numel(), x.size(2)});
  return {
      kernels::crossEntropy(kernels::linear(last, words, Variable()), targets)};
}
