//===- ModuleTest.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/module/Layers.h"
#include "kernels/reduce/Reductions.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Autograd/Recompute.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>

#include <mutex>
#include <set>
#include <sstream>
#include <thread>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

struct Inner : nn::Module {
  nn::Linear up{2, 3, {.device = Device::cpu()}};
  explicit Inner(bool isNamed = true) { isNamed ? add("up", up) : up; }
};

struct Model : nn::Module {
  std::vector<Inner> blocks = addList<Inner>("blocks", 2);
  nn::Embedding table =
      add("table", nn::Embedding(4, 2, {.device = Device::cpu()}));
  Variable scale = add("scale", full({2}, 3, f32, Device::cpu()));
  Variable head = add("head", table.weight); // tied
  Variable angles = addBuffer("angles", zeros({2}, f32, Device::cpu()), false);
  Variable count = addBuffer("count", zeros({}, i64, Device::cpu()));
};

/// As its layers run on each device.
class ModuleTest : public OperatorTest {};

} // namespace

INSTANTIATE_TEST_SUITE_P(Devices, ModuleTest,
                         ::testing::Values("cpu", "interp", "cuda:0"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(0, name.find(':'));
                         });

static std::vector<std::string>
namesOf(const std::vector<nn::NamedVariable> &list) {
  std::vector<std::string> names;
  for (const nn::NamedVariable &one : list) {
    names.push_back(one.name);
  }
  return names;
}

TEST(Module, namesComeInTheOrderOfPyTorch) {
  Model model;
  EXPECT_THAT(namesOf(model.namedParameters()),
              ElementsAre("scale", "head", "blocks.0.up.weight",
                          "blocks.0.up.bias", "blocks.1.up.weight",
                          "blocks.1.up.bias"));
  EXPECT_THAT(namesOf(model.namedBuffers()), ElementsAre("angles", "count"));
  EXPECT_EQ(model.parameterCount(), 2 + 8 + 2 * 9);
  std::vector<std::string> names;
  for (const auto &[name, tensor] : model.stateDict()) {
    names.push_back(name);
  }
  EXPECT_THAT(names, ElementsAre("blocks.0.up.bias", "blocks.0.up.weight",
                                 "blocks.1.up.bias", "blocks.1.up.weight",
                                 "count", "head", "scale", "table.weight"));
}

TEST(Module, copiesAreTheSameModule) {
  Model model, copy = model;
  copy.eval();
  EXPECT_FALSE(model.blocks[1].up.isTraining());
  nn::init::zeros(copy.scale);
  EXPECT_EQ(model.scale.value().toFloat64(), Values(2, 0.0));
  model.to(f16);
  EXPECT_EQ(copy.blocks[0].up.weight.dtype(), f16);
  EXPECT_EQ(copy.count.dtype(), i64);
  copy.requiresGrad(false);
  EXPECT_FALSE(model.table.weight.requiresGrad());
}

TEST(Module, loadsWhatItSaves) {
  TestFolder folder;
  std::string path = folder / "model.safetensors";
  Model from, to;
  from.count.value().fill(7);
  nn::saveModel(from, path);
  void *place = to.scale.value().data();
  EXPECT_EQ(nn::loadFile(path).size(), 7u) << "tied weights are there once";
  nn::loadModel(to, path);
  EXPECT_EQ(to.scale.value().data(), place);
  nn::StateDict state = to.stateDict();
  for (const auto &[name, tensor] : from.stateDict()) {
    EXPECT_TRUE(haveSameBits(tensor, state[name])) << name;
  }
}

// A view of a part begins where all of it does, and is another tensor.
TEST(Module, keepsWhatOnlyBeginsAtTheSamePlace) {
  auto make = [](double value) {
    nn::Module module;
    Tensor table = full({4, 2}, value, f32, Device::cpu());
    module.addBuffer("table", table);
    module.addBuffer("first", table.slice(0, 0, 2));
    return module;
  };
  TestFolder folder;
  nn::Module from = make(3), to = make(0);
  nn::saveModel(from, folder / "parts.safetensors");
  EXPECT_EQ(nn::loadFile(folder / "parts.safetensors").size(), 2u);
  nn::loadModel(to, folder / "parts.safetensors");
  EXPECT_THAT(to.stateDict()["table"].toFloat64(), Each(3));
  EXPECT_THAT(errorOf([&] {
                to.loadStateDict(
                    {{"first", full({2, 2}, 1, f32, Device::cpu())}});
              }),
              HasSubstr("missing: 'table'"));
}

