//===- dit.cpp - A diffusion transformer ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Peebles, Xie, arXiv 2212.09748: norms whose scale and shift a network makes
// of the time and the class (adaLN-Zero); the noise is what is predicted.
//
//===----------------------------------------------------------------------===//

#include "train.h"

using namespace nereid;
using namespace nereid::kernels;

struct Config {
  int64_t channels = 4, tokens = 16, width = 64, layers = 2, heads = 4,
          classes = 10, frequencies = 32;
};

static Expression modulate(const Variable &x, const Variable &shift,
                           const Variable &scale) {
  return x * (1 + scale.unsqueeze(1)) + shift.unsqueeze(1);
}

/// cos and sin of times [B], as [B, 2 * half].
static Tensor waves(const Tensor &times, int64_t half) {
  Tensor powers = arange({1, half}, f32, times.device());
  Expression angles =
      times.unsqueeze(1) * exp(powers * (-std::log(10000.0) / double(half)));
  return concat({cos(angles), sin(angles)}, 1);
}

struct Block : nn::Module {
  nn::LayerNorm norm1, norm2;
  nn::MultiheadAttention attention;
  nn::Linear up, down, modulation;

  explicit Block(const Config &c)
      : norm1(c.width, {.eps = 1e-6, .affine = false}),
        norm2(c.width, {.eps = 1e-6, .affine = false}),
        attention(add("attn", nn::MultiheadAttention(c.width, c.heads))),
        up(add("up", nn::Linear(c.width, 4 * c.width))),
        down(add("down", nn::Linear(4 * c.width, c.width))),
        modulation(add("modulation", nn::Linear(c.width, 6 * c.width))) {}

  Variable operator()(Variable x, const Variable &condition) const {
    auto m = chunk(modulation(silu(condition)), 6, 1);
    x += m[2].unsqueeze(1) * attention(modulate(norm1(x), m[0], m[1]));
    Variable wide = up(modulate(norm2(x), m[3], m[4]), Activation::GeluTanh);
    return x + m[5].unsqueeze(1) * down(wide);
  }
};

struct Dit : nn::Module {
  Config config;
  nn::Linear in, out, modulation;
  nn::Sequential time;
  nn::Embedding classes;
  Variable positions;
  std::vector<Block> blocks;
  nn::LayerNorm norm;

  explicit Dit(const Config &c)
      : config(c), in(add("in", nn::Linear(c.channels, c.width))),
        out(add("out", nn::Linear(c.width, c.channels))),
        modulation(add("modulation", nn::Linear(c.width, 2 * c.width))),
        time(add("time", nn::Sequential(nn::Linear(2 * c.frequencies, c.width),
                                        silu, nn::Linear(c.width, c.width)))),
        classes(add("classes", nn::Embedding(c.classes, c.width))),
        positions(addBuffer("positions", zeros({1, c.tokens, c.width}))),
        blocks(addList<Block>("blocks", c.layers, c)),
        norm(c.width, {.eps = 1e-6, .affine = false}) {}

  /// `x` [B, tokens, channels], `times` fp32 [B], `labels` [B].
  Variable operator()(const Tensor &x, const Tensor &times,
                      const Tensor &labels) const {
    Variable condition =
        time(waves(times, config.frequencies)) + classes(labels);
    Variable y = in(x) + positions;
    for (const Block &block : blocks) {
      y = block(y, condition);
    }
    auto m = chunk(modulation(silu(condition)), 2, 1);
    return out(modulate(norm(y), m[0], m[1]));
  }
};

int main(int argc, char **argv) {
  return runWithFolder(argc, argv, [](const std::string &folder) {
    Dit model{Config()};
    AdamW optimizer(model.parameters(),
                    {.learningRate = 1e-3, .weightDecay = 0});
    train(
        folder, model,
        [](const Dit &model, Batch &batch) {
          return mseLoss(model(batch["x"], batch["times"], batch["labels"]),
                         batch["noise"]);
        },
        [&](int) { optimizer.step(); });
  });
}
