//===- MultipleChoiceTest.cpp ---------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/MultipleChoice.h"

#include "apps/gpt2/commands/ModelTesting.h"

#include <cmath>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;
using ::testing::HasSubstr;

namespace {

class MultipleChoiceTest : public TinyModelCommand {
protected:
  void SetUp() override {
    makeModel("a man sits on a roof. he starts to sing\n"
              "the cat sees a bird and waits at the door\n",
              {"--val-fraction=0"}, 24);
    tokenizer = openTokenizer(folder / "data");
    GptConfig config;
    config.layers = 1;
    config.heads = 2;
    config.width = 8;
    config.context = 16;
    config.vocabulary = tokenizer->size();
    model.emplace(config, 3, Device::cpu());
    // Weights that prefer something.
    for (const Parameter &one : model->parameters()) {
      one.value.value().copyFrom(
          randn(one.value.shape(), f32, Device::cpu(), 5));
    }
  }

  std::string write(const std::vector<json> &questions) const {
    std::string text;
    for (const json &question : questions) {
      text += question.dump() + "\n";
    }
    writeContent(folder / "questions.jsonl", text);
    return folder / "questions.jsonl";
  }

  Questions open(const std::vector<json> &questions) const {
    return {write(questions), *tokenizer, 16};
  }

  ChoiceScore scoreOf(const std::vector<json> &questions,
                      int64_t rows = 8) const {
    std::unique_ptr<Communicator> one =
        makeCommunicator(Processes(), Device::cpu());
    return *open(questions).score(*model, rows, *one);
  }

  /// By a pass over this one text alone, and logits in float64.
  double likelihood(const std::string &context,
                    const std::string &ending) const {
    std::vector<int32_t> tokens = tokenizer->encode(context),
                         more = tokenizer->encode(" " + ending);
    size_t begin = tokens.size();
    tokens.insert(tokens.end(), more.begin(), more.end());
    if (tokens.size() > 16) {
      begin -= tokens.size() - 16;
      tokens.erase(tokens.begin(), tokens.end() - 16);
    }
    auto length = int64_t(tokens.size());
    std::vector<double> logits =
        model->logits(Tensor::fromVector(tokens, Shape{1, length})).toFloat64();
    size_t classes = size_t(model->config().vocabulary);
    double sum = 0;
    for (size_t i = begin; i < tokens.size(); ++i) {
      double total = 0;
      for (size_t c = 0; c < classes; ++c) {
        total += std::exp(logits[(i - 1) * classes + c]);
      }
      sum += logits[(i - 1) * classes + size_t(tokens[i])] - std::log(total);
    }
    return sum;
  }

  TokenizerPtr tokenizer;
  std::optional<Model> model;
};

const std::vector<std::pair<std::string, std::vector<std::string>>> texts = {
    {"a man sits", {"sings", "on a roof", "he", "at"}},
    {"the cat", {"waits", "sees a bird", "and a door", "s"}},
    {"he starts to sit on the", {"roof", "door", "b", "man"}},
    {"a", {"bird", "cat"}},
    {"the door and the man", {"starts", "sits on a roof", "bird"}}};

} // namespace

TEST_F(MultipleChoiceTest, endingsAreChosenByTheirLikelihood) {
  std::vector<json> questions;
  ChoiceScore expected;
  for (size_t q = 0; q < texts.size(); ++q) {
    const auto &[context, endings] = texts[q];
    std::vector<double> rules[3];
    for (const std::string &one : endings) {
      double sum = likelihood(context, one);
      rules[0].push_back(sum);
      rules[1].push_back(sum / double(one.size()));
      rules[2].push_back(sum / double(one.size() + 1)); // and the space
    }
    // Labels that each rule finds now and then.
    size_t label =
        size_t(std::ranges::max_element(rules[q % 3]) - rules[q % 3].begin());
    auto isRight = [&](const std::vector<double> &rule) {
      return size_t(std::ranges::max_element(rule) - rule.begin()) == label;
    };
    expected.questions += 1;
    expected.bySum += isRight(rules[0]);
    expected.byCharacter += isRight(rules[1]);
    expected.byToken += isRight(rules[2]);
    questions.push_back(
        {{"ind", q},
         {"ctx", context},
         {"endings", endings},
         {"label", q % 2 ? json(std::to_string(label)) : json(label)}});
  }
  EXPECT_GT(expected.bySum + expected.byCharacter + expected.byToken, 5);
  for (int64_t rows : {1, 4, 8, 100}) {
    ChoiceScore got = scoreOf(questions, rows);
    EXPECT_EQ(got.questions, 5);
    EXPECT_EQ(got.bySum, expected.bySum) << rows;
    EXPECT_EQ(got.byCharacter, expected.byCharacter) << rows;
    EXPECT_EQ(got.byToken, expected.byToken) << rows;
  }
  EXPECT_EQ(textOf(ChoiceScore{4, 1, 2, 3}),
            "4 questions, accuracy 0.2500 by sum, 0.5000 by character, "
            "0.7500 by token");
}

