//===- LaunchTest.cpp - Launching, from arguments to results --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/testing/FakeMachine.h"
#include "nereid/Machine/testing/ManualClock.h"
#include "nereid/Runtime/device/ThreadPool.h"
#include "nereid/Runtime/launch/KernelState.h"
#include "nereid/Runtime/testing/LaunchFixture.h"
#include "nereid/Support/Knobs.h"

#include <atomic>
#include <latch>
#include <pthread.h>
#include <set>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid;
using namespace nereid::literals;
using testing::Each;
using testing::HasSubstr;

namespace {
class Launch : public LaunchFixture {
protected:
  Tensor x = arange({1000}, f32), y = full({1000}, 2, f32),
         out = zeros({1000}, f32);

  void expectSum() {
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(out.at({i}), i + 2);
    }
    out.zero();
  }
};
} // namespace

TEST_F(Launch, ArgumentsInEveryLegalMix) {
  Kernel add = kernel("add");
  add[{16}](x, y, out, 1000);
  expectSum();
  add[{16}](x, y, out, 1000, 64);
  expectSum();
  add[{16}](x, y, out, "n"_a = 1000);
  expectSum();
  add[{8}]("BLOCK_SIZE"_a = 128, "out_ptr"_a = out, "n"_a = 1000, "y_ptr"_a = y,
           "x_ptr"_a = x);
  expectSum();
  add[{4}](x, y, "n"_a = int64_t{1000}, "out_ptr"_a = out, "BLOCK_SIZE"_a = 256,
           "num_warps"_a = 8, "num_stages"_a = 2);
  expectSum();
  EXPECT_EQ(world->requests.back().options.numWarps, 8u);
  EXPECT_EQ(world->requests.back().options.numStages, 2u);
}

TEST_F(Launch, OptionsHaveCodeOfTheirOwn) {
  Kernel add = kernel("add");
  auto requests = [&](const LaunchArgument &option) {
    add[{16}](x, y, out, 1000, option);
    return world->requests.size();
  };
  EXPECT_EQ(requests("maxnreg"_a = 40), 1u);
  EXPECT_EQ(requests("minnreg"_a = 40), 2u);
  EXPECT_EQ(world->requests.back().options.minRegisters, 40u);
  EXPECT_EQ(requests("minnreg"_a = 255), 3u);
  EXPECT_EQ(requests("enable_fp_fusion"_a = false), 4u);
  EXPECT_EQ(requests("debug"_a = true), 5u);
  EXPECT_EQ(requests("minnreg"_a = 40), 5u);
  EXPECT_EQ(requests("waves_per_eu"_a = 2), 6u);
  EXPECT_EQ(world->requests.back().options.wavesPerUnit, 2u);
  EXPECT_EQ(requests("matrix_instr_nonkdim"_a = 32), 7u);
  EXPECT_EQ(world->requests.back().options.matrixSize, 32u);
  EXPECT_EQ(requests("kpack"_a = 2), 8u);
  EXPECT_EQ(requests("kpack"_a = 1), 8u);
  EXPECT_EQ(requests("waves_per_eu"_a = 2), 8u);
}

TEST_F(Launch, GridForms) {
  Kernel add = kernel("add");
  add[16](x, y, out, 1000);
  expectSum();
  add[{16, 1, 1}](x, y, out, 1000);
  expectSum();
  auto grid = [&](const Meta &m) {
    return Grid{cdiv(m["n"], m["BLOCK_SIZE"])};
  };
  add[grid](x, y, out, 1000, "BLOCK_SIZE"_a = 32);
  expectSum();
  auto plain = [](const Meta &m) { return cdiv(1000, m["BLOCK_SIZE"]); };
  add[plain](x, y, out, 1000);
  expectSum();
  auto listing = [](const Meta &m) {
    EXPECT_EQ(m.values().at("n"), StaticValue(1000));
    EXPECT_EQ(m.values().at("num_warps"), StaticValue(4));
    EXPECT_FALSE(m.values().count("x_ptr"));
    return 16;
  };
  add[listing](x, y, out, 1000);
  expectSum();
  // Too large to be stored in place, and not trivially copyable.
  std::vector<int64_t> sizes = {100, 10};
  int64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;
  auto big = [=](const Meta &) {
    return Grid{sizes[0] / sizes[1] + a - b + c + d - e + f * 0 + g};
  };
  add[big](x, y, out, 1000, "BLOCK_SIZE"_a = 100);
  expectSum();
  Kernel count = kernel("count");
  Tensor seen = zeros({3, 5, 7}, i32);
  count[{7, 5, 3}](seen);
  EXPECT_THAT(seen.toVector<int>(), Each(1));
}

