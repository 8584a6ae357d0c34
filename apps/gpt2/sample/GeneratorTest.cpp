//===- GeneratorTest.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/sample/Generator.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"
#include "test/e2e/OnDevice.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;
using Tokens = std::vector<int32_t>;

namespace {

/// NEREID_CUDA_DRIVER=simulator makes cuda:0 the simulated GPU.
class GeneratorTest : public e2e::OnDevice {
protected:
  static void SetUpTestSuite() { gpu::installSimulator(); }
};

INSTANTIATE_TEST_SUITE_P(Devices, GeneratorTest,
                         ::testing::Values("cpu", "cuda:0"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(0, name.find(':'));
                         });

GptConfig tiny() {
  GptConfig config;
  config.layers = 2;
  config.heads = 2;
  config.width = 16;
  config.context = 12;
  config.vocabulary = 40;
  return config;
}

/// Weights large enough that tokens depend on all that came before.
Model modelOn(Device device, const GptConfig &config = tiny()) {
  Model model(config, 5, device);
  uint64_t seed = 0;
  for (const Parameter &p : model.parameters()) {
    Tensor noise = randn(p.value.shape(), f32, Device::cpu(), ++seed);
    Tensor values = p.value.value().onHost().to(f32);
    auto *to = values.data<float>(), *from = noise.data<float>();
    for (int64_t i = 0; i < noise.numel(); ++i) {
      to[i] += 0.3F * from[i];
    }
    p.value.value().copyFrom(values);
  }
  return model;
}

std::vector<Tokens> generate(Generator &generator, std::vector<Tokens> prompts,
                             int64_t count) {
  std::vector<Tokens> rows = prompts;
  generator.begin(std::move(prompts));
  generator.generate(count, [&](std::span<const int32_t> tokens) {
    for (size_t row = 0; row < tokens.size(); ++row) {
      rows[row].push_back(tokens[row]);
    }
  });
  return rows;
}

/// The last tokens' logits, from the whole of their context at once.
void expectLogitsOfContext(const Model &model, const Generator &generator,
                           int64_t rows) {
  for (int64_t row = 0; row < rows; ++row) {
    Tokens context = generator.context(row);
    Tensor all = model.logits(
        Tensor::fromVector(context, Shape{1, int64_t(context.size())})
            .to(model.device()));
    std::vector<double> expected = all.select(0, 0).select(0, -1).toFloat64();
    std::vector<double> got = generator.logits().select(0, row).toFloat64();
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], expected[i], 2e-5 * (1 + std::fabs(expected[i])))
          << "row " << row << ", token " << i << " of a context of "
          << context.size();
    }
  }
}

} // namespace

TEST_P(GeneratorTest, cachedLogitsAreThoseOfTheWholeContext) {
  Model model = modelOn(device);
  // Prompts of several lengths: the cache is filled for each, and each leaves
  // it at another time.
  std::vector<Tokens> prompts = {{3}, {7, 1, 30}, {7, 1, 31}, {9, 9, 9, 9, 2}};
  Generator generator(model, 4, {});
  for (int64_t count : {1, 2, 6, 9, 25}) {
    generate(generator, prompts, count);
    expectLogitsOfContext(model, generator, 4);
  }
}

TEST_P(GeneratorTest, goesOnWithHalfOfAFullCache) {
  Model model = modelOn(device);
  GenerationOptions options;
  options.temperature = 1;
  Generator generator(model, 1, options);
  Tokens all = generate(generator, {{1, 2, 3}}, 9)[0];
  // 12 tokens: the last one has not been taken, and a place is left for it.
  EXPECT_EQ(generator.context(0), Tokens(all.begin(), all.end() - 1));
  all = generate(generator, {{1, 2, 3}}, 11)[0];
  // The 13th has no place: it goes on with the last 6, and 13 to 14 are drawn.
  ASSERT_EQ(all.size(), 14U);
  EXPECT_EQ(generator.context(0), Tokens(all.begin() + 7, all.end() - 1));
  expectLogitsOfContext(model, generator, 1);
}

TEST_P(GeneratorTest, keepsTheEndOfALongPrompt) {
  Model model = modelOn(device);
  Tokens prompt;
  for (int32_t i = 0; i < 30; ++i) {
    prompt.push_back(i);
  }
  Generator generator(model, 1, {});
  generate(generator, {prompt}, 1);
  EXPECT_EQ(generator.context(0), Tokens(prompt.end() - 12, prompt.end()));
  expectLogitsOfContext(model, generator, 1);
}

TEST_P(GeneratorTest, rowsKnowNothingOfOneAnother) {
  Model model = modelOn(device);
  std::vector<Tokens> prompts = {{1, 2}, {20, 21, 22, 23}, {5}};
  Generator three(model, 3, {});
  std::vector<Tokens> together = generate(three, prompts, 20);
  Generator one(model, 1, {}), two(model, 2, {});
  EXPECT_EQ(generate(one, {prompts[0]}, 20)[0], together[0]);
  EXPECT_EQ(generate(two, {{8, 8, 8}, prompts[1]}, 20)[1], together[1]);
}

