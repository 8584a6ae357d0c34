//===- StatisticsTest.cpp - What a list of times says ---------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Bench/Statistics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace nereid::bench;

// numpy.percentile([1, 2, 4, 8], [25, 50, 75]) is [1.75, 3, 5].
TEST(Statistics, QuartilesAreInterpolated) {
  Summary summary = summarize(std::vector<double>{8, 1, 4, 2});
  EXPECT_EQ(summary.samples, 4u);
  EXPECT_EQ(summary.least, 1);
  EXPECT_EQ(summary.lowerQuartile, 1.75);
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.upperQuartile, 5);
  EXPECT_DOUBLE_EQ(summary.spread(), 3.25 / 3);
}

TEST(Statistics, OneSampleHasNoSpread) {
  Summary summary = summarize(std::vector<double>{7});
  EXPECT_EQ(summary.median, 7);
  EXPECT_EQ(summary.spread(), 0);
  EXPECT_EQ(summarize({}).samples, 0u);
}

TEST(Statistics, FewSamplesSayNothingOfTheMedian) {
  EXPECT_TRUE(std::isinf(medianUncertainty(std::vector<double>(5, 1.0))));
  EXPECT_EQ(medianUncertainty(std::vector<double>(6, 1.0)), 0);
}

// Of 1000 lists the interval misses the true median in about 50.
TEST(Statistics, TheIntervalHoldsTheMedian) {
  std::mt19937 generator(1);
  std::exponential_distribution<double> distribution(1);
  int misses = 0;
  for (int list = 0; list < 1000; ++list) {
    std::vector<double> samples(101);
    for (double &sample : samples) {
      sample = distribution(generator);
    }
    std::vector<double> sorted = samples;
    std::sort(sorted.begin(), sorted.end());
    double half = medianUncertainty(samples) * summarize(samples).median;
    // The interval is not symmetric: half of it may miss up to twice as often.
    misses += std::abs(summarize(samples).median - std::log(2)) > half;
  }
  EXPECT_LT(misses, 100);
  EXPECT_GT(misses, 5);
}
