//===- ScalarTest.cpp - What scalar instructions compute ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/testing/WordPerThread.h"

#include <gtest/gtest.h>

namespace nereid::sim::amd {

TEST(AmdScalar, AddsWithCarry) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xbe8400c1, // s_mov_b32 s4, -1
                 0x80048204, // s_add_u32 s4, s4, 2
                 0x8205a880, // s_addc_u32 s5, 0, 40
                 0x7e040205, // v_mov_b32_e32 v2, s5
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 41u) << i;
  }
}

TEST(AmdScalar, TakesFields) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xbe8400ff, 0x00abcd00, // s_mov_b32 s4, 0xabcd00
                 0x9284ff04, 0x00080008, // s_bfe_u32 s4, s4, 0x80008
                 0x7e040204,             // v_mov_b32_e32 v2, s4
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 0xcdu) << i;
  }
}

TEST(AmdScalar, ComparesAndSelects) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xbf02c183, // s_cmp_gt_i32 3, -1
                 0x85048c8b, // s_cselect_b32 s4, 11, 12
                 0x7e040204, // v_mov_b32_e32 v2, s4
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 11u) << i;
  }
}

TEST(AmdScalar, Loops) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xbe840080, // s_mov_b32 s4, 0
                 0x81048304, // s_add_i32 s4, s4, 3
                 0xbf049e04, // s_cmp_lt_i32 s4, 30
                 0xbf85fffd, // s_cbranch_scc1 65533
                 0x7e040204, // v_mov_b32_e32 v2, s4
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 30u) << i;
  }
}

TEST(AmdScalar, SavesAndRestoresExec) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7d980085, // v_cmp_gt_u32_e32 vcc, 5, v0
                 0xbe84206a, // s_and_saveexec_b64 s[4:5], vcc
                 0x7e040281, // v_mov_b32_e32 v2, 1
                 0x87fe047e, // s_or_b64 exec, exec, s[4:5]
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 9;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i < 5 ? 1u : 9u) << i;
  }
}

TEST(AmdScalar, SkipsWithoutLanes) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xbe84017e, // s_mov_b64 s[4:5], exec
                 0xbefe0180, // s_mov_b64 exec, 0
                 0xbf880001, // s_cbranch_execz 1
                 0x7e040281, // v_mov_b32_e32 v2, 1
                 0xbefe0104, // s_mov_b64 exec, s[4:5]
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 9;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 9u) << i;
  }
}

TEST(AmdScalar, SignedFields64) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xbe850080,             // s_mov_b32 s5, 0
                 0xbe8400ff, 0x80000000, // s_mov_b32 s4, 0x80000000
                 0x9404ff04, 0x00200000, // s_bfe_i64 s[4:5], s[4:5], 0x200000
                 0x7e040205,             // v_mov_b32_e32 v2, s5
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], ~0u) << i;
  }
}

TEST(AmdScalar, FindsItsOwnCode) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xbe841c00,             // s_getpc_b64 s[4:5]
                 0xc0020182, 0x00000000, // s_load_dword s6, s[4:5], 0x0
                 0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
                 0x7e040206,             // v_mov_b32_e32 v2, s6
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 0xc0020182u) << i;
  }
}

TEST(AmdScalar, MultipliesLongs) {
  WaveRun run;
  run.generation = Generation::Rdna4;
  run.threads = 32;
  run.code = loadRdna4() +
             Words{
                 0xbe8400c1, // s_mov_b32 s4, -1
                 0xbe850080, // s_mov_b32 s5, 0
                 0xaa840404, // s_mul_u64 s[4:5], s[4:5], s[4:5]
                 0x7e040205, // v_mov_b32_e32 v2, s5
             } +
             storeRdna4();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 0xfffffffeu) << i;
  }
}

TEST(AmdScalar, ShiftsAndAdds) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 0xbe840085, // s_mov_b32 s4, 5
                 0x88048204, // s_lshl3_add_u32 s4, s4, 2
                 0x7e040204, // v_mov_b32_e32 v2, s4
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 42u) << i;
  }
}

} // namespace nereid::sim::amd
