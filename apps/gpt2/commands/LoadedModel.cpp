//===- LoadedModel.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/LoadedModel.h"

#include "apps/gpt2/data/Dataset.h"
#include "apps/gpt2/train/Resume.h"
#include "apps/gpt2/train/Run.h"
#include "apps/gpt2/train/RunData.h"
#include "nereid/Runtime/Error.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

using namespace nereid;
using namespace nereid::gpt2;
namespace fs = std::filesystem;

/// Of a run that has diverged, say.
static void checkNumbers(const ImportedModel &model, const std::string &path) {
  for (const NamedTensor &one : model.weights) {
    Tensor all = one.tensor.to(f32).contiguous();
    const auto *values = static_cast<const float *>(all.data());
    for (int64_t i = 0; i < all.numel(); ++i) {
      if (!std::isfinite(values[i])) {
        raise({ErrorCode::KernelFault,
               "'" + path + "': tensor '" + one.name +
                   "': expected numbers, got " +
                   (std::isnan(values[i]) ? "nan" : "infinity") +
                   " as element " + std::to_string(i) +
                   "; take an earlier checkpoint, as --checkpoint=best",
               {}});
      }
    }
  }
}

LoadedModel gpt2::loadModel(const Options &options) {
  if (options.initFrom == "scratch") {
    raise({ErrorCode::InvalidArgument,
           "--init_from: expected a trained model, that is resume (the last "
           "checkpoint in --out_dir) or a file or folder of weights, got "
           "'scratch'",
           {}});
  }
  std::string path =
      options.initFrom == "resume" ? options.outDir : options.initFrom;
  Device device = deviceOf(options.device);
  ImportedModel imported = importModel(path, options.checkpoint);
  noteChoice(path, imported);
  checkNumbers(imported, path);
  GptConfig config = imported.config;
  config.dropout = 0;
  config.dtype = dtypeOf(options, device);
  Model model(config, std::nullopt, device);
  copyWeights(weightsOf(model), imported, path);
  return {model, path, imported.options, imported.data};
}

void gpt2::noteChoice(const std::string &path, const ImportedModel &model) {
  if (!model.choice.empty()) {
    std::fprintf(stderr, "note: %s: %s\n", path.c_str(), model.choice.c_str());
  }
}

std::string gpt2::datasetOf(const nlohmann::json &options) {
  if (options.is_object() && options.contains("dataset") &&
      options["dataset"].is_string()) {
    return options["dataset"];
  }
  return "";
}

std::string gpt2::tokenizerFolder(const std::string &modelPath,
                                  const nlohmann::json &options) {
  std::vector<std::string> places = {modelPath, modelPath + "/tokenizer"};
  std::error_code error;
  if (!fs::is_directory(modelPath, error)) {
    // What lies beside the file.
    std::string parent = fs::path(modelPath).parent_path().string();
    parent = parent.empty() ? "." : parent;
    places = {parent, parent + "/tokenizer"};
  }
  if (std::string dataset = datasetOf(options); !dataset.empty()) {
    places.push_back(datasetFolder(dataset));
  }
  for (const std::string &place : places) {
    if (!place.empty() && hasTokenizer(place)) {
      return place;
    }
  }
  return "";
}

TokenizerPtr gpt2::tokenizerOf(const LoadedModel &loaded,
                               const std::string &named) {
  std::string folder = named.empty()
                           ? tokenizerFolder(loaded.path, loaded.options)
                           : datasetFolder(named);
  if (folder.empty()) {
    std::string dataset = datasetOf(loaded.options);
    raise({ErrorCode::NotFound,
           loaded.path +
               ": expected a tokenizer beside the weights (meta.json, "
               "vocab.json and merges.txt, tokenizer.json or meta.pkl)" +
               (dataset.empty() ? "" : " or in " + datasetFolder(dataset)) +
               ", got none; hint: name its folder or the data set with "
               "--dataset",
           {}});
  }
  TokenizerPtr tokenizer = openTokenizer(folder);
  checkTokenizer(loaded.data, *tokenizer, folder, loaded.path);
  int64_t rows = loaded.model.config().vocabulary;
  if (tokenizer->size() > rows) {
    raise({ErrorCode::InvalidArgument,
           folder + ": expected a tokenizer of at most the model's " +
               std::to_string(rows) + " tokens, got " +
               std::to_string(tokenizer->size()) +
               "; name the right one with --dataset",
           {}});
  }
  return tokenizer;
}
