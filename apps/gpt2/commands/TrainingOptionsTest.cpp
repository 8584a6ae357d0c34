//===- TrainingOptionsTest.cpp --------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/commands/TrainingOptions.h"

#include "apps/gpt2/commands/Testing.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

namespace {
struct Read {
  Options options;
  std::string err;
};
} // namespace

/// What a command line of `train`, or of `sample`, means.
static Read read(std::vector<std::string> words,
                 const std::vector<std::string> &names = {}) {
  CLI::App app;
  CLI::App *command = app.add_subcommand("train");
  TrainingOptions given(*command, names);
  words.insert(words.begin(), "train");
  std::ranges::reverse(words);
  ::testing::internal::CaptureStderr();
  app.parse(words);
  Options options = given.read();
  return {options, ::testing::internal::GetCapturedStderr()};
}

TEST(TrainingOptions, ofSeveralTheLastCounts) {
  EXPECT_EQ(read({"--n_layer=1", "--bias=True", "--n_layer", "2",
                  "--bias=False", "--n_layer=3"})
                .options.layers,
            3);
  EXPECT_FALSE(read({"--bias", "--bias=False"}).options.bias);
}

TEST(TrainingOptions, optionsWithoutAMeaningHereGiveANote) {
  Read one = read({"--wandb_log=True", "--backend", "gloo", "--n_layer=2"});
  EXPECT_EQ(one.options.layers, 2);
  EXPECT_THAT(one.err, HasSubstr("note: --wandb_log has no effect here\n"));
  EXPECT_THAT(one.err, HasSubstr("note: --backend has no effect here\n"));
  EXPECT_EQ(read({"--n_layer=2"}).err, "");
}

TEST(TrainingOptions, aPromptMayBeEmpty) {
  EXPECT_EQ(read({"--start=", "--seed=3"}, {"start", "seed"}).options.start,
            "");
  EXPECT_EQ(read({"--start=a"}, {"start", "seed"}).options.start, "a");
  EXPECT_EQ(read({"--seed=3"}, {"start", "seed"}).options.start, "\n");
}
