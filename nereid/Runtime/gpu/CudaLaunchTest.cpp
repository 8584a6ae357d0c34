//===- CudaLaunchTest.cpp - Kernels on a GPU ------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDevice.h"
#include "nereid/Runtime/gpu/testing/CudaFixture.h"

#include "nereid/Support/Files.h"
#include "nereid/Support/Knobs.h"

#include <filesystem>
#include <unistd.h>

using namespace nereid;
using namespace nereid::literals;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

namespace {
class CudaLaunches : public CudaFixture {
protected:
  Tensor x = full({1000}, 1, f32, gpu), y = full({1000}, 2, f32, gpu),
         out = zeros({1000}, f32, gpu);
};
} // namespace

TEST_F(CudaLaunches, RunOnTheDeviceOfTheirTensors) {
  Kernel add = kernel("add");
  add[16](x, y, out, 1000);
  EXPECT_THAT(out.toVector<float>(), Each(3));
  EXPECT_EQ(world->requests.back().target, "sm_90a");
  EXPECT_EQ(std::get<RuntimeArgument>(lastSpecs()[3]).dtype, i32);
  EXPECT_TRUE(std::get<RuntimeArgument>(lastSpecs()[0]).divisibleBy16);
  // The other GPU is of another architecture, and has its own code.
  Tensor a = x.to(other), b = y.to(other), c = out.to(other);
  c.zero();
  add[16](a, b, c, 1000);
  EXPECT_EQ(world->requests.back().target, "sm_80");
  EXPECT_THAT(c.toVector<float>(), Each(3));
  EXPECT_EQ(world->loads, 0); // the compiler loads host code only
}

TEST_F(CudaLaunches, AreAsynchronous) {
  int ran = 0;
  driver().functions["add"].run = [&](const gpu::FakeKernelCall &call) {
    ++ran;
    EXPECT_EQ(call.threads, 128u);
    EXPECT_EQ(call.grid[0], 5u);
    EXPECT_EQ(call.grid[2], 2u);
    EXPECT_EQ(call.values[3], 999u);
  };
  kernel("add")[{5, 3, 2}](x, y, out, 999);
  EXPECT_EQ(ran, 0);
  synchronize(gpu);
  EXPECT_EQ(ran, 1);
}

TEST_F(CudaLaunches, ThoseOfAThousandContextsLeaveNoModules) {
  int loaded = calls("cuModuleLoadDataEx"), unloaded = calls("cuModuleUnload");
  for (int i = 0; i < 1000; ++i) {
    Context own(std::make_unique<FakeCompiler>(world), withoutDisk({}));
    Kernel::fromSource("", "add", own)[16](x, y, out, 1000);
  }
  EXPECT_EQ(calls("cuModuleLoadDataEx") - loaded, 1000);
  EXPECT_EQ(calls("cuModuleUnload") - unloaded, 1000);
}

TEST_F(CudaLaunches, ABlockHasTheThreadsOfTheImage) {
  world->kernels["add"].lanes = 64;
  unsigned threads = 0;
  driver().functions["add"].run = [&](const gpu::FakeKernelCall &call) {
    threads = call.threads;
  };
  kernel("add")[1](x, y, out, 9, "num_warps"_a = 2);
  synchronize(gpu);
  EXPECT_EQ(threads, 128u);
}

TEST_F(CudaLaunches, MisalignedPointersAreAnotherForm) {
  kernel("add")[1](x.slice(0, 1), y, out, 64);
  EXPECT_FALSE(std::get<RuntimeArgument>(lastSpecs()[0]).divisibleBy16);
  EXPECT_TRUE(std::get<RuntimeArgument>(lastSpecs()[1]).divisibleBy16);
}

TEST_F(CudaLaunches, WrongLaunchesAreRefused) {
  Kernel add = kernel("add");
  EXPECT_THAT(
      errorOf([&] { add[1](x, zeros({9}, f32, Device::cpu()), out, 9); }),
      AllOf(HasSubstr("'y_ptr' is on cpu, but 'x_ptr' is on cuda:0"),
            HasSubstr("tensor.to(device)")));
  EXPECT_THAT(errorOf([&] { add[{1, 65536}](x, y, out, 9); }),
              AllOf(HasSubstr("grid dimension 1 is 65536; the limit of cuda "
                              "devices is 65535"),
                    HasSubstr("put the largest dimension first")));
  add[2147483647](x, y, out, 9);
  EXPECT_THAT(errorOf([&] { add[1](x, y, out, 9, "num_warps"_a = 3); }),
              HasSubstr("expected a power of two from 1 to 32"));
  EXPECT_THAT(errorOf([&] { add[1](x, y, out, 9, "num_warps"_a = 64); }),
              HasSubstr("expected a power of two from 1 to 32"));
  add[0](x, y, out, 9); // nothing to do
}

