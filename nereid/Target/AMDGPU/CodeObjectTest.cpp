//===- CodeObjectTest.cpp -------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Target/AMDGPU/CodeObject.h"
#include "nereid/Target/AMDGPU/CodeLines.h"

#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::amdgpu;

static Occupancy occupancy(unsigned registers, unsigned sharedBytes,
                           unsigned waves, const char *target) {
  Resources resources;
  resources.vectorRegisters = registers;
  resources.sharedBytes = sharedBytes;
  auto found = occupancyOf(resources, waves, target);
  EXPECT_TRUE(found.ok());
  return *found;
}

/// The table "Occupancy" of LLVM's GCNSubtarget: 512 registers of 64 lanes in
/// units of 8, 1,536 of 32 lanes in units of 24.
TEST(CodeObject, RegistersLimitWaves) {
  EXPECT_EQ(occupancy(64, 0, 4, "gfx942").waves, 32u);
  Occupancy found = occupancy(65, 0, 4, "gfx942");
  EXPECT_EQ(found.waves, 28u);
  EXPECT_EQ(found.limit, "VGPRs");
  EXPECT_EQ(occupancy(256, 0, 4, "gfx942").waves, 8u);
  EXPECT_EQ(occupancy(96, 0, 4, "gfx1100").waves, 64u);
  EXPECT_EQ(occupancy(97, 0, 4, "gfx1100").waves, 48u);
  EXPECT_EQ(occupancy(256, 0, 4, "gfx1201").waves, 20u);
}

TEST(CodeObject, SharedMemoryLimitsWorkgroups) {
  Occupancy found = occupancy(8, 40 * 1024, 4, "gfx90a");
  EXPECT_EQ(found.workgroups, 1u);
  EXPECT_EQ(found.limit, "LDS");
  EXPECT_EQ(occupancy(8, 40 * 1024, 4, "gfx950").workgroups, 4u);
  EXPECT_EQ(occupancy(8, 40 * 1024, 4, "gfx1100").workgroups, 3u);
}

TEST(CodeObject, RefusesWhatIsNone) {
  EXPECT_FALSE(readResources("").ok());
  EXPECT_FALSE(readResources("\x7f"
                             "ELF")
                   .ok());
  auto found = readResources(std::string(4096, 'x'));
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.failure().message,
            "expected a code object with the metadata of a kernel");
  EXPECT_FALSE(occupancyOf({}, 4, "sm_90a").ok());
}

TEST(CodeObject, WithoutATableThereAreNoLines) {
  for (const std::string &object : {std::string(), std::string(4096, 'x')}) {
    EXPECT_EQ(CodeLines(object).at(0).line, 0u);
  }
}
