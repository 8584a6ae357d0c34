//===- Transformer.cpp - A model of operators, on a tape ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/operators/Transformer.h"

#include "kernels/attention/Attention.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/expression/Expression.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/linear/Linear.h"
#include "nereid/Autograd/Views.h"

using namespace nereid;
using namespace nereid::bench;

/// Part `i` of three, [B, T, 3 C], as [B, heads, T, C / heads].
static Variable headsOf(const Variable &qkv, int64_t i, int64_t heads) {
  int64_t batch = qkv.size(0), length = qkv.size(1), width = qkv.size(2) / 3;
  Variable part = autograd::slice(qkv, 2, i * width, (i + 1) * width);
  return autograd::transpose(
      autograd::reshape(part, {batch, length, heads, width / heads}), 1, 2);
}

Outputs bench::transformer(const Inputs &in, const Numbers &numbers) {
  auto next = in.begin();
  const Tensor &tokens = (next++)->value(), &targets = (next++)->value();
  const Variable &words = *next++, &places = *next++;
  auto heads = int64_t(numbers[0]), layers = int64_t(numbers[1]);
  Variable x = kernels::embedding(tokens, words);
  x = x + places;
  auto take = [&](auto function) {
    const Variable &weight = *next++, &bias = *next++;
    return function(weight, bias);
  };
  auto norm = [&](const Variable &v) {
    return take([&](const Variable &w, const Variable &b) {
      return kernels::layerNorm(v, w, b);
    });
  };
  auto linear = [&](const Variable &v, kernels::Activation activation =
                                           kernels::Activation::None) {
    return take([&](const Variable &w, const Variable &b) {
      return kernels::linear(v, w, b, activation);
    });
  };
  kernels::AttentionOptions causal;
  causal.causal = true;
  for (int64_t layer = 0; layer < layers; ++layer) {
    Variable qkv = linear(norm(x));
    Variable mixed =
        kernels::attention(headsOf(qkv, 0, heads), headsOf(qkv, 1, heads),
                           headsOf(qkv, 2, heads), causal);
    mixed = autograd::reshape(autograd::transpose(mixed, 1, 2), x.shape());
    x = x + linear(mixed);
    x = x + linear(linear(norm(x), kernels::Activation::GeluTanh));
  }
  Variable last = autograd::reshape(norm(x), {targets.numel(), x.size(2)});
  return {
      kernels::crossEntropy(kernels::linear(last, words, Variable()), targets)};
}
