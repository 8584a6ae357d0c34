//===- SimulatedHipTest.cpp -----------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Runtime/gpu/simulated/SimulatedWorld.h"
#include "nereid/Sim/AMD/testing/CodeObjectFile.h"
#include "nereid/Sim/AMD/testing/WordPerThread.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::gpu;
using sim::amd::CodeObjectFile;
using sim::amd::Generation;
using sim::amd::Words;
using sim::amd::operator+;
using testing::HasSubstr;

namespace {

class SimulatedHip : public testing::Test {
protected:
  void SetUp() override { open(""); }
  void TearDown() override {
    simulated::world().target.clear();
    simulated::world().fatal = Success;
  }

  /// With these words of NEREID_SIMULATOR.
  void open(const std::string &words) {
    simulated::world().target = words;
    auto made = simulatedHip();
    ASSERT_TRUE(made.ok()) << made.failure().message;
    driver = std::move(*made);
    simulated::world().fatal = Success;
  }

  /// Adds its own number to each thread's word, of gfx942.
  static CodeObjectFile numbers() {
    CodeObjectFile file;
    file.code = sim::amd::loadCdna() +
                Words{0x68040500} + // v_add_u32_e32 v2, v0, v2
                sim::amd::storeCdna();
    return file;
  }

  FunctionHandle load(const CodeObjectFile &file) {
    std::string bytes = file.bytes();
    ModuleHandle module = nullptr;
    FunctionHandle function = nullptr;
    EXPECT_EQ(
        driver->moduleLoadDataEx(&module, bytes.data(), 0, nullptr, nullptr),
        Success);
    EXPECT_EQ(driver->moduleGetFunction(&function, module, "k"), Success);
    return function;
  }
  Result launch(FunctionHandle function, DeviceAddress address,
                unsigned threads = 64, unsigned grid = 1,
                StreamHandle stream = nullptr) {
    void *parameters[] = {&address};
    return driver->launchKernel(function, grid, 1, 1, threads, 1, 1, 0, stream,
                                parameters, nullptr);
  }

  std::unique_ptr<const Driver> driver;
};

TEST_F(SimulatedHip, RunsAKernel) {
  FunctionHandle function = load(numbers());
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 256), Success);
  driver->memsetD32Async(memory, 100, 64, nullptr);
  EXPECT_EQ(launch(function, memory), Success);
  int out[64] = {};
  EXPECT_EQ(driver->memcpyDtoHAsync(out, memory, sizeof(out), nullptr),
            Success);
  EXPECT_EQ(out[0], 100);
  EXPECT_EQ(out[63], 163);
  driver->memFree(memory);
}

TEST_F(SimulatedHip, HasTheArchitectureThatIsAsked) {
  for (auto [words, expected] : {std::pair("", "gfx942"),
                                 {"gfx90a", "gfx90a"},
                                 {"races,gfx950", "gfx950"},
                                 {"gfx1100,seed=7", "gfx1100"},
                                 {"sm_80,gfx1201,early,pages", "gfx1201"}}) {
    open(words);
    auto name = readArchitecture(*driver, 0);
    ASSERT_TRUE(name.ok()) << words;
    EXPECT_EQ(*name, expected) << words;
    char text[64] = {};
    driver->deviceGetName(text, sizeof(text), 0);
    EXPECT_EQ(text, std::string("simulated ") + expected);
  }
}

TEST_F(SimulatedHip, SaysWhichWordsItTakes) {
  for (const char *words : {"gfx1101", "gfx", "Races", "sm_91",
                            "seed=", "seed=x", "races,,gfx942"}) {
    simulated::world().target = words;
    auto made = simulatedHip();
    ASSERT_FALSE(made.ok()) << words;
    EXPECT_THAT(made.failure().message,
                HasSubstr("for hip devices expected gfx90a, gfx942, gfx950, "
                          "gfx1100, gfx1201, races or seed=N"))
        << words;
  }
}

TEST_F(SimulatedHip, TakesCodeOfItsArchitectureAlone) {
  std::string bytes = numbers().bytes();
  open("gfx1100");
  ModuleHandle module = nullptr;
  EXPECT_EQ(
      driver->moduleLoadDataEx(&module, bytes.data(), 0, nullptr, nullptr),
      NoBinaryForGpu);
  const char *name = nullptr;
  driver->getErrorName(NoBinaryForGpu, &name);
  EXPECT_STREQ(name, "hipErrorNoBinaryForGpu");
  EXPECT_EQ(
      driver->moduleLoadDataEx(&module, ".version 8.0\n", 0, nullptr, nullptr),
      NoBinaryForGpu);
}

