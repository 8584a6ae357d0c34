//===- OpsTest.cpp - Single instructions ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values are those of the PTX ISA manual's text and tables; whole kernels are
// compared with the reference executor (test/fuzz).
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/testing/KernelRun.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>

using namespace nereid::sim;
using testing::HasSubstr;

namespace {

/// What lane `lane` has in %r9 after the body; %r1 to %r3 hold the arguments.
uint32_t valueOf(const std::string &body, uint32_t a = 0, uint32_t b = 0,
                 uint32_t c = 0, unsigned lane = 0) {
  KernelRun kernel;
  kernel.body = std::string(ownWord) + "mov.b32 %r1, " + std::to_string(a) +
                ";\nmov.b32 %r2, " + std::to_string(b) + ";\nmov.b32 %r3, " +
                std::to_string(c) + ";\n" + body +
                "\nst.global.b32 [%rd1], %r9;";
  EXPECT_EQ(kernel.run(), "") << body;
  return kernel.memory[lane];
}

uint32_t bitsOf(float value) { return std::bit_cast<uint32_t>(value); }

TEST(MoveOps, AClockGoesOn) {
  EXPECT_EQ(valueOf("mov.u32 %r1, %clock;\nadd.s32 %r2, %r2, 1;\n"
                    "mov.u32 %r3, %clock;\nsub.s32 %r9, %r3, %r1;"),
            2u);
}

TEST(IntegerOps, Wrap) {
  EXPECT_EQ(valueOf("add.s32 %r9, %r1, %r2;", 0x7fffffff, 1), 0x80000000u);
  EXPECT_EQ(valueOf("mul.hi.u32 %r9, %r1, %r2;", 0x80000000, 6), 3u);
  EXPECT_EQ(valueOf("mul.hi.s32 %r9, %r1, %r2;", 0x80000000, 6), ~2u);
  EXPECT_EQ(valueOf("abs.s32 %r9, %r1;", 0x80000000), 0x80000000u);
}

TEST(IntegerOps, DivisionByZeroGivesOnesAndTheDividend) {
  EXPECT_EQ(valueOf("div.s32 %r9, %r1, %r2;", 7, 0), ~0u);
  EXPECT_EQ(valueOf("rem.u32 %r9, %r1, %r2;", 7, 0), 7u);
  EXPECT_EQ(valueOf("div.s32 %r9, %r1, %r2;", 0x80000000, ~0u), 0x80000000u);
}

TEST(BitOps, ShiftsBeyondTheWidthShiftEverythingOut) {
  EXPECT_EQ(valueOf("shl.b32 %r9, %r1, %r2;", 1, 32), 0u);
  EXPECT_EQ(valueOf("shr.u32 %r9, %r1, %r2;", ~0u, 32), 0u);
  EXPECT_EQ(valueOf("shr.s32 %r9, %r1, %r2;", 0x80000000, 99), ~0u);
}

TEST(BitOps, Fields) {
  EXPECT_EQ(valueOf("bfe.u32 %r9, %r1, 4, 8;", 0xabcd), 0xbcu);
  EXPECT_EQ(valueOf("bfe.s32 %r9, %r1, 4, 8;", 0xabcd), 0xffffffbcu);
  EXPECT_EQ(valueOf("bfi.b32 %r9, %r1, %r2, 8, 4;", 0xf, 0), 0xf00u);
  EXPECT_EQ(valueOf("prmt.b32 %r9, %r1, %r2, 0x7610;", 0x33221100, 0x77665544),
            0x77661100u);
  EXPECT_EQ(valueOf("prmt.b32 %r9, %r1, %r2, 0x888b;", 0x80000000, 0),
            0x000000ffu);
  EXPECT_EQ(valueOf("lop3.b32 %r9, %r1, %r2, %r3, 0x96;", 1, 3, 7), 5u);
  EXPECT_EQ(valueOf("shf.l.wrap.b32 %r9, %r1, %r2, 8;", 0xaa000000, 0x12),
            0x12aau);
}

TEST(FloatOps, SaturatedResultsLieBetweenZeroAndOne) {
  for (auto [operation, a, b, wanted] :
       {std::tuple("add.rn.sat.f32", 0.75f, 0.75f, 1.0f),
        std::tuple("sub.rn.sat.f32", 0.25f, 0.75f, 0.0f),
        std::tuple("sub.rn.sat.f32", 0.75f, 0.25f, 0.5f),
        std::tuple("mul.rn.sat.f32", 2.0f, 0.25f, 0.5f)}) {
    EXPECT_EQ(valueOf(std::string(operation) + " %r9, %r1, %r2;", bitsOf(a),
                      bitsOf(b)),
              bitsOf(wanted))
        << operation;
  }
}

TEST(FloatOps, NansGiveWayToNumbersUnlessAskedFor) {
  uint32_t nan = 0x7fc00000, one = bitsOf(1);
  EXPECT_EQ(valueOf("max.f32 %r9, %r1, %r2;", nan, one), one);
  EXPECT_TRUE(std::isnan(
      std::bit_cast<float>(valueOf("max.NaN.f32 %r9, %r1, %r2;", nan, one))));
  EXPECT_EQ(valueOf("min.f32 %r9, %r1, %r2;", 0, 0x80000000), 0x80000000u);
}

TEST(FloatOps, FtzFlushesWhatIsReadAndWritten) {
  EXPECT_EQ(valueOf("add.ftz.f32 %r9, %r1, %r2;", 1, 1), 0u);
  EXPECT_EQ(valueOf("add.f32 %r9, %r1, %r2;", 1, 1), 2u);
  EXPECT_EQ(valueOf("ex2.approx.ftz.f32 %r9, %r1;", bitsOf(-140)), 0u);
}

TEST(CompareOps, UnorderedComparisonsHoldForNans) {
  auto compared = [](const char *relation) {
    return valueOf(std::string("setp.") + relation +
                       ".f32 %p1, %r1, %r2;\nselp.b32 %r9, 1, 0, %p1;",
                   0x7fc00000, bitsOf(1));
  };
  EXPECT_EQ(compared("lt"), 0u);
  EXPECT_EQ(compared("ne"), 0u);
  EXPECT_EQ(compared("neu"), 1u);
  EXPECT_EQ(compared("nan"), 1u);
  EXPECT_EQ(compared("num"), 0u);
}

TEST(CompareOps, APairHoldsTheOppositeToo) {
  EXPECT_EQ(valueOf("setp.lt.s32 %p1|%p2, %r1, %r2;\n"
                    "selp.b32 %r9, 5, 6, %p2;",
                    1, 2),
            6u);
}

TEST(ConvertOps, NumbersOutOfRangeBecomeTheNearest) {
  EXPECT_EQ(valueOf("cvt.rzi.s32.f32 %r9, %r1;", bitsOf(3e9f)), 0x7fffffffu);
  EXPECT_EQ(valueOf("cvt.rzi.u32.f32 %r9, %r1;", bitsOf(-3)), 0u);
  EXPECT_EQ(valueOf("cvt.rzi.s32.f32 %r9, %r1;", 0x7fc00000), 0u);
  EXPECT_EQ(valueOf("cvt.rni.s32.f32 %r9, %r1;", bitsOf(2.5f)), 2u);
  EXPECT_EQ(valueOf("cvt.s32.s8 %r9, %r1;", 0x80), 0xffffff80u);
  EXPECT_EQ(valueOf("cvt.pack.sat.s8.s32.b32 %r9, %r1, %r2, %r3;", 300, ~0u, 7),
            0x00077fffu);
}

TEST(ConvertOps, PairsHaveTheFirstAbove) {
  EXPECT_EQ(valueOf("cvt.rn.f16x2.f32 %r9, %r1, %r2;", bitsOf(1), bitsOf(2)),
            0x3c004000u);
  EXPECT_EQ(valueOf("cvt.rn.satfinite.e4m3x2.f32 %rs1, %r1, %r2;\n"
                    "cvt.u32.u16 %r9, %rs1;",
                    bitsOf(1), bitsOf(1e9f)),
            0x387eu);
}

TEST(WarpOps, Shuffles) {
  EXPECT_EQ(valueOf("shfl.sync.bfly.b32 %r9, %r0, 3, 31, -1;", 0, 0, 0, 5), 6u);
  EXPECT_EQ(valueOf("shfl.sync.up.b32 %r9, %r0, 1, 0, -1;", 0, 0, 0, 0), 0u);
  EXPECT_EQ(valueOf("shfl.sync.down.b32 %r9, %r0, 1, 31, -1;", 0, 0, 0, 31),
            31u);
  // Segments of eight lanes.
  EXPECT_EQ(valueOf("shfl.sync.idx.b32 %r9, %r0, 2, 0x181f, -1;", 0, 0, 0, 13),
            10u);
}

TEST(WarpOps, VotesAndSums) {
  std::string odd = "and.b32 %r4, %r0, 1;\nsetp.eq.s32 %p1, %r4, 1;\n";
  EXPECT_EQ(valueOf(odd + "vote.sync.ballot.b32 %r9, %p1, -1;"), 0xaaaaaaaau);
  EXPECT_EQ(valueOf(odd + "vote.sync.any.pred %p2, %p1, -1;\n"
                          "selp.b32 %r9, 1, 0, %p2;"),
            1u);
  EXPECT_EQ(valueOf("redux.sync.add.s32 %r9, %r0, -1;"), 496u);
  EXPECT_EQ(valueOf("match.any.sync.b32 %r9, %r1, -1;", 4), ~0u);
}

TEST(AtomicOps, EachLaneHasItsTurn) {
  EXPECT_EQ(valueOf("atom.global.add.u32 %r8, [%rd0+512], 2;\n"
                    "ld.global.b32 %r9, [%rd0+512];"),
            64u);
  EXPECT_EQ(valueOf("atom.global.cas.b32 %r9, [%rd0+512], 0, 9;", 0, 0, 0, 1),
            9u);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// A[i, k] = i, B[k, j] = [k = 0] * j in f16: D[i, j] = i * j.
TEST(MatrixOps, FragmentsLieAsTheManualSays) {
  KernelRun kernel;
  kernel.body = R"(
    shr.u32 %r1, %r0, 2;
    and.b32 %r2, %r0, 3;
    cvt.rn.f16.u32 %rs1, %r1;
    mov.b32 %r4, {%rs1, %rs1};
    add.u32 %r3, %r1, 8;
    cvt.rn.f16.u32 %rs2, %r3;
    mov.b32 %r5, {%rs2, %rs2};
    mov.b16 %rs3, 0;
    mov.b32 %r6, {%rs1, %rs3};
    setp.eq.u32 %p1, %r2, 0;
    selp.b32 %r6, %r6, 0, %p1;
    mov.b32 %r7, 0;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
      {%f1, %f2, %f3, %f4}, {%r4, %r5, %r4, %r5}, {%r6, %r7}, {%r7, %r7, %r7, %r7};
    mul.lo.u32 %r8, %r1, 8;
    shl.b32 %r9, %r2, 1;
    add.u32 %r8, %r8, %r9;
    mul.wide.u32 %rd1, %r8, 4;
    add.s64 %rd1, %rd0, %rd1;
    st.global.v2.b32 [%rd1], {%f1, %f2};
    st.global.v2.b32 [%rd1+256], {%f3, %f4};)";
  ASSERT_EQ(kernel.run(), "");
  for (uint32_t i = 0; i < 16; ++i) {
    for (uint32_t j = 0; j < 8; ++j) {
      EXPECT_EQ(std::bit_cast<float>(kernel.memory[i * 8 + j]), float(i * j));
    }
  }
}

TEST(HalfOps, SumsAndProductsIntoFloat32) {
  // No f16 has these results.
  KernelRun kernel;
  kernel.body = std::string(ownWord) + R"(
    mov.b16 %rs1, 0x6800;                  // 2048
    mov.b32 %f0, 0f3F000000;               // 0.5
    add.rn.f32.f16 %f1, %rs1, %f0;
    st.global.b32 [%rd1], %f1;
    sub.rn.f32.f16 %f2, %rs1, %f0;
    st.global.b32 [%rd1+128], %f2;
    fma.rn.f32.f16 %f3, %rs1, %rs1, %f0;
    st.global.b32 [%rd1+256], %f3;
    mov.b16 %rs2, 0x4500;                  // 2048, as bf16
    add.rn.f32.bf16 %f4, %rs2, %f0;
    st.global.b32 [%rd1+384], %f4;
    fma.rn.sat.f32.bf16 %f5, %rs2, %rs2, %f0;
    st.global.b32 [%rd1+512], %f5;)";
  ASSERT_EQ(kernel.run(), "");
  auto at = [&](size_t i) { return std::bit_cast<float>(kernel.memory[i]); };
  EXPECT_EQ(at(0), 2048.5f);
  EXPECT_EQ(at(32), 2047.5f);
  EXPECT_EQ(at(64), 4194304.5f);
  EXPECT_EQ(at(96), 2048.5f);
  EXPECT_EQ(at(128), 1.0f);
}

TEST(MatrixOps, MissingLanesAreAFault) {
  KernelRun kernel;
  kernel.body = "setp.lt.u32 %p1, %r0, 16;\n"
                "@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r0];";
  EXPECT_THAT(kernel.run(), HasSubstr("lanes are missing"));
}

TEST(MatrixOps, RegistersThatDoNotFitTheShapeAreRefused) {
  KernelRun kernel;
  kernel.body = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                "{%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3, %r4}, "
                "{%f1, %f2, %f3, %f4};";
  EXPECT_THAT(kernel.run(), HasSubstr("registers that do not fit the shape"));
}

} // namespace
