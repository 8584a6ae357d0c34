//===- ContextTest.cpp - Contexts beside each other -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/testing/ManualClock.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/cache/ImageStore.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/testing/LaunchFixture.h"
#include "nereid/Runtime/testing/ScriptedChooser.h"
#include "nereid/Support/CpuLevels.h"

#include <set>
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <thread>
#include <type_traits>

using namespace nereid;
using namespace nereid::literals;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

/// Compiles for the level that "cpu" means to it, as the real one does.
class LevelCompiler final : public FakeCompiler {
public:
  using FakeCompiler::FakeCompiler;
  Expected<std::string> resolveTarget(const std::string &target) override {
    if (target != "cpu") {
      return target;
    }
    Expected<cpu::CpuTarget> level = cpu::resolve(target);
    return level.ok() ? Expected<std::string>(level->name) : level.failure();
  }
};

/// Notes what is reported.
class Notes final : public Observer {
public:
  void launched(const char *kernel, int64_t, int64_t) override {
    add("launched " + std::string(kernel));
  }
  void begin(const Activity &work, ActivityMark &) override { add(work.name); }
  void slice(ObservedSlice slice) override {
    if (slice.category == std::string_view("range")) {
      add(slice.name);
    }
  }
  void memory(Device, uint64_t, uint64_t) override { ++memoryEvents; }

  std::vector<std::string> taken() {
    std::lock_guard lock(mutex);
    return std::exchange(told, {});
  }
  std::atomic<int> memoryEvents = 0;

private:
  void add(std::string text) {
    std::lock_guard lock(mutex);
    told.push_back(std::move(text));
  }
  std::mutex mutex;
  std::vector<std::string> told;
};

/// A context, and all that it was made of.
struct Side {
  explicit Side(Knobs settings, const ContextOptions &more = {})
      : world(std::make_shared<FakeWorld>()), notes(std::make_shared<Notes>()),
        chooser(std::make_shared<ScriptedChooser>()),
        context(std::make_unique<LevelCompiler>(world),
                optionsOf(std::move(settings), more)) {
    add.description.name = "add";
    add.description.parameters = {parameter("x_ptr"), parameter("n")};
    add.program = [](const FakeCall &call) {
      call.pointer<float>("x_ptr")[call.program(0)] +=
          static_cast<float>(call.integer("n"));
    };
    world->kernels["add"] = add;
    FakeKernel tuned = add;
    tuned.description.name = "tuned";
    tuned.description.parameters.push_back(constexprParameter("BLOCK"));
    for (int64_t block : {32, 64}) {
      tuned.description.configs.push_back({{{"BLOCK", block}}, {}, false});
    }
    world->kernels["tuned"] = tuned;
  }

  ContextOptions optionsOf(Knobs settings, ContextOptions options) {
    settings.cacheSize = 0;
    options.settings = std::move(settings);
    options.observer = notes;
    options.chooser = chooser;
    return options;
  }
  Kernel kernel(const char *name) {
    return Kernel::fromSource("", name, context);
  }
  std::string lastTarget() {
    return world->requests.empty() ? "" : world->requests.back().target;
  }

  FakeKernel add;
  std::shared_ptr<FakeWorld> world;
  std::shared_ptr<Notes> notes;
  std::shared_ptr<ScriptedChooser> chooser;
  Context context;
};

class TwoContexts : public testing::Test {
protected:
  static Knobs with(const char *level, int threads) {
    Knobs settings;
    settings.cpu = level;
    settings.numThreads = threads;
    return settings;
  }

  /// Of the level that every machine has.
  Side left{with("x86-64", 1)}, right{with("x86-64", 3)};
  Tensor x = zeros({64}, f32, Device::cpu());
};

} // namespace

TEST_F(TwoContexts, CompilersAreTheirOwn) {
  left.kernel("add")[4](x, 2);
  EXPECT_EQ(left.world->compiles, 1);
  EXPECT_EQ(right.world->compiles, 0);
  right.kernel("add")[4](x, 3);
  EXPECT_EQ(left.world->compiles, 1);
  EXPECT_EQ(right.world->compiles, 1);
  EXPECT_EQ(left.context.cacheCounters().compiled, 1u);
  // A tensor is given to both.
  EXPECT_EQ(x.at({3}), 5);
}

