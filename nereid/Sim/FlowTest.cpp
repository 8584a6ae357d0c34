//===- FlowTest.cpp - Branches, barriers, races ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/testing/KernelRun.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace nereid::sim;
using testing::HasSubstr;

namespace {

KernelRun kernelOf(const std::string &body, uint32_t threads = 32) {
  KernelRun kernel;
  kernel.body = ownWord + body;
  kernel.threads = threads;
  return kernel;
}

TEST(Flow, LanesGoTheirOwnWaysAndMeetAgain) {
  KernelRun kernel = kernelOf(R"(
    and.b32 %r1, %r0, 1;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra EVEN;
    mov.b32 %r2, 100;
    bra.uni MEET;
    EVEN: mov.b32 %r2, 200;
    MEET: shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1;
    st.global.b32 [%rd1], %r3;)");
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[0], 100u);
  EXPECT_EQ(kernel.memory[1], 200u);
}

TEST(Flow, AssertionsOfTheDriverStopTheKernel) {
  KernelRun kernel = kernelOf(R"(
    .local .align 8 .b8 text[16];
    mov.b64 %rd2, text;
    cvta.local.u64 %rd2, %rd2;
    st.b32 [%rd2], 0x00783c69;
    st.b32 [%rd2+8], 0x0079702e;
    add.s64 %rd3, %rd2, 8;
    setp.ne.s32 %p1, %r0, 3;
    @%p1 bra GOOD;
    { // callseq
    .param .b64 param0;
    st.param.b64 [param0], %rd2;
    .param .b64 param1;
    st.param.b64 [param1], %rd3;
    .param .b32 param2;
    st.param.b32 [param2], 7;
    .param .b64 param3;
    st.param.b64 [param3], %rd3;
    .param .b64 param4;
    st.param.b64 [param4], 1;
    call.uni __assertfail, (param0, param1, param2, param3, param4);
    }
    GOOD: st.global.b32 [%rd1], %r0;)");
  EXPECT_THAT(kernel.run(), HasSubstr(".py:7: assertion `i<x` failed"));
}

TEST(Flow, LoopsOfDifferentLengthEnd) {
  KernelRun kernel = kernelOf(R"(
    mov.b32 %r1, 0;
    AGAIN: add.s32 %r1, %r1, 1;
    setp.le.u32 %p1, %r1, %r0;
    @%p1 bra AGAIN;
    st.global.b32 [%rd1], %r1;)");
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[0], 1u);
  EXPECT_EQ(kernel.memory[31], 32u);
}

TEST(Flow, OneLaneMaySpinUntilAnotherWrites) {
  KernelRun kernel = kernelOf(R"(
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra WRITE;
    WAIT: ld.volatile.global.b32 %r1, [%rd0+4];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra WAIT;
    bra.uni END;
    WRITE: st.global.b32 [%rd1], %r0;
    END: mov.b32 %r2, 1;)");
  EXPECT_EQ(kernel.run(), "");
}

TEST(Flow, LanesThatDoNotComeAreADeadlock) {
  KernelRun kernel = kernelOf(R"(
    setp.eq.u32 %p1, %r0, 0;
    @%p1 bra OTHER;
    bar.warp.sync -1;
    bra.uni END;
    OTHER: bar.warp.sync -1;
    END: mov.b32 %r2, 1;)");
  EXPECT_THAT(kernel.run(), HasSubstr("deadlock"));
}

TEST(Flow, WarpsThatDoNotComeAreADeadlock) {
  KernelRun kernel = kernelOf(R"(
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra FIRST;
    bar.sync 1, 64;
    FIRST: bar.sync 0;)",
                              64);
  EXPECT_THAT(kernel.run(), HasSubstr("deadlock"));
}

TEST(Flow, AWarpThatArrivesDoesNotWait) {
  for (bool readsBack : {false, true}) {
    KernelRun kernel = kernelOf(std::string(R"(
    and.b32 %r1, %r0, 31;
    shl.b32 %r1, %r1, 2;
    setp.lt.u32 %p1, %r0, 32;
    @%p1 bra FIRST;
    st.shared.b32 [%r1+128], %r0;
    bar.sync 1, 64;
    ld.shared.b32 %r2, [%r1];
    st.global.b32 [%rd1], %r2;
    bra.uni END;
    FIRST: st.shared.b32 [%r1], %r0;
    bar.arrive 1, 64;)") + (readsBack ? "ld.shared.b32 %r3, [%r1+128];" : "") +
                                    "END: mov.b32 %r4, 1;",
                                64);
    kernel.checksRaces = true;
    EXPECT_THAT(kernel.run(),
                readsBack ? testing::Matcher<std::string>(HasSubstr("race"))
                          : testing::Matcher<std::string>(""));
    EXPECT_TRUE(readsBack || kernel.memory[32 + 5] == 5);
  }
}

