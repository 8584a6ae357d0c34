//===- HipLibraryTest.cpp - Code objects in a program ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler's code objects, in a program without it, go to the HIP library,
// which is a fake: it finds the kernel in them, and a function of the test
// runs.
//
//===----------------------------------------------------------------------===//

#include "aot_forms.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/gpu/testing/FakeDriver.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace nereid;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Runs before main, and so before the environment is read.
[[maybe_unused]] static const int fakeIsTheLibrary =
    ::setenv("NEREID_HIP_DRIVER", NEREID_FAKE_DRIVER, 1) |
    ::setenv("NEREID_CUDA_DRIVER", "none", 1);

TEST(AheadOfTimeOnHip, CodeObjectsGoToTheLibrary) {
  gpu::FakeDriver &driver = gpu::fakeDriver();
  gpu::FakeFunction affine;
  affine.parameterBytes = {8, 8, 8, 4, 4};
  unsigned threads = 0;
  affine.run = [&](const gpu::FakeKernelCall &call) {
    threads = call.threads;
    for (uint64_t i = 0; i < call.values[3]; ++i) {
      call.pointer<float>(2)[i] =
          2 * call.pointer<float>(0)[i] + call.pointer<float>(1)[i];
    }
  };
  driver.functions["affine"] = affine;
  const Device hip = Device::hip(0); // a gfx942
  EXPECT_EQ(Device::best(), hip);
  Tensor x = Tensor::fromVector<float>({1, 2, 3}, Shape{3}, hip),
         bias = Tensor::fromVector<float>({10, 20, 30}, Shape{3}, hip),
         y = zeros({3}, f32, hip);
  forms::affine({1}, x, bias, y, 3, 2, "relu");
  EXPECT_THAT(y.toVector<float>(), ElementsAre(12, 24, 36));
  constexpr unsigned lanes = 64, waves = 4;
  EXPECT_EQ(threads, lanes * waves);
  EXPECT_EQ(driver.calls["hipModuleLoadDataEx"], 1);
  EXPECT_EQ(driver.calls["hipModuleLaunchKernel"], 1);
  driver.functions["affine"].run = nullptr;
}

TEST(AheadOfTimeOnHip, OtherArchitecturesHaveNoImage) {
  const Device other = Device::hip(1); // a gfx1100
  Tensor x = zeros({3}, f32, other), y = zeros({3}, f32, other);
  std::string message;
  try {
    forms::affine({1}, x, x, y, 3, 2, "relu");
  } catch (const Error &error) {
    message = error.what();
  }
  EXPECT_THAT(message, AllOf(HasSubstr("hip:1 is gfx1100, which runs none of "
                                       "these"),
                             HasSubstr("one more target, gfx1100")));
}
