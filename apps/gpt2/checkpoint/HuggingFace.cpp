//===- HuggingFace.cpp - Names, layout and configurations -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/HuggingFace.h"

#include "apps/gpt2/data/JsonFile.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Weights/AtomicFile.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;

[[noreturn]] static void refuse(const std::string &path, const std::string &why,
                                ErrorCode code = ErrorCode::IoError) {
  raise({code, "'" + path + "': " + why, {}});
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

static constexpr double epsilon = 1e-5; // Forward.cpp takes layerNorm's own

json gpt2::toJson(const GptConfig &config) {
  json text = {{"model_type", "gpt2"},
               {"architectures", {"GPT2LMHeadModel"}},
               {"n_layer", config.layers},
               {"n_head", config.heads},
               {"n_embd", config.width},
               {"n_positions", config.context},
               {"n_ctx", config.context},
               {"vocab_size", config.vocabulary},
               {"activation_function", config.tanhGelu ? "gelu_new" : "gelu"},
               {"layer_norm_epsilon", epsilon},
               {"embd_pdrop", config.dropout},
               {"attn_pdrop", config.dropout},
               {"resid_pdrop", config.dropout},
               {"initializer_range", 0.02},
               {"scale_attn_weights", true},
               {"use_cache", true},
               {"tie_word_embeddings", true},
               // No key of theirs, which they leave alone.
               {"bias", config.bias}};
  return text;
}

namespace {
/// Keys of a config.json, with messages.
struct Keys {
  const json &object;
  const std::string &path;

  int64_t size(const char *key, const char *other = nullptr) const {
    auto value = object.find(key);
    if (value == object.end() && other) {
      value = object.find(other);
    }
    if (value == object.end()) {
      refuse(path, std::string("expected the key '") + key +
                       "', as a GPT-2's config.json has it");
    }
    if (!value->is_number_integer() || *value < 1 || *value > 1 << 24) {
      refuse(path, std::string("expected '") + key +
                       "' to be a number from 1 on, got " + shortText(*value));
    }
    return value->get<int64_t>();
  }
  /// What the model computes: other values mean another model.
  void require(const char *key, const json &choices) const {
    auto value = object.find(key);
    if (value == object.end() || value->is_null()) {
      return;
    }
    if (std::find(choices.begin(), choices.end(), *value) == choices.end()) {
      std::string text;
      for (const json &choice : choices) {
        text += (text.empty() ? "" : " or ") + choice.dump();
      }
      refuse(path,
             std::string("expected '") + key + "' to be " + text + ", got " +
                 shortText(*value),
             ErrorCode::Unsupported);
    }
  }
};
} // namespace

GptConfig gpt2::gptConfigFrom(const json &object, const std::string &path) {
  if (!object.is_object()) {
    refuse(path, "expected the configuration of a model, an object, got " +
                     std::string(object.type_name()));
  }
  Keys keys{object, path};
  keys.require("model_type", {"gpt2"});
  keys.require("activation_function",
               {"gelu_new", "gelu_pytorch_tanh", "gelu"});
  keys.require("layer_norm_epsilon", {epsilon});
  keys.require("scale_attn_weights", {true});
  keys.require("scale_attn_by_inverse_layer_idx", {false});
  keys.require("add_cross_attention", {false});
  keys.require("tie_word_embeddings", {true});
  GptConfig config;
  config.layers = keys.size("n_layer");
  config.heads = keys.size("n_head");
  config.width = keys.size("n_embd");
  config.context = keys.size("n_positions", "n_ctx");
  config.vocabulary = keys.size("vocab_size");
  keys.require("n_inner", {4 * config.width});
  auto activation = object.find("activation_function");
  config.tanhGelu = activation == object.end() || *activation != "gelu";
  for (const char *key : {"resid_pdrop", "dropout"}) {
    auto value = object.find(key);
    if (value != object.end() && value->is_number()) {
      config.dropout = value->get<double>();
    }
  }
  auto bias = object.find("bias");
  config.bias =
      bias == object.end() || !bias->is_boolean() || bias->get<bool>();
  try {
    checkConfig(config);
  } catch (const Error &error) {
    refuse(path, error.message());
  }
  return config;
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

bool gpt2::isTransposedByHuggingFace(std::string_view name) {
  constexpr std::string_view products[] = {
      ".attn.c_attn.weight", ".attn.c_proj.weight", ".mlp.c_fc.weight",
      ".mlp.c_proj.weight"};
  return std::any_of(std::begin(products), std::end(products),
                     [&](std::string_view end) { return name.ends_with(end); });
}

std::vector<NamedTensor>
gpt2::transposed(std::span<const NamedTensor> weights) {
  std::vector<NamedTensor> result(weights.begin(), weights.end());
  for (NamedTensor &one : result) {
    if (isTransposedByHuggingFace(one.name) && one.tensor.rank() == 2) {
      one.tensor = one.tensor.transpose(0, 1);
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Into a model
//===----------------------------------------------------------------------===//

static std::string shapeText(const Tensor &tensor) {
  std::string text;
  for (int64_t size : tensor.shape()) {
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  }
  return "[" + text + "]";
}

static bool isZero(const Tensor &tensor) {
  std::vector<double> values = tensor.toFloat64();
  return std::all_of(values.begin(), values.end(),
                     [](double v) { return v == 0; });
}

void gpt2::copyWeights(std::span<const NamedTensor> parameters,
                       const ImportedModel &model, const std::string &path) {
  std::map<std::string_view, const Tensor *> values;
  for (const NamedTensor &one : model.weights) {
    values[one.name] = &one.tensor;
  }
  // Everything is checked before the first parameter changes.
  std::vector<Tensor> sources;
  for (const NamedTensor &to : parameters) {
    auto found = values.find(to.name);
    if (found == values.end()) {
      refuse(path, "expected a tensor '" + to.name + "' of shape " +
                       shapeText(to.tensor) + ", got none");
    }
    Tensor from = *found->second;
    values.erase(found);
    if (to.name == "transformer.wpe.weight" && from.rank() == 2 &&
        from.size(0) > to.tensor.size(0)) {
      from = from.slice(0, 0, to.tensor.size(0));
    }
    if (from.shape() != to.tensor.shape()) {
      refuse(path, "tensor '" + to.name + "': expected shape " +
                       shapeText(to.tensor) + ", got " + shapeText(from));
    }
    sources.push_back(from);
  }
  for (const auto &[name, tensor] : values) {
    if (!name.ends_with(".bias")) {
      refuse(path, "tensor '" + std::string(name) +
                       "': the model has no parameter of this name");
    }
    if (!isZero(*tensor)) {
      refuse(path, "tensor '" + std::string(name) +
                       "': the model has no biases, and this one is not 0; "
                       "give --bias=True");
    }
  }
  for (size_t i = 0; i < sources.size(); ++i) {
    parameters[i].tensor.copyFrom(sources[i]);
  }
}

//===----------------------------------------------------------------------===//
// Out of a model
//===----------------------------------------------------------------------===//

void gpt2::exportModel(const std::string &folder, GptConfig config,
                       std::span<const NamedTensor> weights, int64_t vocabulary,
                       DType dtype, std::optional<int64_t> endOfText) {
  if (vocabulary < 1 || vocabulary > config.vocabulary) {
    raise({ErrorCode::InvalidArgument,
           "vocabulary: expected a number from 1 to the model's " +
               std::to_string(config.vocabulary) + " rows, got " +
               std::to_string(vocabulary),
           {}});
  }
  std::vector<NamedTensor> tensors = transposed(weights);
  for (NamedTensor &one : tensors) {
    if (one.name == "transformer.wte.weight") {
      one.tensor = one.tensor.slice(0, 0, vocabulary);
    }
    one.tensor = one.tensor.onHost().to(dtype);
  }
  if (!config.bias) {
    // Their model always has biases: [out] of each product and norm.
    for (size_t i = 0, count = tensors.size(); i < count; ++i) {
      std::string name = tensors[i].name;
      size_t end = name.rfind(".weight");
      if (end != std::string::npos && !name.starts_with("transformer.w")) {
        int64_t size = tensors[i].tensor.size(-1);
        tensors.push_back({name.substr(0, end) + ".bias",
                           zeros({size}, dtype, Device::cpu())});
      }
    }
  }
  config.vocabulary = vocabulary;
  json text = toJson(config);
  text["torch_dtype"] = languageName(dtype);
  json generation = {{"_from_model_config", true}};
  if (!endOfText && vocabulary == 50257) {
    endOfText = 50256; // of GPT-2's vocabulary
  }
  if (endOfText && *endOfText < vocabulary) {
    for (const char *key : {"bos_token_id", "eos_token_id"}) {
      text[key] = generation[key] = *endOfText;
    }
  } else {
    // Without these keys, theirs are those of GPT-2's vocabulary.
    text["bos_token_id"] = text["eos_token_id"] = nullptr;
  }
  makeFolder(folder);
  writeSafetensors(folder + "/model.safetensors", tensors, {{"format", "pt"}});
  writeAtomically(folder + "/generation_config.json",
                  generation.dump(2) + "\n");
  writeAtomically(folder + "/config.json", text.dump(2) + "\n");
}
