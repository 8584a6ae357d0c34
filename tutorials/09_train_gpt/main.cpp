//===- main.cpp - Lesson 9: train a GPT ------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small GPT-2 learns to write, character by character, from a text. New here:
// the parts of apps/gpt2: tokens in files, batches, the model, a training step,
// and generation with a cache.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Preparation.h"
#include "apps/gpt2/sample/Generator.h"
#include "apps/gpt2/train/Batches.h"
#include "apps/gpt2/train/Schedule.h"
#include "apps/gpt2/train/Trainer.h"
#include "nereid/nereid.h"
#include "tutorials/Lesson.h"

#include <filesystem>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;
namespace fs = std::filesystem;

namespace {

/// A folder for the tokens, which goes with the program.
class Folder {
public:
  Folder()
      : path(fs::temp_directory_path() /
             ("nereid-lesson-9-" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  std::string name() const { return path.string(); }

private:
  fs::path path;
};

/// The pages of this repository, where no text is named.
std::vector<std::string> pages() {
  std::vector<std::string> result;
  fs::path docs = fs::path(LESSON_DIR).parent_path().parent_path() / "docs";
  for (const fs::directory_entry &entry :
       fs::recursive_directory_iterator(docs)) {
    if (entry.path().extension() == ".md") {
      result.push_back(entry.path().string());
    }
  }
  std::ranges::sort(result);
  return result;
}

Options optionsOf(int argc, char **argv) {
  Options o;
  o.maxIters = lesson::option(argc, argv, "--steps", 2000);
  o.layers = lesson::option(argc, argv, "--layers", 4);
  o.width = lesson::option(argc, argv, "--width", 128);
  o.heads = lesson::option(argc, argv, "--heads", 4);
  o.blockSize = lesson::option(argc, argv, "--context", 64);
  o.batchSize = lesson::option(argc, argv, "--batch", 12);
  o.device = lesson::option(argc, argv, "--device", std::string("cpu"));
  // What suits a small model: a larger learning rate, and a shorter memory of
  // squared gradients.
  o.gradientAccumulationSteps = 1;
  o.learningRate = 1e-3;
  o.minLr = 1e-4;
  o.beta2 = 0.99;
  o.warmupIters = std::min<int64_t>(100, o.maxIters / 10);
  o.lrDecayIters = o.maxIters;
  return o;
}

std::string write(const Model &model, const TokenizerPtr &tokenizer,
                  const std::string &start, int64_t count) {
  Generator generator(model, 1, GenerationOptions{.temperature = 0.8});
  std::string text = start;
  StreamDecoder decoder(tokenizer);
  generator.begin({tokenizer->encode(start)});
  generator.generate(count, [&](std::span<const int32_t> tokens) {
    text += decoder.put(tokens[0]);
  });
  return text + decoder.finish();
}

double validationLoss(Trainer &trainer, Batches &data, int64_t batches) {
  std::optional<double> loss = trainer.evaluate(
      [&](int64_t i) {
        return data.evaluation(Split::Validation, uint64_t(i));
      },
      batches);
  return loss.value(); // nothing interrupts it here
}

int run(int argc, char **argv) {
  lesson::checkOptions(argc, argv,
                       {"--text", "--steps", "--layers", "--width", "--heads",
                        "--context", "--batch", "--device", "--tokens",
                        "--repeats"});
  Options options = optionsOf(argc, argv);
  // Evaluations on the way.
  int64_t repeats =
      std::max<int64_t>(lesson::option(argc, argv, "--repeats", 4), 1);
  int64_t tokens = lesson::option(argc, argv, "--tokens", 300);
  std::string text = lesson::option(argc, argv, "--text", std::string());
  checkOptions(options);
  Device device = Device::parse(options.device);

  // 1. Text becomes tokens, in files that are mapped, not read.
  Folder folder;
  PrepareOptions preparation;
  preparation.inputs = text.empty() ? pages() : std::vector{text};
  preparation.dataset = options.dataset = folder.name() + "/data";
  std::printf("1. Tokens\n%s\n", prepare(preparation).c_str());
  Batches data(options);
  TokenizerPtr tokenizer = openTokenizer(options.dataset);

  // 2. A model. Before it has learnt anything, each token is as probable as
  // any: the loss is the logarithm of their number.
  GptConfig config;
  config.layers = options.layers;
  config.heads = options.heads;
  config.width = options.width;
  config.context = options.blockSize;
  config.vocabulary = data.vocabulary();
  config.bias = false;
  Model model(config, uint64_t(options.seed), device);
  Trainer trainer(model, options);
  double first = validationLoss(trainer, data, 10);
  std::printf("2. A model of %.2fM parameters on %s\n"
              "   loss %.3f before the first step; log(%lld tokens) = %.3f\n\n",
              double(parameterCount(config)) / 1e6, device.str().c_str(), first,
              static_cast<long long>(config.vocabulary),
              std::log(double(config.vocabulary)));

  // 3. A step: a batch, forward, backward, AdamW.
  std::printf("3. %lld steps of %lld tokens\n",
              static_cast<long long>(options.maxIters),
              static_cast<long long>(options.batchSize * options.blockSize));
  double loss = first;
  auto start = std::chrono::steady_clock::now();
  for (int64_t step = 0; step < options.maxIters; ++step) {
    Batch batch = data.training(uint64_t(step));
    trainer.step(step, std::span(&batch, 1));
    if ((step + 1) * repeats / options.maxIters ==
        step * repeats / options.maxIters) {
      continue;
    }
    loss = validationLoss(trainer, data, 20);
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    std::printf("   step %5lld, %5.1f s: training %.3f, validation %.3f, "
                "learning rate %.1e\n",
                static_cast<long long>(step + 1), elapsed.count(),
                trainer.loss(), loss, learningRateAt(options, step));
    std::fflush(stdout);
  }

  // 4. It writes. Keys and values of what came before stay in a cache, so that
  // a token costs one pass over the weights.
  std::string prompt(tokenizer->bytesOf(0));
  std::printf("\n4. A text\n%s\n",
              write(model, tokenizer, prompt, tokens).c_str());
  if (options.maxIters > 0 && !(loss < first)) {
    std::printf("\nThe loss did not fall: %.3f, then %.3f.\n", first, loss);
    return 1;
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) try {
  return run(argc, argv);
} catch (const Error &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
