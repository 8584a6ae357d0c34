//===- ConfigFileTest.cpp -------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/ConfigExpression.h"
#include "apps/gpt2/Options.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The value of one expression, as Python's str() writes it.
static std::string valueOf(const std::string &text) {
  try {
    return textOf(evaluate(text, [](const std::string &) { return nullptr; }));
  } catch (const ConfigExpressionError &error) {
    return std::to_string(error.place) + ": " + error.message;
  }
}

static Options read(const std::string &text) {
  Options options;
  readConfigText(options, text, "x.py");
  return options;
}

static std::string refusal(const std::string &text) {
  return errorOf([&] { read(text); });
}

TEST(ConfigFile, valuesAreThoseOfPython) {
  const std::pair<const char *, const char *> table[] = {
      {"5 * 8", "40"},
      {"1e-1", "0.1"},
      {"6e-4 / 10", "5.9999999999999995e-05"},
      {"3e-5", "3e-05"},
      {"600_000", "600000"},
      {"2 + 3 * 4 - -1", "15"},
      {"(2 + 3) * 4", "20"},
      {"-2 ** 2", "-4"},
      {"2 ** 3 ** 2", "512"},
      {"2 ** -1", "0.5"},
      {"7 // 2", "3"},
      {"-7 // 2", "-4"},
      {"-7 % 3", "2"},
      {"7 / 2", "3.5"},
      {"4 / 2", "2.0"},
      {"1.5 // 1", "1.0"},
      {"True", "True"},
      {"None", "None"},
      {"'ft-' + str(3)", "ft-3"},
      {"\"a\" + 'b' # c", "ab"},
      {"'it\\'s\\n'", "it's\n"},
      {"'#'", "#"},
      {"int(3.9) + round(2.5) + abs(-4)", "9"},
      {"min(3, 1.5, 2)", "1.5"},
      {"max(3, float(2))", "3"},
      {"1e22", "1e+22"},
      {"1e15", "1000000000000000.0"},
  };
  for (const auto &[text, expected] : table) {
    EXPECT_EQ(valueOf(text), expected) << text;
  }
}

TEST(ConfigFile, otherPythonIsRefusedWhereItStands) {
  EXPECT_EQ(valueOf("1 + "), "4: expected a value");
  EXPECT_EQ(valueOf("1 2"), "2: expected the end of the line, got '2'");
  EXPECT_EQ(valueOf("(1"), "2: expected ')'");
  EXPECT_EQ(valueOf("'a"), "0: expected the quote that ends this text");
  EXPECT_EQ(valueOf("[1]"), "0: expected a value, got '[1]'");
  EXPECT_EQ(valueOf("1 + x"),
            "4: expected a name that was assigned before, got 'x'");
  EXPECT_THAT(valueOf("open('x')"), HasSubstr("expected one of str, int"));
  EXPECT_THAT(valueOf("str(1, 2)"), HasSubstr("got 'str' with 2"));
  EXPECT_EQ(valueOf("1 + 'a'"), "2: expected numbers, got 'a'");
  EXPECT_EQ(valueOf("1 // 0"), "2: expected a divisor that is not 0");
  EXPECT_THAT(valueOf("2 ** 63"), HasSubstr("a number below 2^63"));
  EXPECT_THAT(valueOf("9223372036854775807 + 1"), HasSubstr("below 2^63"));
  EXPECT_THAT(valueOf("1x"), HasSubstr("expected a number, got '1x'"));
  EXPECT_THAT(valueOf("'''a'''"), HasSubstr("a text in one line"));
  EXPECT_THAT(valueOf("'\\x'"), HasSubstr("another escape"));
  EXPECT_THAT(valueOf("x if y else z"), HasSubstr("assigned before"));
  EXPECT_THAT(valueOf(std::string(100000, '(')), HasSubstr("nested too deep"));
  EXPECT_THAT(valueOf(std::string(100000, '-')), HasSubstr("nested too deep"));
}

TEST(ConfigFile, theFormsThatNanoGptShipsAreRead) {
  Options options;
  std::vector<std::string> without =
      readConfigText(options,
                     "import time\n"
                     "\n"
                     "out_dir = 'out-shakespeare'\n"
                     "eval_interval = 5 # often\n"
                     "wandb_log = False\n"
                     "wandb_run_name = 'ft-' + str(4)\n"
                     "always_save_checkpoint = False\n"
                     "gradient_accumulation_steps = 5 * 8\n"
                     "learning_rate = 3e-5\n"
                     "decay_lr = False\n",
                     "x.py");
  EXPECT_THAT(without, ElementsAre("wandb_log", "wandb_run_name"));
  EXPECT_EQ(options.outDir, "out-shakespeare");
  EXPECT_EQ(options.evalInterval, 5);
  EXPECT_FALSE(options.alwaysSaveCheckpoint);
  EXPECT_EQ(options.gradientAccumulationSteps, 40);
  EXPECT_EQ(options.learningRate, 3e-5);
  EXPECT_FALSE(options.decayLr);
}

TEST(ConfigFile, namesHaveTheValuesOfEarlierLines) {
  Options options = read("from math import pi\r\n"
                         "tokens = 12 * 1024\n"
                         "batch_size = tokens // 1024\n"
                         "max_iters = 100\n"
                         "lr_decay_iters = max_iters\n"
                         "min_lr = learning_rate / 10\n");
  EXPECT_EQ(options.batchSize, 12);
  EXPECT_EQ(options.lrDecayIters, 100);
  EXPECT_EQ(options.minLr, 6e-4 / 10);
}

TEST(ConfigFile, aByteOrderMarkIsNoPartOfAName) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "n_layer = 3\n")
                .layers,
            3);
}

TEST(ConfigFile, namesThatNothingUsesAreMistakes) {
  EXPECT_THAT(refusal("n_hed = 3\nn_layer = 2\n"),
              HasSubstr("did you mean 'n_head'"));
  EXPECT_THAT(refusal("n_layer = many\n"), HasSubstr("assigned before"));
  EXPECT_THAT(refusal("n_layer = 'two'\n"), HasSubstr("expected an integer"));
  EXPECT_THAT(refusal("if True:\n"), HasSubstr("expected 'name = value'"));
}