TEST(Flow, BlocksOfACooperativeLaunchWaitForEachOther) {
  KernelRun kernel = kernelOf(R"(
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra END;
    atom.global.add.u32 %r1, [%rd0], 1;
    WAIT: ld.volatile.global.b32 %r1, [%rd0];
    setp.lt.u32 %p2, %r1, 3;
    @%p2 bra WAIT;
    END: mov.b32 %r2, 1;)");
  kernel.grid = {3, 1, 1};
  kernel.isCooperative = true;
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[0], 3u);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST(Memory, AnAddressBehindTheArrayIsAFault) {
  KernelRun kernel = kernelOf("ld.global.b32 %r1, [%rd1+4092];");
  EXPECT_THAT(kernel.run(),
              HasSubstr("illegal memory access: PTX line 16: ld.global.b32"));
}

TEST(Memory, AnAddressThatIsNoMultipleIsAFault) {
  KernelRun kernel = kernelOf("ld.global.v2.b32 {%r1, %r2}, [%rd0+4];");
  EXPECT_THAT(kernel.run(), HasSubstr("misaligned address"));
}

TEST(Memory, GenericAddressesKnowTheirSpace) {
  KernelRun kernel = kernelOf(R"(
    shl.b32 %r1, %r0, 2;
    cvt.u64.u32 %rd2, %r1;
    cvta.shared.u64 %rd3, %rd2;
    st.b32 [%rd3], %r0;
    ld.shared.b32 %r2, [%r1];
    st.b32 [%rd1], %r2;)");
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[31], 31u);
}

TEST(Memory, PredicatedLoadsLeaveOtherLanesAlone) {
  KernelRun kernel = kernelOf(R"(
    setp.lt.u32 %p1, %r0, 4;
    mov.b32 %r1, 9;
    @%p1 ld.global.b32 %r1, [%rd1];
    st.global.b32 [%rd1], %r1;)");
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[3], 0u);
  EXPECT_EQ(kernel.memory[4], 9u);
}

//===----------------------------------------------------------------------===//
// What a GPU may do at any time
//===----------------------------------------------------------------------===//

const char *copyOfFour = R"(
    shl.b32 %r1, %r0, 2;
    st.global.b32 [%rd1], %r0;
    cp.async.ca.shared.global [%r1], [%rd1], 4;
    cp.async.commit_group;
    )";

TEST(Async, ACopyIsThereAfterTheWait) {
  for (AsyncOrder order : {AsyncOrder::Late, AsyncOrder::Early}) {
    KernelRun kernel = kernelOf(std::string(copyOfFour) + R"(
    cp.async.wait_group 0;
    ld.shared.b32 %r2, [%r1];
    st.global.b32 [%rd1+128], %r2;)");
    kernel.asyncOrder = order;
    EXPECT_EQ(kernel.run(), "");
    EXPECT_EQ(kernel.memory[32 + 5], 5u);
  }
}

TEST(Async, ACopyThatIsNotWaitedForIsNotThere) {
  KernelRun kernel = kernelOf(std::string(copyOfFour) + R"(
    cp.async.wait_group 1;
    ld.shared.b32 %r2, [%r1];
    st.global.b32 [%rd1+128], %r2;)");
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[32 + 5], ~0u);
}

TEST(Async, WhatIsNotReadIsZero) {
  KernelRun kernel = kernelOf(R"(
    shl.b32 %r1, %r0, 2;
    mov.b32 %r3, 0;
    cp.async.ca.shared.global [%r1], [%rd1], 4, %r3;
    cp.async.wait_all;
    ld.shared.b32 %r2, [%r1];
    st.global.b32 [%rd1], %r2;)");
  kernel.memory[5] = 77;
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[5], 0u);
}

const char *exchange = R"(
    shl.b32 %r1, %r0, 2;
    xor.b32 %r2, %r1, 128;
    st.shared.b32 [%r1], %r0;
    BARRIER
    ld.shared.b32 %r3, [%r2];
    st.global.b32 [%rd1], %r3;)";

KernelRun exchangeWith(const std::string &barrier) {
  std::string body = exchange;
  body.replace(body.find("BARRIER"), 7, barrier);
  KernelRun kernel = kernelOf(body, 64);
  kernel.checksRaces = true;
  return kernel;
}

TEST(Races, WarpsThatExchangeWithoutABarrierRace) {
  KernelRun kernel = exchangeWith("");
  EXPECT_THAT(kernel.run(), HasSubstr("race: PTX line"));
}

TEST(Races, ABarrierEndsARace) {
  KernelRun kernel = exchangeWith("bar.sync 0;");
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[0], 32u);
}

TEST(Races, AWriteBehindAReadIsOne) {
  KernelRun kernel = exchangeWith("bar.sync 0;");
  kernel.body += "st.shared.b32 [%r1], %r3;";
  EXPECT_THAT(kernel.run(), HasSubstr("race: PTX line"));
}

} // namespace
