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

TEST(Interrupt, notesTheFirstOfEachKindOfSignal) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Interrupt interrupt;
    EXPECT_EQ(interrupt.signal(), 0);
    std::raise(signal);
    EXPECT_EQ(interrupt.signal(), signal);
    // The same wish, a second time.
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