TEST_F(Launch, EveryProgramRunsOnceAtAnyGridAndThreadCount) {
  Kernel count = kernel("count");
  for (int threads : {1, 2, 3, 8}) {
    setNumThreads(threads);
    EXPECT_EQ(numThreads(), threads);
    for (int64_t n : {1, 2, 3, 7, 31, 32, 1000, 100000}) {
      for (int repeat = 0; repeat < 3; ++repeat) {
        Tensor seen = zeros({n}, i32);
        count[n](seen);
        ASSERT_THAT(seen.toVector<int>(), Each(1)) << n << " " << threads;
      }
    }
  }
  setNumThreads(0);
}

TEST_F(Launch, ManyThreadsMayLaunchAtOnce) {
  Kernel add = kernel("add");
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      Tensor o = zeros({1000}, f32);
      for (int i = 0; i < 50; ++i) {
        int64_t block = 16 << ((t + i) % 5);
        add[cdiv(1000, block)](x, y, o, 1000, "BLOCK_SIZE"_a = block);
        ASSERT_EQ(o.at({999}), 1001);
        o.zero();
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(world->compiles, 5); // one a block size, the first to arrive
}

TEST_F(Launch, OneCompilationASpecialization) {
  Kernel add = kernel("add");
  add[16](x, y, out, 1000);
  add[16](x, y, out, 990);
  EXPECT_EQ(world->compiles, 1); // 1000 and 990: neither divisible by 16
  add[16](x, y, out, 992);
  EXPECT_EQ(world->compiles, 2);
  add[16](x, y, out, 1);
  EXPECT_EQ(world->compiles, 3);
  add[16](x, y, out, 1000, "num_warps"_a = 8);
  EXPECT_EQ(world->compiles, 4);
  add[16](x.slice(0, 1), y, out, 900);
  EXPECT_EQ(world->compiles, 5);
  // Another handle of the same source shares the images.
  kernel("add")[16](x, y, out, 1000);
  EXPECT_EQ(world->compiles, 5);
  EXPECT_EQ(context.cacheCounters().memoryHits, 1u);
}

TEST_F(Launch, WhatTheCompilerIsTold) {
  Kernel add = kernel("add");
  add[1](x, y.slice(0, 1), out, 1, "BLOCK_SIZE"_a = 16);
  std::vector<ArgumentSpec> expected = {
      RuntimeArgument{f32, true, false, true},
      RuntimeArgument{f32, true, false, false},
      RuntimeArgument{f32, true, false, true}, StaticValue(1), StaticValue(16)};
  EXPECT_EQ(lastSpecs(), expected);
  EXPECT_EQ(world->requests.back().target, "fake-v1");
}

TEST_F(Launch, DevicesAndTheirTargets) {
  Kernel add = kernel("add");
  Device interp = Device::interp();
  Tensor o = out.to(interp);
  add[16](x.to(interp), y.to(interp), o, 1000);
  EXPECT_EQ(world->requests.back().target, "interp");
  EXPECT_EQ(o.at({10}), 12);

  Knobs settings = knobs();
  settings.interp = true;
  Knobs saved = exchangeKnobs(settings);
  add[16](x, y, out, 999);
  exchangeKnobs(saved);
  EXPECT_EQ(world->requests.back().target, "interp");
  EXPECT_EQ(world->compiles, 1); // the same image as above

  FakeKernel bare;
  bare.description.name = "bare";
  bare.program = [](const FakeCall &) {};
  world->kernels["bare"] = bare;
  kernel("bare").on(interp)[1]();
  EXPECT_EQ(world->requests.back().target, "interp");
  kernel("bare")[1]();
  EXPECT_EQ(world->requests.back().target, "fake-v1");
}

TEST_F(Launch, InterpRunsInProgramOrder) {
  std::vector<int> order;
  FakeKernel k;
  k.description.name = "order";
  k.program = [&](const FakeCall &call) { order.push_back(call.program(0)); };
  world->kernels["order"] = k;
  kernel("order").on(Device::interp())[100]();
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(order[i], i);
  }
}

