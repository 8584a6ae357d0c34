//===- TunerTest.cpp - The fastest configuration of one launch ------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On the fake compiler, in one process, by a clock that the kernels move. What
// ends a process is tested with the command
// (tools/nereid/tune/TuneCommandTest.cpp).
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/testing/FakeMachine.h"
#include "nereid/Machine/testing/ManualClock.h"
#include "nereid/Runtime/gpu/testing/CudaFixture.h"
#include "nereid/Support/Knobs.h"
#include "nereid/Tune/TuningChooser.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <latch>
#include <unistd.h>

using namespace nereid;
using namespace nereid::tune;
using testing::HasSubstr;

/// Runs before main, and so before the environment is read.
[[maybe_unused]] static const int fakeIsTheDriver =
    ::setenv("NEREID_CUDA_DRIVER", NEREID_FAKE_DRIVER, 1);

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
      clock->advanceMs(costMs ? costMs(block) : block == fastest ? 1 : 5);
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
    options.clock = clock;
    options.machine = tinyMachine();
    options.compileThreads = 1; // hooks of the test are no threads' business
    chooser = std::make_unique<TuningChooser>(options);
    setConfigChooser(chooser.get());
  }
  void search(double seconds) {
    TunerOptions options;
    options.clock = clock;
    options.machine = tinyMachine();
    options.compileThreads = 1;
    options.searchSeconds = seconds;
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

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::string root;
  Knobs before;
  std::unique_ptr<TuningChooser> chooser;
  int64_t fastest = 2000, wrong = 0;
  std::function<double(int64_t)> costMs; ///< by block; empty: by `fastest`
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
  // Each runs from fresh tensors, once before it is timed, once timed beside
  // the best so far, and in four rounds. The best also repeats itself, is run
  // by the reference executor, and is launched.
  EXPECT_EQ(runs, (std::map<int64_t, int>{{1000, 8}, {2000, 11}, {4000, 7}}));
  const TuningRecord &record = chooser->latest()->record;
  EXPECT_EQ(record.ms, 1);
  EXPECT_EQ(record.trials[0].ms, 5);
  EXPECT_EQ(record.trials[0].samples, 6u);
  EXPECT_EQ(record.trials[1].samples, 6u);
  // Not counted: the launch itself.
  EXPECT_EQ(record.seconds, 0.085);
  EXPECT_EQ(chooser->latest()->readyMs, 85);
}

TEST_F(Tuned, RoundsHaveALimit) {
  for (auto [most, samples] : {std::pair(1u, 3u), {2u, 4u}, {96u, 6u}}) {
    TunerOptions options;
    options.clock = clock;
    options.machine = tinyMachine();
    options.compileThreads = 1;
    options.mostRounds = most;
    chooser = std::make_unique<TuningChooser>(options);
    chooser->again = true;
    setConfigChooser(chooser.get());
    launch();
    EXPECT_EQ(chosen(), 2000);
    EXPECT_EQ(chooser->latest()->record.trials[0].samples, samples) << most;
  }
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

TEST_F(Tuned, WhereNothingDecidesNothingIsKept) {
  world->kernels["tuned"].description.configs.pop_back();
  wrong = fastest;
  testing::internal::CaptureStderr();
  launch();
  std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("tuned: configurations disagree, and nothing "
                              "says which is right: BLOCK_SIZE=1000"));
  EXPECT_THAT(text, HasSubstr("'out_ptr' differs in 1 of 1000 elements"));
  EXPECT_THAT(text, HasSubstr("is launched, and no choice is kept"));
  EXPECT_FALSE(chooser->latest()->record.doubt.empty());
  EXPECT_TRUE(std::filesystem::is_empty(root + "/tuned"));
  EXPECT_FALSE(TuningStore::ofThisUser().keep(chooser->latest()->record).ok());
}

