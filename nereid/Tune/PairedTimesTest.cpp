//===- PairedTimesTest.cpp - Times of a machine that others use too -------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/PairedTimes.h"

#include <gtest/gtest.h>

using namespace nereid::tune;

TEST(PairedTimes, WhatDisturbsMostRunsIsNoPartOfTheTime) {
  PairedTimes times;
  for (int round = 0; round < 30; ++round) {
    bool waits = round % 3, otherWaits = (round + 1) % 3;
    times.add({{0, waits ? 9 : 1}, {1, otherWaits ? 10 : 2}});
  }
  EXPECT_EQ(times.ms(0), 1);
  EXPECT_EQ(times.ms(1), 2);
  EXPECT_GT(times.disturbed(), 0.6);
  EXPECT_TRUE(times.isSafe(0, 1, 0.05, 3));
}

TEST(PairedTimes, ASampleOfAQuietMomentIsNotBelieved) {
  PairedTimes times;
  for (int round = 0; round < 8; ++round) {
    times.add({{0, 3}, {1, round ? 3.2 : 1}});
  }
  EXPECT_FALSE(times.isSafe(1, 0, 0.05, 3));
  EXPECT_FALSE(times.isSafe(0, 1, 0.05, 3));
}

TEST(PairedTimes, WhatIsKnownForSureIsWhatIsFarApart) {
  PairedTimes exact;
  for (int round = 0; round < 8; ++round) {
    exact.add({{0, 1}, {1, 1.02}, {2, 1.5}});
  }
  EXPECT_LE(exact.noise(), 0.01);
  EXPECT_EQ(exact.disturbed(), 0);
  EXPECT_TRUE(exact.isSafe(0, 1, 0.05, 3));
  EXPECT_TRUE(exact.isSafe(1, 0, 0.05, 3)) << "within the share";
  EXPECT_FALSE(exact.isSafe(2, 0, 0.05, 3));
  EXPECT_EQ(exact.samples(0), 8u);
  EXPECT_EQ(exact.samples(7), 0u);
}

TEST(PairedTimes, RoundsThatBothWereInDecide) {
  PairedTimes times; // the second was measured while the load was low, too
  for (int round = 0; round < 8; ++round) {
    times.add({{1, 1.1}});
    times.add({{0, 2}, {1, 2.2}});
  }
  EXPECT_GT(times.ms(0), times.ms(1));
  EXPECT_FALSE(times.isSafe(1, 0, 0.05, 3));
}
