//===- ConfigSelectionTest.cpp - Which configuration runs, and when -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/testing/LaunchFixture.h"
#include "nereid/Runtime/testing/ScriptedChooser.h"
#include "nereid/Support/Knobs.h"

using namespace nereid;
using namespace nereid::literals;
using testing::Each;
using testing::HasSubstr;

namespace {
/// A kernel with three configurations, and the test wants one of them.
class Configs : public LaunchFixture {
protected:
  explicit Configs(std::shared_ptr<ScriptedChooser> its =
                       std::make_shared<ScriptedChooser>())
      : LaunchFixture({.chooser = its}), chooser(its) {
    if (chooser) {
      chooser->isWanted = [this](const ConfigDescription &config) {
        return config.values.at("BLOCK_SIZE") == StaticValue(wanted);
      };
    }
    FakeKernel k = addKernel();
    k.description.name = "tuned";
    k.description.parameters[4].defaultValue.reset();
    for (int64_t block : {32, 64, 128}) {
      ConfigDescription config;
      config.values["BLOCK_SIZE"] = block;
      config.options.numWarps = static_cast<uint32_t>(block / 32);
      k.description.configs.push_back(config);
    }
    k.description.tuneKey = {"n"};
    k.program = [this, add = k.program](const FakeCall &call) {
      int64_t block = call.integer("BLOCK_SIZE");
      ++runs[block];
      add(call);
      if (accumulate) {
        call.pointer<float>("out_ptr")[999] += 1;
      }
    };
    world->kernels["tuned"] = k;
  }

  int totalRuns() {
    int total = 0;
    for (auto &[block, count] : runs) {
      total += count;
    }
    return total;
  }
  void launch(const Kernel &k, int64_t n) { k[1](x, x, out, n); }

  std::shared_ptr<ScriptedChooser> chooser;
  int64_t wanted = 64;
  bool accumulate = false;
  std::map<int64_t, int> runs;
  Tensor x = arange({1000}, f32), out = zeros({1000}, f32);
};

class WithoutAChooser : public Configs {
protected:
  WithoutAChooser() : Configs(nullptr) {}
};
} // namespace

TEST_F(Configs, AChooserIsAskedOnceAKey) {
  Kernel k = kernel("tuned");
  launch(k, 10);
  EXPECT_EQ(world->compiles, 3);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{32, 2}, {64, 3}, {128, 2}}));
  runs.clear();
  launch(k, 10);
  launch(k, 10);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{64, 2}}));
  // For another value of the key it is asked again.
  wanted = 128;
  launch(k, 11);
  runs.clear();
  launch(k, 11);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{128, 1}}));
  runs.clear();
  launch(k, 10);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{64, 1}}));
  EXPECT_EQ(chooser->asked, 2);
}

TEST_F(Configs, AContextsChooserGoesBeforeTheProcesss) {
  ScriptedChooser ofProcess;
  setConfigChooser(&ofProcess);
  launch(kernel("tuned"), 10);
  EXPECT_EQ(chooser->asked, 1);
  EXPECT_EQ(ofProcess.asked, 0);
  // Of a context that has none the process's is asked.
  Context plain(std::make_unique<FakeCompiler>(world),
                withoutDisk(ContextOptions()));
  launch(Kernel::fromSource("", "tuned", plain), 10);
  setConfigChooser(nullptr);
  EXPECT_EQ(chooser->asked, 1);
  EXPECT_EQ(ofProcess.asked, 1);
}

// What nereid/nereid.h gives a program that includes it (SeedKernelsTest.cpp).
TEST(SharedDefaults, AProgramOfTheRuntimeAloneHasNone) {
  EXPECT_EQ(&detail::sharedDefaults, nullptr);
  EXPECT_EQ(Context::shared().compiler(), nullptr);
  EXPECT_EQ(configChooser(), nullptr);
}