TEST_F(Tuned, EqualCodeIsTriedOnce) {
  auto &configs = world->kernels["tuned"].description.configs;
  configs.push_back(configs[0]);
  configs.back().options.numWarps = 8;
  launch();
  EXPECT_EQ(chooser->latest()->record.trials.size(), 3u);
  EXPECT_EQ(chooser->latest()->record.twins, 1u);
}

TEST_F(Tuned, ASoleConfigurationIsAResultForWhoAsks) {
  auto &configs = world->kernels["tuned"].description.configs;
  configs.resize(1);
  launch();
  EXPECT_FALSE(chooser->latest());
  choose();
  chooser->measuresSole = true;
  kernel("tuned")[1](x, x, out, 999);
  ASSERT_TRUE(chooser->latest());
  EXPECT_EQ(chosen(), 1000);
  EXPECT_EQ(chooser->latest()->record.ms, 5);
}

TEST_F(Tuned, WhatIsStoppedKeepsTheBestSoFar) {
  TunerOptions options;
  options.clock = clock;
  options.machine = tinyMachine();
  options.compileThreads = 1;
  options.isStopped = [this] { return runs.contains(2000); };
  chooser = std::make_unique<TuningChooser>(options);
  setConfigChooser(chooser.get());
  launch();
  EXPECT_EQ(chosen(), 2000);
  EXPECT_TRUE(chooser->latest()->record.isStopped);
  EXPECT_EQ(chooser->latest()->record.untried, 1u);
  EXPECT_EQ(runs.count(4000), 0u);
  choose(); // a launch takes it
  launch();
  EXPECT_TRUE(chooser->latest()->wasFound);
  choose(); // the command goes on
  chooser->completes = true;
  launch();
  EXPECT_FALSE(chooser->latest()->wasFound);
  EXPECT_EQ(chooser->latest()->record.trials.size(), 3u);
}

TEST_F(Tuned, AListHasALimitToo) {
  costMs = [](int64_t) { return 1000; };
  TunerOptions options;
  options.clock = clock;
  options.machine = tinyMachine();
  options.compileThreads = 1;
  options.limitSeconds = 5;
  chooser = std::make_unique<TuningChooser>(options);
  setConfigChooser(chooser.get());
  launch();
  const TuningRecord &record = chooser->latest()->record;
  EXPECT_EQ(record.untried, 1u);
  EXPECT_TRUE(record.isStopped);
  EXPECT_LT(record.seconds, 5 + 8) << "and one trial, and its rounds";
}

TEST_F(Tuned, AChangedRecordIsIgnoredAndNamed) {
  launch();
  TuningRecord record = chooser->latest()->record;
  record.config.values["BLOCK_SIZE"] = "evil";
  ASSERT_TRUE(TuningStore::ofThisUser().keep(record).ok());
  choose();
  testing::internal::CaptureStderr();
  launch();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("the kept choice of 'tuned' is ignored: "
                        "BLOCK_SIZE='evil' num_warps=4 num_stages=3 is none "
                        "of its configurations"));
  EXPECT_EQ(chosen(), 2000);
  record.candidates = "search";
  ASSERT_TRUE(TuningStore::ofThisUser().keep(record).ok());
  choose();
  testing::internal::CaptureStderr();
  launch();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("is ignored: BLOCK_SIZE is 'evil'"));
  record.candidates = hashOf(world->kernels["tuned"].description.configs);
  record.config = chooser->latest()->record.config;
  record.trials[0].message = "configurations disagree, and nothing says which "
                             "is right: of an older Nereid";
  ASSERT_TRUE(TuningStore::ofThisUser().keep(record).ok());
  choose();
  testing::internal::CaptureStderr();
  launch();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("is ignored: its configurations disagreed"));
  EXPECT_FALSE(chooser->latest()->wasFound);
}