TEST_F(SimulatedHip, RefusesInstructionsThatItDoesNotHave) {
  CodeObjectFile file = numbers();
  file.code[0] = 0xffffffff;
  std::string bytes = file.bytes();
  ModuleHandle module = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(
      driver->moduleLoadDataEx(&module, bytes.data(), 0, nullptr, nullptr),
      NoBinaryForGpu);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("simulator: "));
}

TEST_F(SimulatedHip, AFaultIsToldByEveryLaterCall) {
  FunctionHandle function = load(numbers());
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 252), Success);
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(function, memory), Success);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("simulator: k: illegal memory access: "));
  EXPECT_EQ(driver->ctxSynchronize(), IllegalAddress);
  EXPECT_EQ(launch(function, memory), IllegalAddress);
}

TEST_F(SimulatedHip, AGraphRunsWhatItsStreamWasGiven) {
  FunctionHandle function = load(numbers());
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 256), Success);
  driver->memsetD32Async(memory, 0, 64, nullptr);
  StreamHandle stream = nullptr;
  GraphHandle graph = nullptr;
  GraphExecHandle exec = nullptr;
  driver->streamCreate(&stream, streamNonBlocking);
  driver->streamBeginCapture(stream, captureRelaxed);
  EXPECT_EQ(launch(function, memory, 64, 1, stream), Success);
  driver->streamEndCapture(stream, &graph);
  driver->graphInstantiate(&exec, graph, 0);
  EXPECT_EQ(driver->graphLaunch(exec, stream), Success);
  EXPECT_EQ(driver->graphLaunch(exec, stream), Success);
  int out[64] = {};
  driver->memcpyDtoHAsync(out, memory, sizeof(out), nullptr);
  EXPECT_EQ(out[63], 2 * 63);
  driver->graphExecDestroy(exec);
  driver->graphDestroy(graph);
  driver->streamDestroy(stream);
  driver->memFree(memory);
}

TEST_F(SimulatedHip, LaunchesThatNoGpuTakesAreRefused) {
  CodeObjectFile file = numbers();
  file.mostThreads = 128;
  FunctionHandle function = load(file);
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 1024), Success);
  EXPECT_EQ(launch(function, memory, 129), InvalidValue);
  EXPECT_EQ(launch(function, memory, 0), InvalidValue);
  EXPECT_EQ(launch(function, memory, 64, 0), InvalidValue);
  // HIP counts threads in 32 bits.
  EXPECT_EQ(launch(function, memory, 64, 1u << 26), InvalidValue);
  void *parameters[] = {&memory};
  EXPECT_EQ(driver->launchKernel(function, 1, 1, 1, 64, 1, 1, 64 << 10, nullptr,
                                 parameters, nullptr),
            InvalidValue);
  driver->memFree(memory);
}

TEST_F(SimulatedHip, WorkgroupsShareAProcessorByWavesRegistersAndLds) {
  auto resident = [&](uint32_t registers, uint32_t sharedBytes, int threads) {
    CodeObjectFile file = numbers();
    file.vectorRegisters = registers;
    file.sharedBytes = sharedBytes;
    int blocks = 0;
    driver->occupancyMaxActiveBlocks(&blocks, load(file), threads, 0);
    return blocks;
  };
  EXPECT_EQ(resident(32, 0, 256), 8);    // 32 waves
  EXPECT_EQ(resident(129, 0, 256), 3);   // 136 of 512 registers
  EXPECT_EQ(resident(32, 30000, 64), 2); // of 65,536 bytes
  EXPECT_EQ(resident(32, 0, 64), 32);
}

TEST_F(SimulatedHip, ACooperativeGridMustFit) {
  FunctionHandle function = load(numbers());
  DeviceAddress memory = 0;
  ASSERT_EQ(driver->memAlloc(&memory, 256), Success);
  driver->memsetD32Async(memory, 0, 64, nullptr);
  void *parameters[] = {&memory};
  auto launchTogether = [&](unsigned grid) {
    return driver->launchCooperativeKernel(function, grid, 1, 1, 64, 1, 1, 0,
                                           nullptr, parameters);
  };
  EXPECT_EQ(launchTogether(304 * 32 + 1), CooperativeLaunchTooLarge);
  EXPECT_EQ(launchTogether(2), Success);
  int out[64] = {};
  driver->memcpyDtoHAsync(out, memory, sizeof(out), nullptr);
  EXPECT_EQ(out[0], 0);
  EXPECT_GE(out[63], 63);
  driver->memFree(memory);
}

} // namespace
