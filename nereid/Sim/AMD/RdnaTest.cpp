//===- RdnaTest.cpp - What only RDNA has ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/testing/WordPerThread.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

namespace nereid::sim::amd {

TEST(AmdRdna, DualInstructionsReadFirst) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 // v_dual_mov_b32 v3, v2 :: v_dual_lshlrev_b32 v2, 2, v2
                 0xca220102,
                 0x03020482,
                 0x4c040702, // v_sub_nc_u32_e32 v2, v2, v3
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 3 * i) << i;
  }
}

TEST(AmdRdna, DualInstructionsExchange) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 0x7e060300, // v_mov_b32_e32 v3, v0
                 0xca100103,
                 0x02020102, // v_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2
                 0xd6460002,
                 0x040d1102, // v_lshl_add_u32 v2, v2, 8, v3
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i + 3;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], (i << 8) + i + 3) << i;
  }
}

TEST(AmdRdna, HalvesOfRegisters) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 // v_and_b16 v2.l, 0xff, v2.h op_sel:[0,1,0]
                 0xd7621002,
                 0x000204ff,
                 0x000000ff,
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i << 16 | 0x1234u << 16;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], (i << 16 | 0x1234u << 16) | ((i | 0x1234) & 0xff))
        << i;
  }
}

TEST(AmdRdna, MaximumKeepsNaN) {
  WaveRun run;
  run.generation = Generation::Rdna4;
  run.threads = 32;
  run.code = loadRdna4() +
             Words{
                 // v_maximum_f32 v2, v2, 1.0
                 0xd7660002,
                 0x0001e502,
             } +
             storeRdna4();
  const std::pair<float, float> cases[] = {
      {0.5f, 1.0f}, {2.0f, 2.0f}, {-INFINITY, 1.0f}, {NAN, NAN}};
  for (size_t i = 0; i < std::size(cases); ++i) {
    run.memory[i] = std::bit_cast<uint32_t>(cases[i].first);
  }
  ASSERT_EQ(run.run(), "");
  for (size_t i = 0; i < std::size(cases); ++i) {
    float got = std::bit_cast<float>(run.memory[i]), wanted = cases[i].second;
    EXPECT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted))) << i;
  }
}

TEST(AmdRdna, RowXmask) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 // v_mov_b32_dpp v2, v2 row_xmask:5 row_mask:0xf bank_mask:0xf
                 // bound_ct...
                 0x7e0402fa,
                 0xff096502,
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i ^ 5) << i;
  }
}

TEST(AmdRdna, Permlanex16) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 0xbe8400ff,
                 0x76543210, // s_mov_b32 s4, 0x76543210
                 // v_permlanex16_b32 v2, v2, s4, 0xfedcba98 op_sel:[0,1]
                 0xd65c1002,
                 0x03fc0902,
                 0xfedcba98,
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i ^ 16) << i;
  }
}

TEST(AmdRdna, CmpxWritesExec) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 0x7d980088, // v_cmpx_gt_u32_e32 8, v0
                 0x7e040287, // v_mov_b32_e32 v2, 7
                 0xbefe00c1, // s_mov_b32 exec_lo, -1
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i < 8 ? 7 : i) << i;
  }
}

TEST(AmdRdna, ScalarFloats) {
  WaveRun run;
  run.generation = Generation::Rdna4;
  run.threads = 32;
  run.code = loadRdna4() +
             Words{
                 0xa204f6f0, // s_mul_f32 s4, 0.5, 4.0
                 0xa004f204, // s_add_f32 s4, s4, 1.0
                 0x10040404, // v_mul_f32_e32 v2, s4, v2
             } +
             storeRdna4();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = std::bit_cast<uint32_t>(float(i));
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], std::bit_cast<uint32_t>(float(i) * 3)) << i;
  }
}

TEST(AmdRdna, LiteralFormsTakeUpperHalves) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 0x7e0602ff,
                 0x3c004400, // v_mov_b32_e32 v3, 0x3c004400
                 0x6e040783,
                 0x00004000, // v_fmamk_f16 v2.l, v3.h, 0x4000, v3.l
             } +
             storeRdna3();
  for (uint32_t &word : run.memory) {
    word = 0;
  }
  ASSERT_EQ(run.run(), "");
  EXPECT_EQ(run.memory[0], 0x4600u); // 1 * 2 + 4
}

TEST(AmdRdna, ScalarHalves) {
  WaveRun run;
  run.generation = Generation::Rdna4;
  run.threads = 32;
  run.code = loadRdna4() +
             Words{
                 0xa484f2f6, // s_add_f16 s4, 4.0, 1.0
                 0xbf51f604, // s_cmp_lt_f16 s4, 4.0
                 0x98058104, // s_cselect_b32 s5, s4, 1
                 0x7e040205, // v_mov_b32_e32 v2, s5
             } +
             storeRdna4();
  ASSERT_EQ(run.run(), "");
  EXPECT_EQ(run.memory[0], 1u);
  run.code = loadRdna4() +
             Words{
                 0xa484f2f6, // s_add_f16 s4, 4.0, 1.0
                 0x7e040204, // v_mov_b32_e32 v2, s4
             } +
             storeRdna4();
  ASSERT_EQ(run.run(), "");
  EXPECT_EQ(run.memory[0] & 0xffff, 0x4500u);
}

TEST(AmdRdna, PseudoScalars) {
  WaveRun run;
  run.generation = Generation::Rdna4;
  run.threads = 32;
  run.code = loadRdna4() +
             Words{
                 0xd6840004,
                 0x000000f6, // v_s_rcp_f32 s4, 4.0
                 0x10040404, // v_mul_f32_e32 v2, s4, v2
             } +
             storeRdna4();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = std::bit_cast<uint32_t>(float(i));
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], std::bit_cast<uint32_t>(float(i) / 4)) << i;
  }
}

TEST(AmdRdna, IntegersClamp) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xd1358002,
                 0x00014102, // v_sub_u32_e64 v2, v2, 32 clamp
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  EXPECT_EQ(run.memory[31], 0u);
  EXPECT_EQ(run.memory[40], 8u);
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 0xd7268002,
                 0x00020502, // v_add_nc_i32 v2, v2, v2 clamp
             } +
             storeRdna3();
  run.memory[0] = 0x7fffffff;
  run.memory[1] = 0x80000001;
  run.memory[2] = 7;
  ASSERT_EQ(run.run(), "");
  EXPECT_EQ(run.memory[0], 0x7fffffffu);
  EXPECT_EQ(run.memory[1], 0x80000000u);
  EXPECT_EQ(run.memory[2], 14u);
}

} // namespace nereid::sim::amd
