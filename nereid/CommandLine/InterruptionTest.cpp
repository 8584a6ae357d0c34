//===- InterruptionTest.cpp - Ctrl-C, where partial results count ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/CommandLine/Interruption.h"

#include <csignal>
#include <gtest/gtest.h>

namespace nereid {

static void (*handlerOf(int signal))(int) {
  struct sigaction now = {};
  ::sigaction(signal, nullptr, &now);
  return now.sa_handler;
}

/// The parent of the tests may have made signals ignored.
class Interruptions : public testing::Test {
protected:
  Interruptions() {
    for (int signal : {SIGINT, SIGTERM}) {
      ::signal(signal, SIG_DFL);
    }
  }
};

TEST_F(Interruptions, NotesTheFirstSignalAndTheSecondEndsTheProcess) {
  {
    Interruption interruption;
    EXPECT_EQ(Interruption::signal(), 0);
    ::raise(SIGINT);
    EXPECT_EQ(Interruption::signal(), SIGINT);
    EXPECT_EQ(Interruption::status(), 130);
    EXPECT_EQ(handlerOf(SIGINT), SIG_DFL);
    ::raise(SIGTERM); // the first of its kind
    EXPECT_EQ(Interruption::status(), 143);
  }
  EXPECT_EQ(handlerOf(SIGTERM), SIG_DFL);
  Interruption next;
  EXPECT_EQ(Interruption::signal(), 0);
}

TEST_F(Interruptions, NotesAllSignalsOfAProcessThatWaits) {
  Interruption interruption(Interruption::Of::All);
  const std::atomic<int> &noted = Interruption::noted();
  for (int signal : {SIGINT, SIGINT, SIGTERM, SIGINT}) {
    ::raise(signal);
    EXPECT_EQ(noted, signal);
  }
}

TEST_F(Interruptions, IgnoredSignalsStayIgnored) {
  ::signal(SIGINT, SIG_IGN);
  for (auto which : {Interruption::Of::First, Interruption::Of::All}) {
    Interruption interruption(which);
    ::raise(SIGINT);
    EXPECT_EQ(Interruption::signal(), 0);
  }
  EXPECT_EQ(handlerOf(SIGINT), SIG_IGN);
  ::signal(SIGINT, SIG_DFL);
}

} // namespace nereid
