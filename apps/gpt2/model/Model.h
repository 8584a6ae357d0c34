//===- Model.h - GPT-2 of fused operators -----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   Model model({.layers = 4, .heads = 4, .width = 128}, 1337, Device::cpu());
//   model.loss(tokens, targets).backward();
//   for (const Parameter &p : model.parameters()) { p.value.grad(); }
//
// The model of Radford et al., "Language Models are Unsupervised Multitask
// Learners", 2019: layer norms before attention and before the feed-forward
// part, GELU in its tanh form, the embedding as the last layer's weight.
// Parameters have Hugging Face's names; weights of linear layers are
// [out, in], the transpose of theirs.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_MODEL_MODEL_H
#define NEREID_APPS_GPT2_MODEL_MODEL_H

#include "apps/gpt2/model/GptConfig.h"
#include "nereid/Autograd/Variable.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid::gpt2 {

struct Parameter {
  std::string name; ///< "transformer.h.0.attn.c_attn.weight"
  Variable value;
  bool decays = false; ///< of two dimensions or more
};

/// Called with n where the first n of a model's parameters are read next.
using BeforeReading = std::function<void(size_t)>;

/// A handle: copies are the same model.
class Model {
public:
  /// Fresh parameters: normal with deviation 0.02, those of projections onto
  /// the residual stream 0.02 / sqrt(2 layers), biases 0, norms 1. They depend
  /// on the seed and on the configuration alone. Without a seed all are 0,
  /// for weights that are copied into them. Throws InvalidArgument.
  Model(const GptConfig &config, std::optional<uint64_t> seed, Device device);

  const GptConfig &config() const { return shape; }
  Device device() const { return where; }
  /// In the order of the forward pass: embeddings, layers, the last norm.
  const std::vector<Parameter> &parameters() const { return all; }
  /// Null where there is none of this name.
  const Parameter *find(const std::string &name) const;

  /// The mean cross-entropy; fp32 []. `tokens`, `targets` [B, T] of i32 or i64
  /// on the device, T at most the context; targets of -1 count for nothing.
  /// Dropout is applied where the configuration has it and a gradient is
  /// recorded.
  Variable loss(const Tensor &tokens, const Tensor &targets,
                const BeforeReading &before = {}) const;

  /// [B, T, vocabulary]; nothing is recorded.
  Tensor logits(const Tensor &tokens) const;

  /// Losses of single tokens, fp32 [n]: of `targets` [n] after `places` [n],
  /// which count the tokens of [B, T] row by row; both i32. Nothing is
  /// recorded.
  Tensor lossesAt(const Tensor &tokens, const Tensor &places,
                  const Tensor &targets) const;

  /// What the last layer, the embedding, is applied to: [B, T, width]. `seen`
  /// is called with each layer's number and its queries, keys and values,
  /// [B, T, 3 width]. Nothing is recorded.
  Tensor
  features(const Tensor &tokens,
           const std::function<void(size_t, const Tensor &)> &seen) const;

  /// Backward computes the activations of a block again, so that only what is
  /// between blocks is kept. The gradients have the same bits.
  void setRecomputes(bool recomputes) { this->recomputes = recomputes; }

  /// What dropout draws its numbers from: i64 [1] on the device. The same
  /// number gives the same masks; a step writes a new one.
  const Tensor &dropoutSeed() const { return seedOfDropout; }

  /// Parameters of one block, as the forward pass takes them.
  struct Block {
    Variable norm1, norm1Bias, qkv, qkvBias, attention, attentionBias, norm2,
        norm2Bias, up, upBias, down, downBias;
  };
  const std::vector<Block> &blocks() const { return layers; }
  const Variable &tokenEmbedding() const { return tokenTable; }
  const Variable &positionEmbedding() const { return positionTable; }
  const Variable &lastNorm() const { return norm; }
  const Variable &lastNormBias() const { return normBias; }

private:
  /// The results of the last norm: [B, T, width].
  Variable hidden(const Tensor &tokens,
                  const std::function<void(size_t, const Tensor &)> &seen = {},
                  const BeforeReading &before = {}) const;

  GptConfig shape;
  Device where;
  std::vector<Parameter> all;
  std::vector<Block> layers;
  Variable tokenTable, positionTable, norm, normBias;
  Tensor seedOfDropout;
  bool recomputes = false;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_MODEL_MODEL_H
