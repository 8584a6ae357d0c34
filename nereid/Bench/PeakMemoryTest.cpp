//===- PeakMemoryTest.cpp - The most that tensors held --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/PeakMemory.h"

#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Observer.h"
#include "nereid/Runtime/Tensor.h"

#include <gtest/gtest.h>
#include <stdexcept>

using namespace nereid;
using namespace nereid::bench;

TEST(PeakMemory, TellsTheWorstMomentAndWhatIsLeft) {
  Tensor before = empty({1000}, f32, Device::cpu()), kept;
  MemoryUse use = memoryOf(Device::cpu(), [&] {
    {
      Tensor a = empty({2048}, f32, Device::cpu()),
             b = empty({4096}, f32, Device::cpu());
      Tensor view = b.reshape({64, 64}); // no memory of its own
    }
    kept = empty({1024}, f32, Device::cpu());
  });
  EXPECT_EQ(use.peak, (2048u + 4096u) * 4u);
  EXPECT_EQ(use.left, 1024 * 4);
}

TEST(PeakMemory, WhatWasThereBeforeMayBeFreed) {
  Tensor before = empty({4096}, f32, Device::cpu());
  MemoryUse use = memoryOf(Device::interp(), [&] { before = Tensor(); });
  EXPECT_EQ(use.peak, 0u);
  EXPECT_EQ(use.left, -4096 * 4);
}

TEST(PeakMemory, ThrowingWorkLeavesNobodyWatching) {
  EXPECT_THROW(
      memoryOf(Device::cpu(), [] { throw std::runtime_error("enough"); }),
      std::runtime_error);
  EXPECT_FALSE(isObserved());
}

TEST(PeakMemory, RefusesWhereAnotherOneWatches) {
  auto other = std::make_shared<Observer>();
  ASSERT_TRUE(observe(other));
  try {
    memoryOf(Device::cpu(), [] {});
    ADD_FAILURE() << "expected an error";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("while a Profiler records"),
              std::string::npos);
  }
  stopObserving(*other);
}
