//===- HuggingFace.h - Models as `transformers` keeps them ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder with config.json and model.safetensors, or several files that
// model.safetensors.index.json lists. Its names are ours
// ("transformer.h.0.attn.c_attn.weight"), with or without "transformer." in
// front. The four products of a layer have their weights as [in, out] there
// ("Conv1D"), and as [out, in] here. The product that gives the logits is the
// embedding of tokens in both.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_CHECKPOINT_HUGGINGFACE_H
#define NEREID_APPS_GPT2_CHECKPOINT_HUGGINGFACE_H

#include "apps/gpt2/model/GptConfig.h"
#include "nereid/Weights/Safetensors.h"

#include <nlohmann/json.hpp>

namespace nereid::gpt2 {

/// A config.json. `dtype` is left out of it.
nlohmann::json toJson(const GptConfig &config);
/// Throws IoError; Unsupported for models that are no GPT-2, or are one
/// with another activation or epsilon than Model.h has. `path` is for messages.
GptConfig gptConfigFrom(const nlohmann::json &json, const std::string &path);

/// Is this one of the weights that Hugging Face keeps transposed?
bool isTransposedByHuggingFace(std::string_view name);
/// Weights with those transposed (views): from ours to theirs, and back.
std::vector<NamedTensor> transposed(std::span<const NamedTensor> weights);

struct ImportedModel {
  /// vocabulary: rows of the embedding in the file; dtype: of most elements.
  GptConfig config;
  /// Our names and layout; views of mapped files, on the host.
  std::vector<NamedTensor> weights;
  nlohmann::json options; ///< of the run that made it, or null
  nlohmann::json data =
      nullptr; ///< what it was trained on (RunData.h), or null
  /// Which of a folder's checkpoints it is, in words.
  std::string choice = {};
};

/// `path`: a folder as above; a .safetensors file with config.json beside it or
/// a configuration in its metadata; a folder of checkpoints (Checkpoint.h),
/// and `checkpoint` says which one.
ImportedModel importModel(const std::string &path,
                          const std::string &checkpoint = "");

/// Copies imported weights into a model's parameters, in place, with
/// conversion. More positions than the parameters have are left out (nanoGPT's
/// crop_block_size). Where the model has no biases, those of the file must be
/// 0. Throws InvalidArgument with the names and shapes that do not fit.
void copyWeights(std::span<const NamedTensor> parameters,
                 const ImportedModel &model, const std::string &path);

/// Writes config.json, generation_config.json and model.safetensors, which
/// `transformers` loads. `vocabulary`: tokens that there are; rows of the
/// embedding after them are padding, and left out. Biases that the model does
/// not have are zeros. `endOfText`: what generation ends with; without one
/// GPT-2's, where the vocabulary has its size.
void exportModel(const std::string &folder, GptConfig config,
                 std::span<const NamedTensor> weights, int64_t vocabulary,
                 DType dtype = f32,
                 std::optional<int64_t> endOfText = std::nullopt);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_CHECKPOINT_HUGGINGFACE_H