TEST_F(CudaLaunches, ResourcesOfABlock) {
  FakeKernel big = addKernel();
  big.description.name = "big";
  big.sharedBytes = 100 << 10;
  world->kernels["big"] = big;
  driver().functions["big"] = driver().functions["add"];
  uint32_t shared = 0;
  driver().functions["big"].run = [&](const gpu::FakeKernelCall &call) {
    shared = call.sharedBytes;
  };
  kernel("big")[1](x, y, out, 9);
  synchronize(gpu);
  EXPECT_EQ(shared, 100u << 10);
  EXPECT_EQ(driver().functionAttributes["big:8"], 100 << 10);

  world->kernels["big"].sharedBytes = 227 << 10;
  driver().functions["big"].staticSharedBytes = 1024;
  EXPECT_THAT(
      errorOf([&] { kernel("big")[1](x, y, out, 9, "num_stages"_a = 7); }),
      AllOf(HasSubstr("needs 233472 bytes of shared memory a block, and cuda:0 "
                      "has 232448"),
            HasSubstr("num_stages")));
  world->kernels["big"].sharedBytes = 0;
  driver().functions["big"].maxThreads = 256;
  driver().functions["big"].registers = 200;
  EXPECT_THAT(
      errorOf([&] { kernel("big")[1](x, y, out, 9, "num_warps"_a = 16); }),
      AllOf(HasSubstr("has 512 threads a block (num_warps=16), and with 200 "
                      "registers a thread cuda:0 runs at most 256 threads"),
            HasSubstr("use a smaller num_warps")));
}

TEST_F(CudaLaunches, AssemblerErrorsAreOursWithTheLog) {
  world->kernels["add"].ptx = ".wrong";
  try {
    kernel("add")[1](x, y, out, 9);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::Internal);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("assembling kernel 'add' for sm_90a"),
                      HasSubstr("ptxas fatal: line 2: Unknown .wrong")));
  }
}

TEST_F(CudaLaunches, AssemblerOptionsAndReport) {
  Knobs settings = knobs();
  settings.log = {"compile"};
  Knobs saved = exchangeKnobs(settings);
  testing::internal::CaptureStderr();
  std::vector<LaunchArgument> arguments = {x, y, out, 9,
                                           LaunchArgument("maxnreg", 64)};
  CompiledInfo info = kernel("add").compile(arguments);
  std::string log = testing::internal::GetCapturedStderr();
  exchangeKnobs(saved);
  EXPECT_EQ(driver().jitOptions[gpu::JitMaxRegisters], 64u);
  EXPECT_EQ(driver().jitOptions[gpu::JitLineInfo], 1u);
  EXPECT_EQ(info.image.numRegisters, 16u);
  EXPECT_EQ(info.image.spillBytes, 16u);
  EXPECT_EQ(info.image.format, ImageFormat::GpuAssembly);
  EXPECT_THAT(log, AllOf(HasSubstr("add [sm_90a]: 16 registers, 16 bytes "
                                   "spilled, 0 local, 0 shared, 128 threads"),
                         HasSubstr("occupancy 100 %")));
}

