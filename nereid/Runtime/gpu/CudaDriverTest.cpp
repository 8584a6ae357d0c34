//===- CudaDriverTest.cpp - Which drivers and devices there are -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/gpu/GpuDevice.h"

#include "nereid/Runtime/gpu/testing/CudaFixture.h"
#include "nereid/Support/Knobs.h"

#include <cstdlib>

using namespace nereid;
using testing::AllOf;
using testing::HasSubstr;

/// Runs before main, and so before the environment is read.
[[maybe_unused]] static const int fakeIsTheDriver =
    ::setenv("NEREID_CUDA_DRIVER", NEREID_FAKE_DRIVER, 1) |
    ::setenv("NEREID_HIP_DRIVER", NEREID_FAKE_DRIVER, 1);

namespace {
class CudaDevices : public CudaFixture {};
} // namespace

TEST(CudaDriver, ANameThatIsNoFile) {
  for (const char *name : {"/dev/zero", "/dev/stdout", "/tmp"}) {
    EXPECT_THAT(gpu::openDriver(Device::Kind::Cuda, name).failure().message,
                HasSubstr(std::string(name) + " cannot be loaded"));
  }
}

TEST_F(CudaDevices, AMissingDriverIsNamed) {
  auto driver =
      gpu::openDriver(Device::Kind::Cuda, "/nonexistent/libcuda.so.1");
  ASSERT_FALSE(driver.ok());
  EXPECT_EQ(driver.failure().code, ErrorCode::NotFound);
  EXPECT_THAT(driver.failure().message,
              AllOf(HasSubstr("no NVIDIA driver"),
                    HasSubstr("/nonexistent/libcuda.so.1"),
                    HasSubstr("use the device 'cpu'")));
  EXPECT_THAT(
      gpu::openDriver(Device::Kind::Cuda, "libm.so.6").failure().message,
      HasSubstr("libm.so.6 is no NVIDIA driver"));
}

TEST_F(CudaDevices, AnOldDriverIsToldItsVersion) {
  driver().version = 11020;
  auto opened = gpu::openDriver(Device::Kind::Cuda, NEREID_FAKE_DRIVER);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.failure().code, ErrorCode::Unsupported);
  EXPECT_THAT(opened.failure().message,
              AllOf(HasSubstr("supports CUDA 11.2"),
                    HasSubstr("needs 11.8 or newer: update the driver")));
}

TEST_F(CudaDevices, ComeFirst) {
  EXPECT_EQ(Device::best(), gpu);
  EXPECT_EQ(Device::available(),
            (std::vector<Device>{gpu, other, Device::hip(0), Device::hip(1),
                                 Device::cpu(), Device::interp()}));
  EXPECT_EQ(Device::parse("cuda"), gpu);
  EXPECT_EQ(Device::parse("cuda:1"), other);
  EXPECT_EQ(other.str(), "cuda:1");
  EXPECT_FALSE(gpu.isHost());
  EXPECT_TRUE(Device::cpu().isHost());
  Knobs settings = knobs();
  settings.interp = true;
  Knobs saved = exchangeKnobs(settings);
  EXPECT_EQ(Device::best(), Device::cpu());
  exchangeKnobs(saved);
}

TEST_F(CudaDevices, AreCounted) {
  EXPECT_THAT(errorOf([] { Device::parse("cuda:2"); }),
              AllOf(HasSubstr("no device 'cuda:2': there are 2 cuda devices"),
                    HasSubstr("cuda:0, cuda:1, hip:0, hip:1, cpu, interp")));
  EXPECT_THAT(errorOf([] { Device::parse("cuda:x"); }), HasSubstr("number"));
  EXPECT_THAT(errorOf([] { Device::parse("cud"); }),
              HasSubstr("did you mean 'cuda'"));
  EXPECT_THAT(errorOf([] { empty({4}, f32, Device::cuda(7)); }),
              HasSubstr("no device 'cuda:7': this machine has 2"));
}

TEST_F(CudaDevices, TargetsFollowTheCapability) {
  auto target = [](int major, int minor) {
    gpu::DeviceProperties properties;
    properties.major = major;
    properties.minor = minor;
    return properties.target();
  };
  EXPECT_EQ(target(7, 5), "sm_75");
  EXPECT_EQ(target(8, 9), "sm_89");
  EXPECT_EQ(target(9, 0), "sm_90a");
  EXPECT_EQ(target(10, 0), "sm_100a");
  EXPECT_EQ(target(12, 0), "sm_120a");
}
