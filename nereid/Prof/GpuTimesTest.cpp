//===- GpuTimesTest.cpp - When GPUs did their work ------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/testing/ManualClock.h"
#include "nereid/Prof/Profiler.h"
#include "nereid/Prof/testing/FakeCupti.h"
#include "nereid/Prof/testing/TraceReader.h"
#include "nereid/Runtime/gpu/testing/CudaFixture.h"
#include "nereid/Support/Knobs.h"

#include <algorithm>
#include <cstdlib>

using namespace nereid;
using namespace nereid::prof;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Runs before main, and so before the environment is read.
[[maybe_unused]] static const int fakeIsTheDriver =
    ::setenv("NEREID_CUDA_DRIVER", NEREID_FAKE_DRIVER, 1);

namespace {

class GpuTrace : public CudaFixture {
protected:
  explicit GpuTrace(const std::string &cupti) {
    Knobs settings = knobs();
    settings.cupti = cupti;
    saved = exchangeKnobs(settings);
    x = zeros({128}, f32, gpu);
    add = kernel("add");
    launch(); // compiles
    synchronize(gpu);
  }
  ~GpuTrace() override { exchangeKnobs(saved); }

  void launch() { add[2](x, x, x, 100); }
  /// Every arrow begins and ends.
  static size_t arrows(const ReadTrace &trace) {
    std::vector<std::string> begins, ends;
    for (const auto &arrow : trace.phase("s")) {
      begins.push_back(arrow["id"]);
    }
    for (const auto &arrow : trace.phase("f")) {
      ends.push_back(arrow["id"]);
    }
    std::sort(begins.begin(), begins.end());
    std::sort(ends.begin(), ends.end());
    EXPECT_EQ(begins, ends);
    return begins.size();
  }

  /// A microsecond a reading: nothing happens at the same time.
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>(1e-3);
  Knobs saved;
  Tensor x;
  Kernel add;
  Profiler profiler{{.clock = clock}};
};

class ByEvents : public GpuTrace {
protected:
  ByEvents() : GpuTrace("none") {}
};

class ByCupti : public GpuTrace {
protected:
  ByCupti() : GpuTrace(NEREID_FAKE_CUPTI) {
    cupti::fakeCupti().reset();
    cupti::fakeCupti().clock = clock;
  }
  ~ByCupti() override { cupti::fakeCupti().reset(); }

