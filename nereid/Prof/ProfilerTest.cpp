//===- ProfilerTest.cpp - What a program did, as a trace ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Prof/Profiler.h"

#include "nereid/Machine/testing/ManualClock.h"
#include "nereid/Prof/testing/TraceReader.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/testing/LaunchFixture.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

using namespace nereid;
using namespace nereid::prof;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {
class ProfilerOnHost : public LaunchFixture {
protected:
  void launch(int times = 1) {
    for (int i = 0; i < times; ++i) {
      add[2](x, x, x, 100);
    }
  }
  Kernel add = kernel("add");
  Tensor x = zeros({128}, f32, Device::cpu());
  /// A microsecond a reading: nothing happens at the same time.
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(1e-3);
  Profiler profiler{{.clock = clock}};
};
} // namespace

TEST_F(ProfilerOnHost, ALaunchIsOnTheHostsAndOnTheDevicesTrack) {
  launch();
  profiler.start();
  launch();
  profiler.stop();
  ReadTrace trace(profiler.json());
  EXPECT_THAT(trace.names("launch"), ElementsAre("add"));
  ASSERT_THAT(trace.names("kernel"), ElementsAre("add"));
  auto kernel = trace.slices("kernel")[0];
  EXPECT_EQ(trace.processOf(kernel), "cpu");
  EXPECT_EQ(trace.trackOf(kernel), "launched by main thread");
  EXPECT_EQ(kernel["args"]["grid"], "2x1x1");
  EXPECT_EQ(kernel["args"]["bytes"], 512); // each array once
  EXPECT_EQ(kernel["args"]["compiled for"], "BLOCK_SIZE=64, num_warps=4");
  auto host = trace.slices("launch")[0];
  EXPECT_EQ(trace.processOf(host), "host");
  // The clock is read as the launch and its work begin and end.
  EXPECT_NEAR(double(kernel["ts"]) - double(host["ts"]), 1, 1e-3);
  EXPECT_NEAR(double(kernel["dur"]), 1, 1e-3);
  EXPECT_NEAR(double(host["dur"]), 3, 1e-3);
}

TEST_F(ProfilerOnHost, CompilationsAndLookUpsAreWithinTheirLaunch) {
  profiler.start();
  launch();
  ReadTrace trace(profiler.json());
  EXPECT_THAT(trace.names("compile"), ElementsAre("compile add", "load add"));
  EXPECT_THAT(trace.names("stage"), ElementsAre("fake"));
  ASSERT_THAT(trace.names("cache"), ElementsAre("look up add"));
  EXPECT_EQ(trace.slices("cache")[0]["args"]["result"], "missing");
  auto outer = trace.slices("launch")[0];
  for (const char *category : {"compile", "stage", "cache"}) {
    for (const auto &slice : trace.slices(category)) {
      EXPECT_TRUE(isWithin(slice, outer)) << slice;
    }
  }
  EXPECT_TRUE(isWithin(trace.slices("stage")[0], trace.slices("compile")[0]));
}

TEST_F(ProfilerOnHost, ReadingAKernelIsACompileStage) {
  profiler.start();
  kernel("count");
  ReadTrace trace(profiler.json());
  EXPECT_THAT(trace.names("compile"), ElementsAre("read count"));
}

TEST_F(ProfilerOnHost, CopiesAndMemoryAreRecorded) {
  profiler.start();
  {
    Tensor y = x.clone();
  }
  profiler.stop();
  ReadTrace trace(profiler.json());
  ASSERT_THAT(trace.names("copy"), ElementsAre("copy"));
  EXPECT_EQ(trace.slices("copy")[0]["args"]["bytes"], 512);
  std::vector<double> used;
  for (const auto &counter : trace.phase("C")) {
    if (counter["name"] == "memory [MB]") {
      used.push_back(counter["args"]["in use"]);
    }
  }
  ASSERT_THAT(used, SizeIs(3));
  EXPECT_GE(used[0], 512e-6); // what was there before
  EXPECT_NEAR(used[1] - used[0], 512e-6, 1e-7);
  EXPECT_EQ(used[2], used[0]);
}

