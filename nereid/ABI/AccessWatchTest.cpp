//===- AccessWatchTest.cpp - What a reference run touches -----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/ABI/AccessWatch.h"

#include <gtest/gtest.h>

using nereid::AccessWatch;
using Kind = AccessWatch::Kind;

namespace {
struct Watched : testing::Test {
  Watched() { watch.add("x", 1000, 8, 4); }
  bool access(Kind kind, int64_t program, int element) {
    return watch.access(kind, program, 1000 + 4 * uint64_t(element), 4);
  }
  AccessWatch watch;
};
} // namespace

TEST_F(Watched, UsesAreByElement) {
  EXPECT_TRUE(access(Kind::Read, 0, 1));
  EXPECT_TRUE(access(Kind::Write, 0, 1));
  EXPECT_TRUE(access(Kind::Update, 1, 7));
  EXPECT_EQ(watch.arrays[0].uses[1],
            AccessWatch::WasRead | AccessWatch::WasWritten);
  EXPECT_EQ(watch.arrays[0].uses[7], AccessWatch::WasUpdated);
  EXPECT_FALSE(watch.loadsMeetStores || watch.storesMeet || watch.takesTurns);
}

TEST_F(Watched, ProgramsMeet) {
  access(Kind::Write, 0, 2);
  access(Kind::Read, 1, 2);
  EXPECT_TRUE(watch.loadsMeetStores);
  EXPECT_FALSE(watch.storesMeet);
  access(Kind::Write, 1, 2);
  EXPECT_TRUE(watch.storesMeet);
  access(Kind::UpdateRead, 1, 3);
  EXPECT_TRUE(watch.takesTurns);
}

TEST_F(Watched, WhatIsOutsideEndsTheRun) {
  EXPECT_TRUE(watch.spend(1));
  EXPECT_FALSE(access(Kind::Read, 0, 8));
  EXPECT_TRUE(watch.isOutside);
  EXPECT_FALSE(watch.spend(1));
}

TEST_F(Watched, WorkHasABudgetAndAThreadOneWatch) {
  watch.budget = 10;
  EXPECT_TRUE(watch.spend(10));
  EXPECT_FALSE(watch.spend(1));
  EXPECT_EQ(AccessWatch::current(), nullptr);
  {
    AccessWatch::Scope scope(watch);
    EXPECT_EQ(AccessWatch::current(), &watch);
  }
  EXPECT_EQ(AccessWatch::current(), nullptr);
}
