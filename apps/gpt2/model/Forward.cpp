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
#include "nereid/Autograd/Recompute.h"
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
class DropoutSites {
public:
  DropoutSites(double p, const Tensor &seed) : p(p), seed(seed) {}

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

namespace {
struct BlockOptions {
  kernels::AttentionOptions attention;
  kernels::ResidualDropout dropout; ///< after attention
  int64_t heads = 1;
  Activation activation = Activation::None;
};
} // namespace

/// The normed stream, the stream and a block's parameters give what the block
/// adds, and the stream that it is to be added to.
static std::vector<Variable>
runBlock(std::span<const Variable> in, const BlockOptions &options,
         const std::function<void(const Tensor &)> &seen) {
  Variable qkv = kernels::linear(in[0], in[2], in[3]);
  seen(qkv.value());
  Variable mixed =
      kernels::selfAttention(qkv, options.heads, options.attention);
  Variable added = kernels::linear(mixed, in[4], in[5]);
  auto [y, stream] =
      kernels::addLayerNorm(added, in[1], in[6], in[7], 1e-5, options.dropout);
  Variable wide = kernels::linear(y, in[8], in[9], options.activation);
  return {kernels::linear(wide, in[10], in[11]), stream};
}

Variable
Model::hidden(const Tensor &tokens,
              const std::function<void(size_t, const Tensor &)> &seen) const {
  checkTokens(tokens, shape);
  Variable stream = kernels::embedding(tokens, tokenTable) +
                    autograd::slice(positionTable, 0, 0, tokens.size(1));
  Activation activation =
      shape.tanhGelu ? Activation::GeluTanh : Activation::Gelu;
  double p = gradEnabled() ? shape.dropout : 0;
  DropoutSites sites(p, seedOfDropout);
  Variable y;
  if (p > 0) {
    Tensor nothing = zeros({1, 1, shape.width}, shape.dtype, where);
    std::tie(y, stream) = kernels::addLayerNorm(
        stream, nothing.expand(stream.shape()), layers[0].norm1,
        layers[0].norm1Bias, 1e-5, sites.residual());
  } else {
    y = kernels::layerNorm(stream, layers[0].norm1, layers[0].norm1Bias);
  }
  for (size_t i = 0; i < layers.size(); ++i) {
    const Block &b = layers[i];
    BlockOptions options;
    options.attention.causal = true;
    options.attention.dropout = sites.attention();
    options.dropout = sites.residual();
    options.heads = shape.heads;
    options.activation = activation;
    auto block = [options, i, seen](std::span<const Variable> in) {
      return runBlock(in, options,
                      [&](const Tensor &qkv) { seen ? seen(i, qkv) : void(); });
    };
    const Variable inputs[] = {
        y,       stream,      b.qkv, b.qkvBias, b.attention, b.attentionBias,
        b.norm2, b.norm2Bias, b.up,  b.upBias,  b.down,      b.downBias};
    std::vector<Variable> outputs =
        recomputes ? autograd::recomputed("block", inputs, block)
                   : block(inputs);
    Variable added = outputs[0];
    stream = outputs[1];
    bool isLast = i + 1 == layers.size();
    const Variable &weight = isLast ? norm : layers[i + 1].norm1,
                   &bias = isLast ? normBias : layers[i + 1].norm1Bias;
    std::tie(y, stream) = kernels::addLayerNorm(added, stream, weight, bias,
                                                1e-5, sites.residual());
  }
  return y;
}

Variable Model::loss(const Tensor &tokens, const Tensor &targets) const {
  Variable y = hidden(tokens);
  Variable rows = autograd::reshape(y, {targets.numel(), shape.width});
  kernels::CrossEntropyOptions options;
  options.ignoreIndex = -1;
  options.overwritesLogits = true; // the layer's backward does not read them
  return kernels::crossEntropy(kernels::linear(rows, tokenTable, Variable()),
                               targets.reshape({targets.numel()}), options);
}

Tensor Model::logits(const Tensor &tokens) const {
  NoGrad off;
  return kernels::linear(hidden(tokens).value(), tokenTable.value());
}

Tensor Model::lossesAt(const Tensor &tokens, const Tensor &places,
                       const Tensor &targets) const {
  NoGrad off;
  Tensor rows = hidden(tokens).value().reshape({tokens.numel(), shape.width});
  kernels::CrossEntropyOptions options;
  options.reduction = kernels::Reduction::None;
  return kernels::crossEntropy(
      kernels::linear(kernels::embedding(places, rows), tokenTable.value()),
      targets, options);
}

Tensor
Model::features(const Tensor &tokens,
                const std::function<void(size_t, const Tensor &)> &seen) const {
  NoGrad off;
  return hidden(tokens, seen).value();
}