TEST_F(Launch, AnEmptyGridIsNoLaunch) {
  Kernel count = kernel("count");
  Tensor seen = zeros({8}, i32);
  count[0](seen);
  count[{4, 0}](seen);
  count[{4, 2, 0}](seen);
  EXPECT_THAT(seen.toVector<int>(), Each(0));
}

TEST_F(Launch, MissingPointerIsNone) {
  FakeKernel k = addKernel();
  k.description.name = "maybe";
  k.program = [](const FakeCall &call) {
    call.pointer<float>("out_ptr")[0] = 5;
  };
  world->kernels["maybe"] = k;
  kernel("maybe")[1](none, nullptr, out, 3);
  EXPECT_EQ(out.at({0}), 5);
  EXPECT_TRUE(std::get<StaticValue>(lastSpecs()[0]).isNone());
}

TEST_F(Launch, ScratchIsPrivateAlignedAndLargeEnough) {
  FakeKernel k;
  k.description.name = "scratch";
  k.description.parameters = {parameter("bad_ptr")};
  k.scratchBytes = 100000;
  k.program = [](const FakeCall &call) {
    std::byte *s = call.frame->scratch;
    auto mark = static_cast<std::byte>(call.program(0));
    bool bad = reinterpret_cast<uintptr_t>(s) % 64 != 0;
    std::fill_n(s, 100000, mark);
    for (int i = 0; i < 100000; i += 997) {
      bad |= s[i] != mark;
    }
    if (bad) {
      call.pointer<int32_t>("bad_ptr")[0] = 1;
    }
  };
  world->kernels["scratch"] = k;
  Tensor bad = zeros({1}, i32);
  setNumThreads(4);
  kernel("scratch")[500](bad);
  setNumThreads(0);
  EXPECT_EQ(bad.item(), 0);
}

/// Waking a thread costs more than a thousand programs of 10 ns.
TEST_F(Launch, CheapProgramsStayOnTheCallingThread) {
  auto clock = std::make_shared<ManualClock>();
  Context manual(std::make_unique<FakeCompiler>(world),
                 withoutDisk({.clock = clock}));
  FakeKernel k = addKernel();
  k.description.name = "cheap";
  std::atomic<int> ran = 0, elsewhere = 0;
  k.program = [&, caller = std::this_thread::get_id()](const FakeCall &) {
    ++ran;
    elsewhere += std::this_thread::get_id() != caller;
    clock->advanceMs(1e-5);
  };
  world->kernels["cheap"] = k;
  setNumThreads(4);
  Kernel cheap = Kernel::fromSource("", "cheap", manual);
  for (int launch = 0; launch < 3; ++launch) {
    cheap[1000](x, y, out, 5);
  }
  setNumThreads(0);
  EXPECT_EQ(ran, 3000);
  EXPECT_EQ(elsewhere, 0);
}

