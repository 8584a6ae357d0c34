//===- ImportModel.cpp - Reading models that others made ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/Checkpoint.h"
#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/checkpoint/NanoGpt.h"
#include "apps/gpt2/checkpoint/TorchFile.h"
#include "apps/gpt2/checkpoint/WeightCollection.h"
#include "apps/gpt2/data/JsonFile.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/FileNames.h"
#include "nereid/Support/Files.h"

#include <filesystem>
#include <set>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;

[[noreturn]] static void refuse(const std::string &path, const std::string &why,
                                ErrorCode code = ErrorCode::IoError) {
  raise({code, "'" + path + "': " + why, {}});
}

static bool isThere(const std::string &path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

static json jsonOf(const std::string &text, const std::string &path) {
  ParsedJson parsed = parseJson(text);
  if (!parsed.ok()) {
    refuse(path, parsed.problem + "; the file is damaged");
  }
  return std::move(parsed.value);
}

static json readJson(const std::string &path) {
  return jsonOf(valueOrThrow(readFile(path)), path);
}

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
                       name + "', got " + shortText(file));
    }
    files[file.get<std::string>()].insert(name);
  }
  WeightCollection all;
  for (const auto &[name, tensors] : files) {
    SafetensorsFile file(folder + "/" + name);
    for (const std::string &tensor : tensors) {
      if (!file.find(tensor).defined()) {
        refuse(file.path(), "expected a tensor '" + tensor +
                                "', as the index says, got none");
      }
    }
    for (const NamedTensor &one : file.tensors()) {
      if (tensors.count(one.name)) {
        all.add(one, file.path());
      }
    }
  }
  return all.finish(config, folder, WeightCollection::Layout::HuggingFace);
}

static ImportedModel importFile(const std::string &path) {
  SafetensorsFile file(path);
  GptConfig config;
  auto text = file.metadata().find("config");
  std::string beside = folderOf(path) + "/config.json";
  if (text != file.metadata().end()) {
    config = gptConfigFrom(jsonOf(text->second, path), path);
  } else if (isThere(beside)) {
    config = gptConfigFrom(readJson(beside), beside);
  } else {
    refuse(path,
           "expected config.json beside it, with the model's sizes, got "
           "none",
           ErrorCode::NotFound);
  }
  WeightCollection all;
  for (const NamedTensor &one : file.tensors()) {
    all.add(one, path);
  }
  return all.finish(config, path, WeightCollection::Layout::HuggingFace);
}

/// What transformers wrote before it took to safetensors: names and tensors.
static ImportedModel importPickled(const std::string &path,
                                   const GptConfig &config) {
  TorchFile file(path);
  WeightCollection all;
  all.addAll(file, file.value());
  return all.finish(config, path, WeightCollection::Layout::HuggingFace);
}

/// With a config.json beside it, pytorch_model.bin; else nanoGPT's.
static ImportedModel importTorch(const std::string &path) {
  std::string config = folderOf(path) + "/config.json";
  return path.ends_with(".bin") && isThere(config)
             ? importPickled(path, gptConfigFrom(readJson(config), config))
             : importNanoGpt(path);
}

/// For people who give a model's name, as nanoGPT takes it.
static std::string adviceFor(const std::string &path) {
  bool isName = path == "gpt2" || path == "gpt2-medium" ||
                path == "gpt2-large" || path == "gpt2-xl";
  return isName ? "; hint: nothing is downloaded here; put config.json, "
                  "model.safetensors, vocab.json and merges.txt of "
                  "https://huggingface.co/openai-community/" +
                      path + " into a folder '" + path + "'"
                : "";
}

/// Master weights, where training kept them, are the exact ones.
static ImportedModel importCheckpoint(const std::string &folder,
                                      const std::string &which) {
  Checkpoint checkpoint = loadWeights(folder, which);
  ImportedModel model;
  model.config = gptConfigFrom(checkpoint.state.model, folder);
  model.weights = std::move(checkpoint.weights);
  model.options = std::move(checkpoint.state.options);
  model.data = std::move(checkpoint.state.data);
  model.choice = std::move(checkpoint.choice);
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

ImportedModel gpt2::importModel(const std::string &path,
                                const std::string &checkpoint) {
  std::error_code error;
  if (!isThere(path)) {
    refuse(path,
           "expected a folder of checkpoints, a folder with config.json and "
           "model.safetensors, a .safetensors file, or nanoGPT's ckpt.pt, got "
           "a name that is not there" +
               adviceFor(path),
           ErrorCode::NotFound);
  }
  if (!std::filesystem::is_directory(path, error)) {
    return isTorchFile(path) ? importTorch(path) : importFile(path);
  }
  if (std::string file = path + "/" + nanoGptFile;
      !isThere(path + "/state.json") && isThere(file)) {
    return importNanoGpt(file);
  }
  if (hasCheckpoint(path)) {
    return importCheckpoint(path, checkpoint);
  }
  if (!isThere(path + "/config.json")) {
    refuse(path,
           "expected state.json (a folder of checkpoints), config.json (one of "
           "transformers) or ckpt.pt (one of nanoGPT) in this folder, got none "
           "of them",
           ErrorCode::NotFound);
  }
  GptConfig config =
      gptConfigFrom(readJson(path + "/config.json"), path + "/config.json");
  if (isThere(path + "/model.safetensors")) {
    WeightCollection all;
    SafetensorsFile file(path + "/model.safetensors");
    for (const NamedTensor &one : file.tensors()) {
      all.add(one, file.path());
    }
    return all.finish(config, path, WeightCollection::Layout::HuggingFace);
  }
  if (isThere(path + "/model.safetensors.index.json")) {
    return importShards(path, config);
  }
  if (isThere(path + "/pytorch_model.bin")) {
    return importPickled(path + "/pytorch_model.bin", config);
  }
  refuse(path,
         "expected model.safetensors, model.safetensors.index.json or "
         "pytorch_model.bin in this folder, got none of them",
         ErrorCode::NotFound);
}
