//===- HipDeviceTest.cpp - AMD's GPUs, by a fake HIP library --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What HIP has of its own; the Cuda tests have what both share.
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDevice.h"

#include "nereid/Runtime/DLPack.h"
#include "nereid/Runtime/DeviceProperties.h"
#include "nereid/Runtime/gpu/testing/HipFixture.h"

using namespace nereid;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

namespace {
class HipDevices : public HipFixture {};
} // namespace

TEST_F(HipDevices, HaveNames) {
  EXPECT_EQ(Device::parse("hip"), hip);
  EXPECT_EQ(Device::parse("hip:1"), otherHip);
  EXPECT_EQ(otherHip.str(), "hip:1");
  EXPECT_FALSE(hip.isHost());
  EXPECT_NE(hip, gpu);
  EXPECT_THAT(errorOf([] { Device::parse("hip:2"); }),
              AllOf(HasSubstr("no device 'hip:2': there are 2 hip devices"),
                    HasSubstr("cuda:1, hip:0, hip:1, cpu")));
  EXPECT_THAT(errorOf([] { Device::parse("hips"); }),
              HasSubstr("did you mean 'hip'"));
  EXPECT_THAT(errorOf([] { empty({4}, f32, Device::hip(7)); }),
              HasSubstr("no device 'hip:7': this machine has 2 hip devices"));
}

TEST_F(HipDevices, AMissingLibraryIsNamed) {
  auto library = gpu::openDriver(Device::Kind::Hip, "/nonexistent/libamdhip64");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.failure().code, ErrorCode::NotFound);
  EXPECT_THAT(library.failure().message,
              AllOf(HasSubstr("no HIP library: /nonexistent/libamdhip64"),
                    HasSubstr("install the HIP runtime of ROCm"),
                    HasSubstr("use the device 'cpu'")));
  EXPECT_THAT(gpu::openDriver(Device::Kind::Hip, "libm.so.6").failure().message,
              HasSubstr("libm.so.6 is no HIP library"));
}

TEST_F(HipDevices, AnOldLibraryIsToldItsVersion) {
  driver().hipVersion = 50731921;
  auto opened = gpu::openDriver(Device::Kind::Hip, NEREID_FAKE_DRIVER);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.failure().code, ErrorCode::Unsupported);
  EXPECT_THAT(opened.failure().message,
              AllOf(HasSubstr("supports HIP 5.7"),
                    HasSubstr("needs 6.0 or newer: update the driver")));
}

TEST_F(HipDevices, VersionsHaveTheirApi) {
  auto version = [](Device::Kind kind) {
    return (*gpu::loadDriver(kind))->versionText();
  };
  EXPECT_EQ(version(Device::Kind::Hip), "HIP 6.3");
  EXPECT_EQ(version(Device::Kind::Cuda), "CUDA 12.4");
}

TEST_F(HipDevices, ArchitecturesComeWithoutFeatures) {
  DeviceProperties first = properties(hip);
  EXPECT_EQ(first.name, "Fake Instinct");
  EXPECT_EQ(first.architecture, "gfx942");
  EXPECT_EQ(properties(otherHip).architecture, "gfx1100");
  EXPECT_EQ(first.computeCapability, 0); // of NVIDIA's
  EXPECT_EQ(first.processors, 4);
  // Not that of all compute units together.
  EXPECT_EQ(first.sharedBytes, 64 << 10);
  EXPECT_EQ(properties(gpu).architecture, "sm_90a");
}

