//===- CudaLibraryTest.cpp - Images compiled ahead of time, on GPUs -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuModule.h"
#include "nereid/Runtime/gpu/testing/CudaFixture.h"
#include "nereid/Runtime/library/Precompiled.h"
#include "nereid/Runtime/testing/LibraryFixture.h"

#include <filesystem>
#include <unistd.h>

using namespace nereid;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

namespace {
/// cuda:0 is an sm_90a, cuda:1 an sm_80.
class CudaLibraries : public CudaFixture {
protected:
  Kernel fromLibrary() {
    return Kernel::fromLibrary(lib.library(), "add", context);
  }
  /// The target of the code that a launch on the device used.
  std::string used(const Kernel &kernel, Device device) {
    Tensor x = full({64}, 1, f32, device), y = full({64}, 2, f32, device),
           out = zeros({64}, f32, device);
    kernel[1](x, y, out, 64);
    EXPECT_THAT(out.toVector<float>(), Each(3));
    LaunchArgument arguments[] = {x, y, out, 64};
    return kernel.compile(arguments).image.target;
  }

  TestLibrary lib;
  // Without a compiler.
  Context context{nullptr, ContextOptions{"/nonexistent", 0}};
};
} // namespace

static int rank(const char *target, ImageFormat format, int major, int minor) {
  KernelImage image;
  image.target = target;
  image.format = format;
  return rankOnGpu(image, major, minor);
}

TEST(RankOnGpu, Order) {
  constexpr auto cubin = ImageFormat::GpuBinary, ptx = ImageFormat::GpuAssembly;
  // Best first, for an sm_89 and for an sm_90a.
  EXPECT_GT(rank("sm_89", cubin, 8, 9), rank("sm_86", cubin, 8, 9));
  EXPECT_GT(rank("sm_86", cubin, 8, 9), rank("sm_80", cubin, 8, 9));
  EXPECT_GT(rank("sm_80", cubin, 8, 9), rank("sm_89", ptx, 8, 9));
  EXPECT_GT(rank("sm_89", ptx, 8, 9), rank("sm_75", ptx, 8, 9));
  EXPECT_GT(rank("sm_90a", cubin, 9, 0), rank("sm_90", cubin, 9, 0));
  EXPECT_GT(rank("sm_90", cubin, 9, 0), rank("sm_90a", ptx, 9, 0));
  EXPECT_GT(rank("sm_90a", ptx, 9, 0), rank("sm_90", ptx, 9, 0));
  EXPECT_GT(rank("sm_90", ptx, 9, 0), rank("sm_80", ptx, 9, 0));
  EXPECT_GE(rank("sm_75", ptx, 9, 0), 0);
}

TEST(RankOnGpu, WhatDoesNotRun) {
  constexpr auto cubin = ImageFormat::GpuBinary, ptx = ImageFormat::GpuAssembly;
  EXPECT_LT(rank("sm_80", cubin, 9, 0), 0); // another major
  EXPECT_LT(rank("sm_89", cubin, 8, 6), 0); // a higher minor
  EXPECT_LT(rank("sm_89", ptx, 8, 6), 0);
  EXPECT_LT(rank("sm_90a", cubin, 10, 0), 0); // of that chip alone
  EXPECT_LT(rank("sm_90a", ptx, 10, 0), 0);
  EXPECT_LT(rank("sm_100a", cubin, 10, 3), 0);
  EXPECT_GE(rank("sm_100", cubin, 10, 3), 0);
  EXPECT_LT(rank("x86-64", cubin, 9, 0), 0);
}

TEST_F(CudaLibraries, MachineCodeIsLoadedAsItIs) {
  auto &plain = lib.plain();
  lib.addGpu(plain, "sm_80", ImageFormat::GpuAssembly);
  lib.addGpu(plain, "sm_80", ImageFormat::GpuBinary);
  lib.addGpu(plain, "sm_90a", ImageFormat::GpuBinary);
  Kernel add = fromLibrary();
  EXPECT_EQ(used(add, gpu), "sm_90a");
  EXPECT_EQ(used(add, other), "sm_80");
  EXPECT_EQ(calls("cuModuleLoadDataEx"), 2);
  EXPECT_TRUE(driver().jitOptions.empty());
}

TEST_F(CudaLibraries, PtxIsAssembledByTheDriver) {
  lib.addGpu(lib.plain(), "sm_80", ImageFormat::GpuAssembly);
  EXPECT_EQ(used(fromLibrary(), gpu), "sm_80");
  EXPECT_EQ(driver().jitOptions[gpu::JitLineInfo], 1u);
}

TEST_F(CudaLibraries, ADriverThatRefusesMachineCodeGetsPtx) {
  auto &plain = lib.plain();
  lib.addGpu(plain, "sm_90a", ImageFormat::GpuAssembly);
  lib.addGpu(plain, "sm_90a", ImageFormat::GpuBinary);
  driver().failNext["cuModuleLoadDataEx"] = gpu::NoBinaryForGpu;
  EXPECT_EQ(used(fromLibrary(), gpu), "sm_90a");
  EXPECT_EQ(calls("cuModuleLoadDataEx"), 2);
}

TEST_F(CudaLibraries, WhenNothingLoadsTheFirstReasonIsTold) {
  lib.addGpu(lib.plain(), "sm_90a", ImageFormat::GpuBinary);
  driver().failNext["cuModuleLoadDataEx"] = gpu::NoBinaryForGpu;
  EXPECT_THAT(errorOf([&] { used(fromLibrary(), gpu); }),
              HasSubstr("loading kernel 'add'"));
}

TEST_F(CudaLibraries, ADeviceWithoutAnImage) {
  auto &plain = lib.plain();
  lib.addGpu(plain, "sm_90a", ImageFormat::GpuBinary);
  lib.addHost(plain, addEntry<0>, "x86-64-v3");
  EXPECT_THAT(errorOf([&] { used(fromLibrary(), other); }),
              AllOf(HasSubstr("compiled ahead of time for sm_90a, x86-64-v3; "
                              "cuda:1 is sm_80, which runs none of these"),
                    HasSubstr("one more target, sm_80")));
}

TEST_F(CudaLibraries, ResourcesByTheDriver) {
  lib.addGpu(lib.plain(), "sm_90a", ImageFormat::GpuAssembly);
  const LibraryImage &bytes = lib.images[0];
  KernelImage image =
      *decodeImage({reinterpret_cast<const char *>(bytes.bytes), bytes.size});
  EXPECT_EQ(*gpu::reportResources(image),
            "add [sm_90a]: 16 registers, 16 bytes spilled, 0 local, 0 shared, "
            "128 threads, 16 blocks a multiprocessor, occupancy 100 %");
  image.target = "sm_89";
  EXPECT_EQ(gpu::reportResources(image).failure().message,
            "this machine has no sm_89");
}

TEST_F(CudaLibraries, AddressesOfADevice) {
  lib.addGpu(lib.plain(), "sm_90a", ImageFormat::GpuBinary);
  Tensor x = full({64}, 1, f32, gpu), y = full({64}, 2, f32, gpu),
         out = zeros({64}, f32, gpu);
  fromLibrary().on(gpu)[1](Pointer(static_cast<float *>(x.data())),
                           Pointer(static_cast<float *>(y.data())),
                           Pointer(static_cast<float *>(out.data())), 64);
  EXPECT_THAT(out.toVector<float>(), Each(3));
}