TEST_F(ProfilerOnHost, TheRateOfAKernelIsACounter) {
  profiler.start();
  launch();
  ReadTrace trace(profiler.json());
  auto kernel = trace.slices("kernel")[0];
  std::vector<nlohmann::json> steps;
  for (const auto &counter : trace.phase("C")) {
    if (std::string(counter["name"]).starts_with("GB/s")) {
      steps.push_back(counter);
    }
  }
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_NEAR(double(kernel["dur"]), 1, 1e-3);
  EXPECT_NEAR(double(steps[0]["args"]["GB/s"]), 0.512, 1e-3);
  EXPECT_EQ(steps[1]["args"]["GB/s"], 0);
}

TEST_F(ProfilerOnHost, NothingIsRecordedBeforeAndAfter) {
  launch();
  profiler.start();
  profiler.stop();
  launch();
  EXPECT_THAT(ReadTrace(profiler.json()).phase("X"), IsEmpty());
}

TEST_F(ProfilerOnHost, ASecondStartGoesOn) {
  launch();
  for (int i = 0; i < 2; ++i) {
    profiler.start();
    launch();
    profiler.stop();
  }
  EXPECT_THAT(ReadTrace(profiler.json()).slices("launch"), SizeIs(2));
}

TEST_F(ProfilerOnHost, OneRecordsAtATime) {
  profiler.start();
  Profiler other;
  EXPECT_THAT(errorOf([&] { other.start(); }),
              HasSubstr("another Profiler records already; stop it first"));
  launch();
  EXPECT_FALSE(other.isRecording());
  profiler.stop();
  other.start();
  EXPECT_TRUE(other.isRecording());
}

TEST_F(ProfilerOnHost, EachThreadHasATrack) {
  launch();
  profiler.start();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        Tensor own = zeros({128}, f32, Device::cpu());
        for (int k = 0; k < 5000; ++k) { // more than a thread's first memory
          add[2](own, own, own, 100);
        }
      });
    }
    // A trace may be taken meanwhile.
    for (int i = 0; i < 3; ++i) {
      ReadTrace trace(profiler.json());
    }
  }
  ReadTrace trace(profiler.json());
  std::map<std::string, int> launches;
  for (const auto &slice : trace.slices("launch")) {
    ++launches[trace.json.is_null() ? "" : std::to_string(int(slice["tid"]))];
  }
  ASSERT_THAT(launches, SizeIs(3));
  for (const auto &[track, count] : launches) {
    EXPECT_EQ(count, 5000);
  }
}

TEST_F(ProfilerOnHost, WhatAThreadDidOfALaunchIsOnItsOwnTrack) {
  profiler.start();
  std::shared_ptr<Observer> observer = currentObserver();
  Activity work;
  work.device = Device::cpu();
  work.name = "add";
  ActivityMark mark;
  observer->begin(work, mark); // reads the clock: 1 us
  std::jthread([&] { observer->share(work, 1200, 1700); }).join();
  observer->share(work, 1100, 1600);
  observer->end(work, mark, true);
  ReadTrace trace(profiler.json());
  auto shares = trace.slices("share");
  ASSERT_THAT(trace.names("share"), ElementsAre("add", "add"));
  std::set<std::string> tracks;
  for (const auto &share : shares) {
    EXPECT_EQ(trace.processOf(share), "cpu");
    EXPECT_NEAR(double(share["dur"]), 0.5, 1e-3);
    tracks.insert(trace.trackOf(share));
  }
  EXPECT_THAT(tracks, Contains("programs on main thread"));
  EXPECT_THAT(tracks, Contains(testing::StartsWith("programs on thread ")));
}

TEST_F(ProfilerOnHost, WhatThereIsNoRoomForIsCounted) {
  Profiler small({.mostRecords = 0});
  // One program, which threads cannot share.
  auto launchOne = [&] { add[1](x, x, x, 64); };
  launchOne();
  small.start();
  for (int i = 0; i < 4096; ++i) { // half of its records fit
    launchOne();
  }
  small.stop();
  EXPECT_THAT(ReadTrace(small.json()).slices("launch"), SizeIs(2048));
  EXPECT_THAT(small.notes(),
              Contains(HasSubstr("4096 records of launches and work are "
                                 "missing")));
}

