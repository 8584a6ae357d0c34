//===- SimulatedDriverTest.cpp --------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"

#include "nereid/Runtime/gpu/simulated/SimulatedWorld.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::gpu;
using testing::HasSubstr;

namespace {

class SimulatedDriver : public testing::Test {
protected:
  void SetUp() override {
    auto made = simulatedDriver();
    ASSERT_TRUE(made.ok());
    driver = std::move(*made);
    simulated::world().fatal = Success;
  }
  void TearDown() override {
    simulated::world().options = {};
    simulated::world().fatal = Success;
  }

  /// y[i] = i, of 32 threads.
  static constexpr const char *numbers = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry numbers(.param .u64 p) {
  .reg .b32 %r<2>; .reg .b64 %rd<3>;
  ld.param.b64 %rd0, [p]; mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4; add.s64 %rd1, %rd0, %rd1;
  st.global.b32 [%rd1], %r0; ret;
})";

  FunctionHandle load(const char *text, const char *name) {
    ModuleHandle module = nullptr;
    FunctionHandle function = nullptr;
    EXPECT_EQ(driver->moduleLoadDataEx(&module, text, 0, nullptr, nullptr),
              Success);
    EXPECT_EQ(driver->moduleGetFunction(&function, module, name), Success);
    return function;
  }
  Result launch(FunctionHandle function, DeviceAddress address,
                StreamHandle stream = nullptr) {
    void *parameters[] = {&address};
    return driver->launchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream,
                                parameters, nullptr);
  }

  std::unique_ptr<const Driver> driver;
};

TEST_F(SimulatedDriver, RunsAKernel) {
  FunctionHandle function = load(numbers, "numbers");
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 128), Success);
  EXPECT_EQ(launch(function, memory), Success);
  int out[32] = {};
  EXPECT_EQ(driver->memcpyDtoHAsync(out, memory, sizeof(out), nullptr),
            Success);
  EXPECT_EQ(out[31], 31);
  driver->memFree(memory);
}

TEST_F(SimulatedDriver, AFaultIsToldByEveryLaterCall) {
  FunctionHandle function = load(numbers, "numbers");
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 124), Success);
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(function, memory), Success);
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("simulator: numbers: illegal memory access: PTX line 9: "
                "st.global.b32 [%rd1], %r0;: a write of 4 bytes at"));
  EXPECT_EQ(driver->ctxSynchronize(), IllegalAddress);
  EXPECT_EQ(launch(function, memory), IllegalAddress);
}

TEST_F(SimulatedDriver, PagesHideWhatAGpuDoesNotSee) {
  simulated::world().options.hasPages = true;
  FunctionHandle function = load(numbers, "numbers");
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 124), Success);
  EXPECT_EQ(launch(function, memory), Success);
  EXPECT_EQ(driver->ctxSynchronize(), Success);
  driver->memFree(memory);
}

TEST_F(SimulatedDriver, PtxThatCannotBeRunIsRefusedWithItsLine) {
  char log[256] = {};
  int names[] = {JitErrorLogBuffer, JitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  ModuleHandle module = nullptr;
  EXPECT_EQ(driver->moduleLoadDataEx(&module,
                                     ".visible .entry k()\n{\n  tex.1d %r1;\n}",
                                     2, names, values),
            InvalidPtx);
  EXPECT_THAT(log, HasSubstr("simulator: line 3:"));
}

TEST_F(SimulatedDriver, AGraphRunsWhatItsStreamWasGiven) {
  FunctionHandle function = load(numbers, "numbers");
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 128), Success);
  StreamHandle stream = nullptr;
  GraphHandle graph = nullptr;
  GraphExecHandle exec = nullptr;
  driver->streamCreate(&stream, streamNonBlocking);
  driver->streamBeginCapture(stream, captureRelaxed);
  launch(function, memory, stream);
  driver->streamEndCapture(stream, &graph);
  int out[32] = {};
  driver->memcpyDtoHAsync(out, memory, sizeof(out), nullptr);
  EXPECT_NE(out[31], 31);
  driver->graphInstantiate(&exec, graph, 0);
  EXPECT_EQ(driver->graphLaunch(exec, stream), Success);
  driver->memcpyDtoHAsync(out, memory, sizeof(out), nullptr);
  EXPECT_EQ(out[31], 31);
  driver->graphExecDestroy(exec);
  driver->graphDestroy(graph);
  driver->streamDestroy(stream);
  driver->memFree(memory);
}

