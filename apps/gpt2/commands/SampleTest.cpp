//===- SampleTest.cpp - The command sample ----------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/Testing.h"

#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/train/Resume.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

namespace {

class SampleCommand : public ::testing::Test {
protected:
  void SetUp() override {
    writeContent(folder / "text.txt", "abcdefgh\n");
    ASSERT_EQ(runCommand({"prepare", folder / "text.txt",
                          "--dataset=" + (folder / "data"), "--val-fraction=0"})
                  .error,
              "");
    GptConfig config;
    config.layers = 1;
    config.heads = 2;
    config.width = 8;
    config.context = 16;
    config.vocabulary = 9;
    Model model(config, 1, Device::cpu());
    exportModel(folder / "model", config, weightsOf(model), 9);
  }

  Outcome sample(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"sample", "--init_from=" + (folder / "model"),
                  "--dataset=" + (folder / "data"), "--device=cpu"});
    return runCommand(std::move(words));
  }

  TestFolder folder;
};

} // namespace

TEST_F(SampleCommand, writesTextsOfOneSeed) {
  Outcome one = sample({"--start=abc", "--num_samples=2", "--max_new_tokens=40",
                        "--temperature=2"});
  EXPECT_EQ(one.error, "");
  EXPECT_THAT(one.out, StartsWith("abc"));
  EXPECT_THAT(one.out, EndsWith("\n---------------\n"));
  EXPECT_THAT(one.err, HasSubstr(" tokens/s (2 samples, "));
  EXPECT_EQ(sample({"--start=abc", "--num_samples=2", "--max_new_tokens=40",
                    "--temperature=2"})
                .out,
            one.out);
  EXPECT_NE(sample({"--start=abc", "--num_samples=2", "--max_new_tokens=40",
                    "--temperature=2", "--seed=7"})
                .out,
            one.out);
  EXPECT_EQ(
      sample({"--start=abc", "--num_samples=1", "--max_new_tokens=0"}).out,
      "abc\n---------------\n");
}

TEST_F(SampleCommand, readsItsPromptAndOptionsFromFiles) {
  writeContent(folder / "prompt", "hgf");
  writeContent(folder / "sample.py", "num_samples = 1\nmax_new_tokens = 2\n");
  Outcome got =
      sample({folder / "sample.py", "--start=FILE:" + (folder / "prompt")});
  EXPECT_EQ(got.error, "");
  EXPECT_THAT(got.out, StartsWith("hgf"));
  EXPECT_EQ(got.out.size(), 3 + 2 + std::string("\n---------------\n").size());
}

TEST_F(SampleCommand, saysWhatIsWrong) {
  writeContent(folder / "empty", "");
  EXPECT_THAT(sample({"--start=FILE:" + (folder / "empty")}).error,
              HasSubstr("--start: expected a text of at least one token"));
  EXPECT_THAT(sample({"--start=xyz"}).error, StartsWith("--start: "));
  EXPECT_THAT(sample({"--start=FILE:" + (folder / "none")}).error,
              HasSubstr(folder / "none"));
  EXPECT_THAT(sample({"--temperature=-1"}).error,
              HasSubstr("--temperature: expected a number from 0 to 1000000, "
                        "got '-1'"));
  EXPECT_THAT(sample({"--top_p=0"}).error,
              HasSubstr("--top_p: expected a number from 1e-06 to 1, got '0'"));
  EXPECT_THAT(sample({"--num_samples=0"}).error,
              HasSubstr("--num_samples: expected an integer from 1 to 65536"));
  EXPECT_THAT(sample({"--learning_rate=1"}).error, HasSubstr("learning_rate"));
  EXPECT_THAT(runCommand({"sample", "--init_from=scratch"}).error,
              HasSubstr("--init_from: expected a trained model"));
  EXPECT_THAT(runCommand({"sample", "--device=cpu",
                          "--init_from=" + (folder / "model")})
                  .error,
              HasSubstr("expected a tokenizer beside the weights"));
  writeContent(folder / "long.txt", "0123456789abcdef");
  runCommand({"prepare", folder / "long.txt", "--dataset=" + (folder / "long"),
              "--val-fraction=0"});
  EXPECT_THAT(
      runCommand({"sample", "--device=cpu", "--init_from=" + (folder / "model"),
                  "--dataset=" + (folder / "long")})
          .error,
      HasSubstr("expected a tokenizer of at most the model's 9 tokens, "
                "got 16"));
}