TEST_F(TwoContexts, LevelsAreTheirOwn) {
  if (cpu::machineLevel() < 2) {
    GTEST_SKIP() << "a processor of the first level";
  }
  int ofProcess = cpu::deviceLevel();
  Side higher{with("x86-64-v2", 1)};
  left.kernel("add")[1](x, 2);
  higher.kernel("add")[1](x, 2);
  EXPECT_EQ(left.lastTarget(), "x86-64");
  EXPECT_EQ(higher.lastTarget(), "x86-64-v2");
  EXPECT_EQ(cpu::deviceLevel(), ofProcess);
  ContextScope scope(left.context);
  EXPECT_EQ(cpu::deviceLevel(), 1);
}

TEST_F(TwoContexts, ALevelThatTheMachineLacksIsRefusedThereAlone) {
  Side other(with("x86-64-v9", 1));
  EXPECT_THROW(other.kernel("add")[1](x, 2), Error);
  left.kernel("add")[1](x, 2);
  EXPECT_EQ(x.at({0}), 2);
}

TEST_F(TwoContexts, NumbersOfThreadsAreTheirOwn) {
  int ofProcess = numThreads();
  {
    ContextScope scope(left.context);
    EXPECT_EQ(numThreads(), 1);
    ContextScope inner(right.context);
    EXPECT_EQ(numThreads(), 3);
  }
  EXPECT_EQ(numThreads(), ofProcess);
  setNumThreads(2);
  ContextScope scope(right.context);
  EXPECT_EQ(numThreads(), 3);
  setNumThreads(0);
}

TEST_F(TwoContexts, AKernelRunsOnItsContextsThreads) {
  // Each program takes longer than threads take to wake, says the clock.
  auto clock = std::make_shared<ManualClock>();
  Side one(with("x86-64", 3), {.clock = clock});
  // Of the pools in which programs ran. The very first is the measure of the
  // others, and runs in none.
  std::atomic<int> programs = 0;
  std::mutex mutex;
  std::set<int> sizes;
  one.world->kernels["add"].program = [&](const FakeCall &) {
    if (programs++ != 0) {
      std::lock_guard lock(mutex);
      sizes.insert(tbb::this_task_arena::max_concurrency());
    }
    clock->advanceMs(1);
  };
  setNumThreads(4);
  Kernel add = one.kernel("add");
  for (int launch = 0; launch < 3; ++launch) {
    add[64](x, 1);
  }
  setNumThreads(0);
  EXPECT_THAT(sizes, ElementsAre(3));
}

/// oneTBB heeds the smallest limit of several.
TEST_F(TwoContexts, TheLargestPoolHasItsThreads) {
  auto limit = [] {
    return tbb::global_control::active_value(
        tbb::global_control::max_allowed_parallelism);
  };
  auto loop = [] { parallelRanges(100, 1, [](int64_t, int64_t) {}); };
  setNumThreads(2);
  loop();
  {
    Side large(with("", 4));
    Side small(with("", 2));
    for (Side *side : {&large, &small}) {
      ContextScope scope(side->context);
      loop();
    }
    EXPECT_EQ(limit(), 4u);
  }
  EXPECT_EQ(limit(), 2u);
  setNumThreads(0);
}

/// The workers are oneTBB's, which has those of the first pool.
TEST_F(TwoContexts, APoolTriesNoThreadThatAnotherHad) {
  auto triedBy = [](Side &side) {
    int64_t before = ThreadPool::threadsTried();
    ContextScope scope(side.context);
    parallelRanges(100, 1, [](int64_t, int64_t) {});
    return ThreadPool::threadsTried() - before;
  };
  triedBy(right);
  Side asLarge(with("x86-64", 3));
  EXPECT_EQ(triedBy(asLarge), 0);
}

/// On whatever thread they run.
TEST_F(TwoContexts, LoopsWorkForTheirCallersContext) {
  ContextScope scope(right.context);
  std::atomic<int64_t> done = 0;
  parallelRanges(3000, 1, [&](int64_t begin, int64_t end) {
    done += numThreads() == 3 ? end - begin : 0;
  });
  EXPECT_EQ(done, 3000);
}