// The decorator's order decides, no clock: the same on every machine.
TEST_F(WithoutAChooser, TheFirstThatCompilesIsUsed) {
  Kernel k = kernel("tuned");
  launch(k, 10);
  launch(k, 10);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{32, 2}}));
  EXPECT_EQ(world->compiles, 1);
}

TEST_F(WithoutAChooser, WhatDoesNotCompileIsPassedOver) {
  world->kernels["tuned"].refuse = [](const CompileRequest &request) {
    auto &block = std::get<StaticValue>(request.arguments[4]);
    return block == StaticValue(32) ? "too small" : "";
  };
  launch(kernel("tuned"), 11);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{64, 1}}));
  world->kernels["tuned"].refuse = [](const CompileRequest &) {
    return "none works";
  };
  EXPECT_THAT(errorOf([&] { launch(kernel("tuned"), 16); }),
              HasSubstr("none works"));
}

TEST_F(WithoutAChooser, TheLogSaysOnceWhyItWasTaken) {
  Knobs settings = knobs();
  settings.log = {"tune"};
  Knobs saved = exchangeKnobs(settings);
  testing::internal::CaptureStderr();
  Kernel k = kernel("tuned");
  launch(k, 10);
  launch(k, 10);
  std::string log = testing::internal::GetCapturedStderr();
  exchangeKnobs(saved);
  size_t first = log.find("tuned uses BLOCK_SIZE=32 num_warps=1 num_stages=3, "
                          "the first that compiles: this program has no tuner");
  ASSERT_NE(first, std::string::npos) << log;
  EXPECT_EQ(log.find("tuned uses", first + 1), std::string::npos) << log;
}

TEST_F(WithoutAChooser, WhatPruningLeavesIsTried) {
  world->kernels["tuned"].description.prunesConfigs = true;
  world->prune = [](const HookRequest &) { return std::vector<size_t>{2, 1}; };
  launch(kernel("tuned"), 10);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{64, 1}}));
}

TEST_F(WithoutAChooser, TheFirstLaunchResetsAsAfterTrials) {
  accumulate = true;
  world->kernels["tuned"].description.resetToZero = {"out_ptr"};
  out.fill(5);
  launch(kernel("tuned"), 10);
  EXPECT_EQ(out.at({999}), 1);
}

TEST_F(Configs, OptionsComeWithTheConfiguration) {
  Kernel k = kernel("tuned");
  launch(k, 10);
  std::vector<uint32_t> warps;
  for (const CompileRequest &request : world->requests) {
    warps.push_back(request.options.numWarps);
  }
  EXPECT_THAT(warps, testing::ElementsAre(1, 2, 4));
}

TEST_F(Configs, DtypesArePartOfTheKey) {
  Kernel k = kernel("tuned");
  launch(k, 10);
  Tensor y = x.to(i32);
  k[1](y, x, out, 10);
  EXPECT_EQ(chooser->asked, 2);
}

TEST_F(Configs, GridsSeeTheChosenValues) {
  Kernel k = kernel("tuned");
  auto grid = [](const Meta &m) { return cdiv(m["n"], m["BLOCK_SIZE"]); };
  k[grid](x, x, out, 1000);
  EXPECT_EQ(out.at({999}), 1998);
}

TEST_F(Configs, GivenValuesRestrictTheChoice) {
  Kernel k = kernel("tuned");
  k[1](x, x, out, 10, "BLOCK_SIZE"_a = 128);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{128, 1}}));
  k[1](x, x, out, 10, "BLOCK_SIZE"_a = 256); // no configuration; used as given
  EXPECT_EQ(runs[256], 1);
  EXPECT_EQ(totalRuns(), 2);
}

