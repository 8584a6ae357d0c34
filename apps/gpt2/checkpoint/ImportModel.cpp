//===- ImportModel.cpp - Reading models that others made ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/Checkpoint.h"
#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/FileNames.h"
#include "nereid/Support/Files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;

[[noreturn]] static void refuse(const std::string &path, const std::string &why,
                                ErrorCode code = ErrorCode::InvalidArgument) {
  raise({code, "'" + path + "': " + why, {}});
}

static bool isThere(const std::string &path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

static json readJson(const std::string &path) {
  std::string text = valueOrThrow(readFile(path));
  json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) {
    refuse(path, "expected JSON, got text that is none; the file is damaged");
  }
  return object;
}

namespace {
/// Tensors of one or several files, under our names.
class Collection {
public:
  /// Only these names of the file; all of them where null.
  void add(const SafetensorsFile &file, const std::set<std::string> *wanted) {
    for (const NamedTensor &one : file.tensors()) {
      if (wanted && !wanted->count(one.name)) {
        continue;
      }
      std::string name = one.name;
      // Masks of older versions, which hold no weights.
      if (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias")) {
        continue;
      }
      if (name == "lm_head.weight") {
        head = one.tensor;
        continue;
      }
      if (!name.starts_with("transformer.")) {
        name = "transformer." + name;
      }
      if (!names.insert(name).second) {
        refuse(file.path(), "tensor '" + one.name + "' is there twice");
      }
      if (!isFloat(one.tensor.dtype())) {
        refuse(file.path(), "tensor '" + one.name + "': expected floats, got " +
                                one.tensor.str());
      }
      tensors.push_back({name, one.tensor});
    }
  }

  ImportedModel finish(const GptConfig &config, const std::string &path) {
    ImportedModel model{config, transposed(tensors), nullptr};
    checkShapes(model, path);
    checkHead(model, path);
    return model;
  }

private:
  /// What the configuration says, each missing name and wrong shape.
  static void checkShapes(ImportedModel &model, const std::string &path) {
    GptConfig &c = model.config;
    std::map<std::string, Shape> expected = {
        {"transformer.wte.weight", {c.vocabulary, c.width}},
        {"transformer.wpe.weight", {c.context, c.width}},
        {"transformer.ln_f.weight", {c.width}}};
    for (int64_t i = 0; i < c.layers; ++i) {
      std::string of = "transformer.h." + std::to_string(i) + ".";
      expected[of + "ln_1.weight"] = expected[of + "ln_2.weight"] = {c.width};
      expected[of + "attn.c_attn.weight"] = {3 * c.width, c.width};
      expected[of + "attn.c_proj.weight"] = {c.width, c.width};
      expected[of + "mlp.c_fc.weight"] = {4 * c.width, c.width};
      expected[of + "mlp.c_proj.weight"] = {c.width, 4 * c.width};
    }
    std::map<std::string, Shape> biases;
    for (const auto &[name, shape] : expected) {
      if (!name.starts_with("transformer.w")) {
        biases[name.substr(0, name.size() - 6) + "bias"] = {shape[0]};
      }
    }
    // Of a model without biases, files may have some that are 0.
    expected.insert(biases.begin(), biases.end());
    std::map<DType, int64_t> elements;
    for (const NamedTensor &one : model.weights) {
      auto place = expected.find(one.name);
      if (place == expected.end()) {
        refuse(path, "tensor '" + one.name +
                         "': a GPT-2 of this configuration has none of this "
                         "name");
      }
      if (one.tensor.shape() != place->second) {
        std::string shape;
        for (int64_t size : place->second) {
          shape += (shape.empty() ? "" : ", ") + std::to_string(size);
        }
        refuse(path, "tensor '" + one.name +
                         "': expected, with weights as [out, in], the shape [" +
                         shape + "] of its configuration, got " +
                         one.tensor.str());
      }
      elements[one.tensor.dtype()] += one.tensor.numel();
      expected.erase(place);
    }
    if (!c.bias) {
      std::erase_if(expected, [&](const auto &one) {
        return biases.count(one.first) != 0;
      });
    }
    if (!expected.empty()) {
      refuse(path, "expected a tensor '" + expected.begin()->first +
                       "', as a GPT-2 of this configuration has, got none");
    }
    auto most = std::max_element(
        elements.begin(), elements.end(),
        [](const auto &a, const auto &b) { return a.second < b.second; });
    c.dtype = most->first;
  }

