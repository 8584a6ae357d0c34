//===- VectorTest.cpp - What vector instructions compute ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/testing/WordPerThread.h"

#include <gtest/gtest.h>

#include <bit>

namespace nereid::sim::amd {

TEST(AmdVector, Vop2AddsFloats) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x020404f2, // v_add_f32_e32 v2, 1.0, v2
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = std::bit_cast<uint32_t>(float(i));
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], std::bit_cast<uint32_t>(float(i) + 1)) << i;
  }
}

TEST(AmdVector, Vop1CountsLeadingZeros) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e045b02, // v_ffbh_u32_e32 v2, v2
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i ? uint32_t(std::countl_zero(i)) : ~0u) << i;
  }
}

TEST(AmdVector, Vop3Multiplies) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xd2850002,
                 0x00020502, // v_mul_lo_u32 v2, v2, v2
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i + 70000;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], (i + 70000) * (i + 70000)) << i;
  }
}

TEST(AmdVector, Vop3NegatesAndTakesAbsolutes) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xd1cb0102,
                 0x23c9e902, // v_fma_f32 v2, -|v2|, 2.0, 1.0
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = std::bit_cast<uint32_t>(-float(i));
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], std::bit_cast<uint32_t>(1 - 2 * float(i))) << i;
  }
}

TEST(AmdVector, Vop3ClampsAndDoubles) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xd1058002,
                 0x0801e102, // v_mul_f32_e64 v2, v2, 0.5 clamp mul:2
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = std::bit_cast<uint32_t>(float(i) / 4);
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i],
              std::bit_cast<uint32_t>(std::min(float(i) / 4, 1.0f)))
        << i;
  }
}

TEST(AmdVector, VopcAndMasks) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7d980088, // v_cmp_gt_u32_e32 vcc, 8, v0
                 0x00040500, // v_cndmask_b32_e32 v2, v0, v2, vcc
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i + 100;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i < 8 ? i + 100 : i) << i;
  }
}

TEST(AmdVector, CarriesGoThroughMasks) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x32060502, // v_add_co_u32_e32 v3, vcc, v2, v2
                 0x38040100, // v_addc_co_u32_e32 v2, vcc, v0, v0, vcc
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i << 26;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 2 * i + (i >= 32)) << i;
  }
}

TEST(AmdVector, LongIntegers) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e060280, // v_mov_b32_e32 v3, 0
                 0xd1e80604,
                 0x040a0502, // v_mad_u64_u32 v[4:5], s[6:7], v2, v2, v[2:3]
                 0x7e040305, // v_mov_b32_e32 v2, v5
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0xffffff00u + i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i],
              uint32_t((uint64_t(0xffffff00u + i) * (0xffffff00u + i) +
                        0xffffff00u + i) >>
                       32))
        << i;
  }
}

TEST(AmdVector, DppExchangesNeighbours) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e060302, // v_mov_b32_e32 v3, v2
                 0xbf800001, // s_nop 1
                 // v_mov_b32_dpp v2, v3 quad_perm:[1,0,3,2] row_mask:0xf
                 // bank_mask:0xf ...
                 0x7e0402fa,
                 0xff08b103,
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i * i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], (i ^ 1) * (i ^ 1)) << i;
  }
}

TEST(AmdVector, DppShiftsRowsAndKeepsTheRest) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e060302, // v_mov_b32_e32 v3, v2
                 0xbf800001, // s_nop 1
                 // v_mov_b32_dpp v2, v3 row_shr:4 row_mask:0xf bank_mask:0xf
                 0x7e0402fa,
                 0xff011403,
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i + 1;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i % 16 < 4 ? i + 1 : i - 3) << i;
  }
}

TEST(AmdVector, DppRowMaskLeavesRows) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e060302, // v_mov_b32_e32 v3, v2
                 0xbf800001, // s_nop 1
                 // v_mov_b32_dpp v2, v3 row_ror:8 row_mask:0xa bank_mask:0xf
                 // bound_ctrl:1
                 0x7e0402fa,
                 0xaf092803,
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i & 16 ? i ^ 8 : i) << i;
  }
}

TEST(AmdVector, SdwaTakesHalves) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 // v_add_u32_sdwa v2, v2, v0 dst_sel:DWORD
                 // dst_unused:UNUSED_PAD src0_s...
                 0x680400f9,
                 0x00050602,
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i << 20;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], (i << 4) + i) << i;
  }
}

TEST(AmdVector, SdwaKeepsTheOtherHalf) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 // v_mov_b32_sdwa v2, v0 dst_sel:WORD_1
                 // dst_unused:UNUSED_PRESERVE src0...
                 0x7e0402f9,
                 0x00061500,
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i + 1;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], (i + 1) | i << 16) << i;
  }
}

TEST(AmdVector, MixedPrecision) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code =
      loadCdna() +
      Words{
          // v_fma_mix_f32 v2, v2, 2.0, v2 op_sel:[1,0,0] op_sel_hi:[1,0,1]
          0xd3a04802,
          0x0c09e902,
      } +
      storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0x3c004000u;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], std::bit_cast<uint32_t>(1.0f * 2 + 2)) << i;
  }
}

