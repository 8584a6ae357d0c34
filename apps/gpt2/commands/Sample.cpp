//===- Sample.cpp - nereid-gpt2 sample --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Commands.h"
#include "apps/gpt2/commands/LoadedModel.h"
#include "apps/gpt2/commands/TrainingOptions.h"
#include "apps/gpt2/data/Dataset.h"
#include "apps/gpt2/sample/Generator.h"
#include "apps/gpt2/train/RunData.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Support/Files.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

using namespace nereid;
using namespace nereid::gpt2;

/// The tokens of --start.
static std::vector<int32_t> promptOf(const std::string &start,
                                     const Tokenizer &tokenizer) {
  constexpr std::string_view file = "FILE:";
  std::string text = start.starts_with(file)
                         ? valueOrThrow(readFile(start.substr(file.size())))
                         : start;
  std::vector<int32_t> tokens;
  std::optional<int32_t> end = tokenizer.endOfText();
  if (end && (text.empty() || text == endOfTextText)) {
    return {*end};
  }
  try {
    tokens = tokenizer.encode(text);
  } catch (const Error &error) {
    raise({error.code(), "--start: " + error.message(), {}});
  }
  if (tokens.empty()) {
    raise({ErrorCode::InvalidArgument,
           "--start: expected a text of at least one token, got an empty one",
           {}});
  }
  return tokens;
}

/// Tokens a second, beside what reading the weights and the cache allows.
static void report(const Generator &generator, const Options &options,
                   Device device, double seconds) {
  double steps = double(options.maxNewTokens) / seconds;
  std::string text;
  double bandwidth = peakBandwidth(properties(device).name);
  if (bandwidth > 0) {
    char limit[160];
    std::snprintf(limit, sizeof(limit),
                  "; reading the weights and the keys (%.3g GB at %.3g GB/s) "
                  "allows %.0f",
                  generator.bytesOfStep() / 1e9, bandwidth / 1e9,
                  bandwidth / generator.bytesOfStep() *
                      double(options.numSamples));
    text = limit;
  }
  std::fprintf(stderr, "%.0f tokens/s (%lld samples, %.3f ms a step%s)%s\n",
               steps * double(options.numSamples),
               static_cast<long long>(options.numSamples), 1e3 / steps,
               generator.isCaptured() ? ", a graph" : "", text.c_str());
}

static void run(const Options &options, const std::string &dataset) {
  setNumThreads(int(options.threads));
  LoadedModel loaded = loadModel(options);
  const GptConfig &config = loaded.model.config();
  TokenizerPtr tokenizer = tokenizerOf(loaded, dataset);
  std::vector<int32_t> prompt = promptOf(options.start, *tokenizer);
  GenerationOptions generation;
  generation.temperature = options.temperature;
  generation.topK = options.topK;
  generation.topP = options.topP;
  generation.seed = options.seed;
  generation.compile = options.compile;
  generation.vocabulary = tokenizer->size();
  generation.capacity =
      std::min(config.context, int64_t(prompt.size()) + options.maxNewTokens);
  Generator generator(loaded.model, options.numSamples, generation);
  generator.begin(std::vector(size_t(options.numSamples), prompt));

  // The first sample is written as it is made, the others when it ends.
  std::vector<std::string> texts(size_t(options.numSamples),
                                 tokenizer->decode(prompt));
  std::vector<StreamDecoder> decoders(texts.size(), StreamDecoder(tokenizer));
  auto write = [](const std::string &text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  write(texts[0]);
  auto take = [&](size_t i, const std::string &text) {
    if (i == 0) {
      write(text);
    } else {
      texts[i] += text;
    }
  };
  // The first step compiles, and the next one records a graph.
  constexpr int64_t first = 2;
  std::chrono::steady_clock::time_point begin;
  int64_t steps = 0, untimed = 0;
  generator.generate(options.maxNewTokens,
                     [&](std::span<const int32_t> tokens) {
                       for (size_t i = 0; i < tokens.size(); ++i) {
                         take(i, decoders[i].put(tokens[i]));
                       }
                       if (++steps == first) {
                         begin = std::chrono::steady_clock::now();
                         untimed = generator.finished();
                       }
                     });
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - begin;
  for (size_t i = 0; i < texts.size(); ++i) {
    take(i, decoders[i].finish());
    write((i ? texts[i] : "") + "\n---------------\n");
  }
  if (steps > first && steps > untimed) {
    report(generator, options, loaded.model.device(),
           elapsed.count() / double(steps - untimed) * double(steps));
  }
}

void gpt2::addSampleCommand(CLI::App &app) {
  CLI::App *command = app.add_subcommand(
      "sample", "writes texts of a trained model; options as nanoGPT's");
  Options defaults;
  defaults.initFrom = "resume";
  defaults.dataset.clear();
  auto given = std::make_shared<TrainingOptions>(
      *command,
      std::vector<std::string>{"init_from", "out_dir", "checkpoint", "dataset",
                               "start", "num_samples", "max_new_tokens",
                               "temperature", "top_k", "top_p", "seed",
                               "device", "threads", "dtype", "compile"},
      defaults);
  command->callback([given] {
    Options options = given->read();
    run(options, options.dataset);
  });
}
