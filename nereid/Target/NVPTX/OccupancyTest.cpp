//===- OccupancyTest.cpp - Resident blocks, by hand -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/NVPTX/Occupancy.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::nvptx;

static Occupancy of(const char *target, uint32_t warps, uint32_t registers,
                    uint32_t shared) {
  KernelImage image;
  image.target = target;
  image.threadsPerBlock = 32 * warps;
  image.numRegisters = registers;
  image.sharedBytes = shared;
  return *occupancyOf(image);
}

TEST(Occupancy, EachLimit) {
  // 64 warps in blocks of 4.
  EXPECT_EQ(of("sm_90a", 4, 16, 0).blocks, 16u);
  EXPECT_STREQ(of("sm_90a", 4, 16, 0).limit, "warps");
  // One warp: 32 blocks, whatever their registers.
  EXPECT_EQ(of("sm_90a", 1, 16, 0).blocks, 32u);
  EXPECT_STREQ(of("sm_90a", 1, 16, 0).limit, "blocks");
  // 255 registers take 8192 of a warp: 8 warps.
  EXPECT_EQ(of("sm_90a", 4, 255, 0).blocks, 2u);
  EXPECT_STREQ(of("sm_90a", 4, 255, 0).limit, "registers");
  // 33 registers take 1280 of a warp, so that a partition of 16384 has 12
  // warps of them: 48 in all.
  EXPECT_EQ(of("sm_80", 4, 33, 0).blocks, 12u);
  // 100 KiB and the 1 KiB of the system: two blocks in 228 KiB, one in 164.
  EXPECT_EQ(of("sm_90a", 4, 32, 100 << 10).blocks, 2u);
  EXPECT_EQ(of("sm_80", 4, 32, 100 << 10).blocks, 1u);
  EXPECT_STREQ(of("sm_80", 4, 32, 100 << 10).limit, "shared memory");
}

/// num_warps=8 and a warp that only copies.
TEST(Occupancy, WarpsThatCopyCount) {
  KernelImage image;
  image.target = "sm_90a";
  image.numWarps = 8;
  image.threadsPerBlock = 288;
  image.numRegisters = 16;
  Occupancy found = *occupancyOf(image);
  EXPECT_EQ(found.blocks, 7u);
  EXPECT_EQ(found.warps, 63u);
}

TEST(Occupancy, OlderArchitectures) {
  EXPECT_EQ(of("sm_75", 4, 16, 0).blocks, 8u);
  EXPECT_EQ(of("sm_86", 4, 16, 0).blocks, 12u);
  // No KiB for the system: four blocks of 16 KiB fill 64 KiB.
  EXPECT_EQ(of("sm_75", 4, 16, 16 << 10).blocks, 4u);
  EXPECT_EQ(of("sm_80", 4, 16, 163 << 10).blocks, 1u);
}

TEST(Occupancy, MostRegistersStillFit) {
  EXPECT_EQ(mostRegisters(1), 255u);
  EXPECT_EQ(mostRegisters(8), 255u);
  EXPECT_EQ(mostRegisters(16), 128u);
  EXPECT_EQ(mostRegisters(32), 64u);
  for (unsigned warps : {1, 2, 4, 8, 16, 32}) {
    unsigned most = mostRegisters(warps);
    EXPECT_GE(of("sm_90a", warps, most, 0).blocks, 1u) << warps;
    if (most < 255) {
      EXPECT_EQ(of("sm_90a", warps, most + 1, 0).blocks, 0u) << warps;
    }
  }
}

TEST(Occupancy, WhatDoesNotFit) {
  EXPECT_FALSE(occupancyOf(KernelImage()).ok());
  EXPECT_EQ(of("sm_86", 32, 255, 0).blocks, 0u);
}