TEST_F(TwoContexts, SettingsAreTheirOwn) {
  Knobs settings = with("", 1);
  settings.interp = true;
  settings.check = {"nan"};
  Side careful(settings);
  careful.kernel("add")[1](x, 2);
  EXPECT_EQ(careful.lastTarget(), "interp");
  EXPECT_EQ(careful.world->requests.back().options.checks, CheckNan);
  left.kernel("add")[1](x, 2);
  EXPECT_EQ(left.lastTarget(), "x86-64");
  EXPECT_EQ(left.world->requests.back().options.checks, 0u);
}

TEST_F(TwoContexts, TheProcesssSettingsAreThoseOfOthers) {
  Context plain(std::make_unique<LevelCompiler>(left.world), {.cacheBytes = 0});
  Knobs settings = knobs();
  settings.check = {"nan"};
  Knobs saved = exchangeKnobs(settings);
  Kernel::fromSource("", "add", plain)[1](x, 2);
  EXPECT_EQ(left.world->requests.back().options.checks, CheckNan);
  left.kernel("add")[1](x, 2);
  EXPECT_EQ(left.world->requests.back().options.checks, 0u);
  exchangeKnobs(saved);
}

TEST_F(TwoContexts, FoldersOfCachesAreTheirOwn) {
  Knobs settings;
  settings.cacheDir = "/nonexistent/a";
  Context a(nullptr, {.settings = settings});
  settings.cacheDir = "/nonexistent/b";
  settings.cacheSize = 100;
  Context b(nullptr, {.settings = settings});
  EXPECT_EQ(a.state().disk.path(), "/nonexistent/a");
  EXPECT_EQ(a.state().disk.cap(), uint64_t{1} << 30);
  EXPECT_EQ(b.state().disk.path(), "/nonexistent/b");
  EXPECT_EQ(b.state().disk.cap(), 100u);
}

TEST_F(TwoContexts, ChoosersAreTheirOwn) {
  left.kernel("tuned")[1](x, 2);
  EXPECT_EQ(left.chooser->asked, 1);
  EXPECT_EQ(right.chooser->asked, 0);
}

/// Trials are compiled on threads of the chooser's.
TEST_F(TwoContexts, ATrialIsCompiledForItsContextOnAnyThread) {
  class OnAnotherThread final : public ConfigChooser {
    std::optional<ConfigDescription> find(const TuningKey &,
                                          const KernelDescription &) override {
      return std::nullopt;
    }
    bool searches() const override { return false; }
    Expected<size_t> choose(LaunchTrials &trials) override {
      std::thread([&] { (void)trials.compile(1).ok(); }).join();
      return 1;
    }
  };
  Side one(with("x86-64", 1));
  Context tuning(std::make_unique<LevelCompiler>(one.world),
                 {.cacheBytes = 0,
                  .chooser = std::make_shared<OnAnotherThread>(),
                  .settings = with("x86-64", 1)});
  Kernel::fromSource("", "tuned", tuning)[1](x, 2);
  EXPECT_EQ(one.lastTarget(), "x86-64");
}

TEST_F(TwoContexts, ObserversAreTheirOwn) {
  left.kernel("add")[1](x, 2);
  EXPECT_THAT(left.notes->taken(), ElementsAre("add", "launched add"));
  EXPECT_THAT(right.notes->taken(), IsEmpty());
  {
    ContextScope scope(right.context);
    TraceRange range("here");
    (void)x.clone();
  }
  EXPECT_THAT(left.notes->taken(), IsEmpty());
  EXPECT_THAT(right.notes->taken(), ElementsAre("copy", "here"));
  EXPECT_GT(right.notes->memoryEvents, 0);
}

TEST_F(TwoContexts, TheProcesssObserverSeesTheOthers) {
  Context plain(std::make_unique<FakeCompiler>(left.world), {.cacheBytes = 0});
  Kernel unwatched = Kernel::fromSource("", "add", plain);
  unwatched[1](x, 2);
  EXPECT_THAT(left.notes->taken(), IsEmpty());
  auto notes = std::make_shared<Notes>();
  ASSERT_TRUE(observe(notes));
  unwatched[1](x, 2);
  left.kernel("add")[1](x, 2);
  stopObserving(*notes);
  EXPECT_THAT(notes->taken(), ElementsAre("add", "launched add"));
  EXPECT_THAT(left.notes->taken(), ElementsAre("add", "launched add"));
}

