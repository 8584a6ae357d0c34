//===- TimingTest.cpp - How long a warp waits for its own results ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/testing/KernelRun.h"

#include <gtest/gtest.h>

using namespace nereid::sim;

namespace {

constexpr uint64_t fromMemory = 479, fromCache = 263, fromNearest = 41;

/// Of one warp that loads its words at these offsets of %rd1, and of more that
/// the text does.
Cycles cyclesOf(const std::string &body, uint32_t threads = 32) {
  KernelRun run{.body = ownWord + body, .threads = threads};
  Profile profile;
  run.profile = &profile;
  EXPECT_EQ(run.run(), "");
  return profile.cycles;
}

TEST(Timing, LoadsThatDoNotNeedEachOtherWaitTogether) {
  Cycles one = cyclesOf("ld.global.b32 %r1, [%rd1];\nadd.u32 %r2, %r1, 1;");
  Cycles two = cyclesOf("ld.global.b32 %r1, [%rd1];\nadd.u32 %r2, %r1, 1;\n"
                        "ld.global.b32 %r3, [%rd1+1024];\n"
                        "add.u32 %r2, %r3, 1;");
  EXPECT_GE(one[0], fromMemory);
  EXPECT_LT(one[0], fromMemory + 50);
  EXPECT_LT(two[0], one[0] + 10);
  EXPECT_EQ(one[0] - one[1], fromMemory - fromCache);
}

TEST(Timing, LoadsThatNeedEachOtherWaitOneAfterTheOther) {
  Cycles two = cyclesOf("ld.global.b32 %r1, [%rd1];\n"
                        "mul.wide.u32 %rd2, %r1, 4;\n"
                        "add.s64 %rd2, %rd1, %rd2;\n"
                        "ld.global.b32 %r3, [%rd2+1024];\n"
                        "add.u32 %r2, %r3, 1;");
  EXPECT_GE(two[0], 2 * fromMemory);
}

TEST(Timing, WhatABlockHasReadIsNear) {
  Cycles again = cyclesOf("ld.global.b32 %r1, [%rd1];\n"
                          "mul.wide.u32 %rd2, %r1, 4;\n"
                          "add.s64 %rd2, %rd1, %rd2;\n"
                          "ld.global.b32 %r3, [%rd2];\n"
                          "add.u32 %r2, %r3, 1;");
  EXPECT_GE(again[0], fromMemory + fromNearest);
  EXPECT_LT(again[0], fromMemory + fromNearest + 50);
}

TEST(Timing, ABarrierWaitsForTheLastWarp) {
  Cycles both = cyclesOf("setp.ge.u32 %p1, %r0, 32;\n"
                         "@%p1 bra waits;\n"
                         "ld.global.b32 %r1, [%rd1];\n"
                         "st.global.b32 [%rd1], %r1;\n"
                         "waits:\nbar.sync 0;\n"
                         "@!%p1 bra done;\n"
                         "ld.global.b32 %r1, [%rd1+1024];\n"
                         "add.u32 %r2, %r1, 1;\ndone:",
                         64);
  EXPECT_GE(both[0], 2 * fromMemory);
}

} // namespace
