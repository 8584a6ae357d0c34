//===- MbarrierTest.cpp - Barriers in shared memory -----------------------===//
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

/// Of one thread.
KernelRun alone(const std::string &body) {
  KernelRun kernel;
  kernel.threads = 1;
  kernel.body = "mov.b32 %r1, 64;\n" + body;
  return kernel;
}

/// %r2: whether a test of a phase said so.
constexpr const char *tell = "selp.b32 %r2, 1, 0, %p1;\n"
                             "st.global.b32 [%rd0], %r2;\n";

TEST(Mbarrier, APhaseEndsWithItsLastArrival) {
  for (bool isLast : {false, true}) {
    KernelRun kernel =
        alone(std::string(R"(
      mbarrier.init.shared::cta.b64 [%r1], 2;
      mbarrier.arrive.shared::cta.b64 %rd2, [%r1];)") +
              (isLast ? "mbarrier.arrive.shared.b64 _, [%r1];" : "") +
              R"(
      mbarrier.test_wait.shared::cta.b64 %p1, [%r1], %rd2;)" +
              tell);
    EXPECT_EQ(kernel.run(), "");
    EXPECT_EQ(kernel.memory[0], uint32_t(isLast));
  }
}

TEST(Mbarrier, AStateHasWhatThePhaseLacked) {
  KernelRun kernel = alone(R"(
    mbarrier.init.shared::cta.b64 [%r1], 5;
    mbarrier.arrive.shared::cta.b64 _, [%r1], 2;
    mbarrier.arrive.shared::cta.b64 %rd2, [%r1];
    mbarrier.pending_count.b64 %r2, %rd2;
    st.global.b32 [%rd0], %r2;)");
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[0], 3u);
}

TEST(Mbarrier, ANewOneHasAPhaseOfParityOneBehindIt) {
  for (int parity : {0, 1}) {
    KernelRun kernel = alone(R"(
      mbarrier.init.shared::cta.b64 [%r1], 1;
      mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], )" +
                             std::to_string(parity) + ";" + tell);
    EXPECT_EQ(kernel.run(), "");
    EXPECT_EQ(kernel.memory[0], uint32_t(parity));
  }
}

TEST(Mbarrier, BytesThatLandBeforeTheyAreExpectedCount) {
  KernelRun kernel = alone(std::string(R"(
    mbarrier.init.shared::cta.b64 [%r1], 1;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r1], 16;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 16;
    mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 0;)") +
                           tell);
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[0], 1u);
}

TEST(Mbarrier, OneThatLeavesIsNotWaitedForAgain) {
  KernelRun kernel = alone(std::string(R"(
    mbarrier.init.shared::cta.b64 [%r1], 2;
    mbarrier.arrive_drop.shared::cta.b64 _, [%r1];
    mbarrier.arrive.shared::cta.b64 _, [%r1];
    mbarrier.arrive.shared::cta.b64 _, [%r1];
    mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 1;)") +
                           tell);
  EXPECT_EQ(kernel.run(), "");
  EXPECT_EQ(kernel.memory[0], 1u);
}

TEST(Mbarrier, LanesOfOneWarpWaitForEachOther) {
  KernelRun kernel;
  kernel.body = R"(
    setp.ne.u32 %p1, %r0, 0;
    @%p1 bra MADE;
    mbarrier.init.shared::cta.b64 [64], 31;
    MADE: bar.warp.sync -1;
    @%p1 bra ARRIVE;
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [64], 0;
    @!%p2 bra WAIT;
    bra.uni END;
    ARRIVE: mbarrier.arrive.shared::cta.b64 _, [64];
    END: st.global.b32 [%rd0], %r0;)";
  EXPECT_EQ(kernel.run(), "");
}

TEST(Mbarrier, ArrivalsOrderWhatWarpsDo) {
  for (bool arrives : {false, true}) {
    KernelRun kernel;
    kernel.threads = 64;
    kernel.checksRaces = true;
    kernel.body = std::string(R"(
      setp.ne.u32 %p1, %r0, 0;
      @%p1 bra MADE;
      mbarrier.init.shared::cta.b64 [512], 32;
      MADE: bar.sync 0;
      setp.ge.u32 %p2, %r0, 32;
      shl.b32 %r1, %r0, 2;
      and.b32 %r1, %r1, 127;
      @%p2 bra READ;
      st.shared.b32 [%r1], %r0;
      mbarrier.arrive.)") +
                  (arrives ? "release" : "relaxed") +
                  R"(.cta.shared::cta.b64 _, [512];
      bra.uni END;
      READ: mbarrier.try_wait.parity.shared::cta.b64 %p3, [512], 0;
      @!%p3 bra READ;
      ld.shared.b32 %r2, [%r1];
      END: st.global.b32 [%rd0], %r0;)";
    EXPECT_THAT(kernel.run(),
                arrives ? testing::Matcher<std::string>("")
                        : testing::Matcher<std::string>(HasSubstr(
                              "has written without a barrier between")));
  }
}

