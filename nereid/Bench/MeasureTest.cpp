//===- MeasureTest.cpp - How long something takes -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Measure.h"

#include "nereid/Machine/testing/FakeMachine.h"
#include "nereid/Machine/testing/ManualClock.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/gpu/testing/CudaFixture.h"

#include <cstdlib>
#include <set>

using namespace nereid;
using namespace nereid::bench;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// Runs before main, and so before the environment is read.
[[maybe_unused]] static const int fakeIsTheDriver =
    ::setenv("NEREID_CUDA_DRIVER", NEREID_FAKE_DRIVER, 1);

namespace {
class Measure : public CudaFixture {
protected:
  Contender taking(const std::string &name, double ms) {
    return {name, [this, ms](size_t) { clock->advanceMs(ms); }};
  }
  /// Notes which contender ran.
  Contender noting(const std::string &name) {
    return {name, [this, name](size_t turn) {
              log.push_back(name);
              turns.push_back(turn);
            }};
  }
  /// A kernel of so many milliseconds by the device's clock.
  Contender onGpu(const std::string &name) {
    driver().functions["add"].milliseconds = 2.5;
    return {name, [this](size_t) { kernel("add")[1](x, x, x, 64); }};
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  /// For GPUs, which warm up until the clock says so.
  std::shared_ptr<Clock> ticking = std::make_shared<ManualClock>(2);
  std::vector<std::string> log;
  std::vector<size_t> turns;
  Tensor x = zeros({64}, f32, gpu);
};
} // namespace

// Shares of 49.5 ms, and ten samples at least.
TEST_F(Measure, ColdSamplesAreSingleRunsByTheClock) {
  auto times =
      measure(Device::cpu(), {taking("short", 2), taking("long", 8)},
              {.seconds = 0.099, .clock = clock, .machine = tinyMachine()});
  EXPECT_EQ(times[0].name, "short");
  EXPECT_TRUE(times[0].isCold);
  EXPECT_EQ(times[0].ms.median, 2);
  EXPECT_EQ(times[0].ms.samples, 25u);
  EXPECT_EQ(times[1].ms.least, 8);
  EXPECT_EQ(times[1].ms.samples, 10u);
}

// A round: 8 * 0.2 ms and 2 * 0.8 ms, and one run of each that does not count,
// whose time both share: 2.1 ms of the 49.5 ms of each.
TEST_F(Measure, WarmSamplesAreSeveralRunsByTheClock) {
  auto times =
      measure(Device::cpu(), {taking("short", 0.2), taking("long", 0.8)},
              {.caches = Caches::Warm, .seconds = 0.099, .clock = clock});
  EXPECT_FALSE(times[0].isCold);
  EXPECT_EQ(times[0].runs, 8u);
  EXPECT_DOUBLE_EQ(times[0].ms.median, 0.2);
  EXPECT_EQ(times[0].ms.samples, 24u);
  EXPECT_EQ(times[1].runs, 2u);
  EXPECT_DOUBLE_EQ(times[1].ms.median, 0.8);
  EXPECT_EQ(times[1].ms.samples, 24u);
}

TEST_F(Measure, WarmSamplesAreLongerThanTheClocksResolution) {
  auto runsOf = [&](double ms) {
    Measurement measurement(Device::cpu(),
                            {.caches = Caches::Warm, .clock = clock});
    return measurement.times(measurement.add(taking("it", ms))).runs;
  };
  EXPECT_EQ(runsOf(0), 4096u);
  EXPECT_EQ(runsOf(0.001), 1024u);
  EXPECT_EQ(runsOf(0.3), 4u);
  EXPECT_EQ(runsOf(1), 1u);
}

TEST_F(Measure, ADefaultMeasurementReadsTheSystemsClock) {
  auto times =
      measure(Device::cpu(), {noting("a")},
              {.leastSamples = 1, .mostSamples = 1, .machine = tinyMachine()});
  EXPECT_EQ(times[0].ms.samples, 1u);
  EXPECT_GE(times[0].ms.median, 0);
}

TEST_F(Measure, EachRoundRunsEveryContender) {
  Measurement measurement(Device::cpu(), {.machine = tinyMachine()});
  size_t a = measurement.add(noting("a")), b = measurement.add(noting("b"));
  EXPECT_THAT(log, ElementsAre("a", "b"));
  log.clear();
  size_t of[] = {a, b};
  measurement.rounds(20, of);
  std::set<std::string> orders;
  for (size_t i = 0; i < log.size(); i += 2) {
    orders.insert(log[i] + log[i + 1]);
  }
  EXPECT_EQ(orders, (std::set<std::string>{"ab", "ba"}));
  EXPECT_EQ(measurement.samples(a).size(), 20u);
}

TEST_F(Measure, OnlySomeMayGoOn) {
  Measurement measurement(Device::cpu(), {.machine = tinyMachine()});
  size_t a = measurement.add(noting("a")), b = measurement.add(noting("b"));
  size_t both[] = {a, b};
  measurement.rounds(1, both);
  measurement.rounds(3, {&b, 1});
  EXPECT_EQ(measurement.times(a).ms.samples, 1u);
  EXPECT_EQ(measurement.times(b).ms.samples, 4u);
}

TEST_F(Measure, TurnsCountRuns) {
  Measurement measurement(Device::cpu(), {.machine = tinyMachine()});
  size_t a = measurement.add(noting("a"));
  measurement.rounds(3, {&a, 1});
  EXPECT_THAT(turns, ElementsAre(0, 1, 2, 3));
}

TEST_F(Measure, AFailureEndsOnlyItsContender) {
  int runs = 0;
  Contender failing{"failing", [&](size_t turn) {
                      if (turn == 2) {
                        raise({ErrorCode::KernelFault, "row 3 is wrong", {}});
                      }
                      ++runs;
                    }};
  Contender broken{"broken", [](size_t) {
                     raise({ErrorCode::CompileError, "no such name", {}});
                   }};
  auto times =
      measure(Device::cpu(), {failing, taking("good", 10), broken},
              {.seconds = 1, .clock = clock, .machine = tinyMachine()});
  EXPECT_EQ(times[0].failure->message, "row 3 is wrong");
  EXPECT_EQ(times[0].ms.samples, 1u);
  EXPECT_EQ(runs, 2);
  EXPECT_FALSE(times[1].failure);
  EXPECT_EQ(times[1].ms.samples, 10u);
  EXPECT_EQ(times[2].failure->message, "no such name");
  EXPECT_EQ(times[2].ms.samples, 0u);
}

// Four shares of 10 ms: of a run of 50 ms there is one sample, not ten. The
// other one has half of the run that did not count, which is below four shares.
TEST_F(Measure, ASlowContenderStopsEarly) {
  auto times =
      measure(Device::cpu(), {taking("slow", 50), noting("fast")},
              {.caches = Caches::Warm, .seconds = 0.02, .clock = clock});
  EXPECT_EQ(times[0].ms.samples, 1u);
  EXPECT_EQ(times[1].ms.samples, 10u);
}

// After the tenth sample, when 50 ms are over, and not before.
TEST_F(Measure, AContenderWhoseTimesSpreadIsMeasuredForItsShare) {
  Contender spreading{"spreading",
                      [&](size_t turn) { clock->advanceMs(turn % 2 ? 4 : 8); }};
  auto times =
      measure(Device::cpu(), {taking("steady", 6), spreading},
              {.seconds = 0.301, .clock = clock, .machine = tinyMachine()});
  EXPECT_EQ(times[0].ms.samples, 10u);
  EXPECT_EQ(times[1].ms.samples, 26u);
}

TEST_F(Measure, SteadyTimesEndBeforeTheBudget) {
  std::vector<double> shares;
  MeasureOptions options{.seconds = 1000, .clock = ticking};
  options.progress = [&](double share) { shares.push_back(share); };
  auto times = measure(gpu, {onGpu("a")}, options);
  // Queued are 1, 1, 2, 4, 8, 16 runs of 2.5 ms: 50 ms lie in the last.
  EXPECT_EQ(times[0].ms.samples, 32u);
  ASSERT_FALSE(shares.empty());
  EXPECT_THAT(shares, Each(testing::AllOf(testing::Ge(0), testing::Le(1))));
}

TEST_F(Measure, EventsMeasureGpus) {
  auto times = measure(gpu, {onGpu("a")}, {.seconds = 0.05, .clock = ticking});
  EXPECT_FLOAT_EQ(float(times[0].ms.median), 2.5f);
  EXPECT_EQ(times[0].ms.spread(), 0);
  EXPECT_EQ(times[0].runs, 1u);
  double once = runMs(gpu, [&] { kernel("add")[1](x, x, x, 64); });
  EXPECT_FLOAT_EQ(float(once), 2.5f);
}

TEST_F(Measure, CachesOfAGpuAreFlushedBeforeEachColdRun) {
  Measurement cold(gpu, {.clock = ticking}),
      warm(gpu, {.caches = Caches::Warm, .clock = ticking});
  size_t a = cold.add(onGpu("a")), b = warm.add(onGpu("b"));
  cold.rounds(1, {&a, 1}); // with the buffer's own first fill
  int before = calls("cuMemsetD8Async");
  cold.rounds(5, {&a, 1});
  EXPECT_EQ(calls("cuMemsetD8Async"), before + 5);
  warm.rounds(5, {&b, 1});
  EXPECT_EQ(calls("cuMemsetD8Async"), before + 5);
  EXPECT_FLOAT_EQ(float(warm.times(b).ms.median), 2.5f);
}

TEST_F(Measure, OneBufferServesMeasurementsInTurn) {
  auto buffer = std::make_shared<Tensor>();
  auto once = [&] {
    Measurement cold(gpu, {.clock = ticking, .buffer = buffer});
    size_t a = cold.add(onGpu("a"));
    cold.rounds(1, {&a, 1});
    return buffer->data();
  };
  void *first = once();
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(once(), first);
}

TEST_F(Measure, AGpuIsReadAfterAllRoundsAreQueued) {
  Measurement measurement(gpu, {.clock = ticking});
  size_t a = measurement.add(onGpu("a"));
  measurement.rounds(1, {&a, 1});
  int before = calls("cuEventElapsedTime"), waits = 0;
  driver().functions["add"].run = [&](const gpu::FakeKernelCall &) {
    waits += calls("cuEventElapsedTime") - before;
  };
  measurement.rounds(1, {&a, 1});
  EXPECT_EQ(waits, 0);
  EXPECT_EQ(calls("cuEventElapsedTime"), before + 1);
}

TEST_F(Measure, AKernelThatFaultsIsToldWithItsName) {
  Contender faulting{"faulting", [&](size_t turn) {
                       kernel("add")[1](x, x, x, 64);
                       if (turn == 0) {
                         driver().functions["add"].run =
                             [](const gpu::FakeKernelCall &) {
                               driver().fatal = gpu::IllegalAddress;
                             };
                       }
                     }};
  auto times = measure(gpu, {faulting}, {.seconds = 0.01, .clock = ticking});
  ASSERT_TRUE(times[0].failure);
  EXPECT_THAT(times[0].failure->message, HasSubstr("ILLEGAL_ADDRESS"));
}
