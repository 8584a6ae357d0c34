//===- ExportTest.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/commands/Testing.h"
#include "apps/gpt2/data/Tokenizer.h"
#include "apps/gpt2/model/Model.h"
#include "apps/gpt2/train/Resume.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

namespace {
/// A model of 320 rows and a byte-pair tokenizer of fewer tokens.
class ExportCommand : public ::testing::Test {
protected:
  void SetUp() override {
    writeContent(folder / "text.txt", "the thing and the other thing, then on");
    ASSERT_EQ(runCommand({"prepare", folder / "text.txt", "--train-bpe=260",
                          "--dataset=" + (folder / "data")})
                  .error,
              "");
    GptConfig config;
    config.layers = 1;
    config.heads = 2;
    config.width = 8;
    config.context = 16;
    config.vocabulary = 320;
    Model model(config, 1, Device::cpu());
    exportModel(folder / "model", config, weightsOf(model), 320);
  }
  Outcome exported(const std::string &tokenizer) {
    return runCommand({"export", "--from=" + (folder / "model"),
                       "--to=" + (folder / "out"), "--tokenizer=" + tokenizer});
  }
  nlohmann::json config(const char *name = "config.json") const {
    return nlohmann::json::parse(
        contentOf(folder / ("out/" + std::string(name))));
  }
  TestFolder folder;
};
} // namespace

TEST_F(ExportCommand, generationEndsWithTheTokenizersEndOfText) {
  ASSERT_EQ(exported(folder / "data").error, "");
  TokenizerPtr tokenizer = openTokenizer(folder / "data");
  ASSERT_TRUE(tokenizer->endOfText());
  EXPECT_EQ(config()["eos_token_id"], *tokenizer->endOfText());
  EXPECT_EQ(config("generation_config.json")["eos_token_id"],
            *tokenizer->endOfText());
  EXPECT_EQ(config()["vocab_size"], tokenizer->size());
}

TEST_F(ExportCommand, aTokenizerOfAnotherFormIsWrittenAsTransformersReadsIt) {
  // OpenAI's names.
  std::filesystem::create_directory(folder / "openai");
  writeContent(folder / "openai/encoder.json",
               contentOf(folder / "data/vocab.json"));
  writeContent(folder / "openai/vocab.bpe",
               contentOf(folder / "data/merges.txt"));
  ASSERT_EQ(exported(folder / "openai").error, "");
  EXPECT_EQ(contentOf(folder / "out/vocab.json"),
            contentOf(folder / "data/vocab.json"));
  EXPECT_EQ(contentOf(folder / "out/merges.txt"),
            contentOf(folder / "data/merges.txt"));
}

TEST_F(ExportCommand, saysThatATokenizerIsMissing) {
  EXPECT_THAT(exported(folder / "none").error,
              HasSubstr("expected a folder with a tokenizer"));
}
