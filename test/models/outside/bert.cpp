//===- bert.cpp - An encoder of padded sequences --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devlin et al., arXiv 1810.04805: masked tokens predicted, norms after the
// sums. Layers have the names of torch.nn.TransformerEncoderLayer.
//
//===----------------------------------------------------------------------===//

#include "train.h"

using namespace nereid;
using namespace nereid::kernels;

struct Config {
  int64_t vocabulary = 80, width = 64, hidden = 128, layers = 2, heads = 4,
          context = 16;
};

struct Layer : nn::Module {
  nn::MultiheadAttention attention;
  nn::Linear up, down;
  nn::LayerNorm norm1, norm2;

  explicit Layer(const Config &c)
      : attention(add("self_attn", nn::MultiheadAttention(c.width, c.heads))),
        up(add("linear1", nn::Linear(c.width, c.hidden))),
        down(add("linear2", nn::Linear(c.hidden, c.width))),
        norm1(add("norm1", nn::LayerNorm(c.width))),
        norm2(add("norm2", nn::LayerNorm(c.width))) {}

  /// `mask` [B, 1, 1, T]: which tokens are no padding.
  Variable operator()(const Variable &x, const Tensor &mask) const {
    Variable y = norm1(x + attention(x, {.bias = mask}));
    return norm2(y + down(up(y, Activation::Gelu)));
  }
};

struct Bert : nn::Module {
  nn::Embedding tokens, positions, segments;
  nn::LayerNorm norm;
  nn::Dropout dropout;
  std::vector<Layer> layers;
  Variable bias;

  explicit Bert(const Config &c)
      : tokens(add("tokens", nn::Embedding(c.vocabulary, c.width))),
        positions(add("positions", nn::Embedding(c.context, c.width))),
        segments(add("segments", nn::Embedding(2, c.width))),
        norm(add("norm", nn::LayerNorm(c.width))),
        dropout(add("dropout", nn::Dropout(0.1))),
        layers(addList<Layer>("layers", c.layers, c)),
        bias(add("bias", zeros({c.vocabulary}))) {}

  Variable operator()(const Tensor &ids, const Tensor &kinds,
                      const Tensor &mask) const {
    Tensor places = arange({ids.size(1)}, i32, ids.device());
    Variable x =
        dropout(norm(tokens(ids) + positions(places) + segments(kinds)));
    Tensor seen = mask.unsqueeze(1).unsqueeze(1);
    for (const Layer &layer : layers) {
      x = layer(x, seen);
    }
    return linear(x, tokens.weight, bias); // the table once more
  }
};

int main(int argc, char **argv) {
  return runWithFolder(argc, argv, [](const std::string &folder) {
    Bert model{Config()};
    model.eval(); // PyTorch would drop others
    AdamW optimizer(model.parameters());
    LinearRate rate = {.base = 1e-3, .warmup = 4, .steps = 20};
    train(
        folder, model,
        [](const Bert &model, Batch &batch) {
          return crossEntropy(
              model(batch["ids"], batch["kinds"], batch["mask"]),
              batch["targets"], {.labelSmoothing = 0.1, .ignoreIndex = -100});
        },
        [&](int step) {
          optimizer.setLearningRate(rate(step));
          optimizer.step();
        });
  });
}
