//===- ClockTest.cpp - Time that passes -----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/testing/ManualClock.h"

#include <gtest/gtest.h>

using namespace nereid;

TEST(ManualClock, StandsStillUnlessItIsMoved) {
  ManualClock clock;
  int64_t begin = clock.now();
  EXPECT_EQ(clock.now(), begin);
  clock.advanceMs(2.5);
  EXPECT_EQ(clock.millisecondsSince(begin), 2.5);
  clock.advanceSeconds(1);
  EXPECT_EQ(clock.now(), begin + 1002500000);
  clock.sleep(500);
  EXPECT_EQ(clock.now(), begin + 1002500500);
}

TEST(ManualClock, AStepMovesItWithEachReading) {
  ManualClock clock(10);
  int64_t begin = clock.now();
  EXPECT_EQ(clock.millisecondsSince(begin), 10);
  EXPECT_EQ(clock.secondsSince(begin), 0.02);
}

// No bound on how long it takes: only the order of readings is promised.
TEST(SteadyClock, SleepsAtLeastAsLongAsAsked) {
  Clock &clock = *steadyClock();
  int64_t begin = clock.now();
  clock.sleep(1000);
  EXPECT_GE(clock.now(), begin + 1000);
  EXPECT_EQ(steadyClock(), steadyClock());
}

TEST(SharedClock, IsTheSystemsWhereNoneIsGiven) {
  std::shared_ptr<ManualClock> none, manual = std::make_shared<ManualClock>();
  for (const SharedClock &clock :
       {SharedClock(), SharedClock(nullptr), SharedClock(none)}) {
    EXPECT_EQ(&*clock, steadyClock().get());
  }
  EXPECT_EQ(&*SharedClock(manual), manual.get());
}
