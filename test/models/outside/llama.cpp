//===- llama.cpp - Grouped heads, rotary embedding, SwiGLU ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Touvron et al., arXiv 2302.13971, with the names of Hugging Face.
//
//===----------------------------------------------------------------------===//

#include "train.h"

using namespace nereid;
using namespace nereid::kernels;

struct Config {
  int64_t vocabulary = 96, width = 64, hidden = 160, layers = 2, heads = 4,
          groups = 2;
};

struct SelfAttention : nn::Module {
  int64_t headSize;
  nn::Linear q, k, v, o;

  explicit SelfAttention(const Config &c)
      : headSize(c.width / c.heads),
        q(add("q_proj", nn::Linear(c.width, c.width, {.bias = false}))),
        k(add("k_proj",
              nn::Linear(c.width, c.groups * headSize, {.bias = false}))),
        v(add("v_proj",
              nn::Linear(c.width, c.groups * headSize, {.bias = false}))),
        o(add("o_proj", nn::Linear(c.width, c.width, {.bias = false}))) {}

  Variable operator()(const Variable &x) const {
    int64_t batch = x.size(0), length = x.size(1);
    auto [cos, sin] = rotaryAngles(length, headSize, x.device());
    Shape byHead = {batch, length, -1, headSize};
    Variable queries = rotary(q(x).reshape(byHead), cos, sin).transpose(1, 2);
    Variable keys = rotary(k(x).reshape(byHead), cos, sin).transpose(1, 2);
    Variable values = v(x).reshape(byHead).transpose(1, 2);
    Variable y = attention(queries, keys, values, {.causal = true});
    return o(y.transpose(1, 2).reshape(x.shape()));
  }
};

struct FeedForward : nn::Module {
  nn::Linear gate, up, down;

  explicit FeedForward(const Config &c)
      : gate(add("gate_proj", nn::Linear(c.width, c.hidden, {.bias = false}))),
        up(add("up_proj", nn::Linear(c.width, c.hidden, {.bias = false}))),
        down(add("down_proj", nn::Linear(c.hidden, c.width, {.bias = false}))) {
  }

  Variable operator()(const Variable &x) const {
    return down(swiglu(gate(x), up(x)));
  }
};

struct Block : nn::Module {
  nn::RmsNorm norm1, norm2;
  SelfAttention attention;
  FeedForward mlp;

  explicit Block(const Config &c)
      : norm1(add("input_layernorm", nn::RmsNorm(c.width))),
        norm2(add("post_attention_layernorm", nn::RmsNorm(c.width))),
        attention(add("self_attn", SelfAttention(c))),
        mlp(add("mlp", FeedForward(c))) {}

  Variable operator()(Variable x) const {
    x += attention(norm1(x));
    return x + mlp(norm2(x));
  }
};

struct Llama : nn::Module {
  nn::Embedding tokens;
  std::vector<Block> layers;
  nn::RmsNorm norm;
  nn::Linear head;

  explicit Llama(const Config &c)
      : tokens(add("embed_tokens", nn::Embedding(c.vocabulary, c.width))),
        layers(addList<Block>("layers", c.layers, c)),
        norm(add("norm", nn::RmsNorm(c.width))),
        head(add("lm_head",
                 nn::Linear(c.width, c.vocabulary, {.bias = false}))) {}

  Variable operator()(const Tensor &ids) const {
    Variable x = tokens(ids);
    for (const Block &layer : layers) {
      x = layer(x);
    }
    return head(norm(x));
  }
};

int main(int argc, char **argv) {
  return runWithFolder(argc, argv, [](const std::string &folder) {
    Llama model{Config()};
    AdamW optimizer(model.parameters(),
                    {.learningRate = 1e-3, .weightDecay = 0.1});
    train(
        folder, model,
        [](const Llama &model, Batch &batch) {
          return crossEntropy(model(batch["ids"]), batch["targets"]);
        },
        [&](int) { optimizer.step(optimizer.clipFactor(1.0)); });
  });
}