TEST_F(HipDevices, OnlyThoseWithKernelsAreChosenUnasked) {
  for (const char *name :
       {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"}) {
    EXPECT_TRUE(gpu::isCompiledFor(name)) << name;
  }
  EXPECT_FALSE(gpu::isCompiledFor("gfx1036"));
  EXPECT_FALSE(gpu::isCompiledFor("gfx9"));
}

TEST_F(HipDevices, TensorsAreCopied) {
  for (int64_t n : {1, 1000, 20000, (1 << 21) + 12345}) {
    Tensor x = arange({n}, i32, Device::cpu());
    Tensor there = x.to(hip), beside = there.to(otherHip);
    EXPECT_EQ(beside.device(), otherHip);
    EXPECT_EQ(beside.toVector<int>(), x.toVector<int>());
  }
  EXPECT_THAT(full({5}, 7, i64, hip).toVector<int64_t>(), Each(7));
  EXPECT_GT(calls("hipMemcpyDtoDAsync"), 0);
  EXPECT_EQ(calls("cuMemcpyPeerAsync"), 0);
  // Strided, so by way of the host.
  Tensor x = arange({3, 4}, f32, hip);
  EXPECT_EQ(x.transpose(0, 1).contiguous().toVector<float>(),
            arange({3, 4}, f32, Device::cpu())
                .transpose(0, 1)
                .contiguous()
                .toVector<float>());
}

TEST_F(HipDevices, TensorsGoToAnotherVendorsGpuByWayOfTheHost) {
  Tensor x = arange({100}, f32, gpu);
  int before = calls("cuMemcpyAsync");
  Tensor y = x.to(hip), back = y.to(gpu);
  EXPECT_EQ(calls("cuMemcpyAsync"), before);
  EXPECT_EQ(y.device(), hip);
  EXPECT_EQ(back.toVector<float>(), x.toVector<float>());
}

TEST_F(HipDevices, MemoryIsCountedByDevice) {
  Tensor x = empty({1000}, f32, hip);
  EXPECT_EQ(memoryUse(hip).used, 4096u);
  EXPECT_EQ(memoryUse(gpu).used, 0u);
  EXPECT_EQ(memoryUse(hip).total, size_t{64} << 20);
  EXPECT_THAT(errorOf([&] { empty({int64_t{1} << 30}, f32, hip); }),
              HasSubstr("hip:0: out of memory: 4294967296 bytes wanted"));
}

TEST_F(HipDevices, DLPackCallsThemRocm) {
  constexpr int rocm = 10;
  Tensor x = arange({3, 4}, f32, otherHip);
  dlpack::ManagedTensor *managed = toDLPack(x);
  EXPECT_EQ(managed->tensor.device.type, rocm);
  EXPECT_EQ(managed->tensor.device.index, 1);
  Tensor imported = fromDLPack(managed);
  EXPECT_EQ(imported.device(), otherHip);
  EXPECT_EQ(imported.data(), x.data());
  managed = toDLPack(x);
  managed->tensor.device.index = 5;
  EXPECT_THAT(errorOf([&] { fromDLPack(managed); }),
              HasSubstr("there are 2 hip devices"));
  managed->deleter(managed);
}

TEST_F(HipDevices, StreamsAndEventsOrderWork) {
  Stream side(hip), before = Stream::current(hip);
  EXPECT_EQ(side.device(), hip);
  EXPECT_NE(Stream::current(otherHip).handle(), before.handle());
  Tensor x = full({64}, 1, f32, hip), out = zeros({64}, f32, hip);
  Event done(hip);
  {
    StreamGuard guard(side);
    EXPECT_EQ(Stream::current(hip).handle(), side.handle());
    EXPECT_NE(Stream::current(gpu).handle(), side.handle());
    out.fill(3);
  }
  done.record(side);
  EXPECT_FALSE(done.isDone());
  before.wait(done);
  EXPECT_THAT(out.toVector<float>(), Each(3));
  EXPECT_TRUE(done.isDone());
}

TEST_F(HipDevices, FailuresAreNamedByTheLibrary) {
  Tensor x = zeros({4}, f32, hip);
  driver().failNext["cuMemcpyDtoHAsync_v2"] = 1;
  EXPECT_THAT(errorOf([&] { x.toVector<float>(); }),
              HasSubstr("hip:0: copying from the device: hipErrorOther: as the "
                        "fake library says"));
}