TEST_P(GeneratorTest, aSeedGivesOneText) {
  Model model = modelOn(device);
  std::vector<Tokens> prompts(2, Tokens{4, 5});
  GenerationOptions options;
  options.temperature = 1;
  Generator first(model, 2, options), second(model, 2, options);
  std::vector<Tokens> text = generate(first, prompts, 30);
  EXPECT_EQ(generate(second, prompts, 30), text);
  EXPECT_EQ(generate(first, prompts, 30), text) << "begun anew";
  EXPECT_NE(text[0], text[1]);
  // In parts.
  second.begin(prompts);
  Tokens parts = {4, 5};
  for (int64_t count : {1, 0, 13, 16}) {
    second.generate(count, [&](std::span<const int32_t> tokens) {
      parts.push_back(tokens[0]);
    });
  }
  EXPECT_EQ(parts, text[0]);
  options.seed = 1338;
  Generator other(model, 2, options);
  EXPECT_NE(generate(other, prompts, 30), text);
}

TEST_P(GeneratorTest, drawsAmongTheTokensThatThereAre) {
  Model model = modelOn(device);
  GenerationOptions options;
  options.temperature = 100;
  options.topK = 0;
  options.vocabulary = 7;
  Generator generator(model, 3, options);
  std::vector<bool> seen(7);
  for (const Tokens &row : generate(generator, {{39}, {0}, {6}}, 40)) {
    for (size_t i = 1; i < row.size(); ++i) {
      ASSERT_LT(row[i], 7);
      seen[size_t(row[i])] = true;
    }
  }
  EXPECT_EQ(std::ranges::count(seen, true), 7);
}

TEST_P(GeneratorTest, greedyTokensAreTheLargestOnEveryDevice) {
  GenerationOptions options;
  options.temperature = 0;
  std::vector<Tokens> prompts = {{1, 2, 3}, {30, 4, 0}};
  Model model = modelOn(device), onHost = modelOn(Device::cpu());
  Generator captured(model, 2, options);
  std::vector<Tokens> text = generate(captured, prompts, 30);
  EXPECT_EQ(captured.isCaptured(), !device.isHost());
  options.compile = false;
  Generator launched(model, 2, options), host(onHost, 2, options);
  EXPECT_EQ(generate(launched, prompts, 30), text);
  EXPECT_EQ(generate(host, prompts, 30), text);
  // By the model alone, up to where the context ends.
  Tokens row = prompts[0];
  while (row.size() < 13) {
    std::vector<double> last =
        onHost.logits(Tensor::fromVector(row, Shape{1, int64_t(row.size())}))
            .select(0, 0)
            .select(0, -1)
            .toFloat64();
    row.push_back(int32_t(std::ranges::max_element(last) - last.begin()));
  }
  EXPECT_EQ(Tokens(text[0].begin(), text[0].begin() + 13), row);
}

TEST_P(GeneratorTest, takesBfloat16) {
  GptConfig config = tiny();
  config.dtype = bf16;
  config.bias = false;
  config.tanhGelu = false;
  Model model = modelOn(device, config);
  Generator generator(model, 2, {});
  std::vector<Tokens> text = generate(generator, {{1, 2}, {3}}, 20);
  EXPECT_EQ(generate(generator, {{1, 2}, {3}}, 20), text);
}

TEST(Generator, saysWhatDoesNotFit) {
  Model model = modelOn(Device::cpu());
  auto errorOf = [](const std::function<void()> &call) {
    try {
      call();
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  Generator generator(model, 2, {});
  EXPECT_THAT(errorOf([&] { generator.generate(1, {}); }),
              HasSubstr("expected prompts (begin) before"));
  EXPECT_THAT(errorOf([&] { generator.begin({{1}}); }),
              HasSubstr("prompts: expected 2, one for each row, got 1"));
  EXPECT_THAT(errorOf([&] { generator.begin({{1}, {}}); }),
              HasSubstr("prompt: expected at least one token, got none"));
  EXPECT_THAT(errorOf([&] { generator.begin({{1}, {40}}); }),
              HasSubstr("expected tokens of the model, 0 to 39, got 40"));
  EXPECT_THAT(errorOf([&] { Generator(model, 0, {}); }),
              HasSubstr("rows: expected a number from 1 to 65536, got 0"));
  EXPECT_THAT(errorOf([&] { Generator(model, 1, {.vocabulary = 41}); }),
              HasSubstr("vocabulary: expected a number from 0 to 40, got 41"));
  EXPECT_THAT(errorOf([&] { Generator(model, 1, {.capacity = 13}); }),
              HasSubstr("capacity: expected a number from 0 to 12, got 13"));
}