/// Each compilation waits for the others: on a machine of 64 cores all three
/// are on their way at once, however many cores run this test.
TEST_F(Tuned, AllCoresCompile) {
  std::latch begun(3);
  world->kernels["tuned"].refuse = [&](const CompileRequest &request) {
    if (request.target != "interp") {
      begun.arrive_and_wait();
    }
    return "";
  };
  TunerOptions options;
  options.clock = clock;
  options.machine = tinyMachine();
  options.machine.cores = serverMachine().cores;
  chooser = std::make_unique<TuningChooser>(options);
  setConfigChooser(chooser.get());
  launch();
  EXPECT_EQ(chosen(), 2000);
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

// From the list (1000, 2000, 4000) to 16000, each step faster than the one
// before.
TEST_F(Tuned, ASearchGoesOnWhileTheBestHasNewNeighbours) {
  costMs = [](int64_t block) {
    return 1 + std::abs(std::log2(double(block) / 16000));
  };
  search(1e6);
  launch();
  EXPECT_EQ(chosen(), 16000);
  EXPECT_EQ(chooser->latest()->record.candidates, "search");
}

TEST_F(Tuned, ASearchEndsWhenItsTimeIsOver) {
  costMs = [](int64_t block) {
    return 1000 + 100 * std::abs(std::log2(double(block) / 16000));
  };
  search(20);
  launch();
  // The last rounds have what is left: 17 s have gone when they begin, or a
  // batch of two, of at most four runs each, later.
  double seconds = chooser->latest()->record.seconds;
  EXPECT_GE(seconds, 17);
  EXPECT_LT(seconds, 17 + 2 * 4 * 2 + 10);
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

namespace {
/// Two processes that ended while they ran the block of 2000.
class AfterTwoEnds : public ConfigChooser {
public:
  explicit AfterTwoEnds(TuningChooser &next) : next(next) {}
  std::optional<ConfigDescription>
  find(const TuningKey &key, const KernelDescription &kernel) override {
    return next.find(key, kernel);
  }
  bool searches() const override { return next.searches(); }
  Expected<size_t> choose(LaunchTrials &trials) override {
    Journal journal = TuningStore::ofThisUser().journal(recordOf(trials.key()));
    journal.claim(launchText(trials) + launch);
    ConfigDescription config;
    config.values["BLOCK_SIZE"] = 2000;
    journal.begin(config);
    journal.begin(config);
    return next.choose(trials);
  }
  std::string launch; ///< what else it was of

private:
  TuningChooser &next;
};
} // namespace

TEST_F(Tuned, WhatEndedTwoProcessesIsLeftOut) {
  AfterTwoEnds ends(*chooser);
  setConfigChooser(&ends);
  launch();
  EXPECT_EQ(states()[2000], TrialState::Faulted);
  EXPECT_EQ(runs.count(2000), 0u);
}

TEST_F(Tuned, TheJournalOfAnotherLaunchSaysNothing) {
  AfterTwoEnds ends(*chooser);
  setConfigChooser(&ends);
  ends.launch = "other arguments";
  launch();
  EXPECT_EQ(chosen(), 2000);
}

TEST_F(Tuned, AgainIgnoresTheJournal) {
  AfterTwoEnds ends(*chooser);
  setConfigChooser(&ends);
  chooser->again = true;
  launch();
  EXPECT_EQ(chosen(), 2000);
}

TEST_F(Tuned, ALaunchThatFailsLeavesNoJournal) {
  bool isRefused = true;
  world->kernels["tuned"].refuse = [&](const CompileRequest &) {
    return isRefused ? "no such type" : "";
  };
  EXPECT_THROW(launch(), Error);
  EXPECT_TRUE(std::filesystem::is_empty(root + "/tuned"));
  isRefused = false;
  launch();
  EXPECT_EQ(chosen(), 2000);
}

TEST_F(Tuned, AGridThatCannotBeIsNoTrial) {
  auto grid = [](const Meta &meta) -> Grid {
    (void)meta["BLOK"];
    return 1;
  };
  EXPECT_THAT(errorOf([&] { kernel("tuned")[grid](x, x, out, 1000); }),
              HasSubstr("BLOK"));
  EXPECT_TRUE(world->requests.empty()) << "nothing is compiled";
  EXPECT_TRUE(std::filesystem::is_empty(root + "/tuned"));
  launch();
  EXPECT_EQ(chosen(), 2000);
}

TEST_F(Tuned, OneThatTheLaunchHasNoGridForIsLeftOut) {
  auto grid = [](const Meta &meta) -> Grid {
    return meta["BLOCK_SIZE"] == 2000 ? -1 : 1;
  };
  kernel("tuned")[grid](x, x, out, 1000);
  EXPECT_EQ(states()[2000], TrialState::NoGrid);
  EXPECT_NE(chosen(), 2000);
}

//===----------------------------------------------------------------------===//
// On a GPU
//===----------------------------------------------------------------------===//

namespace {
class TunedOnGpu : public CudaFixture {
protected:
  static std::shared_ptr<TuningChooser> ticking() {
    TunerOptions options;
    options.clock = std::make_shared<ManualClock>(2);
    options.compileThreads = 1;
    return std::make_shared<TuningChooser>(options);
  }
  explicit TunedOnGpu(std::shared_ptr<TuningChooser> its = ticking())
      : CudaFixture({.chooser = its}), chooser(its) {
    Knobs settings = knobs();
    settings.cacheSize = 0;
    before = exchangeKnobs(settings);
  }
  ~TunedOnGpu() override { exchangeKnobs(before); }
  /// The kernel "add" gets a list of three.
  void tuneWarps() {
    FakeKernel tuned = addKernel();
    for (int warps : {2, 4, 8}) {
      ConfigDescription config;
      config.options.numWarps = static_cast<uint32_t>(warps);
      config.values["BLOCK_SIZE"] = StaticValue(64);
      tuned.description.configs.push_back(config);
    }
    tuned.description.tuneKey = {"n"};
    tuned.description.parameters[4].defaultValue.reset();
    world->kernels["add"] = tuned;
  }
  void launch() {
    Tensor x = zeros({1000}, f32, gpu), out = zeros({1000}, f32, gpu);
    kernel("add")[16](x, x, out, 1000);
    synchronize(gpu);
  }
  std::shared_ptr<TuningChooser> chooser;
  Knobs before;
};
} // namespace

// A driver assembles for one thread after the other.
TEST_F(TunedOnGpu, TrialsAreAssembledByTheCompiler) {
  tuneWarps();
  world->hasAssembler = true;
  launch();
  EXPECT_EQ(world->assembled, 3);
  EXPECT_EQ(calls("cuModuleLoadDataEx"), 3);
  EXPECT_TRUE(driver().jitOptions.empty());
}

TEST_F(TunedOnGpu, ADriverThatRefusesMachineCodeAssemblesItself) {
  tuneWarps();
  world->hasAssembler = true;
  driver().failNext["cuModuleLoadDataEx"] = gpu::NoBinaryForGpu;
  launch();
  EXPECT_EQ(world->assembled, 1);
  EXPECT_EQ(calls("cuModuleLoadDataEx"), 4);
}

TEST_F(TunedOnGpu, EventsOfTheDeviceDecide) {
  tuneWarps();
  std::map<unsigned, int> launches;
  driver().functions["add"].milliseconds = 0;
  driver().functions["add"].run = [&](const gpu::FakeKernelCall &call) {
    ++launches[call.threads];
    driver().clockMs += call.threads == 128 ? 1 : 3;
  };
  Tensor x = zeros({1000}, f32, gpu), out = zeros({1000}, f32, gpu);
  Kernel add = kernel("add");
  add[16](x, x, out, 1000);
  synchronize(gpu);
  EXPECT_EQ(chooser->latest()->record.ms, 1);
  launches.clear();
  add[16](x, x, out, 1000);
  synchronize(gpu);
  EXPECT_EQ(launches, (std::map<unsigned, int>{{128, 1}}));
}