namespace {
/// Two streams, an event, and a number in memory that starts as 0.
struct Streams {
  explicit Streams(const Driver &driver) : driver(driver) {
    driver.streamCreate(&first, streamNonBlocking);
    driver.streamCreate(&second, streamNonBlocking);
    driver.eventCreate(&event, 0);
    driver.memAlloc(&memory, 4);
    driver.memsetD32Async(memory, 0, 1, nullptr);
  }
  ~Streams() {
    driver.eventDestroy(event);
    driver.streamDestroy(first);
    driver.streamDestroy(second);
    driver.memFree(memory);
  }
  void write(unsigned value, StreamHandle stream) const {
    driver.memsetD32Async(memory, value, 1, stream);
  }
  unsigned value() const { return *reinterpret_cast<unsigned *>(memory); }

  const Driver &driver;
  StreamHandle first = nullptr, second = nullptr;
  EventHandle event = nullptr;
  DeviceAddress memory = 0;
};
} // namespace

TEST_F(SimulatedDriver, LazyStreamsRunWhenSomethingWaits) {
  simulated::world().options.isLazy = true;
  Streams s(*driver);
  s.write(1, s.second);
  EXPECT_EQ(s.value(), 0u);
  driver->eventRecord(s.event, s.second);
  s.write(2, s.second);
  driver->streamWaitEvent(s.first, s.event, 0);
  EXPECT_EQ(s.value(), 0u);
  driver->streamSynchronize(s.first);
  EXPECT_EQ(s.value(), 1u);
  driver->eventSynchronize(s.event);
  EXPECT_EQ(s.value(), 1u);
  driver->streamSynchronize(s.second);
  EXPECT_EQ(s.value(), 2u);
}

TEST_F(SimulatedDriver, LazyCopiesOfPageableMemoryTakeItAtOnce) {
  simulated::world().options.isLazy = true;
  Streams s(*driver);
  unsigned host = 7;
  driver->memcpyHtoDAsync(s.memory, &host, 4, s.first);
  host = 8;
  EXPECT_EQ(s.value(), 0u);
  driver->memcpyDtoHAsync(&host, s.memory, 4, s.first);
  EXPECT_EQ(host, 7u);
}

TEST_F(SimulatedDriver, AStreamThatWaitsForARecordingJoinsIt) {
  Streams s(*driver);
  GraphHandle graph = nullptr;
  GraphExecHandle exec = nullptr;
  driver->streamBeginCapture(s.first, captureRelaxed);
  driver->eventRecord(s.event, s.first);
  driver->streamWaitEvent(s.second, s.event, 0);
  s.write(1, s.second);
  driver->eventRecord(s.event, s.second);
  s.write(2, s.first); // in no order with the other one, which runs late
  driver->streamWaitEvent(s.first, s.event, 0);
  EXPECT_EQ(driver->streamEndCapture(s.first, &graph), Success);
  size_t nodes = 0;
  driver->graphGetNodes(graph, nullptr, &nodes);
  EXPECT_EQ(nodes, 2u);
  EXPECT_EQ(s.value(), 0u);
  driver->graphInstantiate(&exec, graph, 0);
  driver->graphLaunch(exec, s.first);
  EXPECT_EQ(s.value(), 1u);
  s.write(5, s.second);
  EXPECT_EQ(s.value(), 5u) << "a member when the recording has ended";
  driver->graphExecDestroy(exec);
  driver->graphDestroy(graph);
}

TEST_F(SimulatedDriver, ARecordingEndsWhenAllOfItIsWaitedFor) {
  Streams s(*driver);
  GraphHandle graph = nullptr;
  driver->streamBeginCapture(s.first, captureRelaxed);
  driver->eventRecord(s.event, s.first);
  driver->streamWaitEvent(s.second, s.event, 0);
  driver->eventRecord(s.event, s.second);
  driver->streamWaitEvent(s.first, s.event, 0);
  s.write(1, s.second); // after what is waited for
  EXPECT_EQ(driver->streamEndCapture(s.first, &graph),
            simulated::captureUnjoined);
}

TEST_F(SimulatedDriver, ARecordingWaitsForNothingOutsideOfIt) {
  Streams s(*driver);
  GraphHandle graph = nullptr;
  driver->eventRecord(s.event, s.second);
  driver->streamBeginCapture(s.first, captureRelaxed);
  EXPECT_EQ(driver->streamWaitEvent(s.first, s.event, 0),
            simulated::captureIsolation);
  EXPECT_EQ(driver->streamSynchronize(s.first), simulated::captureUnsupported);
  EXPECT_EQ(driver->streamEndCapture(s.first, &graph), Success);
  driver->graphDestroy(graph);
}

TEST_F(SimulatedDriver, CopiesOutsideOfABlockAreRefused) {
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 100), Success);
  char host[200] = {};
  EXPECT_NE(driver->memcpyHtoDAsync(memory, host, 101, nullptr), Success);
  EXPECT_EQ(driver->memcpyHtoDAsync(memory, host, 100, nullptr), Success);
  driver->memFree(memory);
}