TEST_F(Launch, StreamingStoresOnlyBeyondTheLastLevelCache) {
  std::atomic<uint32_t> flags = 99;
  FakeKernel k = addKernel();
  k.description.name = "flags";
  k.program = [&](const FakeCall &call) { flags = call.frame->flags; };
  world->kernels["flags"] = k;
  Tensor a = empty({40000}, f32), b = empty({40000}, f32); // 160 KB
  for (const Machine &machine : {serverMachine(), tinyMachine()}) {
    bool isServer = machine.cores == serverMachine().cores;
    Context its(std::make_unique<FakeCompiler>(world),
                withoutDisk({.machine = machine}));
    Kernel f = Kernel::fromSource("", "flags", its);
    f[1](a, a, a, 5); // one tensor, counted once
    EXPECT_EQ(flags, 0u);
    std::set<uint32_t> tried;
    for (uint32_t i = 0; i < StreamingChoice::trials; ++i) {
      f[1](a, b, a, 5);
      tried.insert(flags);
    }
    EXPECT_EQ(tried.size(), isServer ? 1u : 2u);
  }
}

TEST_F(Launch, TheFasterStoresAreFoundByTrial) {
  auto clock = std::make_shared<ManualClock>();
  Context manual(std::make_unique<FakeCompiler>(world),
                 withoutDisk({.clock = clock, .machine = tinyMachine()}));
  for (uint32_t slow : {uint32_t{StreamingStores}, uint32_t{0}}) {
    std::atomic<uint32_t> flags = 99;
    FakeKernel k = addKernel();
    k.description.name = slow ? "slow_streams" : "slow_caches";
    k.program = [&](const FakeCall &call) {
      flags = call.frame->flags;
      clock->advanceMs(flags == slow ? 2 : 1);
    };
    world->kernels[k.description.name] = k;
    Kernel f = Kernel::fromSource("", k.description.name, manual);
    Tensor a = empty({40000}, f32), b = empty({40000}, f32); // 160 KB
    std::set<uint32_t> tried;
    for (uint32_t i = 0; i < StreamingChoice::trials; ++i) {
      f[1](a, b, a, 5);
      tried.insert(flags);
    }
    EXPECT_EQ(tried.size(), 2u);
    for (int i = 0; i < 4; ++i) {
      f[1](a, b, a, 5);
      EXPECT_NE(flags, slow);
    }
  }
}

TEST_F(Launch, StoresAreTriedOnCachesThatTheirOwnKindLeaves) {
  auto clock = std::make_shared<ManualClock>();
  Context manual(std::make_unique<FakeCompiler>(world),
                 withoutDisk({.clock = clock, .machine = tinyMachine()}));
  // Through the caches is the faster way, but not after one past them.
  std::atomic<uint32_t> flags = 0;
  FakeKernel k = addKernel();
  k.description.name = "warms";
  k.program = [&](const FakeCall &call) {
    uint32_t before = flags.exchange(call.frame->flags);
    clock->advanceMs(call.frame->flags ? 2 : before ? 3 : 1);
  };
  world->kernels["warms"] = k;
  Kernel f = Kernel::fromSource("", "warms", manual);
  Tensor a = empty({40000}, f32), b = empty({40000}, f32); // 160 KB
  flags = StreamingStores;
  for (uint32_t i = 0; i < StreamingChoice::trials + 1; ++i) {
    f[1](a, b, a, 5);
  }
  EXPECT_EQ(flags, 0u);
}

