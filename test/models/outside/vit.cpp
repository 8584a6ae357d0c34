//===- vit.cpp - A transformer of patches of images -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dosovitskiy et al., arXiv 2010.11929.
//
//===----------------------------------------------------------------------===//

#include "train.h"

using namespace nereid;
using namespace nereid::kernels;

struct Config {
  int64_t channels = 3, patch = 4, image = 16, width = 64, layers = 2,
          heads = 4, classes = 10;
};

struct Block : nn::Module {
  nn::LayerNorm norm1, norm2;
  nn::MultiheadAttention attention;
  nn::Sequential mlp;

  explicit Block(const Config &c)
      : norm1(add("norm1", nn::LayerNorm(c.width))),
        norm2(add("norm2", nn::LayerNorm(c.width))),
        attention(add("attn", nn::MultiheadAttention(c.width, c.heads))),
        mlp(add("mlp", nn::Sequential(nn::Linear(c.width, 4 * c.width), gelu,
                                      nn::Linear(4 * c.width, c.width)))) {}

  Variable operator()(Variable x) const {
    x += attention(norm1(x));
    return x + mlp(norm2(x));
  }
};

struct Vit : nn::Module {
  Config config;
  nn::Linear patches;
  Variable token, positions;
  std::vector<Block> blocks;
  nn::LayerNorm norm;
  nn::Linear head;

  explicit Vit(const Config &c)
      : config(c),
        patches(add("patches",
                    nn::Linear(c.channels * c.patch * c.patch, c.width))),
        token(add("token", zeros({1, 1, c.width}))),
        positions(add("positions",
                      zeros({1, (c.image / c.patch) * (c.image / c.patch) + 1,
                             c.width}))),
        blocks(addList<Block>("blocks", c.layers, c)),
        norm(add("norm", nn::LayerNorm(c.width))),
        head(add("head", nn::Linear(c.width, c.classes))) {
    nn::init::truncatedNormal(positions, 0, 0.02);
  }

  /// `images` [B, channels, image, image]; logits [B, classes].
  Variable operator()(const Tensor &images) const {
    int64_t batch = images.size(0), p = config.patch, n = config.image / p;
    Tensor cut = images.view({batch, config.channels, n, p, n, p})
                     .permute({0, 2, 4, 1, 3, 5})
                     .reshape({batch, n * n, -1});
    Variable x =
        concat({token.expand({batch, 1, config.width}), patches(cut)}, 1);
    x += positions;
    for (const Block &block : blocks) {
      x = block(x);
    }
    return head(norm(x.select(1, 0)));
  }
};

int main(int argc, char **argv) {
  return runWithFolder(argc, argv, [](const std::string &folder) {
    Vit model{Config()};
    SGD optimizer(model.parameters(), {.learningRate = 0.05,
                                       .momentum = 0.9,
                                       .weightDecay = 1e-4,
                                       .nesterov = true});
    CosineRate rate = {.base = 0.05, .steps = 20, .least = 0.001};
    train(
        folder, model,
        [](const Vit &model, Batch &batch) {
          return crossEntropy(model(batch["images"]), batch["classes"]);
        },
        [&](int step) {
          clipGradNorm(model.parameters(), 1.0);
          optimizer.setLearningRate(rate(step));
          optimizer.step();
        });
  });
}
