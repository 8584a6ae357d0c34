//===- MachineTest.cpp - What a computation depends on --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Machine/testing/FakeMachine.h"

#include <gtest/gtest.h>

using namespace nereid;

// Whatever this machine is.
TEST(ThisMachine, HasCoresCachesAndMemory) {
  const Machine &machine = thisMachine();
  EXPECT_FALSE(machine.processor.empty());
  EXPECT_GE(machine.cores, 1);
  EXPECT_GE(machine.lastLevelCacheBytes, machine.secondLevelCacheBytes);
  EXPECT_GT(machine.secondLevelCacheBytes, 0u);
  EXPECT_GT(machine.memoryBytes, machine.lastLevelCacheBytes);
  EXPECT_EQ(&thisMachine(), &machine) << "asked once";
}

TEST(Machine, TakesAFewThreadsACore) {
  EXPECT_EQ(serverMachine().mostThreads(), 512);
  EXPECT_EQ(Machine().mostThreads(), 8);
}