  /// A model whose last product is not the embedding is another model.
  void checkHead(const ImportedModel &model, const std::string &path) const {
    if (!head.defined()) {
      return;
    }
    for (const NamedTensor &one : model.weights) {
      if (one.name == "transformer.wte.weight") {
        Tensor wte = one.tensor.contiguous(), same = head.contiguous();
        if (wte.shape() != same.shape() || wte.dtype() != same.dtype() ||
            std::memcmp(wte.data(), same.data(), size_t(wte.bytes())) != 0) {
          refuse(path,
                 "tensor 'lm_head.weight': expected the same values as "
                 "'transformer.wte.weight', got others; models whose last "
                 "product has weights of its own are not supported",
                 ErrorCode::Unsupported);
        }
      }
    }
  }

  std::vector<NamedTensor> tensors;
  std::set<std::string> names;
  Tensor head;
};
} // namespace

static ImportedModel importShards(const std::string &folder,
                                  const GptConfig &config) {
  std::string path = folder + "/model.safetensors.index.json";
  json index = readJson(path);
  auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (map == index.end() || !map->is_object()) {
    refuse(path, "expected 'weight_map', the file of each tensor");
  }
  std::map<std::string, std::set<std::string>> files;
  for (auto &[name, file] : map->items()) {
    if (!file.is_string() || file.get<std::string>().empty() ||
        file.get<std::string>().find('/') != std::string::npos) {
      refuse(path, "expected 'weight_map' to have the name of a file of the "
                   "folder for '" +
                       name + "', got " + file.dump());
    }
    files[file.get<std::string>()].insert(name);
  }
  Collection all;
  for (const auto &[name, tensors] : files) {
    SafetensorsFile file(folder + "/" + name);
    for (const std::string &tensor : tensors) {
      if (!file.find(tensor).defined()) {
        refuse(file.path(), "expected a tensor '" + tensor +
                                "', as the index says, got none");
      }
    }
    all.add(file, &tensors);
  }
  return all.finish(config, folder);
}

static ImportedModel importFile(const std::string &path) {
  SafetensorsFile file(path);
  GptConfig config;
  auto text = file.metadata().find("config");
  std::string beside = folderOf(path) + "/config.json";
  if (text != file.metadata().end()) {
    json object = json::parse(text->second, nullptr, false);
    config = gptConfigFrom(object, path);
  } else if (isThere(beside)) {
    config = gptConfigFrom(readJson(beside), beside);
  } else {
    refuse(path,
           "expected config.json beside it, with the model's sizes, got "
           "none",
           ErrorCode::NotFound);
  }
  Collection all;
  all.add(file, nullptr);
  return all.finish(config, path);
}

/// Master weights, where training kept them, are the exact ones.
static ImportedModel importCheckpoint(const std::string &folder) {
  Checkpoint checkpoint = loadCheckpoint(folder);
  ImportedModel model;
  model.config = gptConfigFrom(checkpoint.state.model, folder);
  model.weights = std::move(checkpoint.weights);
  model.options = std::move(checkpoint.state.options);
  if (!model.weights.empty()) {
    model.config.dtype = model.weights[0].tensor.dtype();
  }
  std::map<std::string_view, const Tensor *> masters;
  for (const NamedTensor &one : checkpoint.optimizer) {
    if (one.name.starts_with("master.")) {
      masters[std::string_view(one.name).substr(7)] = &one.tensor;
    }
  }
  for (NamedTensor &one : model.weights) {
    auto master = masters.find(one.name);
    if (master != masters.end() &&
        master->second->shape() == one.tensor.shape()) {
      one.tensor = *master->second;
    }
  }
  return model;
}

ImportedModel gpt2::importModel(const std::string &path) {
  std::error_code error;
  if (!isThere(path)) {
    refuse(path,
           "expected a folder of checkpoints, a folder with config.json and "
           "model.safetensors, or a .safetensors file, got a name that is not "
           "there",
           ErrorCode::NotFound);
  }
  if (!std::filesystem::is_directory(path, error)) {
    return importFile(path);
  }
  if (hasCheckpoint(path)) {
    return importCheckpoint(path);
  }
  if (!isThere(path + "/config.json")) {
    refuse(path,
           "expected state.json (a folder of checkpoints) or config.json "
           "(one of transformers) in this folder, got neither",
           ErrorCode::NotFound);
  }
  GptConfig config =
      gptConfigFrom(readJson(path + "/config.json"), path + "/config.json");
  if (isThere(path + "/model.safetensors")) {
    Collection all;
    all.add(SafetensorsFile(path + "/model.safetensors"), nullptr);
    return all.finish(config, path);
  }
  if (isThere(path + "/model.safetensors.index.json")) {
    return importShards(path, config);
  }
  bool isPickled = isThere(path + "/pytorch_model.bin");
  refuse(path,
         std::string("expected model.safetensors or "
                     "model.safetensors.index.json in this folder, got ") +
             (isPickled
                  ? "pytorch_model.bin; load it with transformers and "
                    "save_pretrained(..., safe_serialization=True) to convert"
                  : "neither"),
         ErrorCode::NotFound);
}
