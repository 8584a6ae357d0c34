//===- ChipTest.cpp - Which chip a GPU is, and the rates of AMD's ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Chip.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::explain;
using testing::HasSubstr;

/// Operations of a processor in a cycle, times processors and clock, are the
/// peaks that AMD states: by the architecture papers' tables.
TEST(Chips, PeaksOfAmdFollowFromTheirUnits) {
  struct Units {
    const char *name;
    double f16, xf32, f8, i8, f64; ///< of matrix instructions
    double vectorTera;             ///< the stated peak of f32
  } all[] = {
      {"mi210", 1024, 0, 0, 1024, 256, 45.3},
      {"mi300x", 2048, 1024, 4096, 4096, 256, 163.4},
      {"mi350x", 4096, 0, 8192, 8192, 128, 144.2},
      {"rx7900xtx", 1024, 0, 0, 1024, 0, 61.4},
      {"rx9070xt", 2048, 0, 4096, 4096, 0, 48.7},
  };
  for (const Units &units : all) {
    Chip chip = *findChip(units.name);
    double cycles = chip.multiprocessors * chip.gigahertz * 1e-3;
    auto isNear = [&](double stated, double computed) {
      EXPECT_NEAR(stated, computed, 0.006 * computed) << units.name;
    };
    isNear(chip.teraF16, units.f16 * cycles);
    isNear(chip.teraTf32, units.xf32 * cycles);
    isNear(chip.teraF8, units.f8 * cycles);
    isNear(chip.teraI8, units.i8 * cycles);
    isNear(chip.teraF64, units.f64 * cycles);
    isNear(units.vectorTera, 2 * chip.pipes().f32 * cycles);
    EXPECT_TRUE(chip.isAmd());
  }
  EXPECT_FALSE(findChip("h200")->isAmd());
}

TEST(Chips, AmdsAreFoundByNameAndArchitecture) {
  EXPECT_EQ(chipOfTarget("gfx942")->name, "mi300x");
  EXPECT_EQ(chipOfTarget("gfx1201")->name, "rx9070xt");
  EXPECT_THAT(findChip("MI300X").failure().message,
              HasSubstr("did you mean 'mi300x'?"));
  EXPECT_THAT(findChip("gfx1100").failure().message,
              HasSubstr("of that architecture: rx7900xtx"));
  EXPECT_THAT(findChip("Radeon RX 7900 XTX").failure().message,
              HasSubstr("did you mean 'rx7900xtx'?"));
}

static std::string chipOf(const char *name) {
  std::optional<Chip> chip = chipOfGpu(name);
  return chip ? std::string(chip->name) : "";
}

TEST(Chip, IsFoundByTheDriversName) {
  EXPECT_EQ(chipOf("NVIDIA H100 80GB HBM3"), "h100");
  EXPECT_EQ(chipOf("NVIDIA H100 PCIe"), "h100-pcie");
  EXPECT_EQ(chipOf("NVIDIA GH200 480GB"), "gh200");
  EXPECT_EQ(chipOf("NVIDIA A100-SXM4-80GB"), "a100");
  EXPECT_EQ(chipOf("NVIDIA A100-SXM4-40GB"), "a100-40");
  EXPECT_EQ(chipOf("NVIDIA GeForce RTX 4090"), "rtx4090");
  EXPECT_EQ(chipOf("NVIDIA L40S"), "l40s");
  EXPECT_EQ(chipOf("Tesla T4"), "t4");
}

TEST(Chip, OneThatIsNotInTheTableIsNone) {
  EXPECT_EQ(chipOf("NVIDIA T400 4GB"), "");
  EXPECT_EQ(chipOf(""), "");
}

// Of 2250 TFLOP/s by tcgen05, which kernels do not get.
TEST(Chip, InstructionsOfOneWarpHaveTheirOwnRate) {
  Chip blackwell = *findChip("b200"), ampere = *findChip("a100");
  EXPECT_EQ(blackwell.productRate("f16", /*isGroup=*/true), 2250);
  EXPECT_NEAR(blackwell.productRate("f16", /*isGroup=*/false), 653, 1);
  EXPECT_EQ(ampere.productRate("f16", /*isGroup=*/false), ampere.teraF16);
}
