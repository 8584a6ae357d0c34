//===- InterruptTest.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/train/Interrupt.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::gpt2;

static int64_t testTime = 0;
static int64_t testClock() { return testTime; }

TEST(Interrupt, notesTheFirstOfEachKindOfSignal) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Interrupt interrupt(testClock);
    EXPECT_EQ(interrupt.signal(), 0);
    std::raise(signal);
    EXPECT_EQ(interrupt.signal(), signal);
    // The same wish, a second time.
    testTime += nanosecondsOfOneWish;
    std::raise(SIGTERM);
    EXPECT_EQ(interrupt.signal(), signal);
  }
  Interrupt::release();
}

TEST(Interrupt, leavesIgnoredSignals) {
  std::signal(SIGHUP, SIG_IGN); // nohup
  Interrupt interrupt;
  std::raise(SIGHUP);
  EXPECT_EQ(interrupt.signal(), 0);
  Interrupt::release();
  EXPECT_EQ(std::signal(SIGHUP, SIG_DFL), SIG_IGN);
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_DFL);
}

TEST(InterruptDeathTest, aSecondWishEndsTheProcess) {
  EXPECT_EXIT(
      {
        testTime = 999'999'999; // a part of a second
        Interrupt interrupt(testClock);
        std::raise(SIGINT);
        testTime += nanosecondsOfOneWish + 1;
        std::raise(SIGTERM);
        std::_Exit(0);
      },
      ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_EXIT(
      {
        testTime = 0;
        Interrupt interrupt(testClock);
        std::raise(SIGINT);
        testTime = nanosecondsOfOneWish + 1;
        std::raise(SIGTERM);
        std::_Exit(0);
      },
      ::testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptDeathTest, aRunThatIsDoneEndsByItself) {
  EXPECT_EXIT(
      {
        {
          Interrupt interrupt;
        }
        std::raise(SIGTERM);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

TEST(InterruptDeathTest, endsAsOneThatCatchesNothing) {
  EXPECT_EXIT(
      {
        Interrupt interrupt;
        std::raise(SIGHUP);
        Interrupt::release();
        std::raise(interrupt.signal());
      },
      ::testing::KilledBySignal(SIGHUP), "");
}

TEST(Interrupt, hasNames) {
  EXPECT_STREQ(nameOfStop(SIGTERM), "SIGTERM");
  EXPECT_STREQ(nameOfStop(SIGINT), "SIGINT");
  EXPECT_STREQ(nameOfStop(SIGHUP), "SIGHUP");
}
