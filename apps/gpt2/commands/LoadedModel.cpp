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
#include "nereid/Runtime/Error.h"

#include <filesystem>

using namespace nereid;
using namespace nereid::gpt2;
namespace fs = std::filesystem;

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
  ImportedModel imported = importModel(path);
  GptConfig config = imported.config;
  config.dropout = 0;
  config.dtype = dtypeOf(options, device);
  Model model(config, std::nullopt, device);
  copyWeights(weightsOf(model), imported, path);
  return {model, path, imported.options};
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
  std::vector<std::string> places = {modelPath};
  // Of a file, what lies beside it.
  places.push_back(fs::path(modelPath).parent_path().string());
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