struct Misuse {
  const char *body, *told;
};

TEST(Mbarrier, MisuseIsTold) {
  for (Misuse misuse : {
           Misuse{"mbarrier.init.shared::cta.b64 [%r1+4], 1;",
                  "the barrier at 0x44 is not aligned to 8 bytes"},
           Misuse{"mbarrier.init.shared::cta.b64 [%r1+960], 1;",
                  "illegal memory access"},
           Misuse{"mbarrier.init.shared::cta.b64 [%r1], 0;",
                  "of 0 arrivals; 1 to 1048575 are possible"},
           Misuse{"mbarrier.init.shared::cta.b64 [%r1], 1;"
                  "mbarrier.init.shared::cta.b64 [%r1], 1;",
                  "is there already: mbarrier.inval is missing"},
           Misuse{"mbarrier.arrive.shared::cta.b64 _, [%r1];",
                  "misused barrier: PTX line"},
           Misuse{"mbarrier.init.shared::cta.b64 [%r1], 1;"
                  "mbarrier.inval.shared::cta.b64 [%r1];"
                  "mbarrier.arrive.shared::cta.b64 _, [%r1];",
                  "is not there: mbarrier.init has not run"},
           Misuse{"mbarrier.init.shared::cta.b64 [%r1], 1;"
                  "mbarrier.arrive.shared::cta.b64 _, [%r1], 2;",
                  "2 arrivals at the barrier at 0x40, whose phase 0 lacks 1 "
                  "of 1 arrivals"},
           Misuse{"mbarrier.init.shared::cta.b64 [%r1], 1;"
                  "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r1], "
                  "1048576;",
                  "counts to 1048575 bytes, and would wait for 1048576"},
           Misuse{"mbarrier.init.shared::cta.b64 [%r1], 1;"
                  "mbarrier.test_wait.parity.shared::cta.b64 %p1, [%r1], 2;",
                  "a parity of 2; 0 or 1"},
           Misuse{"mbarrier.init.shared::cta.b64 [%r1], 1;"
                  "ld.shared.b32 %r2, [%r1+4];",
                  "a read of 4 bytes of the barrier in its bytes at 0x44"},
           Misuse{"mbarrier.init.shared::cta.b64 [%r1], 1;"
                  "W: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;"
                  "@!%p1 bra W;",
                  "deadlock"},
       }) {
    EXPECT_THAT(alone(misuse.body).run(), HasSubstr(misuse.told))
        << misuse.body;
  }
}

TEST(Mbarrier, AnotherFormIsRefused) {
  EXPECT_THAT(alone("mbarrier.arrive.shared::other.b64 _, [%r1];").run(),
              HasSubstr("is not simulated"));
}

TEST(SetMaxRegisters, OtherNumbersAreRefused) {
  for (const char *registers : {"20", "41", "264"}) {
    KernelRun kernel;
    kernel.body =
        std::string("setmaxnreg.dec.sync.aligned.u32 ") + registers + ";";
    EXPECT_THAT(kernel.run(),
                HasSubstr("registers are a multiple of 8 from 24 to 256"));
  }
}

TEST(SetMaxRegisters, ADecreaseTakesNothing) {
  KernelRun kernel;
  kernel.threads = 128;
  kernel.directives = ".maxnreg 64\n";
  kernel.body = "setmaxnreg.dec.sync.aligned.u32 72;";
  EXPECT_THAT(kernel.run(), HasSubstr("72 registers for a thread that has 64"));
}

TEST(SetMaxRegisters, FourWarpsDoItTogether) {
  KernelRun kernel;
  kernel.threads = 64;
  kernel.directives = ".maxnreg 64\n";
  kernel.body = "setmaxnreg.dec.sync.aligned.u32 40;";
  EXPECT_THAT(kernel.run(), HasSubstr("a warpgroup of less than four warps"));
}

} // namespace