TEST_F(Configs, TuningLeavesNamedTensorsAsTheyWere) {
  accumulate = true;
  auto &description = world->kernels["tuned"].description;
  description.restoreValue = {"out_ptr"};
  out.fill(5);
  launch(kernel("tuned"), 10);
  EXPECT_EQ(out.at({999}), 6); // one launch's worth
  description.restoreValue = {};
  description.resetToZero = {"out_ptr"};
  out.fill(5);
  launch(kernel("tuned"), 10);
  EXPECT_EQ(out.at({999}), 1); // cleared, then one launch
}

TEST_F(Configs, ConfigurationsThatDoNotCompileAreSkipped) {
  world->kernels["tuned"].refuse = [](const CompileRequest &request) {
    auto &block = std::get<StaticValue>(request.arguments[4]);
    return block == StaticValue(64) ? "too large" : "";
  };
  wanted = 128;
  Kernel k = kernel("tuned");
  launch(k, 10);
  runs.clear();
  launch(k, 10);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{128, 1}}));

  world->kernels["tuned"].refuse = [](const CompileRequest &) {
    return "none works";
  };
  Kernel fresh = kernel("tuned");
  EXPECT_THAT(errorOf([&] { launch(fresh, 16); }), HasSubstr("none works"));
}

TEST_F(Configs, AWrongLaunchIsReportedAsOne) {
  Kernel k = kernel("tuned");
  EXPECT_THAT(errorOf([&] { k[1](x, x, out); }),
              HasSubstr("missing argument 'n'"));
  EXPECT_THAT(errorOf([&] { k[-1](x, x, out, 10); }), HasSubstr("-1"));
}

TEST_F(Configs, TheReferenceExecutorMeasuresNothing) {
  Device interp = Device::interp();
  Tensor a = x.to(interp), o = out.to(interp);
  kernel("tuned")[1](a, a, o, 10);
  EXPECT_EQ(runs, (std::map<int64_t, int>{{32, 1}}));
}

TEST_F(Configs, TheReferenceExecutorRunsNoHookOfTrials) {
  auto &description = world->kernels["tuned"].description;
  description.hasPreHook = description.hasPostHook = true;
  int trials = 0;
  world->hook = [&](const HookRequest &request) {
    trials += !request.resetOnly;
    return std::vector<HookAction>();
  };
  Device interp = Device::interp();
  Tensor a = x.to(interp), o = out.to(interp);
  kernel("tuned")[1](a, a, o, 10);
  EXPECT_EQ(trials, 0);
}

/// Kernel.h's promise: what is named is used, and nothing is tried.
TEST_F(Configs, NamedValuesAreNotTried) {
  auto &configs = world->kernels["tuned"].description.configs;
  configs.push_back(configs[1]); // two agree, with other options
  configs.back().options.numWarps = 8;
  for (ConfigDescription &config : configs) {
    config.hasHook = true;
  }
  world->hook = [](const HookRequest &) -> std::vector<HookAction> {
    ADD_FAILURE() << "a hook ran";
    return {};
  };
  accumulate = true;
  kernel("tuned")[1](x, x, out, 10, "BLOCK_SIZE"_a = 64);
  EXPECT_EQ(out.at({999}), 1);
  EXPECT_EQ(totalRuns(), 1);
  EXPECT_EQ(world->requests.back().options.numWarps, 2u);
  kernel("tuned")[1](x, x, out, 10, "BLOCK_SIZE"_a = 64, "num_warps"_a = 16);
  EXPECT_EQ(world->requests.back().options.numWarps, 16u);
  EXPECT_EQ(totalRuns(), 2);
}

TEST_F(Configs, NamedOptionsGoBeforeAConfigurations) {
  launch(kernel("tuned"), 10);
  world->requests.clear();
  kernel("tuned")[1](x, x, out, 10, "num_warps"_a = 8, "num_stages"_a = 1);
  ASSERT_EQ(world->requests.size(), 3u);
  for (const CompileRequest &request : world->requests) {
    EXPECT_EQ(request.options.numWarps, 8u);
    EXPECT_EQ(request.options.numStages, 1u);
  }
}

