//===- Forward.cpp - The forward pass ---------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each norm but the first is one kernel with the residual sum in front of it:
// a block hands on its contribution and the stream that it is to be added to.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/model/Model.h"

#include "kernels/add_norm/AddNorm.h"
#include "kernels/attention/Attention.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/expression/Expression.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/linear/Linear.h"
#include "nereid/Autograd/Views.h"
#include "nereid/Runtime/Error.h"

#include <tuple>

using namespace nereid;
using namespace nereid::gpt2;
using kernels::Activation;

static void checkTokens(const Tensor &tokens, const GptConfig &config) {
  if (tokens.rank() != 2 || tokens.size(1) < 1 ||
      tokens.size(1) > config.context) {
    raise({ErrorCode::InvalidArgument,
           "tokens: expected [batch, length] with a length from 1 to " +
               std::to_string(config.context) + " (block_size), got " +
               tokens.str(),
           {}});
  }
}

/// Each place of dropout draws from counters of its own.
namespace {
class Places {
public:
  Places(double p, const Tensor &seed) : p(p), seed(seed) {}

  kernels::ResidualDropout residual() {
    kernels::ResidualDropout dropout;
    if (p > 0) {
      dropout.p = p;
      dropout.seedOnDevice = seed;
      dropout.offset = ++count << 40;
    }
    return dropout;
  }

  kernels::AttentionDropout attention() {
    kernels::AttentionDropout dropout;
    if (p > 0) {
      dropout.p = p;
      dropout.seedOnDevice = seed;
      dropout.site = static_cast<int32_t>(++count);
    }
    return dropout;
  }

private:
  double p;
  const Tensor &seed;
  int64_t count = 0;
};
} // namespace

Variable
Model::hidden(const Tensor &tokens,
              const std::function<void(size_t, const Tensor &)> &seen) const {
  checkTokens(tokens, shape);
  Variable stream = kernels::embedding(tokens, tokenTable) +
                    autograd::slice(positionTable, 0, 0, tokens.size(1));
  Activation activation =
      shape.tanhGelu ? Activation::GeluTanh : Activation::Gelu;
  double p = gradEnabled() ? shape.dropout : 0;
  Places places(p, seedOfDropout);
  Variable y;
  if (p > 0) {
    Tensor nothing = zeros({1, 1, shape.width}, shape.dtype, where);
    std::tie(y, stream) = kernels::addLayerNorm(
        stream, nothing.expand(stream.shape()), layers[0].norm1,
        layers[0].norm1Bias, 1e-5, places.residual());
  } else {
    y = kernels::layerNorm(stream, layers[0].norm1, layers[0].norm1Bias);
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    const Block &b = layers[i];
    kernels::AttentionOptions causal;
    causal.causal = true;
    causal.dropout = places.attention();
    Variable qkv = kernels::linear(y, b.qkv, b.qkvBias);
    if (seen) {
      seen(i, qkv.value());
    }
    Variable mixed = kernels::selfAttention(qkv, shape.heads, causal);
    Variable added = kernels::linear(mixed, b.attention, b.attentionBias);
    std::tie(y, stream) = kernels::addLayerNorm(
        added, stream, b.norm2, b.norm2Bias, 1e-5, places.residual());
    Variable wide = kernels::linear(y, b.up, b.upBias, activation);
    added = kernels::linear(wide, b.down, b.downBias);
    bool isLast = i + 1 == layers.size();
    const Variable &weight = isLast ? norm : layers[i + 1].norm1,
                   &bias = isLast ? normBias : layers[i + 1].norm1Bias;
    std::tie(y, stream) = kernels::addLayerNorm(added, stream, weight, bias,
                                                1e-5, places.residual());
  }
  return y;
}

Variable Model::loss(const Tensor &tokens, const Tensor &targets) const {
  Variable y = hidden(tokens);
  Variable rows = autograd::reshape(y, {targets.numel(), shape.width});
  kernels::CrossEntropyOptions options;
  options.ignored = -1;
  return kernels::crossEntropy(kernels::linear(rows, tokenTable, Variable()),
                               targets.reshape({targets.numel()}), options);
}

Tensor Model::logits(const Tensor &tokens) const {
  NoGrad off;
  return kernels::linear(hidden(tokens).value(), tokenTable.value());
}

Tensor
Model::features(const Tensor &tokens,
                const std::function<void(size_t, const Tensor &)> &seen) const {
  NoGrad off;
  return hidden(tokens, seen).value();
}
