//===- PeakTest.cpp -------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Peak.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::gpt2;

static double peaks(int size, int localSize, int threads, int cores) {
  Processes processes;
  processes.size = size;
  processes.localSize = localSize;
  return peaksOf(processes, threads, cores);
}

TEST(Peak, isThatOfTheCoresWhichProcessesShare) {
  EXPECT_EQ(peaks(1, 1, 8, 8), 1);
  EXPECT_EQ(peaks(4, 4, 2, 8), 4);
  EXPECT_EQ(peaks(4, 4, 8, 8), 1) << "each has threads on all cores";
  EXPECT_EQ(peaks(4, 4, 4, 8), 2);
  EXPECT_EQ(peaks(8, 4, 4, 8), 4) << "two machines";
  EXPECT_EQ(peaks(1, 1, 16, 8), 1) << "more threads than cores";
}

TEST(Peak, ofAProcessorIsMeasuredForFp32Alone) {
  GptConfig config;
  double once = peakOf(config, Device::cpu(), Processes());
  EXPECT_GT(once, 1e9);
  EXPECT_EQ(peakOf(config, Device::cpu(), Processes()), once) << "it is kept";
  config.dtype = bf16;
  EXPECT_EQ(peakOf(config, Device::cpu(), Processes()), 0);
}