TEST(Module, refusesNamesThatModulesBeforeThemCouldHave) {
  nn::Module module;
  EXPECT_THAT(errorOf([&] {
                module.addBuffer("up.weight", zeros({2}, f32, Device::cpu()));
              }),
              HasSubstr("module: expected a name without '.', got 'up.weight'; "
                        "hint: a module of its own"));
}

TEST(Module, namesWhatDoesNotFitAndChangesNothing) {
  Model model;
  nn::StateDict state;
  for (const auto &[name, tensor] : model.stateDict()) {
    state[name] = full(tensor.shape(), 5, tensor.dtype(), Device::cpu());
  }
  state.erase("blocks.1.up.bias");
  state["blocks.2.up.bias"] = zeros({3}, f32, Device::cpu());
  EXPECT_THAT(errorOf([&] { model.loadStateDict(state); }),
              AllOf(HasSubstr("missing: 'blocks.1.up.bias'"),
                    HasSubstr("unexpected: 'blocks.2.up.bias'"),
                    HasSubstr("strict = false")));
  state["scale"] = zeros({3}, f32, Device::cpu());
  EXPECT_THAT(errorOf([&] { model.loadStateDict(state, false); }),
              HasSubstr("'scale': expected fp32[2], got fp32[3]"));
  EXPECT_EQ(model.count.item(), 0);
  state.erase("scale");
  nn::LoadResult result = model.loadStateDict(state, false);
  EXPECT_THAT(result.missing, ElementsAre("blocks.1.up.bias", "scale"));
  EXPECT_THAT(result.unexpected, ElementsAre("blocks.2.up.bias"));
  EXPECT_EQ(model.count.item(), 5);
}

TEST(Module, anExpandedBufferIsRefusedBeforeAnythingIsLoaded) {
  nn::Module model;
  Variable w = model.add("a", zeros({2}, f32, Device::cpu()));
  model.addBuffer("b", zeros({1}, f32, Device::cpu()).expand({3}));
  nn::StateDict state = {{"a", full({2}, 1, f32, Device::cpu())},
                         {"b", zeros({3}, f32, Device::cpu())}};
  EXPECT_THAT(errorOf([&] { model.loadStateDict(state); }),
              HasSubstr("; 'b': expected a place in memory for each element, "
                        "got the expanded fp32[3]"));
  EXPECT_EQ(w.value().toFloat64(), Values(2, 0.0));
}

TEST(Module, refusesNamesAndModulesThatDoNotFit) {
  Model model;
  EXPECT_THAT(errorOf([&] { model.add("scale", zeros({1})); }),
              HasSubstr("a name that is not used yet, got 'scale'"));
  EXPECT_THAT(errorOf([&] { model.add("", zeros({1})); }), HasSubstr("''"));
  EXPECT_THAT(errorOf([&] { model.blocks[0].add("outer", model); }),
              HasSubstr("this module is part of"));
  EXPECT_THAT(errorOf([&] { model.add("ids", zeros({1}, i32)); }),
              HasSubstr("tensor of floats"));
  EXPECT_THAT(errorOf([&] { model.add("y", Variable(model.scale * 2)); }),
              HasSubstr("got a result of an operator"));
  EXPECT_THAT(errorOf([&] { model.addBuffer("b", Tensor()); }),
              HasSubstr("undefined"));
  EXPECT_THAT(errorOf([&] { model.to(i32); }), HasSubstr("int32"));
}

TEST(Module, layersRefuseSizesThatDoNotFit) {
  EXPECT_THAT(
      errorOf([] { nn::Linear(0, 3); }),
      HasSubstr("Linear: argument 'in': expected a size from 1 on, got 0"));
  EXPECT_THAT(errorOf([] { nn::MultiheadAttention(8, 3); }),
              HasSubstr("a divisor of the width (8), got 3"));
  EXPECT_THAT(errorOf([] { nn::GroupNorm(2, 3); }), HasSubstr("multiple"));
  EXPECT_THAT(errorOf([] { nn::Dropout(2); }), HasSubstr("from 0 to 1, got 2"));
  nn::Linear layer(3, 2);
  EXPECT_THAT(errorOf([&] { layer(zeros({5, 4})); }),
              HasSubstr("expected 3 elements along dimension -1"));
  EXPECT_THAT(errorOf([&] { layer(Variable()); }), HasSubstr("undefined"));
}

