//===- HostMemoryTest.cpp - Memory of tensors on the host -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/device/HostMemory.h"
#include "nereid/Runtime/Stream.h"
#include "nereid/Runtime/Tensor.h"

#include <gtest/gtest.h>

using namespace nereid;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NEREID_KEEPS_NOTHING
#endif
#endif

namespace {
class HostMemory : public testing::Test {
protected:
  void SetUp() override {
#ifdef NEREID_KEEPS_NOTHING
    GTEST_SKIP() << "freed memory is left to the sanitizer";
#endif
    emptyCache(Device::cpu());
  }
  void TearDown() override { emptyCache(Device::cpu()); }

  static constexpr size_t page = 4096, mebi = size_t{1} << 20;
};
} // namespace

TEST_F(HostMemory, ABlockIsUsedAgain) {
  const void *first = allocateHostMemory(3 * mebi).get();
  EXPECT_EQ(memoryUse(Device::cpu()).cached, 3 * mebi);
  std::shared_ptr<void> second = allocateHostMemory(3 * mebi - 5);
  EXPECT_EQ(second.get(), first);
  EXPECT_EQ(memoryUse(Device::cpu()).cached, 0u);
}

TEST_F(HostMemory, ATensorThatLivesKeepsItsBlock) {
  std::shared_ptr<void> first = allocateHostMemory(mebi);
  EXPECT_NE(allocateHostMemory(mebi).get(), first.get());
}

TEST_F(HostMemory, PartsOfPagesAreNotKept) {
  allocateHostMemory(page - 1);
  EXPECT_EQ(hostMemoryCached(), 0u);
}

TEST_F(HostMemory, TheProcessGrowsLittleBeyondItsTensors) {
  for (size_t pages = 1; pages < 200; ++pages) {
    allocateHostMemory(pages * page);
  }
  // Of each the largest was 199 pages, up to an eighth more as a block.
  EXPECT_LE(hostMemoryCached(), (199 + 25) * page * 5 / 4);
}

TEST_F(HostMemory, IsGivenBack) {
  allocateHostMemory(mebi);
  EXPECT_GT(hostMemoryCached(), 0u);
  emptyCache(Device::cpu());
  EXPECT_EQ(hostMemoryCached(), 0u);
}

TEST_F(HostMemory, LargeBlocksBeginAtAHugePage) {
  for (int i = 0; i < 2; ++i) {
    auto address =
        reinterpret_cast<uintptr_t>(allocateHostMemory(5 * mebi).get());
    EXPECT_EQ(address % (2 * mebi), 0u);
  }
}