TEST(ContextObservers, NothingIsWatchedOnceTheLastIsGone) {
  ASSERT_FALSE(isObserved());
  {
    Side one{Knobs()};
    EXPECT_TRUE(isObserved());
  }
  EXPECT_FALSE(isObserved());
}

/// Side by side, each with its own of everything.
TEST_F(TwoContexts, BothWorkAtOnce) {
  std::atomic<int> wrong = 0;
  auto work = [&](Side &side, int threads) {
    Tensor own = zeros({16}, f32, Device::cpu());
    Kernel add = side.kernel("add");
    ContextScope scope(side.context);
    for (int i = 0; i < 50; ++i) {
      add[16](own, 1);
      wrong += numThreads() != threads;
    }
    wrong += own.at({15}) != 50;
  };
  std::thread other([&] { work(right, 3); });
  work(left, 1);
  other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(left.world->compiles, 1);
  EXPECT_EQ(right.world->compiles, 1);
}

//===----------------------------------------------------------------------===//
// Scopes, and what a context keeps
//===----------------------------------------------------------------------===//

TEST_F(TwoContexts, AScopesContextIsTheThreadsCurrentOne) {
  ContextScope scope(right.context);
  EXPECT_EQ(&Context::current().state(), &right.context.state());
  std::thread([] {
    EXPECT_EQ(&Context::current().state(), &Context::shared().state());
  }).join();
}

TEST_F(TwoContexts, AScopeEndsWhereItEnds) {
  {
    ContextScope scope(right.context);
  }
  EXPECT_EQ(&Context::current().state(), &Context::shared().state());
}

TEST_F(TwoContexts, ADeviceFunctionIsThatOfTheThreadsContext) {
  EXPECT_EQ(deviceFunctions().add, nullptr);
  DeviceFunctions functions;
  functions.add = [](const Tensor &a, const Tensor &, bool) { return a; };
  Context own(nullptr, {.deviceFunctions = functions});
  ContextScope scope(own);
  EXPECT_EQ(deviceFunctions().add, functions.add);
}

TEST_F(TwoContexts, AContextKeepsAKernelOnce) {
  int made = 0;
  auto make = [&](Context &context) {
    ++made;
    return Kernel::fromSource("", "add", context);
  };
  for (int i = 0; i < 3; ++i) {
    Kernel::keptBy(left.context, "the key", make)[1](x, 1);
  }
  EXPECT_EQ(made, 1);
  Kernel::keptBy(right.context, "the key", make)[1](x, 1);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(x.at({0}), 4);
}

TEST_F(TwoContexts, AContextKeepsNoKernelOfAnother) {
  try {
    Kernel::keptBy(left.context, "the key",
                   [&](Context &) { return right.kernel("add"); });
    FAIL() << "kept it";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("expected a kernel of the context that "
                                   "keeps it, got 'add' of another one"));
  }
}

TEST_F(TwoContexts, AContextKeepsNoEmptyKernel) {
  try {
    Kernel::keptBy(left.context, "the key", [](Context &) { return Kernel(); });
    FAIL() << "kept it";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("expected a kernel of the context that "
                                   "keeps it, got an empty one; hint: `make` "
                                   "returns what Kernel::fromSource"));
  }
}

/// An operator whose kernel is made with the help of another.
TEST_F(TwoContexts, AKeptKernelIsMadeWithTheHelpOfOthers) {
  auto make = [](Context &context) {
    return Kernel::fromSource("", "add", context);
  };
  Kernel::keptBy(left.context, "outer", [&](Context &context) {
    Kernel::keptBy(context, "inner", make)[1](x, 1);
    return make(context);
  })[1](x, 1);
  EXPECT_EQ(x.at({0}), 2);
}

/// As when two threads ask at once: both make it, and one is kept.
TEST_F(TwoContexts, OfTwoThatAreMadeTheFirstIsKept) {
  auto make = [](Context &context) {
    return Kernel::fromSource("", "add", context);
  };
  Kernel late = Kernel::keptBy(left.context, "k", [&](Context &context) {
    Kernel::keptBy(context, "k", make)[1](x, 1);
    return make(context);
  });
  late[1](x, 1);
  EXPECT_EQ(left.world->compiles, 1);
}