TEST(Initialise, drawsWhatItsFormulaSays) {
  Generator generator(3);
  Variable x(empty({200, 50}, f32, Device::cpu()));
  auto range = [&] {
    Values all = x.value().toFloat64();
    double largest = 0, squares = 0;
    for (double one : all) {
      largest = std::max(largest, std::abs(one));
      squares += one * one;
    }
    return std::pair(largest, std::sqrt(squares / double(all.size())));
  };
  auto expectUniform = [&](double bound) {
    EXPECT_LE(range().first, bound * 1.0001);
    EXPECT_NEAR(range().second, bound / std::sqrt(3.0), 0.02 * bound);
  };
  nn::init::kaimingUniform(x, std::sqrt(5.0), nn::init::FanMode::In,
                           &generator);
  expectUniform(1 / std::sqrt(50.0));
  nn::init::kaimingUniform(x, 0, nn::init::FanMode::Out, &generator);
  expectUniform(std::sqrt(6.0 / 200));
  nn::init::xavierUniform(x, 2, &generator);
  expectUniform(2 * std::sqrt(6.0 / 250));
  nn::init::xavierNormal(x, 1, &generator);
  EXPECT_NEAR(range().second, std::sqrt(2.0 / 250), 0.002);
  nn::init::kaimingNormal(x, 0, nn::init::FanMode::In, &generator);
  EXPECT_NEAR(range().second, std::sqrt(2.0 / 50), 0.005);
  nn::init::truncatedNormal(x, 0, 1, -0.5, 0.5, &generator);
  EXPECT_LE(range().first, 0.5);
  EXPECT_THAT(errorOf([&] { nn::init::uniform(x, 2, 1); }),
              HasSubstr("'high'"));
  EXPECT_THAT(errorOf([&] { nn::init::normal(x, 0, -1); }),
              HasSubstr("'deviation'"));
  EXPECT_THAT(errorOf([&] { nn::init::truncatedNormal(x, 0, 1, 2, 2); }),
              HasSubstr("'high': expected a bound above `low`, got 2"));
  EXPECT_THAT(errorOf([&] { nn::init::xavierNormal(Variable(zeros({3}))); }),
              HasSubstr("xavierNormal"));
  EXPECT_THAT(errorOf([&] { nn::init::zeros(Variable()); }),
              HasSubstr("undefined"));
}

TEST(Initialise, truncatesFarFromTheMean) {
  Generator generator(5);
  Variable x(empty({20000}, f32, Device::cpu()));
  auto draw = [&](double mean, double deviation, double low, double high) {
    nn::init::truncatedNormal(x, mean, deviation, low, high, &generator);
    double sum = 0;
    for (double one : x.value().toFloat64()) {
      EXPECT_GE(one, float(low));
      EXPECT_LE(one, float(high));
      sum += one;
    }
    return sum / double(x.numel());
  };
  // Means of scipy.stats.truncnorm.
  EXPECT_NEAR(draw(0, 1, 7, 9), 7.13755, 0.004);
  EXPECT_NEAR(draw(0, 1, -9, -7), -7.13755, 0.004);
  EXPECT_NEAR(draw(1, 2, -3, 5), 1, 0.04);
  EXPECT_NEAR(draw(0, 1, 0.5, INFINITY), 1.14108, 0.02);
  EXPECT_NEAR(draw(0, 1, 60, 61), 60, 0.02);
  EXPECT_NEAR(draw(0, 1, 3.999, 4), 3.9995, 0.001);
}

TEST(Initialise, goesOnWithTheGenerator) {
  Generator generator(1);
  Variable x(empty({4}, f32, Device::cpu()));
  auto draw = [&] {
    return nn::init::normal(x, 0, 1, &generator).value().toFloat64();
  };
  Values first = draw();
  Generator::State state = generator.state();
  Values second = draw();
  EXPECT_NE(first, second);
  generator.setState(state);
  EXPECT_EQ(draw(), second);
  generator.manualSeed(1);
  EXPECT_EQ(draw(), first);
}

TEST_P(ModuleTest, dropoutDrawsAnewInTraining) {
  Generator generator(7);
  nn::Dropout dropout(0.5, &generator);
  Variable x(full({64}, 1, f32, device));
  Values first = dropout(x).value().toFloat64();
  EXPECT_NE(first, dropout(x).value().toFloat64());
  generator.manualSeed(7);
  EXPECT_EQ(first, dropout(x).value().toFloat64());
  EXPECT_THAT(first, ::testing::Each(::testing::AnyOf(0, 2)));
  dropout.eval();
  EXPECT_EQ(dropout(x).value().toFloat64(), Values(64, 1.0));
}