  static uint32_t stream(const Stream &of) {
    return cupti::fakeCupti().streamId(
        static_cast<gpu::StreamHandle>(of.handle()));
  }
  /// A launch, and what CUPTI says of it: `ns` long, from now on. Returns when
  /// that is.
  int64_t launchFor(int64_t ns) {
    launch();
    int64_t begin = clock->now();
    ran("add", begin, ns);
    return begin;
  }
  void ran(const std::string &name, int64_t begin, int64_t ns) {
    cupti::FakeActivity kernel;
    kernel.name = name;
    kernel.grid = {2, 1, 1};
    kernel.beginNs = begin;
    kernel.endNs = begin + ns;
    kernel.stream = stream(Stream::current(gpu));
    cupti::fakeCupti().waiting.push_back(kernel);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

TEST_F(ByEvents, AKernelLastsAsLongAsItsEventsSay) {
  driver().functions["add"].milliseconds = 2.5;
  profiler.start();
  launch();
  launch();
  profiler.stop();
  ReadTrace trace(profiler.json());
  auto kernels = trace.slices("kernel");
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(trace.processOf(kernels[0]), "cuda:0");
  EXPECT_EQ(trace.trackOf(kernels[0]), "stream 1");
  for (const auto &kernel : kernels) {
    EXPECT_NEAR(double(kernel["dur"]), 2500, 1);
    EXPECT_EQ(kernel["args"]["grid"], "2x1x1");
    EXPECT_EQ(kernel["args"]["bytes"], 512);
  }
  EXPECT_NEAR(double(kernels[1]["ts"]) - double(kernels[0]["ts"]), 2500, 1);
  EXPECT_EQ(arrows(trace), 2u);
  EXPECT_THAT(profiler.notes(), ElementsAre(HasSubstr("NEREID_CUPTI=none")));
}

TEST_F(ByEvents, LongTracesKeepTheirResolution) {
  driver().functions["add"].milliseconds = 700;
  profiler.start();
  for (int i = 0; i < 600; ++i) { // seven minutes: 0.03 ms by one float
    launch();
  }
  synchronize(gpu); // the fake device runs what is waited for
  driver().functions["add"].milliseconds = 0.002;
  launch();
  profiler.stop();
  auto kernels = ReadTrace(profiler.json()).slices("kernel");
  ASSERT_THAT(kernels, SizeIs(601));
  EXPECT_NEAR(double(kernels[600]["ts"]) - double(kernels[0]["ts"]), 600 * 7e5,
              100);
}

TEST_F(ByEvents, CopiesFillsAndGraphsAreThere) {
  Graph graph = Graph::capture(gpu, [&] { launch(); });
  profiler.start();
  x.zero();
  x.to(Device::cpu());
  graph.replay();
  profiler.stop();
  ReadTrace trace(profiler.json());
  EXPECT_THAT(trace.names("fill"), ElementsAre("fill"));
  EXPECT_THAT(trace.names("copy"), Contains("copy to the host"));
  EXPECT_THAT(trace.names("graph"), ElementsAre("graph"));
}

TEST_F(ByEvents, WhatIsRecordedIntoAGraphDoesNotRun) {
  profiler.start();
  Graph graph = Graph::capture(gpu, [&] { launch(); });
  EXPECT_EQ(graph.nodes(), 1u); // no events among them
  profiler.stop();
  ReadTrace trace(profiler.json());
  EXPECT_THAT(trace.names("launch"), ElementsAre("add"));
  EXPECT_THAT(trace.names("kernel"), IsEmpty());
}

TEST_F(ByEvents, EachStreamHasATrack) {
  profiler.start();
  launch();
  Stream side(gpu);
  {
    StreamGuard guard(side);
    launch();
  }
  profiler.stop();
  ReadTrace trace(profiler.json());
  std::vector<std::string> tracks;
  for (const auto &kernel : trace.slices("kernel")) {
    tracks.push_back(trace.trackOf(kernel));
  }
  EXPECT_THAT(tracks, ElementsAre("stream 1", "stream 2"));
}

TEST_F(ByEvents, MemoryOfTheDeviceIsACounter) {
  profiler.start();
  {
    Tensor y = empty({1000}, f32, gpu);
  }
  profiler.stop();
  std::vector<double> used;
  ReadTrace trace(profiler.json());
  for (const auto &counter : trace.phase("C")) {
    if (trace.processOf(counter) == "cuda:0") {
      used.push_back(counter["args"]["in use"]);
    }
  }
  ASSERT_THAT(used, SizeIs(2));
  EXPECT_NEAR(used[0] - used[1], 4096e-6, 1e-6);
}

TEST_F(ByEvents, WorkOfADeviceThatIsGoneIsANote) {
  profiler.start();
  launch();
  driver().fatal = gpu::IllegalAddress;
  profiler.stop();
  ReadTrace trace(profiler.json());
  EXPECT_THAT(trace.names("launch"), ElementsAre("add"));
  EXPECT_THAT(trace.names("kernel"), IsEmpty());
  EXPECT_THAT(trace.notes(),
              Contains(HasSubstr("1 launches and copies have no slice")));
}

//===----------------------------------------------------------------------===//
// CUPTI
//===----------------------------------------------------------------------===//

TEST_F(ByCupti, AKernelIsWhereCuptiSays) {
  profiler.start();
  int64_t begin = launchFor(300000);
  profiler.stop();
  ReadTrace trace(profiler.json());
  auto kernels = trace.slices("kernel");
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_EQ(kernels[0]["name"], "add");
  EXPECT_NEAR(double(kernels[0]["dur"]), 300, 1e-3);
  EXPECT_NEAR(double(kernels[0]["ts"]), double(begin) / 1e3, 1e-3);
  EXPECT_EQ(kernels[0]["args"]["bytes"], 512);
  EXPECT_EQ(trace.trackOf(kernels[0]), "stream 1");
  EXPECT_EQ(arrows(trace), 1u);
  EXPECT_THAT(trace.notes(), IsEmpty());
  EXPECT_THAT(cupti::fakeCupti().enabled, IsEmpty()); // off again
}

TEST_F(ByCupti, ALaunchRecordsNoEvents) {
  profiler.start();
  int before = calls("cuEventRecord");
  launch();
  EXPECT_EQ(calls("cuEventRecord"), before);
}

TEST_F(ByCupti, WhatOthersLaunchedIsNoLaunchOfOurs) {
  profiler.start();
  launchFor(1000);
  ran("theirs", clock->now(), 1000);
  launchFor(1000);
  profiler.stop();
  ReadTrace trace(profiler.json());
  EXPECT_THAT(trace.names("kernel"), ElementsAre("add", "theirs", "add"));
  EXPECT_FALSE(trace.slices("kernel")[1].contains("bytes"));
  EXPECT_EQ(arrows(trace), 2u);
}

TEST_F(ByCupti, RecordsThatAreMissingShiftNothing) {
  profiler.start();
  launchFor(1000);
  cupti::fakeCupti().waiting.clear(); // dropped
  cupti::fakeCupti().dropped = 1;
  add[3](x, x, x, 100);
  ran("add", clock->now(), 1000);
  cupti::fakeCupti().waiting.back().grid = {3, 1, 1};
  profiler.stop();
  ReadTrace trace(profiler.json());
  ASSERT_EQ(arrows(trace), 1u);
  double queued = trace.phase("s")[0]["ts"];
  EXPECT_GT(queued, double(trace.slices("launch")[1]["ts"]) - 1e-3);
  EXPECT_THAT(trace.notes(), Contains(HasSubstr("CUPTI dropped them")));
}

TEST_F(ByCupti, CopiesAndFills) {
  profiler.start();
  launch();
  cupti::FakeActivity copy;
  copy.kind = cupti::Memcpy;
  copy.copyKind = cupti::DeviceToHost;
  copy.bytes = 4000;
  copy.beginNs = clock->now();
  copy.endNs = copy.beginNs + 2000;
  copy.stream = 99; // of another library
  cupti::fakeCupti().waiting.push_back(copy);
  copy.kind = cupti::Memset;
  copy.stream = stream(Stream::current(gpu));
  cupti::fakeCupti().waiting.push_back(copy);
  profiler.stop();
  ReadTrace trace(profiler.json());
  ASSERT_THAT(trace.names("copy"), ElementsAre("copy to the host"));
  EXPECT_EQ(trace.trackOf(trace.slices("copy")[0]), "stream 99 of others");
  EXPECT_EQ(trace.slices("copy")[0]["args"]["GB/s"], 2);
  EXPECT_THAT(trace.names("fill"), ElementsAre("fill"));
}

TEST_F(ByCupti, OneThatRefusesGivesWayToEvents) {
  cupti::fakeCupti().failNext["cuptiActivityEnable"] = 39;
  profiler.start();
  launch();
  profiler.stop();
  EXPECT_THAT(ReadTrace(profiler.json()).names("kernel"), ElementsAre("add"));
  EXPECT_THAT(profiler.notes(),
              Contains(HasSubstr("MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED")));
  EXPECT_THAT(cupti::fakeCupti().enabled, IsEmpty());
}

TEST_F(ByCupti, AVersionThatIsNotKnownGivesWayToEvents) {
  cupti::fakeCupti().version = 140000;
  profiler.start();
  launch();
  profiler.stop();
  EXPECT_THAT(ReadTrace(profiler.json()).names("kernel"), ElementsAre("add"));
  EXPECT_THAT(profiler.notes(), Contains(HasSubstr("version 140000")));
}

TEST_F(ByCupti, ALibraryThatIsNoneGivesWayToEvents) {
  Knobs settings = knobs();
  settings.cupti = NEREID_FAKE_DRIVER;
  exchangeKnobs(settings);
  profiler.start();
  launch();
  profiler.stop();
  EXPECT_THAT(profiler.notes(), Contains(HasSubstr("is no CUPTI of CUDA 11")));
}
