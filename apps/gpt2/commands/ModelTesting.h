//===- ModelTesting.h - Commands of a tiny model in tests -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_COMMANDS_MODELTESTING_H
#define NEREID_APPS_GPT2_COMMANDS_MODELTESTING_H

#include "apps/gpt2/checkpoint/HuggingFace.h"
#include "apps/gpt2/commands/Testing.h"
#include "apps/gpt2/model/Model.h"
#include "apps/gpt2/train/Resume.h"
#include "nereid/Weights/Testing.h"

namespace nereid::gpt2 {

/// A folder with `data`, what `prepare` made of a text, and `model`, one layer
/// of random weights and so many tokens.
class TinyModelCommand : public ::testing::Test {
protected:
  void makeModel(const char *text, std::vector<std::string> prepareOptions,
                 int64_t vocabulary) {
    writeContent(folder / "text.txt", text);
    prepareOptions.insert(
        prepareOptions.begin(),
        {"prepare", folder / "text.txt", "--dataset=" + (folder / "data")});
    ASSERT_EQ(runCommand(std::move(prepareOptions)).error, "");
    GptConfig config;
    config.layers = 1;
    config.heads = 2;
    config.width = 8;
    config.context = 16;
    config.vocabulary = vocabulary;
    Model model(config, 1, Device::cpu());
    exportModel(folder / "model", config, weightsOf(model), vocabulary);
  }

  TestFolder folder;
};

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_COMMANDS_MODELTESTING_H
