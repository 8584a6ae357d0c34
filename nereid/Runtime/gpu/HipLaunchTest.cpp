//===- HipLaunchTest.cpp - Kernels on AMD's GPUs --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuModule.h"
#include "nereid/Runtime/gpu/testing/HipFixture.h"
#include "nereid/Runtime/library/Precompiled.h"
#include "nereid/Runtime/testing/LibraryFixture.h"

#include <filesystem>
#include <unistd.h>

using namespace nereid;
using namespace nereid::literals;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

namespace {
class HipLaunches : public HipFixture {
protected:
  using HipFixture::HipFixture;
  Tensor x = full({1000}, 1, f32, hip), y = full({1000}, 2, f32, hip),
         out = zeros({1000}, f32, hip);
};
} // namespace

TEST_F(HipLaunches, AreCompiledForTheDevicesArchitecture) {
  Kernel add = kernel("add");
  add[16](x, y, out, 1000);
  EXPECT_THAT(out.toVector<float>(), Each(3));
  EXPECT_EQ(world->requests.back().target, "gfx942");
  Tensor a = x.to(otherHip), b = y.to(otherHip), c = out.to(otherHip);
  c.zero();
  add[16](a, b, c, 1000);
  EXPECT_EQ(world->requests.back().target, "gfx1100");
  EXPECT_THAT(c.toVector<float>(), Each(3));
  EXPECT_EQ(calls("hipModuleLaunchKernel"), 2);
  EXPECT_EQ(world->loads, 0); // the compiler loads host code only
}

TEST_F(HipLaunches, OneKernelRunsOnBothVendorsGpus) {
  Kernel add = kernel("add");
  Tensor a = full({64}, 1, f32, gpu), b = full({64}, 2, f32, gpu),
         c = zeros({64}, f32, gpu);
  add[1](a, b, c, 64);
  add[1](x, y, out, 64);
  EXPECT_THAT(c.toVector<float>(), Each(3));
  EXPECT_EQ(out.at({63}), 3);
  EXPECT_THAT(errorOf([&] { add[1](x, b, out, 9); }),
              HasSubstr("'y_ptr' is on cuda:0, but 'x_ptr' is on hip:0"));
}

TEST_F(HipLaunches, SharedMemoryIsTheCodeObjects) {
  FakeKernel big = addKernel();
  big.description.name = "big";
  big.sharedBytes = 48 << 10;
  world->kernels["big"] = big;
  driver().functions["big"] = driver().functions["add"];
  driver().functions["big"].staticSharedBytes = 48 << 10;
  uint32_t dynamic = 1;
  driver().functions["big"].run = [&](const gpu::FakeKernelCall &call) {
    dynamic = call.sharedBytes;
  };
  kernel("big")[1](x, y, out, 9);
  synchronize(hip);
  EXPECT_EQ(dynamic, 0u);
  EXPECT_TRUE(driver().functionAttributes.empty());
  driver().functions["big"].staticSharedBytes = 100 << 10;
  EXPECT_THAT(
      errorOf([&] { kernel("big")[1](x, y, out, 9, "num_stages"_a = 7); }),
      HasSubstr("needs 102400 bytes of shared memory a block, and hip:0 has "
                "65536"));
}

TEST_F(HipLaunches, LimitsOfAGrid) {
  Kernel add = kernel("add");
  EXPECT_THAT(errorOf([&] { add[{1, 65536}](x, y, out, 9); }),
              HasSubstr("grid dimension 1 is 65536; the limit of hip devices "
                        "is 65535"));
  // 128 threads a program.
  add[33554431](x, y, out, 9);
  EXPECT_THAT(errorOf([&] { add[33554432](x, y, out, 9); }),
              AllOf(HasSubstr("grid dimension 0 is 33554432; the limit of hip "
                              "devices is 4294967295 threads, 33554431 "
                              "programs of 128"),
                    HasSubstr("fewer warps")));
}

TEST_F(HipLaunches, DependentLaunchesWaitAsOthers) {
  kernel("add")[16](x, y, out, 1000, "launch_pdl"_a = true);
  EXPECT_THAT(out.toVector<float>(), Each(3));
  EXPECT_EQ(driver().dependentLaunches, 0);
  EXPECT_EQ(calls("hipModuleLaunchKernel"), 1);
}

TEST_F(HipLaunches, GraphsReplayWhatWasRecorded) {
  Kernel add = kernel("add");
  add[16](x, y, out, 1000);
  Graph graph = Graph::capture(hip, [&] {
    Tensor twice = empty({1000}, f32, hip);
    add[16](x, x, twice, 1000);
    add[16](twice, y, out, 1000);
  });
  EXPECT_EQ(graph.nodes(), 2u);
  graph.replay();
  EXPECT_THAT(out.toVector<float>(), Each(4));
  x.fill(10);
  graph.replay();
  EXPECT_THAT(out.toVector<float>(), Each(22));
  EXPECT_EQ(calls("hipGraphLaunch"), 2);
}