TEST_F(ProfilerOnHost, RangesLieAroundTheirLaunches) {
  launch();
  profiler.start();
  {
    TraceRange range("forward \"1\"\n");
    launch(2);
  }
  ReadTrace trace(profiler.json());
  ASSERT_THAT(trace.names("range"), ElementsAre("forward \"1\"\n"));
  for (const auto &slice : trace.slices("launch")) {
    EXPECT_TRUE(isWithin(slice, trace.slices("range")[0]));
  }
}

TEST_F(ProfilerOnHost, ALaunchThatFailsIsThereToo) {
  profiler.start();
  errorOf([&] { add[2](x, x); });
  EXPECT_THAT(ReadTrace(profiler.json()).names("launch"), ElementsAre("add"));
}

TEST_F(ProfilerOnHost, TheProfilerMayEndBeforeItsProgram) {
  {
    Profiler other;
    other.start();
    launch();
  }
  EXPECT_FALSE(isObserved());
  launch();
}

TEST_F(ProfilerOnHost, OneOfAContextRecordsThatAlone) {
  Context own(std::make_unique<FakeCompiler>(world), withoutDisk({}));
  Kernel its = Kernel::fromSource("", "add", own);
  Profiler ofOwn({.clock = clock});
  profiler.start();
  ofOwn.start(own);
  launch();
  its[1](x, x, x, 50);
  {
    ContextScope scope(own);
    (void)x.clone();
  }
  ofOwn.stop();
  its[4](x, x, x, 50);
  profiler.stop();
  ReadTrace process(profiler.json()), trace(ofOwn.json());
  ASSERT_THAT(trace.names("kernel"), ElementsAre("add"));
  EXPECT_EQ(trace.slices("kernel")[0]["args"]["grid"], "1x1x1");
  EXPECT_THAT(trace.names("copy"), ElementsAre("copy"));
  ASSERT_THAT(process.names("kernel"), ElementsAre("add", "add"));
  EXPECT_EQ(process.slices("kernel")[1]["args"]["grid"], "4x1x1");
  EXPECT_THAT(process.names("copy"), IsEmpty());
}

TEST_F(ProfilerOnHost, AContextIsRecordedOnceAtATime) {
  ContextOptions options;
  options.observer = std::make_shared<Observer>();
  Context own(nullptr, options);
  EXPECT_THAT(errorOf([&] { profiler.start(own); }),
              HasSubstr("another observer watches this context already"));
  EXPECT_FALSE(profiler.isRecording());
}

TEST_F(ProfilerOnHost, AContextMayGoWhileItIsRecorded) {
  {
    Context own(std::make_unique<FakeCompiler>(world), withoutDisk({}));
    profiler.start(own);
    Kernel::fromSource("", "add", own)[1](x, x, x, 50);
  }
  profiler.stop();
  EXPECT_FALSE(isObserved());
  EXPECT_THAT(ReadTrace(profiler.json()).names("launch"), ElementsAre("add"));
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
class TraceFiles : public ProfilerOnHost {
protected:
  TraceFiles() {
    std::string name = testing::TempDir() + "nereid-trace-XXXXXX";
    folder = ::mkdtemp(name.data());
  }
  ~TraceFiles() override { std::filesystem::remove_all(folder); }
  static std::string read(const std::string &path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string folder;
};
} // namespace

TEST_F(TraceFiles, AreWrittenAtTheEndOfTheScope) {
  {
    TraceFile file(folder + "/trace.json");
    launch();
    EXPECT_FALSE(std::filesystem::exists(folder + "/trace.json"));
  }
  EXPECT_THAT(ReadTrace(read(folder + "/trace.json")).names("launch"),
              ElementsAre("add"));
}

TEST_F(TraceFiles, ThatCannotBeWrittenAreToldBeforeTheWork) {
  EXPECT_THAT(errorOf([&] { TraceFile file(folder + "/none/trace.json"); }),
              HasSubstr("the trace: "));
  EXPECT_FALSE(isObserved());
}

TEST_F(TraceFiles, ThatCannotBeFinishedLeaveNothing) {
  TraceFile file(folder + "/trace.json");
  launch();
  std::filesystem::remove_all(folder);
  EXPECT_THAT(errorOf([&] { file.finish(); }), HasSubstr("trace.json"));
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_FALSE(isObserved());
}