TEST_F(CudaLaunches, ADiskHitKnowsItsSpills) {
  std::string folder = "/tmp/nereid-cuda-cache-" + std::to_string(::getpid());
  auto open = [&] {
    return Context(std::make_unique<FakeCompiler>(world),
                   ContextOptions{folder, uint64_t{1} << 20});
  };
  auto compile = [&](Context &context, const Tensor &tensor) {
    Kernel k = Kernel::fromSource(Source{"add.py", "", {}}, "add", context);
    std::vector<LaunchArgument> arguments = {tensor, tensor, tensor, 9};
    return k.compile(arguments);
  };
  auto origin = [&](Context &context, const Tensor &tensor) {
    return compile(context, tensor).origin;
  };
  using Origin = CompiledInfo::Origin;
  int unloads = calls("cuModuleUnload"); // of the test before
  {
    Context first = open();
    EXPECT_EQ(origin(first, x), Origin::Compiler);
    EXPECT_EQ(origin(first, x.to(other)), Origin::Compiler); // sm_80
    EXPECT_EQ(origin(first, x), Origin::Memory);
  }
  EXPECT_EQ(calls("cuModuleUnload") - unloads, 2);
  // The driver finds machine code in its own cache, and says nothing of it.
  driver().hasMachineCode = true;
  Context second = open();
  CompiledInfo known = compile(second, x);
  EXPECT_EQ(known.origin, Origin::Disk);
  EXPECT_EQ(known.image.spillBytes, 16u);
  EXPECT_EQ(origin(second, x.to(other)), Origin::Disk);
  std::filesystem::remove_all(folder);
}

TEST_F(CudaLaunches, ACallerMayChangeTheContext) {
  Kernel add = kernel("add");
  add[16](x, y, out, 1000);
  int before = calls("cuCtxGetCurrent");
  add[16](x, y, out, 1000);
  EXPECT_EQ(calls("cuCtxGetCurrent"), before) << "asked although known";
  // As another library might leave it; the fake refuses launches without one.
  driver().failNext["cuLaunchKernel"] = gpu::InvalidContext;
  add[16](x, y, out, 1000);
  EXPECT_GT(calls("cuCtxGetCurrent"), before);
  EXPECT_THAT(out.toVector<float>(), Each(3));
}

TEST_F(CudaLaunches, CooperativeGridsGoToTheirEntryPoint) {
  Kernel add = kernel("add");
  int before = calls("cuLaunchCooperativeKernel");
  for (int i = 0; i < 2; ++i) {
    add[16](x, y, out, 1000, "launch_cooperative_grid"_a = true);
    EXPECT_THAT(out.toVector<float>(), Each(3));
    out.zero();
  }
  EXPECT_EQ(calls("cuLaunchCooperativeKernel"), before + 2);
  add[16](x, y, out, 1000);
  EXPECT_EQ(calls("cuLaunchCooperativeKernel"), before + 2);
  driver().failNext["cuLaunchCooperativeKernel"] =
      gpu::CooperativeLaunchTooLarge;
  EXPECT_THAT(
      errorOf(
          [&] { add[1000](x, y, out, 9, "launch_cooperative_grid"_a = true); }),
      AllOf(HasSubstr("launch option 'launch_cooperative_grid': expected at "
                      "most"),
            HasSubstr("can run at once, got 1000")));
}

TEST_F(CudaLaunches, DependentLaunchesMayBeginEarly) {
  Kernel add = kernel("add");
  for (int i = 0; i < 2; ++i) { // the second one by its plan
    add[16](x, y, out, 1000, "launch_pdl"_a = true);
    EXPECT_THAT(out.toVector<float>(), Each(3));
    out.zero();
  }
  EXPECT_EQ(driver().dependentLaunches, 2);
  add[16](x, y, out, 1000, "launch_pdl"_a = false);
  EXPECT_EQ(driver().dependentLaunches, 2);
  // The second GPU is an 8.0.
  add[16](x.to(other), y.to(other), out.to(other), 1000, "launch_pdl"_a = true);
  EXPECT_EQ(driver().dependentLaunches, 2);
}

