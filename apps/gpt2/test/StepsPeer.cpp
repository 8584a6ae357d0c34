//===- StepsPeer.cpp - Our side of test/reference_steps.py ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   StepsPeer REFERENCE.safetensors OUT.safetensors --device=cpu ...
//
// Takes weights, batches and options of training from what reference_gpt2.py
// exports, and further options from the command line. Writes "losses" and
// "norms" of all steps, and "grad.NAME" of the first.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/Checkpoint.h"
#include "apps/gpt2/train/Resume.h"
#include "apps/gpt2/train/Run.h"
#include "apps/gpt2/train/Trainer.h"
#include "nereid/nereid.h"

#include <algorithm>
#include <cstdio>

using namespace nereid;
using namespace nereid::gpt2;

static Options optionsOf(const SafetensorsFile &file,
                         const std::vector<std::string> &words) {
  Options options;
  auto given = nlohmann::json::parse(file.metadata().at("options"));
  const std::vector<OptionRow> &rows = optionRows();
  for (const auto &[name, value] : given.items()) {
    if (std::any_of(rows.begin(), rows.end(),
                    [&](const OptionRow &row) { return row.name == name; })) {
      setOption(options, name, value.dump());
    }
  }
  for (const std::string &word : words) {
    size_t equals = word.find('=');
    setOption(options, word.substr(2, equals - 2), word.substr(equals + 1));
  }
  return options;
}

static void run(const std::vector<std::string> &words) {
  if (words.size() < 2) {
    raise({ErrorCode::InvalidArgument,
           "expected the reference and a file to write, got less",
           {}});
  }
  SafetensorsFile file(words[0]);
  Options options = optionsOf(file, {words.begin() + 2, words.end()});
  options.gradientAccumulationSteps = 1;
  Device device = deviceOf(options.device);
  GptConfig config = configOf(options, options.vocabulary, device);
  Model model(config, 1, device);
  model.setRecomputes(options.recompute);
  std::vector<NamedTensor> weights, results;
  for (const Parameter &p : model.parameters()) {
    Tensor given = file.find("weight." + p.name);
    if (!given.defined()) {
      raise({ErrorCode::NotFound, "weight." + p.name + " is missing", {}});
    }
    weights.push_back({p.name, given.to(config.dtype)});
  }
  copyInto(weightsOf(model), weights, "weights", words[0]);
  Trainer trainer(model, options);
  trainer.optimiser().weightsChanged();
  // A master has what bf16 rounds away.
  std::vector<NamedTensor> state = trainer.optimiser().optimizerState();
  for (const NamedTensor &one : state) {
    if (one.name.starts_with("master.")) {
      one.tensor.copyFrom(file.find("weight." + one.name.substr(7)));
    }
  }
  trainer.optimiser().loadOptimizerState(state, words[0]);
  Tensor tokens = file.find("tokens"), targets = file.find("targets");
  auto batchOf = [&](int64_t step) {
    return Batch{tokens.select(0, step).contiguous(),
                 targets.select(0, step).contiguous()};
  };
  Batch first = batchOf(0);
  model.loss(first.inputs.to(device), first.targets.to(device)).backward();
  for (const Parameter &p : model.parameters()) {
    results.push_back({"grad." + p.name, p.value.grad().to(f32).onHost()});
  }
  std::vector<double> losses, norms;
  for (int64_t step = 0; step < tokens.size(0); ++step) {
    Batch batch = batchOf(step);
    trainer.step(step, {&batch, 1});
    losses.push_back(trainer.loss());
    norms.push_back(trainer.gradientNorm());
  }
  results.push_back({"losses", Tensor::fromVector(losses)});
  results.push_back({"norms", Tensor::fromVector(norms)});
  writeSafetensors(words[1], results, {{"device", device.str()}});
}

int main(int argc, char **argv) try {
  run({argv + 1, argv + argc});
  return 0;
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