TEST_F(Launch, HeuristicsAreComputedInOrderAndRemembered) {
  FakeKernel k = addKernel();
  k.description.name = "heur";
  k.description.parameters.push_back(constexprParameter("EVEN"));
  k.description.heuristics = {"BLOCK_SIZE", "EVEN"};
  k.program = addKernel().program;
  world->kernels["heur"] = k;
  world->heuristics["BLOCK_SIZE"] = [](const auto &values) {
    return StaticValue(std::get<int64_t>(values.at("n").value) > 500 ? 128
                                                                     : 32);
  };
  world->heuristics["EVEN"] = [](const auto &values) {
    int64_t n = std::get<int64_t>(values.at("n").value);
    int64_t block = std::get<int64_t>(values.at("BLOCK_SIZE").value);
    // A tensor is known by its shape, stride and dtype.
    auto facts = std::get<StaticValue::Dict>(values.at("x_ptr").value);
    EXPECT_EQ(facts.at("dtype"), StaticValue(f32));
    EXPECT_EQ(facts.at("shape"),
              StaticValue(StaticValue::Tuple{StaticValue(1000)}));
    return StaticValue(n % block == 0);
  };
  Kernel heur = kernel("heur");
  auto grid = [](const Meta &m) { return cdiv(m["n"], m["BLOCK_SIZE"]); };
  for (int i = 0; i < 3; ++i) {
    heur[grid](x, y, out, 1000);
    expectSum();
  }
  EXPECT_EQ(world->evaluations, 2);
  EXPECT_EQ(lastSpecs()[4], ArgumentSpec(StaticValue(128)));
  EXPECT_EQ(lastSpecs()[5], ArgumentSpec(StaticValue(false)));
  heur[grid](x, y, out, 512);
  EXPECT_EQ(world->evaluations, 4);
  // What the launch gives is not asked for, and not replaced.
  heur[grid](x, y, out, 1000, "BLOCK_SIZE"_a = 64);
  EXPECT_EQ(world->evaluations, 5);
  EXPECT_EQ(lastSpecs()[4], ArgumentSpec(StaticValue(64)));
  heur[grid](x, y, out, 1000, "BLOCK_SIZE"_a = 64, "EVEN"_a = true);
  EXPECT_EQ(world->evaluations, 5);
  EXPECT_EQ(lastSpecs()[5], ArgumentSpec(StaticValue(true)));
  EXPECT_EQ(lastSpecs()[5], ArgumentSpec(StaticValue(true)));
}

TEST_F(Launch, CompileReportsWithoutRunning) {
  Kernel add = kernel("add");
  LaunchArgument arguments[] = {x, y, out, 1000, "num_warps"_a = 8};
  CompiledInfo info = add.compile(arguments);
  EXPECT_EQ(info.origin, CompiledInfo::Origin::Compiler);
  EXPECT_EQ(info.image.kernel, "add");
  EXPECT_EQ(info.image.numWarps, 8u);
  EXPECT_GT(info.codeBytes, 0u);
  EXPECT_EQ(add.compile(arguments).origin, CompiledInfo::Origin::Memory);
  EXPECT_EQ(out.at({5}), 0);
}

TEST_F(Launch, ManyParametersLeaveTheInlineArrays) {
  FakeKernel k;
  k.description.name = "wide";
  for (int i = 0; i < 150; ++i) {
    k.description.parameters.push_back(parameter("p" + std::to_string(i)));
  }
  k.program = [](const FakeCall &call) {
    int64_t sum = 0;
    for (int i = 1; i < 150; ++i) {
      sum += call.integer("p" + std::to_string(i));
    }
    call.pointer<int64_t>("p0")[0] = sum;
  };
  world->kernels["wide"] = k;
  Tensor sum = zeros({1}, i64);
  std::vector<LaunchArgument> arguments = {sum};
  int64_t expected = 0;
  for (int i = 1; i < 150; ++i) {
    arguments.push_back(LaunchArgument(i * 7));
    expected += i * 7;
  }
  kernel("wide").launch(Grid(1), arguments);
  EXPECT_EQ(sum.item(), static_cast<double>(expected));
}

TEST(LaunchAfterContext, KernelsOutliveTheirContext) {
  struct Temporary : LaunchFixture {
    void TestBody() override {}
    using LaunchFixture::kernel;
  };
  Kernel add;
  {
    Temporary fixture;
    add = fixture.kernel("add");
  }
  Tensor x = arange({64}, f32, Device::cpu()),
         out = zeros({64}, f32, Device::cpu());
  add[{1}](x, x, out, 64);
  EXPECT_EQ(out.at({63}), 126);
}