TEST_F(CudaLaunches, ALaunchThatTheDriverRefuses) {
  driver().failNext["cuLaunchKernel"] = gpu::LaunchOutOfResources;
  EXPECT_THAT(errorOf([&] { kernel("add")[16](x, y, out, 9); }),
              HasSubstr("launching kernel 'add': "
                        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
}

TEST_F(CudaLaunches, FatalFailuresNameKernelsAndArguments) {
  kernel("add")[16](x, y, out, 500);
  kernel("add")[4](x, y, out, 70000);
  driver().functions["add"].run = [&](const gpu::FakeKernelCall &) {
    driver().fatal = gpu::IllegalAddress;
  };
  try {
    synchronize(gpu);
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::KernelFault);
    char address[32];
    std::snprintf(address, sizeof(address), "%p", x.data());
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"),
                      HasSubstr("launched last: add[4, 1, 1](x_ptr=" +
                                std::string(address)),
                      HasSubstr("n=70000), before it add[16, 1, 1]("),
                      HasSubstr("n=500"), HasSubstr("NEREID_CHECK=oob")));
  }
  // Later calls tell the same, and do not blame the kernel they launch.
  EXPECT_THAT(errorOf([&] { kernel("add")[1](x, y, out, 9); }),
              HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(errorOf([&] { x.toVector<float>(); }),
              AllOf(HasSubstr("n=70000"), Not(HasSubstr("add[1, 1, 1]"))));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {
class CudaFaults : public CudaLaunches {
protected:
  /// Launches `add` with one site; `body` gets the record.
  std::string faultOf(ImageSite::Kind kind,
                      std::function<void(DeviceFault &)> body, int64_t n = 9) {
    FakeKernel &k = world->kernels["add"];
    ImageSite site;
    site.kind = kind;
    site.message = kind == ImageSite::Kind::Assert ? "n is positive" : "";
    site.location = {"add.py", 7, 5, 7, 12};
    site.sourceLine = "    tl.load(x_ptr + offsets)";
    site.parameter = 0;
    site.elementBytes = 4;
    site.shape = {4, 8};
    k.sites = {site};
    k.hasFaultRecord = true;
    driver().functions["add"].parameterBytes = {8, 8, 8, 4, 8};
    driver().functions["add"].run = [=](const gpu::FakeKernelCall &call) {
      body(*call.pointer<DeviceFault>(4));
    };
    Knobs settings = knobs();
    settings.check = {"oob"};
    Knobs saved = exchangeKnobs(settings);
    std::string text = errorOf([&] { kernel("add")[4](x, y, out, n); });
    exchangeKnobs(saved);
    return text;
  }
};
} // namespace

TEST_F(CudaFaults, AssertsReadAsOnTheCpu) {
  std::string text = faultOf(ImageSite::Kind::Assert, [](DeviceFault &fault) {
    fault.state = DeviceFault::Written;
    fault.site = 0;
    fault.element = 17;
    fault.programId[0] = 3;
  });
  EXPECT_THAT(text, AllOf(HasSubstr("add.py:7:5: error: device_assert failed: "
                                    "n is positive"),
                          HasSubstr("      ^^^^^^^\n"),
                          HasSubstr("in program (3, 0, 0) of kernel 'add', "
                                    "element (2, 1) of the tile")));
}

TEST_F(CudaFaults, BoundsAreThoseOfTheTensors) {
  auto begin = reinterpret_cast<uint64_t>(x.data());
  std::string text = faultOf(ImageSite::Kind::Bounds, [&](DeviceFault &fault) {
    EXPECT_EQ(fault.rangeCount, 3u);
    auto *ranges = reinterpret_cast<const uint64_t *>(fault.ranges);
    EXPECT_EQ(ranges[0], begin);
    EXPECT_EQ(ranges[1], begin + 4000);
    fault.value = begin + 4000;
    fault.state = DeviceFault::Written;
  });
  EXPECT_THAT(text,
              HasSubstr("out-of-bounds access: element 1000 of 'x_ptr', "
                        "which is fp32[1000]: its elements are 0 to 999"));
}

TEST_F(CudaFaults, NothingIsToldWhenNothingFailed) {
  EXPECT_EQ(faultOf(ImageSite::Kind::Nan, [](DeviceFault &) {}), "");
  kernel("add");
  EXPECT_THAT(errorOf([&] {
                Graph::capture(gpu, [&] { kernel("add")[4](x, y, out, 9); });
              }),
              HasSubstr("cannot be part of a graph"));
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

TEST_F(CudaLaunches, AWarmLaunchAsksTheDriverOnce) {
  Kernel add = kernel("add");
  add[16](x, y, out, 1000);
  synchronize(gpu);
  auto total = [&] {
    int sum = 0;
    for (auto &[symbol, count] : driver().calls) {
      sum += count;
    }
    return sum;
  };
  int before = total();
  for (int i = 0; i < 100; ++i) {
    add[16](x, y, out, 1000);
  }
  EXPECT_EQ(total() - before, 100);
}