TEST_F(TwoContexts, AKernelOfContextsIsMadeOnceInEach) {
  KernelOfContexts add;
  int made = 0;
  auto make = [&](Context &context) {
    ++made;
    return Kernel::fromSource("", "add", context);
  };
  const Kernel &first = add.in(left.context.state(), make);
  EXPECT_EQ(&first, &add.in(left.context.state(), make));
  first[1](x, 1);
  add.in(right.context.state(), make)[1](x, 1);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(left.world->compiles, 1);
  EXPECT_EQ(right.world->compiles, 1);
  KernelOfContexts another;
  EXPECT_NE(&first, &another.in(left.context.state(), make));
}

TEST(ContextLife, AHandleOfAKernelOfContextsKeepsTheContext) {
  KernelOfContexts add;
  std::shared_ptr<FakeWorld> world;
  Kernel left;
  {
    Side side{Knobs()};
    world = side.world;
    left = add.handleIn(side.context.state(), [](Context &context) {
      return Kernel::fromSource("", "add", context);
    });
  }
  Tensor x = zeros({1}, f32, Device::cpu());
  left[1](x, 3);
  EXPECT_EQ(x.item(), 3);
  left = Kernel();
  EXPECT_EQ(world.use_count(), 1) << "something keeps the compiler";
}

// A scope of one that ends with the statement would be left without.
static_assert(std::is_constructible_v<ContextScope, const Context &>);
static_assert(!std::is_constructible_v<ContextScope, Context>);

TEST(ContextLife, AKeptKernelGoesWithItsContextUnlessAHandleIsLeft) {
  auto world = std::make_shared<FakeWorld>();
  Kernel left;
  {
    Side side{Knobs()};
    world = side.world;
    left = Kernel::keptBy(side.context, "k", [&](Context &context) {
      return Kernel::fromSource("", "add", context);
    });
  }
  Tensor x = zeros({1}, f32, Device::cpu());
  left[1](x, 3);
  EXPECT_EQ(x.item(), 3);
  left = Kernel();
  EXPECT_EQ(world.use_count(), 1) << "something keeps the compiler";
}

TEST(ContextOptions, ANullClockIsTheSystems) {
  auto world = std::make_shared<FakeWorld>();
  Context context(nullptr, {.clock = nullptr});
  EXPECT_EQ(&*context.state().clock, steadyClock().get());
}

//===----------------------------------------------------------------------===//
// The shared context gets a compiler late
//===----------------------------------------------------------------------===//

static std::unique_ptr<KernelCompiler> makeLateCompiler() {
  return std::make_unique<FakeCompiler>(std::make_shared<FakeWorld>());
}
static ConfigChooser &lateChooser() {
  static ScriptedChooser chooser;
  return chooser;
}

/// What a process ends with that does nothing else.
static int installLate(bool isUsedBefore) {
  if (isUsedBefore && Context::shared().compiler()) {
    return 1;
  }
  static constexpr detail::SharedDefaults late = {
      &makeLateCompiler, &lateChooser, &detail::useConfigTrials};
  detail::installDefaults(late);
  KernelCompiler *compiler = Context::shared().compiler();
  detail::installDefaults(late); // the first one stays
  bool isRight = compiler && compiler == Context::shared().compiler() &&
                 configChooser() == &lateChooser();
  return isRight ? 0 : 2;
}

/// The same for functions on devices.
static int installFunctionsLate() {
  static constexpr DeviceFunctions late = {
      .add = [](const Tensor &a, const Tensor &, bool) { return a; }};
  bool hadNone = !deviceFunctions().add;
  detail::installDeviceFunctions(late);
  return hadNone && deviceFunctions().add == late.add ? 0 : 1;
}

TEST(SharedContextDeathTest, ALibraryOpenedLateGivesItsDeviceFunctions) {
  EXPECT_EXIT(::_exit(installFunctionsLate()), testing::ExitedWithCode(0), "");
}

TEST(SharedContextDeathTest, ALibraryOpenedLateGivesItsCompiler) {
  for (bool isUsedBefore : {false, true}) {
    EXPECT_EXIT(::_exit(installLate(isUsedBefore)), testing::ExitedWithCode(0),
                "")
        << isUsedBefore;
  }
}
