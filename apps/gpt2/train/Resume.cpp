//===- Resume.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Resume.h"

#include "apps/gpt2/train/Run.h"
#include "apps/gpt2/train/RunData.h"
#include "nereid/Runtime/Error.h"

#include <filesystem>
#include <limits>
#include <set>

using namespace nereid;
using namespace nereid::gpt2;

/// Of the command, not of the run.
static bool isOfCommand(const std::string &name) {
  static const std::set<std::string> names = {
      "out_dir",   "init_from", "checkpoint", "eval_only",
      "overwrite", "plot",      "trace",      "threads"};
  return names.contains(name);
}

/// How it is started: reported where it differs, and never taken over.
static bool isOfStart(const std::string &name) {
  return name == "gpus" || name == "processes";
}

static bool isOneFolder(const std::string &dataset, const std::string &other) {
  std::error_code error;
  return std::filesystem::equivalent(datasetFolder(dataset),
                                     datasetFolder(other), error);
}

/// A model keeps its shape.
static void checkModel(const Options &options, const GptConfig &config,
                       const std::string &path) {
  Options has;
  has.layers = config.layers;
  has.heads = config.heads;
  has.width = config.width;
  has.vocabulary = config.vocabulary;
  has.bias = config.bias;
  has.tanhGelu = config.tanhGelu;
  auto refuse = [&](const std::string &name, const std::string &expected) {
    raise({ErrorCode::InvalidArgument,
           "--" + name + ": expected " + expected + ", as the model in '" +
               path + "' has, got " + optionText(options, name) +
               "; leave the option out, or begin a new model with "
               "--init_from=scratch",
           {}});
  };
  for (const char *name :
       {"n_layer", "n_head", "n_embd", "vocab_size", "bias", "tanh_gelu"}) {
    bool isAny = std::string_view(name) == "vocab_size" && !options.vocabulary;
    if (options.given.contains(name) && !isAny &&
        optionText(options, name) != optionText(has, name)) {
      refuse(name, optionText(has, name));
    }
  }
  if (options.given.contains("block_size") &&
      options.blockSize > config.context) {
    refuse("block_size", "at most " + std::to_string(config.context));
  }
}

/// The run's own options, but for those that somebody has set.
static Options resumed(const Options &given, std::vector<std::string> &notes) {
  TrainingState state = loadTrainingState(
      given.outDir, given.checkpoint.empty() ? "last" : given.checkpoint);
  checkModel(given, gptConfigFrom(state.model, given.outDir), given.outDir);
  Options own = optionsFrom(state.options), result = given;
  own.dataset = findDataset(state.options, state.data, given.outDir);
  for (const OptionRow &row : optionRows()) {
    if (!own.given.contains(row.name) || isOfCommand(row.name)) {
      continue;
    }
    std::string was = optionText(own, row.name),
                is = optionText(given, row.name);
    if (isOfStart(row.name) || given.given.contains(row.name)) {
      bool isSame = was == is || row.name == "vocab_size" ||
                    (row.name == "dataset" && isOneFolder(was, is));
      if (!isSame) {
        notes.push_back(row.name + " was " + was + ", is " + is);
      }
    } else {
      setOption(result, row.name, was);
    }
  }
  if (given.given.contains("max_iters") && !given.given.contains("epochs")) {
    result.epochs = 0;
  }
  result.given = given.given;
  return result;
}

Options gpt2::optionsOfRun(const Options &given,
                           std::vector<std::string> &notes) {
  if (given.initFrom == "resume") {
    return resumed(given, notes);
  }
  if (hasCheckpoint(given.outDir) && !given.overwrite && !given.evalOnly) {
    std::optional<uint64_t> step;
    try {
      step = loadTrainingState(given.outDir).step;
    } catch (const Error &) {
      // Somebody's, all the same.
    }
    raise({ErrorCode::IoError,
           "'" + given.outDir +
               "': expected a folder without checkpoints for a new run, got " +
               (step ? "the one of step " + std::to_string(*step)
                     : "a state.json") +
               "; --init_from=resume goes on with it, --overwrite replaces "
               "it, another --out_dir keeps it",
           {}});
  }
  return given;
}

std::vector<NamedTensor> gpt2::weightsOf(const Model &model) {
  std::vector<NamedTensor> result;
  for (const Parameter &p : model.parameters()) {
    result.push_back({p.name, p.value.value()});
  }
  return result;
}

Start gpt2::startOf(const Options &options) {
  Start start;
  if (options.initFrom == "resume") {
    start.path = options.outDir;
    start.checkpoint = loadCheckpoint(
        start.path, options.checkpoint.empty() ? "last" : options.checkpoint);
  } else if (options.initFrom != "scratch") {
    start.path = options.initFrom;
    start.imported = importModel(start.path, options.checkpoint);
  }
  return start;
}

int64_t gpt2::contextOf(const Start &start) {
  return start.checkpoint
             ? gptConfigFrom(start.checkpoint->state.model, start.path).context
         : start.imported ? start.imported->config.context
                          : std::numeric_limits<int64_t>::max();
}

GptConfig gpt2::configOf(Options &options, const Start &start,
                         int64_t vocabulary, Device device) {
  if (!start.checkpoint && !start.imported) {
    return configOf(options, vocabulary, device);
  }
  GptConfig config =
      start.checkpoint
          ? gptConfigFrom(start.checkpoint->state.model, start.path)
          : start.imported->config;
  checkModel(options, config, start.path);
  options.layers = config.layers;
  options.heads = config.heads;
  options.width = config.width;
  options.blockSize = std::min(options.blockSize, config.context);
  options.vocabulary = config.vocabulary;
  options.bias = config.bias;
  options.tanhGelu = config.tanhGelu;
  if (start.imported) {
    config.context = options.blockSize;
  }
  config.dropout = options.dropout;
  config.dtype = dtypeOf(options, device);
  return config;
}

void gpt2::setWeights(const Model &model, const Start &start) {
  if (start.checkpoint) {
    copyInto(weightsOf(model), start.checkpoint->weights, "weights",
             start.path);
  } else if (start.imported) {
    copyWeights(weightsOf(model), *start.imported, start.path);
  }
}

void gpt2::convert(Checkpoint &checkpoint,
                   std::span<const NamedTensor> weights) {
  std::map<std::string_view, DType> types;
  for (const NamedTensor &one : weights) {
    types[one.name] = one.tensor.dtype();
  }
  std::vector<NamedTensor> &optimizer = checkpoint.optimizer;
  for (NamedTensor &one : checkpoint.weights) {
    auto type = types.find(one.name);
    if (type == types.end() || one.tensor.dtype() == type->second) {
      continue;
    }
    std::string masterName = "master." + one.name;
    auto master = std::ranges::find(optimizer, masterName, &NamedTensor::name);
    Tensor exact = master != optimizer.end() ? master->tensor
                                             : one.tensor.to(f32).contiguous();
    if (type->second == f32) {
      if (master != optimizer.end()) {
        optimizer.erase(master);
      }
    } else if (master == optimizer.end()) {
      optimizer.push_back({masterName, exact});
    }
    one.tensor = exact.to(type->second);
  }
}
