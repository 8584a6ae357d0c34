//===- AmdgpuTargetTest.cpp -----------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/AmdgpuTarget.h"

#include "gtest/gtest.h"

#include <bit>

using namespace nereid;

TEST(AmdgpuTarget, KnowsItsArchitectures) {
  std::vector<std::string> names = amdgpu::architectures();
  EXPECT_EQ(names, (std::vector<std::string>{"gfx90a", "gfx942", "gfx950",
                                             "gfx1100", "gfx1201"}));
  for (const std::string &name : names) {
    auto target = amdgpu::resolve(name);
    ASSERT_TRUE(target.ok()) << name;
    const tilegpu::TargetInfo &info = target->info;
    EXPECT_EQ(info.name, name);
    EXPECT_TRUE(amdgpu::isArchitecture(name));
    EXPECT_EQ(info.lanes * info.mostWarps, 1024u) << name;
    EXPECT_TRUE(std::has_single_bit(info.mostWarps)) << name;
    EXPECT_LE(info.sharedLimit, info.processorShared) << name;
  }
}

TEST(AmdgpuTarget, TellsTheNamesForOneThatThereIsNot) {
  auto target = amdgpu::resolve("gfx943");
  ASSERT_FALSE(target.ok());
  EXPECT_EQ(target.failure().message,
            "no GPU architecture 'gfx943'; expected one of gfx90a, gfx942, "
            "gfx950, gfx1100, gfx1201");
  EXPECT_FALSE(amdgpu::isArchitecture("sm_90a"));
}

TEST(AmdgpuTarget, WavesOfCdnaHave64Lanes) {
  EXPECT_EQ(amdgpu::resolve("gfx942")->info.lanes, 64u);
  EXPECT_EQ(amdgpu::resolve("gfx1201")->info.lanes, 32u);
}