TEST(AmdVector, PackedHalves) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xd38f4002,
                 0x10020502, // v_pk_add_f16 v2, v2, v2 op_sel_hi:[0,1]
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0x3c004000u;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 0x42004400u) << i;
  }
}

TEST(AmdVector, PackedFloats) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e0602f2, // v_mov_b32_e32 v3, 1.0
                 0xd3b14004,
                 0x18020502, // v_pk_mul_f32 v[4:5], v[2:3], v[2:3]
                 // v_pk_add_f32 v[2:3], v[4:5], v[4:5] op_sel:[0,1]
                 0xd3b25002,
                 0x18020904,
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = std::bit_cast<uint32_t>(float(i));
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], std::bit_cast<uint32_t>(float(i) * float(i) + 1))
        << i;
  }
}

TEST(AmdVector, AccumulationRegisters) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xd3d94003, 0x18000102, // v_accvgpr_write_b32 a3, v2
                 0x7e040280,             // v_mov_b32_e32 v2, 0
                 0xd3d84002, 0x18000103, // v_accvgpr_read_b32 v2, a3
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i * 3;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i * 3) << i;
  }
}

TEST(AmdVector, FirstLaneAndLanes) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e080502,             // v_readfirstlane_b32 s4, v2
                 0xd2890005, 0x00011302, // v_readlane_b32 s5, v2, 9
                 0x80040504,             // s_add_u32 s4, s4, s5
                 0xbf800004,             // s_nop 4
                 0xd28a0002, 0x00010e04, // v_writelane_b32 v2, s4, 7
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i + 5;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i == 7 ? 19 : i + 5) << i;
  }
}

TEST(AmdVector, CountsLanesBelow) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xd28c0002,
                 0x000100c1, // v_mbcnt_lo_u32_b32 v2, -1, 0
                 0xd28d0002,
                 0x000204c1, // v_mbcnt_hi_u32_b32 v2, -1, v2
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i) << i;
  }
}

TEST(AmdVector, Bpermute) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x2a0602ff, 0x00000094, // v_xor_b32_e32 v3, 0x94, v1
                 0xd87e0000, 0x02000203, // ds_bpermute_b32 v2, v3, v2
                 0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i * 7;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], (i ^ 37) * 7) << i;
  }
}

TEST(AmdVector, Swizzle) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xd87a401f,
                 0x02000002, // ds_swizzle_b32 v2, v2 offset:swizzle(SWAP,16)
                 0xbf8cc07f, // s_waitcnt lgkmcnt(0)
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i * 7;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], (i ^ 16) * 7) << i;
  }
}

TEST(AmdVector, QuotientsAreExact) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code =
      loadCdna() +
      Words{
          0x7e060d00,             // v_cvt_f32_u32_e32 v3, v0
          0x020606f2,             // v_add_f32_e32 v3, 1.0, v3
          0xd1e00404, 0x040a0703, // v_div_scale_f32 v4, s[4:5], v3, v3, v2
          0xd1e06a05, 0x040a0702, // v_div_scale_f32 v5, vcc, v2, v3, v2
          0x7e0c4504,             // v_rcp_f32_e32 v6, v4
          0xbf800000,             // s_nop 0
          0xd1cb0007, 0x23ca0d04, // v_fma_f32 v7, -v4, v6, 1.0
          0xd1cb0006, 0x041a0d07, // v_fma_f32 v6, v7, v6, v6
          0x0a0e0d05,             // v_mul_f32_e32 v7, v5, v6
          0xd1cb0008, 0x24160f04, // v_fma_f32 v8, -v4, v7, v5
          0xd1cb0007, 0x041e0d08, // v_fma_f32 v7, v8, v6, v7
          0xd1cb0004, 0x24160f04, // v_fma_f32 v4, -v4, v7, v5
          0xd1e20004, 0x041e0d04, // v_div_fmas_f32 v4, v4, v6, v7
          0xd1de0002, 0x040a0704, // v_div_fixup_f32 v2, v4, v3, v2
      } +
      storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = std::bit_cast<uint32_t>(i % 3 == 0   ? 1e-38f
                                            : i % 3 == 1 ? 3e38f
                                                         : 1.0f);
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], std::bit_cast<uint32_t>((i % 3 == 0   ? 1e-38f
                                                      : i % 3 == 1 ? 3e38f
                                                                   : 1.0f) /
                                                     (float(i) + 1)))
        << i;
  }
}

// The result is the third source, so that the code has one word instead of two.
TEST(AmdVector, ADotOfBytesAddsToItsResult) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e08028a, // v_mov_b32_e32 v4, 10
                 0x72080502, // v_dot4c_i32_i8_e32 v4, v2, v2
                 0x7e040304, // v_mov_b32_e32 v2, v4
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = (i & 0x3f) | 0xff030000;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 10 + i * i + 9 + 1) << i;
  }
}

TEST(AmdVector, BitsSayWhichBytesOfADotHaveASign) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 0x7e08028a, // v_mov_b32_e32 v4, 10
                 0xcc164004,
                 0x3c120502, // v_dot4_i32_iu8 v4, v2, v2, v4 neg_lo:[1,0,0]
                 0x7e040304, // v_mov_b32_e32 v2, v4
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = (i & 0x3f) | 0xff030000;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 10 + i * i + 9 - 255) << i;
  }
}

} // namespace nereid::sim::amd