/// Without any hook: what trials wrote is put back.
TEST_F(Configs, TrialsLeaveNoTrace) {
  accumulate = true;
  out.fill(5);
  launch(kernel("tuned"), 10);
  EXPECT_EQ(totalRuns(), 7);
  EXPECT_EQ(out.at({999}), 6);
}

TEST_F(Configs, APreHookRunsBeforeEveryRunOfItsConfiguration) {
  accumulate = true;
  auto &configs = world->kernels["tuned"].description.configs;
  for (ConfigDescription &config : configs) {
    config.hasHook = true;
  }
  std::vector<size_t> hooks;
  world->hook = [&](const HookRequest &request) {
    EXPECT_EQ(request.hook, HookRequest::Hook::Config);
    EXPECT_EQ(request.target, "cpu");
    EXPECT_EQ(request.values.at("BLOCK_SIZE"),
              configs[request.config].values.at("BLOCK_SIZE"));
    hooks.push_back(request.config);
    return std::vector<HookAction>{
        {HookAction::Kind::Fill, "out_ptr", 40, {}, {}}};
  };
  Kernel k = kernel("tuned");
  launch(k, 10);
  EXPECT_EQ(out.at({999}), 41);
  EXPECT_THAT(hooks, testing::ElementsAre(0, 1, 2)); // then remembered
  out.fill(7);
  launch(k, 10);
  EXPECT_EQ(out.at({999}), 41);
  EXPECT_EQ(hooks.size(), 3u);
}

TEST_F(Configs, TheDecoratorsHooksAreForTrials) {
  accumulate = true;
  auto &description = world->kernels["tuned"].description;
  description.hasPreHook = description.hasPostHook = true;
  int resets = 0, befores = 0, afters = 0;
  world->hook = [&](const HookRequest &request) {
    resets += request.hook == HookRequest::Hook::Before && request.resetOnly;
    befores += request.hook == HookRequest::Hook::Before && !request.resetOnly;
    afters += request.hook == HookRequest::Hook::After;
    if (request.hook == HookRequest::Hook::After) {
      return std::vector<HookAction>{
          {HookAction::Kind::Copy, "out_ptr", 0, "x_ptr", {}}};
    }
    return std::vector<HookAction>{
        {HookAction::Kind::Fill, "out_ptr", 3, {}, {}}};
  };
  Kernel k = kernel("tuned");
  launch(k, 10);
  EXPECT_EQ(out.at({999}), 4); // the reset, then one run, and nothing after
  EXPECT_EQ(resets, 1);
  EXPECT_EQ(befores, 3);
  EXPECT_EQ(afters, 3);
  launch(k, 10);
  EXPECT_EQ(out.at({999}), 5);
}

TEST_F(Configs, HooksOfWhatIsNoTensorAreToldSo) {
  world->kernels["tuned"].description.hasPreHook = true;
  world->hook = [](const HookRequest &) {
    return std::vector<HookAction>{{HookAction::Kind::Fill, "n", 0, {}, {}}};
  };
  EXPECT_THAT(errorOf([&] { launch(kernel("tuned"), 10); }),
              HasSubstr("changes 'n', which is no tensor of this launch"));
}

TEST_F(Configs, PruningComesBeforeTrials) {
  world->kernels["tuned"].description.prunesConfigs = true;
  world->prune = [](const HookRequest &request) {
    EXPECT_EQ(request.values.at("n"), StaticValue(10));
    return std::vector<size_t>{2, 0};
  };
  launch(kernel("tuned"), 10);
  EXPECT_EQ(runs.count(64), 0u);
  EXPECT_EQ(runs[32], 3); // the first that ran, and so the choice
  EXPECT_EQ(runs[128], 2);
  world->prune = [](const HookRequest &) { return std::vector<size_t>(); };
  EXPECT_THAT(errorOf([&] { launch(kernel("tuned"), 10); }),
              HasSubstr("prune_configs_by leaves no configuration"));
}