TEST(Threads, MoreThanTheMachineHasUseForAreToldAndNotTaken) {
  int most = thisMachine().mostThreads();
  Knobs settings = knobs();
  settings.numThreads = 100000;
  Knobs saved = exchangeKnobs(settings);
  testing::internal::CaptureStderr();
  setNumThreads(most + 1);
  EXPECT_EQ(numThreads(), most);
  setNumThreads(0);
  EXPECT_EQ(numThreads(), most);
  std::string told = testing::internal::GetCapturedStderr();
  exchangeKnobs(saved);
  setNumThreads(most);
  EXPECT_EQ(numThreads(), most);
  setNumThreads(0);
  std::string expected = ": expected at most " + std::to_string(most) +
                         " threads, eight times the cores";
  EXPECT_THAT(told, HasSubstr("setNumThreads" + expected));
  EXPECT_THAT(told, HasSubstr("NEREID_NUM_THREADS" + expected));
  EXPECT_THAT(told, HasSubstr("got 100000; takes " + std::to_string(most)));
}

/// From now on this process can begin no thread. A superuser has no limit of
/// processes, and becomes somebody else.
static bool refuseThreads() {
  rlimit limit = {1, 1};
  return (::geteuid() != 0 || ::setuid(12345) == 0) &&
         ::setrlimit(RLIMIT_NPROC, &limit) == 0;
}

/// Whether this system keeps such a limit: containers may have no other user,
/// or a kernel of their own.
static bool threadsCanBeRefused() {
  pid_t child = ::fork();
  if (child == 0) {
    bool begins = true;
    if (refuseThreads()) {
      pthread_t thread;
      begins = ::pthread_create(
                   &thread, nullptr, [](void *) -> void * { return nullptr; },
                   nullptr) == 0;
    }
    ::_exit(begins ? 1 : 0);
  }
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

/// What the process ends with, which does nothing else.
static int runWithoutThreads() {
  if (!refuseThreads()) {
    return 2;
  }
  setNumThreads(8);
  std::atomic<int64_t> sum = 0;
  parallelRanges(1000, 1,
                 [&](int64_t begin, int64_t end) { sum += end - begin; });
  return sum == 1000 && numThreads() == 1 ? 0 : 1;
}

/// The same, after one pool has had four threads.
static int runOnThreadsOfAnotherPool() {
  setNumThreads(4);
  std::latch all(4);
  parallelRanges(4, 1, [&](int64_t, int64_t) { all.arrive_and_wait(); });
  if (!refuseThreads()) {
    return 2;
  }
  Knobs settings;
  settings.numThreads = 4;
  Context own(nullptr, {.cacheBytes = 0, .settings = settings});
  ContextScope scope(own);
  std::atomic<int64_t> sum = 0;
  parallelRanges(1000, 1,
                 [&](int64_t begin, int64_t end) { sum += end - begin; });
  return sum == 1000 && numThreads() == 4 ? 0 : 1;
}

TEST(LaunchLimitsDeathTest, APoolHasTheThreadsThatAnotherHad) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer begins threads of its own";
#endif
  if (!threadsCanBeRefused()) {
    GTEST_SKIP() << "this system limits nobody's threads";
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process without a pool
  EXPECT_EXIT(::_exit(runOnThreadsOfAnotherPool()), testing::ExitedWithCode(0),
              "");
}

TEST(LaunchLimitsDeathTest, ThreadsThatCannotBeHadAreDoneWithout) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer begins threads of its own";
#endif
  if (!threadsCanBeRefused()) {
    GTEST_SKIP() << "this system limits nobody's threads";
  }
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process without a pool
  EXPECT_EXIT(::_exit(runWithoutThreads()), testing::ExitedWithCode(0),
              "only 1 of 8 threads can be started");
}