TEST_F(SimulatedDriver, MemoryOfTensorsEndsWithThem) {
  EXPECT_TRUE(driver->keepsExactBytes);
}

TEST(SimulatorOptions, HaveEveryArchitectureOfTheCompiler) {
  for (auto [name, capability] : {std::pair("sm_75", 75u),
                                  {"sm_87", 87u},
                                  {"sm_90a", 90u},
                                  {"sm_101", 101u},
                                  {"sm_103a", 103u},
                                  {"sm_110", 110u},
                                  {"sm_121", 121u},
                                  {"sm_121a", 121u}}) {
    auto options = simulated::parseOptions(name);
    ASSERT_TRUE(options.ok()) << name;
    EXPECT_EQ(options->computeCapability, capability);
  }
  for (const char *name : {"sm_70", "sm_89a", "sm_122"}) {
    auto wrong = simulated::parseOptions(name);
    ASSERT_FALSE(wrong.ok()) << name;
    EXPECT_THAT(wrong.failure().message,
                HasSubstr("expected sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, "
                          "sm_100, sm_101, sm_103, sm_110, sm_120, sm_121, "
                          "early, late"));
  }
}

TEST(SimulatorOptions, SayWhatIsWrong) {
  auto options =
      simulated::parseOptions("sm_80,early,races,pages,lazy,gpus=3,seed=7");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->computeCapability, 80u);
  EXPECT_EQ(options->asyncOrder, sim::AsyncOrder::Early);
  EXPECT_TRUE(options->checksRaces && options->hasPages);
  EXPECT_EQ(options->seed, 7u);
  EXPECT_TRUE(options->isLazy);
  EXPECT_EQ(options->gpus, 3u);
  EXPECT_TRUE(simulated::parseOptions("").ok());
  for (const char *text : {"sm_91", "seed=", "seed=-1", "gpus=0", "gpus=9",
                           "Races", "early,,late"}) {
    auto wrong = simulated::parseOptions(text);
    ASSERT_FALSE(wrong.ok()) << text;
    EXPECT_THAT(wrong.failure().message, HasSubstr("expected sm_75, "));
  }
}

TEST_F(SimulatedDriver, AMapOfATensorReachesTheKernel) {
  constexpr const char *copy = R"(
.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 128 .b8 memory[];
.visible .entry copy(.param .u64 p, .param .align 64 .b8 map[128]) {
  .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<3>;
  ld.param.b64 %rd0, [p];
  mov.b64 %rd1, map; cvta.param.u64 %rd1, %rd1;
  prefetch.tensormap [%rd1];
  mbarrier.init.shared::cta.b64 [128], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [128], 32;
  cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [0], [%rd1, {4}], [128];
  WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p0, [128], 0;
  @!%p0 bra WAIT;
  ld.shared.b32 %r0, [4];
  st.global.b32 [%rd0], %r0; ret;
})";
  DeviceAddress address = 0;
  ASSERT_EQ(driver->memAlloc(&address, 64), Success);
  auto *words = reinterpret_cast<uint32_t *>(address);
  for (uint32_t i = 0; i < 16; ++i) {
    words[i] = i;
  }
  alignas(64) unsigned char map[128];
  uint64_t sizes[] = {16};
  unsigned box[] = {8}, ones[] = {1};
  auto *tensor = reinterpret_cast<void *>(address);
  ASSERT_EQ(driver->tensorMapEncodeTiled(map, 2, 1, tensor, sizes, nullptr, box,
                                         ones, 0, 0, 0, 0),
            Success);
  FunctionHandle function = load(copy, "copy");
  void *parameters[] = {&address, map};
  EXPECT_EQ(driver->launchKernel(function, 1, 1, 1, 1, 1, 1, 136, nullptr,
                                 parameters, nullptr),
            Success);
  EXPECT_EQ(words[0], 5u);
  // What a GPU's driver refuses, and what only this one does.
  EXPECT_EQ(driver->tensorMapEncodeTiled(map + 16, 2, 1, tensor, sizes, nullptr,
                                         box, ones, 0, 0, 0, 0),
            simulated::invalidValue);
  EXPECT_EQ(driver->tensorMapEncodeTiled(map, 2, 6, tensor, sizes, nullptr, box,
                                         ones, 0, 0, 0, 0),
            simulated::invalidValue);
  EXPECT_EQ(driver->tensorMapEncodeTiled(map, 2, 1, tensor, sizes, nullptr, box,
                                         ones, 0, 0, 0, 1),
            simulated::notSupported);
  EXPECT_EQ(driver->memFree(address), Success);
}

} // namespace