TEST_F(MultipleChoiceTest, saysWhereAFileIsWrong) {
  json good = {{"ctx", "a man"}, {"endings", {"sits", "sings"}}, {"label", 1}};
  auto errorOf = [&](const std::string &content) -> std::string {
    writeContent(folder / "bad.jsonl", content);
    try {
      Questions(folder / "bad.jsonl", *tokenizer, 16);
    } catch (const Error &error) {
      return error.message();
    }
    return "";
  };
  auto without = [&](const char *key) {
    json one = good;
    one.erase(key);
    return errorOf(good.dump() + "\n\n" + one.dump());
  };
  auto with = [&](const char *key, const json &value) {
    json one = good;
    one[key] = value;
    return errorOf(one.dump());
  };
  EXPECT_EQ(errorOf(good.dump()), "");
  EXPECT_THAT(without("ctx"), HasSubstr("bad.jsonl:3: error: expected a text "
                                        "for the key 'ctx', got none"));
  EXPECT_THAT(without("endings"),
              HasSubstr("expected a list of 2 to 1000 texts for 'endings', got "
                        "none"));
  EXPECT_THAT(without("label"),
              HasSubstr("expected a number from 0 to 1 for 'label', got none"));
  for (const json &label :
       {json(2), json(-1), json("1x"), json(""), json(1.5), json()}) {
    EXPECT_THAT(with("label", label),
                HasSubstr("expected a number from 0 to 1 for 'label', got "))
        << label;
  }
  EXPECT_THAT(with("endings", {"one"}), HasSubstr("got one of 1"));
  EXPECT_THAT(with("endings", {"sits", 3}),
              HasSubstr("expected texts in 'endings', got 3"));
  EXPECT_THAT(with("endings", {"sits", ""}),
              HasSubstr("expected endings of 1 to 15 tokens, as the model's "
                        "context allows, got one of 0"));
  EXPECT_THAT(with("endings", {"sits", "a man sits on a roof"}),
              HasSubstr("got one of 21"));
  EXPECT_THAT(with("ctx", ""),
              HasSubstr("expected a text of at least one token for 'ctx'"));
  EXPECT_THAT(with("ctx", "A man"), HasSubstr("bad.jsonl:1: error: "))
      << "a character that the tokenizer lacks";
  EXPECT_THAT(errorOf("[1]"), HasSubstr("expected an object with 'ctx'"));
  EXPECT_THAT(errorOf("{\"ctx\": "), HasSubstr("bad.jsonl:1: error: expected "
                                               "JSON"));
  EXPECT_THAT(errorOf(" \n"), HasSubstr("expected lines with 'ctx'"));
  EXPECT_THAT(errorOf(std::string(100000, '[')), HasSubstr("bad.jsonl:1"));
}

TEST_F(MultipleChoiceTest, theCommandSaysHowManyAreRight) {
  std::string path = write(
      {{{"ctx", "a man"}, {"endings", {"sits", "sings"}}, {"label", 0}},
       {{"ctx", "a man"}, {"endings", {"sits", "sings"}}, {"label", "1"}}});
  Outcome got = runCommand({"eval", "--init_from=" + (folder / "model"),
                            "--dataset=" + (folder / "data"), "--device=cpu",
                            "--multiple_choice=" + path});
  EXPECT_EQ(got.error, "");
  EXPECT_THAT(got.out, HasSubstr("questions.jsonl: 2 questions, accuracy "
                                 "0.5000 by sum, 0.5000 by character, 0.5000 "
                                 "by token\n"));
  EXPECT_THAT(runCommand({"eval", "--init_from=" + (folder / "model"),
                          "--dataset=" + (folder / "data"), "--device=cpu",
                          "--multiple_choice=" + (folder / "none")})
                  .error,
              HasSubstr(folder / "none"));
}
