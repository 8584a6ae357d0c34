//===- Forward.cpp - The forward pass ---------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of the residual stream are fused with the norms that follow them
// (ResidualStream.h).
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/model/Model.h"
#include "apps/gpt2/model/ResidualStream.h"

#include "kernels/attention/Attention.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/expression/Expression.h"
#include "kernels/linear/Linear.h"
#include "nereid/Autograd/Recompute.h"
#include "nereid/Autograd/Views.h"
#include "nereid/Runtime/Error.h"

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

static Variable attention(const Variable &y, const Model::Block &block,
                          const BlockOptions &options,
                          const std::function<void(const Tensor &)> &seen) {
  Variable qkv = kernels::linear(y, block.qkv, block.qkvBias);
  seen(qkv.value());
  Variable mixed =
      kernels::selfAttention(qkv, options.heads, options.attention);
  return kernels::linear(mixed, block.attention, block.attentionBias);
}

static Variable mlp(const Variable &y, const Model::Block &block,
                    Activation activation) {
  Variable wide = kernels::linear(y, block.up, block.upBias, activation);
  return kernels::linear(wide, block.down, block.downBias);
}

/// What `runBlock` takes: a function of a list can be computed again in the
/// backward pass. `y` is the result of the block's first norm.
static std::vector<Variable>
inputsOf(const Variable &y, const ResidualStream &x, const Model::Block &b) {
  return {y,       x.value(),   b.qkv, b.qkvBias, b.attention, b.attentionBias,
          b.norm2, b.norm2Bias, b.up,  b.upBias,  b.down,      b.downBias};
}

/// What the block adds at its end, and the stream that it is to be added to.
static std::vector<Variable>
runBlock(std::span<const Variable> in, const BlockOptions &options,
         const std::function<void(const Tensor &)> &seen) {
  Variable y = in[0];
  ResidualStream x(in[1]);
  Model::Block block;
  block.qkv = in[2];
  block.qkvBias = in[3];
  block.attention = in[4];
  block.attentionBias = in[5];
  block.norm2 = in[6];
  block.norm2Bias = in[7];
  block.up = in[8];
  block.upBias = in[9];
  block.down = in[10];
  block.downBias = in[11];
  x = x + Contribution{attention(y, block, options, seen), options.dropout};
  y = x.norm(block.norm2, block.norm2Bias);
  return {mlp(y, block, options.activation), x.value()};
}

/// The embeddings, which a dropout of their own thins out.
static ResidualStream begun(const Variable &embedded, double p,
                            DropoutSites &sites) {
  if (p == 0) {
    return ResidualStream(embedded);
  }
  Tensor nothing =
      zeros({1, 1, embedded.size(-1)}, embedded.dtype(), embedded.device());
  return ResidualStream(nothing.expand(embedded.shape())) +
         Contribution{embedded, sites.residual()};
}

Variable Model::hidden(const Tensor &tokens,
                       const std::function<void(size_t, const Tensor &)> &seen,
                       const BeforeReading &before) const {
  checkTokens(tokens, shape);
  size_t embeddings = 2, ofBlock = shape.bias ? 12 : 6;
  auto reads = [&](size_t count) { before ? before(count) : void(); };
  reads(embeddings);
  double p = gradEnabled() ? shape.dropout : 0;
  DropoutSites sites(p, seedOfDropout);
  ResidualStream x =
      begun(kernels::embedding(tokens, tokenTable) +
                autograd::slice(positionTable, 0, 0, tokens.size(1)),
            p, sites);
  for (size_t i = 0; i < layers.size(); ++i) {
    const Block &b = layers[i];
    reads(embeddings + (i + 1) * ofBlock);
    BlockOptions options;
    options.attention.causal = true;
    options.attention.dropout = sites.attention();
    options.dropout = sites.residual();
    options.heads = shape.heads;
    options.activation =
        shape.tanhGelu ? Activation::GeluTanh : Activation::Gelu;
    auto block = [options, i, seen](std::span<const Variable> in) {
      return runBlock(in, options,
                      [&](const Tensor &qkv) { seen ? seen(i, qkv) : void(); });
    };
    Variable y = x.norm(b.norm1, b.norm1Bias);
    std::vector<Variable> inputs = inputsOf(y, x, b);
    std::vector<Variable> outputs =
        recomputes ? autograd::recomputed("block", inputs, block)
                   : block(inputs);
    x = ResidualStream(outputs[1]) + Contribution{outputs[0], sites.residual()};
  }
  reads(all.size());
  return x.norm(norm, normBias);
}

Variable Model::loss(const Tensor &tokens, const Tensor &targets,
                     const BeforeReading &before) const {
  Variable y = hidden(tokens, {}, before);
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