TEST_P(ModuleTest, dropoutOfAllIsZero) {
  nn::Dropout dropout(1);
  Variable x(full({3}, INFINITY, f32, device), true);
  Variable y = dropout(x);
  EXPECT_EQ(y.value().toFloat64(), Values(3, 0.0));
  y.backward(full({3}, 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), Values(3, 0.0));
  EXPECT_THAT(errorOf([] { nn::Dropout(1.5); }),
              HasSubstr("Dropout: argument 'p': expected a probability from 0 "
                        "to 1, got 1.5"));
}

TEST_P(ModuleTest, recomputedDropoutDrawsOneMask) {
  Generator generator(7);
  nn::Dropout own(0.5, &generator), ofProcess(0.5);
  auto gradientOf = [&](bool recomputes) {
    manualSeed(3);
    generator.manualSeed(7);
    Variable x(full({64}, 1, f32, device), true);
    auto function = [&](std::span<const Variable> in) {
      return std::vector<Variable>{own(in[0]) * ofProcess(in[0])};
    };
    Variable y = recomputes
                     ? autograd::recomputed("drop", std::vector{x}, function)[0]
                     : function(std::vector{x})[0];
    nextSeed();
    generator.next();
    y.backward(full({64}, 1, f32, device));
    return x.grad().toFloat64();
  };
  Values expected = gradientOf(false);
  EXPECT_EQ(gradientOf(true), expected);
}

TEST(Module, threadsDrawFromOneGenerator) {
  Generator generator(1);
  std::set<uint64_t> drawn;
  std::mutex mutex;
  std::vector<std::thread> threads;
  constexpr int each = 2000;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::vector<uint64_t> mine;
      for (int i = 0; i < each; ++i) {
        mine.push_back(generator.next());
      }
      std::lock_guard lock(mutex);
      drawn.insert(mine.begin(), mine.end());
    });
  }
  for (std::thread &one : threads) {
    one.join();
  }
  EXPECT_EQ(drawn.size(), 4u * each);
  EXPECT_EQ(generator.state().drawn, 4u * each);
}

TEST_P(ModuleTest, embeddingsMayHaveAPaddingRow) {
  nn::Embedding table(4, 2, {.padding = -1, .device = device});
  Tensor ids = Tensor::fromVector(std::vector<int32_t>{3, 1, 3}).to(device);
  Variable y = table(ids);
  EXPECT_EQ(y.value().select(0, 2).toFloat64(), Values(2, 0.0));
  EXPECT_NE(y.value().select(0, 1).toFloat64(), Values(2, 0.0));
  y.backward(full({3, 2}, 1, f32, device));
  EXPECT_EQ(table.weight.grad().toFloat64(), (Values{0, 0, 1, 1, 0, 0, 0, 0}));
  EXPECT_THAT(errorOf([] { nn::Embedding(4, 2, {.padding = 4}); }),
              HasSubstr("Embedding: argument 'padding': expected a row of "
                        "weight, which has 4, got 4"));
}

TEST_P(ModuleTest, layersComputeWithTheirParameters) {
  nn::Sequential model(nn::Linear(2, 2, {.device = device}), relu,
                       nn::LayerNorm(2, {.device = device}));
  EXPECT_THAT(namesOf(model.namedParameters()),
              ElementsAre("0.weight", "0.bias", "2.weight", "2.bias"));
  nn::StateDict state = {
      {"0.weight", Tensor::fromVector(std::vector<float>{1, 0, 0, -1},
                                      Shape{2, 2}, Device::cpu())},
      {"0.bias", zeros({2}, f32, Device::cpu())},
      {"2.weight", full({2}, 2, f32, Device::cpu())},
      {"2.bias", full({2}, 1, f32, Device::cpu())}};
  model.loadStateDict(state);
  Variable x(full({1, 2}, 4, f32, device));
  Variable y = model(x); // relu gives 4 0, the norm 1 -1
  std::vector<float> got = y.value().toVector<float>();
  EXPECT_NEAR(got[0], 3, 1e-4);
  EXPECT_NEAR(got[1], -1, 1e-4);
  sum(y * y).backward();
  EXPECT_EQ(model.parameters()[0].grad().shape(), (Shape{2, 2}));
  model.zeroGrad();
  EXPECT_FALSE(model.parameters()[0].grad().defined());
}

TEST(Variable, printsAsItsValue) {
  std::ostringstream text;
  text << Variable(full({2}, 1.5, f32, Device::cpu()), true) << Variable();
  EXPECT_EQ(text.str(), "[1.5 1.5]undefined");
}