TEST_F(HipLaunches, AFaultNamesTheKernel) {
  driver().functions["add"].run = [](const gpu::FakeKernelCall &) {
    driver().fatal = gpu::IllegalAddress;
  };
  kernel("add")[4](x, y, out, 1000);
  EXPECT_THAT(errorOf([&] { synchronize(hip); }),
              AllOf(HasSubstr("hip:0: waiting for the device's work: "
                              "hipErrorIllegalAddress"),
                    HasSubstr("add[4, 1, 1]("), HasSubstr("n=1000)")));
}

//===----------------------------------------------------------------------===//
// Kept code
//===----------------------------------------------------------------------===//

TEST_F(HipLaunches, CodeObjectsAreKeptByArchitecture) {
  const std::string folder =
      "/tmp/nereid-hip-cache-" + std::to_string(::getpid());
  ContextOptions options;
  options.cacheDirectory = folder;
  options.cacheBytes = 1 << 20;
  Tensor a = x.to(otherHip), b = y.to(otherHip),
         c = zeros({1000}, f32, otherHip);
  for (int process : {0, 1}) {
    Context own(std::make_unique<FakeCompiler>(world), options);
    Kernel add = Kernel::fromSource("", "add", own);
    out.zero();
    c.zero();
    add[16](x, y, out, 1000);
    add[16](a, b, c, 1000);
    EXPECT_THAT(out.toVector<float>(), Each(3)) << process;
    EXPECT_THAT(c.toVector<float>(), Each(3)) << process;
    EXPECT_EQ(world->requests.size(), 2u) << process;
  }
  std::filesystem::remove_all(folder);
}

namespace {
class HipLibraries : public HipLaunches {
protected:
  std::string used(const Kernel &kernel, Device device) {
    Tensor a = full({64}, 1, f32, device), b = full({64}, 2, f32, device),
           c = zeros({64}, f32, device);
    kernel[1](a, b, c, 64);
    EXPECT_THAT(c.toVector<float>(), Each(3));
    LaunchArgument arguments[] = {a, b, c, 64};
    return kernel.compile(arguments).image.target;
  }
  Kernel fromLibrary() {
    return Kernel::fromLibrary(lib.library(), "add", alone);
  }

  TestLibrary lib;
  Context alone{nullptr, ContextOptions{"/nonexistent", 0}}; // no compiler
};
} // namespace

TEST_F(HipLibraries, CodeObjectsRunOnTheirArchitecture) {
  auto &plain = lib.plain();
  lib.addGpu(plain, "sm_80", ImageFormat::GpuAssembly);
  lib.addGpu(plain, "gfx942", ImageFormat::GpuBinary);
  lib.addGpu(plain, "gfx1100", ImageFormat::GpuBinary);
  Kernel add = fromLibrary();
  EXPECT_EQ(used(add, hip), "gfx942");
  EXPECT_EQ(used(add, otherHip), "gfx1100");
  EXPECT_EQ(used(add, gpu), "sm_80");
  EXPECT_EQ(calls("hipModuleLoadDataEx"), 2);
}

TEST_F(HipLibraries, ADeviceWithoutAnImage) {
  auto &plain = lib.plain();
  lib.addGpu(plain, "gfx90a", ImageFormat::GpuBinary);
  lib.addHost(plain, addEntry<0>, "x86-64-v3");
  EXPECT_THAT(errorOf([&] { used(fromLibrary(), hip); }),
              AllOf(HasSubstr("compiled ahead of time for gfx90a, x86-64-v3; "
                              "hip:0 is gfx942, which runs none of these"),
                    HasSubstr("one more target, gfx942")));
}

TEST_F(HipLibraries, WhatIsNoCodeObjectIsRefused) {
  auto &plain = lib.plain();
  lib.addGpu(plain, "gfx942", ImageFormat::GpuBinary);
  driver().failNext["cuModuleLoadDataEx"] = gpu::NoBinaryForGpu;
  EXPECT_THAT(errorOf([&] { used(fromLibrary(), hip); }),
              HasSubstr("hip:0: loading kernel 'add'"));
}

TEST_F(HipLibraries, ResourcesByTheLibrary) {
  lib.addGpu(lib.plain(), "gfx942", ImageFormat::GpuBinary);
  const LibraryImage &bytes = lib.images[0];
  KernelImage image =
      *decodeImage({reinterpret_cast<const char *>(bytes.bytes), bytes.size});
  EXPECT_EQ((*gpu::deviceOfTarget("gfx942"))->place, hip);
  EXPECT_EQ((*gpu::deviceOfTarget("gfx1100"))->place, otherHip);
  image.target = "gfx90a";
  EXPECT_EQ(gpu::reportResources(image).failure().message,
            "this machine has no gfx90a");
}
