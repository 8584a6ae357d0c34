//===- PredictionTest.cpp - How long a launch takes at least --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Explain/Report.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::explain;

/// Of a grid of so many blocks that do nothing, on an H100.
static Report reportOf(uint64_t blocks) {
  Report report;
  report.chip = *findChip("h100");
  report.resources.threads = 128;
  report.blocks = blocks;
  return report;
}

// 1.98 GHz: 1,980 cycles a microsecond.
TEST(Prediction, AChipStartsAProgramACycle) {
  Report report = reportOf(1'980'000);
  predict(report, 10);
  EXPECT_EQ(report.bound, Bound::Starts);
  EXPECT_GE(report.predictedUs, 1000);
  EXPECT_LT(report.predictedUs, 1010);
}

TEST(Prediction, SlicesOfTheCacheTakeTurns) {
  Report report = reportOf(132 * 16);
  report.cacheTurns = 132 * 0.625 * 1'980'000;
  predict(report, 10);
  EXPECT_EQ(report.bound, Bound::Cache);
  EXPECT_NEAR(report.predictedUs, 1000, 10);
}

// 3,350 GB/s, 0.92 of them.
TEST(Prediction, HalvesOfLinesTakeLongerThanTheirBytes) {
  Report report = reportOf(132);
  report.movedRead = 3.082e9;
  predict(report, 10);
  EXPECT_NEAR(report.predictedUs, 1002, 2);
  Report halves = reportOf(132);
  halves.movedRead = halves.halvesLeftOut = 3.082e9;
  predict(halves, 10);
  EXPECT_NEAR(halves.predictedUs, 1602, 2);
}
