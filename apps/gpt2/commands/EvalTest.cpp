//===- EvalTest.cpp - The commands eval and bench ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Testing.h"

#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/train/Resume.h"
#include "nereid/Weights/Testing.h"

#include <cmath>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

namespace {

class EvalCommand : public ::testing::Test {
protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < 400; ++i) {
      text += "abcdefgh\n";
    }
    writeContent(folder / "text.txt", text);
    ASSERT_EQ(runCommand({"prepare", folder / "text.txt",
                          "--dataset=" + (folder / "data")})
                  .error,
              "");
  }

  std::vector<std::string> training(const std::string &out) const {
    return {"train",
            "--dataset=" + (folder / "data"),
            "--out_dir=" + (folder / out),
            "--device=cpu",
            "--n_layer=1",
            "--n_head=2",
            "--n_embd=16",
            "--block_size=8",
            "--batch_size=4",
            "--gradient_accumulation_steps=1",
            "--max_iters=20",
            "--eval_interval=20",
            "--eval_iters=5",
            "--learning_rate=0.01",
            "--warmup_iters=0",
            "--lr_decay_iters=20",
            "--min_lr=0.001"};
  }

  TestFolder folder;
};

std::string between(const std::string &text, const std::string &before,
                    const std::string &after) {
  size_t begin = text.rfind(before);
  if (begin == std::string::npos) {
    return "";
  }
  begin += before.size();
  return text.substr(begin, text.find(after, begin) - begin);
}

} // namespace

TEST_F(EvalCommand, givesTheLossesThatTrainingPrinted) {
  Outcome trained = runCommand(training("out"));
  ASSERT_EQ(trained.error, "");
  Outcome got =
      runCommand({"eval", "--out_dir=" + (folder / "out"), "--device=cpu",
                  "--batch_size=4", "--eval_iters=5"});
  ASSERT_EQ(got.error, "");
  std::string train = between(trained.out, "train loss ", ","),
              val = between(trained.out, "val loss ", "\n");
  EXPECT_EQ(train.size(), 6U) << trained.out;
  EXPECT_EQ(between(got.out, "train loss ", ","), train);
  EXPECT_EQ(between(got.out, "val loss ", ","), val);
  EXPECT_NEAR(std::stod(between(got.out, "perplexity ", "\n")),
              std::exp(std::stod(val)), 2e-3 * std::exp(std::stod(val)));
  EXPECT_THAT(got.out, HasSubstr("5 batches of 4 x 8 tokens"));
}

TEST_F(EvalCommand, saysWhatIsWrong) {
  GptConfig config;
  config.layers = 1;
  config.heads = 1;
  config.width = 8;
  config.context = 16;
  config.vocabulary = 5;
  Model model(config, 1, Device::cpu());
  exportModel(folder / "model", config, weightsOf(model), 5);
  std::string from = "--init_from=" + (folder / "model");
  EXPECT_THAT(runCommand({"eval", from, "--device=cpu"}).error,
              HasSubstr("expected a model that says what it was trained on"));
  EXPECT_THAT(runCommand({"eval", from, "--device=cpu",
                          "--dataset=" + (folder / "data")})
                  .error,
              HasSubstr("expected at most 5 tokens, as the model has, got 9"));
  ASSERT_EQ(runCommand({"prepare", folder / "text.txt",
                        "--dataset=" + (folder / "all"), "--val-fraction=0"})
                .error,
            "");
  EXPECT_THAT(runCommand({"eval", from, "--device=cpu",
                          "--dataset=" + (folder / "all")})
                  .error,
              HasSubstr("expected tokens to validate with, got none; prepare "
                        "the data with a --val-fraction above 0"));
  EXPECT_THAT(runCommand({"eval", from, "--eval_iters=0"}).error,
              HasSubstr("--eval_iters: expected an integer from 1"));
  EXPECT_THAT(
      runCommand({"eval", "--out_dir=" + (folder / "none"), "--device=cpu"})
          .error,
      HasSubstr(folder / "none"));
}

TEST(BenchCommand, timesStepsAndTheirParts) {
  std::vector<std::string> words = {
      "bench",       "--device=cpu",   "--n_layer=1",      "--n_head=2",
      "--n_embd=16", "--block_size=8", "--vocab_size=50",  "--batch_size=2",
      "--steps=3",   "--bias=False",   "--tanh_gelu=False"};
  Outcome text = runCommand(words);
  ASSERT_EQ(text.error, "");
  EXPECT_THAT(text.out, HasSubstr("ms a step (the median of 3)"));
  EXPECT_THAT(text.out, HasSubstr("optimiser "));
  EXPECT_THAT(text.out, HasSubstr(" GFLOP/s, ")); // of a CPU: not 0.00 TFLOP/s
  words.emplace_back("--gradient_accumulation_steps=3");
  words.emplace_back("--json");
  Outcome got = runCommand(words);
  ASSERT_EQ(got.error, "");
  auto json = nlohmann::json::parse(got.out);
  double milliseconds = json["milliseconds"];
  EXPECT_GT(milliseconds, 0);
  EXPECT_NEAR(double(json["tokensPerSecond"]) * milliseconds, 3 * 2 * 8 * 1e3,
              1);
  for (const char *part : {"forward", "backward", "optimiser"}) {
    EXPECT_GT(double(json["parts"][part]), 0) << part;
  }
  EXPECT_GT(double(json["memory"]), 0);
}

TEST(BenchCommand, writesATrace) {
  TestFolder folder;
  Outcome got = runCommand({"bench", "--device=cpu", "--n_layer=1",
                            "--n_head=2", "--n_embd=16", "--block_size=8",
                            "--vocab_size=50", "--batch_size=2", "--steps=1",
                            "--trace=" + (folder / "trace.json")});
  ASSERT_EQ(got.error, "");
  std::string trace = contentOf(folder / "trace.json");
  for (const char *part : {"\"forward\"", "\"backward\"", "\"optimiser\""}) {
    EXPECT_THAT(trace, HasSubstr(part));
  }
}

TEST(BenchCommand, saysWhatIsWrong) {
  EXPECT_THAT(runCommand({"bench", "--steps=0"}).error, HasSubstr("--steps"));
  EXPECT_THAT(runCommand({"bench", "--n_head=5", "--device=cpu"}).error,
              HasSubstr("n_head: expected a divisor of n_embd (768), got 5"));
  EXPECT_THAT(runCommand({"bench", "--device=abacus"}).error,
              HasSubstr("abacus"));
}
