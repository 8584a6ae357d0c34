//===- TunerTest.cpp - The fastest configuration of one launch ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the fake compiler, in one process. What ends a process is tested with the
// command (tools/nereid/tune/TuneCommandTest.cpp).
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/testing/LaunchFixture.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Tune/TuningChooser.h"

#include <chrono>
#include <filesystem>
#include <thread>
#include <unistd.h>

using namespace nereid;
using namespace nereid::tune;
using testing::HasSubstr;

namespace {
class Tuned : public LaunchFixture {
protected:
  Tuned() {
    char name[] = "/tmp/nereid-tuner-XXXXXX";
    root = ::mkdtemp(name);
    Knobs settings = knobs();
    settings.cacheDir = root;
    before = exchangeKnobs(settings);
    FakeKernel k = addKernel();
    k.description.name = "tuned";
    k.description.sourceHash = "hash";
    k.description.parameters[4].defaultValue.reset();
    for (int64_t block : {1000, 2000, 4000}) {
      ConfigDescription config;
      config.values["BLOCK_SIZE"] = block;
      k.description.configs.push_back(config);
    }
    k.description.tuneKey = {"n"};
    k.program = [this, add = k.program](const FakeCall &call) {
      int64_t block = call.integer("BLOCK_SIZE");
      ++runs[block];
      if (block != fastest) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      add(call);
      call.pointer<float>("out_ptr")[999] += 1 + (block == wrong);
    };
    world->kernels["tuned"] = k;
    choose();
  }
  ~Tuned() override {
    setConfigChooser(nullptr);
    exchangeKnobs(before);
    std::filesystem::remove_all(root);
  }

  /// As another process would begin.
  void choose() {
    TunerOptions options;
    options.compileThreads = 1; // hooks of the test are no threads' business
    chooser = std::make_unique<TuningChooser>(options);
    setConfigChooser(chooser.get());
  }
  void launch(int64_t n = 1000) { kernel("tuned")[1](x, x, out, n); }
  int64_t chosen() {
    return std::get<int64_t>(
        chooser->latest()->record.config.values.at("BLOCK_SIZE").value);
  }
  std::map<int64_t, TrialState> states() {
    std::map<int64_t, TrialState> result;
    for (const TrialRecord &trial : chooser->latest()->record.trials) {
      result[std::get<int64_t>(trial.config.values.at("BLOCK_SIZE").value)] =
          trial.state;
    }
    return result;
  }

  std::string root;
  Knobs before;
  std::unique_ptr<TuningChooser> chooser;
  int64_t fastest = 2000, wrong = 0;
  std::map<int64_t, int> runs;
  Tensor x = zeros({1000}, f32, Device::cpu());
  Tensor out = zeros({1000}, f32, Device::cpu());
};
} // namespace

TEST_F(Tuned, TheFastestIsChosenAndTrialsLeaveNoTrace) {
  out.fill(5);
  launch();
  EXPECT_EQ(chosen(), 2000);
  EXPECT_EQ(out.at({999}), 1); // x + x, and what one launch adds
  EXPECT_EQ(out.at({0}), 0);
  EXPECT_GT(runs[2000], runs[1000]) << "hopeless ones get few runs";
}

TEST_F(Tuned, TheNextProcessRunsNoTrial) {
  launch();
  runs.clear();
  choose();
  launch();
  EXPECT_EQ(runs, (std::map<int64_t, int>{{2000, 1}}));
  EXPECT_TRUE(chooser->latest()->wasFound);
  launch(999); // another key
  EXPECT_FALSE(chooser->latest()->wasFound);
}

TEST_F(Tuned, AnotherListIsTunedAnew) {
  launch();
  choose();
  world->kernels["tuned"].description.configs.pop_back();
  launch();
  EXPECT_FALSE(chooser->latest()->wasFound);
}

TEST_F(Tuned, OneThatComputesSomethingElseIsASuspect) {
  wrong = fastest;
  launch();
  EXPECT_NE(chosen(), 2000);
  EXPECT_EQ(states()[2000], TrialState::Suspect);
  EXPECT_EQ(states()[1000], TrialState::Measured);
}

TEST_F(Tuned, OneThatDoesNotCompileIsNamed) {
  world->kernels["tuned"].refuse = [](const CompileRequest &request) {
    auto &block = std::get<StaticValue>(request.arguments[4]);
    return block == StaticValue(2000) ? "too odd" : "";
  };
  launch();
  EXPECT_EQ(states()[2000], TrialState::NotCompiled);
  EXPECT_NE(chosen(), 2000);
  world->kernels["tuned"].refuse = [](const CompileRequest &) {
    return "none works";
  };
  EXPECT_THAT(errorOf([&] { launch(16); }), HasSubstr("none works"));
}

TEST_F(Tuned, HooksAreAsWithoutIt) {
  auto &description = world->kernels["tuned"].description;
  for (ConfigDescription &config : description.configs) {
    config.hasHook = true;
  }
  world->hook = [&](const HookRequest &request) {
    return std::vector<HookAction>{
        {HookAction::Kind::Fill, "x_ptr", 20, {}, {}}};
  };
  launch();
  EXPECT_EQ(out.at({0}), 40);
  x.zero();
  choose();
  launch(); // found, and the chosen one's hook runs before every launch
  EXPECT_TRUE(chooser->latest()->wasFound);
  EXPECT_EQ(out.at({0}), 40);
}

TEST_F(Tuned, ResetToZeroIsDoneOnceMore) {
  world->kernels["tuned"].description.resetToZero = {"out_ptr"};
  out.fill(7);
  launch();
  EXPECT_EQ(out.at({999}), 1);
}

TEST_F(Tuned, WhatEndedTwoProcessesIsLeftOut) {
  launch(); // shows the key
  TuningRecord key = chooser->latest()->record;
  key.values["n"] = 500;
  Journal journal = KeptResults::ofThisUser().journal(key);
  ConfigDescription config;
  config.values["BLOCK_SIZE"] = 2000;
  journal.begin(config);
  journal.begin(config);
  runs.clear();
  launch(500);
  EXPECT_EQ(states()[2000], TrialState::Faulted);
  EXPECT_EQ(runs.count(2000), 0u);
}
