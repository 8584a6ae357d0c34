//===- Eval.cpp - nereid-gpt2 eval ------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Commands.h"
#include "apps/gpt2/commands/LoadedModel.h"
#include "apps/gpt2/commands/TrainingOptions.h"
#include "apps/gpt2/train/Batches.h"
#include "apps/gpt2/train/MultipleChoice.h"
#include "apps/gpt2/train/RunData.h"
#include "kernels/accumulate/Accumulate.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

using namespace nereid;
using namespace nereid::gpt2;

/// The mean over batches of random places, those that a run with this seed
/// evaluates on.
static double meanLoss(const Model &model, Batches &data, Split split,
                       int64_t count) {
  NoGrad off;
  Device device = model.device();
  Tensor sum = zeros({}, f32, device);
  for (int64_t i = 0; i < count; ++i) {
    Batch batch = data.evaluation(split, uint64_t(i));
    Variable loss =
        model.loss(batch.inputs.to(device), batch.targets.to(device));
    kernels::accumulate(sum, loss.value(), /*inPlace=*/true);
  }
  return sum.item() / double(count);
}

/// With the tokenizer beside the weights, or that of --dataset.
static void answer(const LoadedModel &loaded, const Options &options) {
  const GptConfig &config = loaded.model.config();
  TokenizerPtr tokenizer = tokenizerOf(loaded, options.dataset);
  Questions questions(options.multipleChoice, *tokenizer, config.context);
  std::printf("%s: %.2fM parameters, %s\n", loaded.path.c_str(),
              double(parameterCount(config)) / 1e6,
              loaded.model.device().str().c_str());
  std::fflush(stdout);
  std::unique_ptr<Communicator> one =
      makeCommunicator(Processes(), loaded.model.device());
  std::printf(
      "%s: %s\n", options.multipleChoice.c_str(),
      textOf(*questions.score(loaded.model, options.batchSize, *one)).c_str());
}

static void run(Options options) {
  setNumThreads(int(options.threads));
  LoadedModel loaded = loadModel(options);
  const GptConfig &config = loaded.model.config();
  if (!options.multipleChoice.empty()) {
    answer(loaded, options);
    return;
  }
  if (options.dataset.empty()) {
    options.dataset = findDataset(loaded.options, loaded.data, loaded.path);
  }
  if (options.dataset.empty()) {
    raise({ErrorCode::InvalidArgument,
           loaded.path + ": expected a model that says what it was trained on, "
                         "got none; hint: name the data with --dataset",
           {}});
  }
  options.blockSize = std::min(options.blockSize, config.context);
  Batches data(options);
  checkTokenizer(loaded.data, *data.dataset().tokenizer, data.dataset().folder,
                 loaded.path);
  if (data.vocabulary() > config.vocabulary) {
    raise({ErrorCode::InvalidArgument,
           "dataset " + options.dataset + ": expected at most " +
               std::to_string(config.vocabulary) +
               " tokens, as the model has, got " +
               std::to_string(data.vocabulary()),
           {}});
  }
  std::printf("%s: %.2fM parameters, %s, %lld batches of %lld x %lld tokens\n",
              loaded.path.c_str(), double(parameterCount(config)) / 1e6,
              loaded.model.device().str().c_str(),
              static_cast<long long>(options.evalIters),
              static_cast<long long>(options.batchSize),
              static_cast<long long>(options.blockSize));
  for (auto [split, name] :
       {std::pair(Split::Train, "train"), {Split::Validation, "val"}}) {
    double loss = meanLoss(loaded.model, data, split, options.evalIters);
    if (!std::isfinite(loss)) {
      raise({ErrorCode::KernelFault,
             loaded.path + ": the " + name + " loss is " +
                 (std::isnan(loss) ? "not a number" : "infinite") +
                 ": the model's numbers are too large for " + options.dtype,
             {}});
    }
    std::printf("%s loss %.4f, perplexity %.4g\n", name, loss, std::exp(loss));
    std::fflush(stdout);
  }
}

void gpt2::addEvalCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "eval",
      "mean loss of a trained model on both parts of a data set, or its "
      "answers to questions");
  Options defaults;
  defaults.initFrom = "resume";
  defaults.dataset.clear();
  auto given = std::make_shared<TrainingOptions>(
      *command,
      std::vector<std::string>{"init_from", "out_dir", "checkpoint", "dataset",
                               "batch_size", "block_size", "eval_iters", "seed",
                               "device", "threads", "dtype", "multiple_choice"},
      defaults);
  command->callback([given] { run(given->read()); });
}
