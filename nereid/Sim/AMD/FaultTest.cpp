//===- FaultTest.cpp - What the simulator reports -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/testing/WaveRun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::sim::amd {

TEST(AmdFault, ReadBeforeItsWait) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xdc508000, 0x02020001, // global_load_dword v2, v1, s[2:3]
      0x68040502,             // v_add_u32_e32 v2, v2, v2
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("race: "));
  EXPECT_THAT(
      said,
      testing::HasSubstr(
          "v_add_u32_e32 v2, v2, v2: reads v2, which is on its way from"));
  EXPECT_THAT(said, testing::HasSubstr("global_load_dword v2, v1, s[2:3]"));
  EXPECT_THAT(said, testing::HasSubstr("hint: wait for vmcnt(0)"));
}

TEST(AmdFault, WaitThatCoversTooLittle) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xdc508000, 0x02020001, // global_load_dword v2, v1, s[2:3]
      0xdc508000, 0x03020001, // global_load_dword v3, v1, s[2:3]
      0xbf8c0f71,             // s_waitcnt vmcnt(1)
      0x68040702,             // v_add_u32_e32 v2, v2, v3
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("reads v3"));
}

TEST(AmdFault, ScalarLoadsNeedAWaitForAll) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0xc0060100, 0x00000000, // s_load_dwordx2 s[4:5], s[0:1], 0x0
      0xbf8cc17f,             // s_waitcnt lgkmcnt(1)
      0x80028102,             // s_add_u32 s2, s2, 1
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("reads s2"));
  EXPECT_THAT(said, testing::HasSubstr("wait for lgkmcnt(0)"));
}

TEST(AmdFault, OverwrittenBeforeItsWait) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xdc508000, 0x02020001, // global_load_dword v2, v1, s[2:3]
      0x7e040280,             // v_mov_b32_e32 v2, 0
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("writes v2"));
}

TEST(AmdFault, StoresOfRdnaAreCountedApart) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = {
      0xf4040080, 0xf8000000, // s_load_b64 s[2:3], s[0:1], null
      0x30020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf89fc07,             // s_waitcnt lgkmcnt(0)
      0xdc520000, 0x02020001, // global_load_b32 v2, v1, s[2:3]
      0xbc7c0000,             // s_waitcnt_vscnt null, 0x0
      0x4a040502,             // v_add_nc_u32_e32 v2, v2, v2
      0xdc6a0000, 0x00020201, // global_store_b32 v1, v2, s[2:3]
      0xbfb00000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("reads v2"));
  EXPECT_THAT(said, testing::HasSubstr("wait for vmcnt(0)"));
}

TEST(AmdFault, CountersOfRdna4) {
  WaveRun run;
  run.generation = Generation::Rdna4;
  run.threads = 32;
  run.code = {
      0xf4002080, 0xf8000000,             // s_load_b64 s[2:3], s[0:1], 0x0
      0x30020082,                         // v_lshlrev_b32_e32 v1, 2, v0
      0xbfc70000,                         // s_wait_kmcnt 0x0
      0xd8d80000, 0x02000001,             // ds_load_b32 v2, v1
      0xbfc00000,                         // s_wait_loadcnt 0x0
      0x4a040502,                         // v_add_nc_u32_e32 v2, v2, v2
      0xee068002, 0x01000000, 0x00000001, // global_store_b32 v1, v2, s[2:3]
      0xbfb00000,                         // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("reads v2"));
  EXPECT_THAT(said, testing::HasSubstr("wait for dscnt(0)"));
}

TEST(AmdFault, PastTheEndOfAnAllocation) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xdc5083e8, 0x02020001, // global_load_dword v2, v1, s[2:3] offset:1000
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(
      said,
      testing::HasSubstr(
          "illegal memory access: lane 6 of wave 0 of workgroup (0, 0, 0)"));
  EXPECT_THAT(
      said, testing::HasSubstr("global_load_dword v2, v1, s[2:3] offset:1000"));
  EXPECT_THAT(said,
              testing::HasSubstr("4 past the end of an allocation of 1024"));
}

TEST(AmdFault, PastTheEndOfSharedMemory) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xd86c03fc, 0x02000001, // ds_read_b32 v2, v1 offset:1020
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("lane 1"));
  EXPECT_THAT(said, testing::HasSubstr(
                        "reads 4 bytes at 0x400 of LDS, which has 1024"));
}

TEST(AmdFault, PastTheEndOfScratch) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xdc504040, 0x027f0000, // scratch_load_dword v2, off, off offset:64
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("of scratch memory, which has 64"));
}

TEST(AmdFault, RaceWithoutABarrier) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0x2a0602ff, 0x00000100, // v_xor_b32_e32 v3, 0x100, v1
      0xd81a0000, 0x00000001, // ds_write_b32 v1, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xd86c0000, 0x02000003, // ds_read_b32 v2, v3
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  run.threads = 128;
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("race: "));
  EXPECT_THAT(said, testing::HasSubstr("of LDS, which wave"));
}

TEST(AmdFault, AtomicsHideNoStore) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 128;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0x260602ff, 0x000000ff, // v_and_b32_e32 v3, 0xff, v1
      0x7d9800c0,             // v_cmp_gt_u32_e32 vcc, 64, v0
      0xbe84206a,             // s_and_saveexec_b64 s[4:5], vcc
      0xd81a0000, 0x00000003, // ds_write_b32 v3, v0
      0x87fe047e,             // s_or_b64 exec, exec, s[4:5]
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xd8000000, 0x00000003, // ds_add_u32 v3, v0
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("ds_add_u32 v3, v0: updates"));
  EXPECT_THAT(said, testing::HasSubstr("which wave 0 has written at"));
  EXPECT_THAT(said, testing::HasSubstr("ds_write_b32 v3, v0"));
}

TEST(AmdFault, BarrierWithoutAWait) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0x2a0602ff, 0x00000100, // v_xor_b32_e32 v3, 0x100, v1
      0xd81a0000, 0x00000001, // ds_write_b32 v1, v0
      0xbf8a0000,             // s_barrier
      0xd86c0000, 0x02000003, // ds_read_b32 v2, v3
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  run.threads = 128;
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("race: "));
  EXPECT_THAT(said, testing::HasSubstr("of LDS, which wave"));
}

TEST(AmdFault, BarrierThatAWaveNeverReaches) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0x7e080500,             // v_readfirstlane_b32 s4, v0
      0xbf078004,             // s_cmp_lg_u32 s4, 0
      0xbf850001,             // s_cbranch_scc1 1
      0xbf8a0000,             // s_barrier
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  run.threads = 128;
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("deadlock: "));
  EXPECT_THAT(said, testing::HasSubstr("wave 0"));
  EXPECT_THAT(said, testing::HasSubstr("waits"));
  EXPECT_THAT(said, testing::HasSubstr("wave 1 has ended"));
}

TEST(AmdFault, TooManyInstructions) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xbf82ffff, // s_branch 65535
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("deadlock: "));
  EXPECT_THAT(said, testing::HasSubstr("100001 instructions"));
}

TEST(AmdFault, DppTooSoonAfterItsSource) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080,
      0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082, // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f, // s_waitcnt lgkmcnt(0)
      0xdc508000,
      0x02020001, // global_load_dword v2, v1, s[2:3]
      0xbf8c0f70, // s_waitcnt vmcnt(0)
      0x7e060302, // v_mov_b32_e32 v3, v2
      // v_mov_b32_dpp v2, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
      0x7e0402fa,
      0xff00b103,
      0xbf800004, // s_nop 4
      0xdc708000,
      0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000, // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("needs 2 wait states after"));
  EXPECT_THAT(said, testing::HasSubstr("has 0"));
}

TEST(AmdFault, ReadsItsTranscendentalTooSoon) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xdc508000, 0x02020001, // global_load_dword v2, v1, s[2:3]
      0xbf8c0f70,             // s_waitcnt vmcnt(0)
      0x7e044102,             // v_exp_f32_e32 v2, v2
      0x02040502,             // v_add_f32_e32 v2, v2, v2
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("needs 1 wait states after"));
  EXPECT_THAT(said, testing::HasSubstr("transcendental"));
}

TEST(AmdFault, ScalarFromVectorTooSoonForMemory) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xdc508000, 0x02020001, // global_load_dword v2, v1, s[2:3]
      0xbf8c0f70,             // s_waitcnt vmcnt(0)
      0x7e080500,             // v_readfirstlane_b32 s4, v0
      0xdc508000, 0x02040001, // global_load_dword v2, v1, s[4:5]
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("needs 5 wait states"));
}

TEST(AmdFault, Misaligned) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xd86c0002, 0x02000001, // ds_read_b32 v2, v1 offset:2
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("misaligned address"));
}

TEST(AmdFault, Trap) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xbf920002, // s_trap 2
      0xbf810000, // s_endpgm
  };
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("trap"));
}

TEST(AmdFault, BarrierAndWaitOrderWaves) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0x2a0602ff, 0x00000100, // v_xor_b32_e32 v3, 0x100, v1
      0xd81a0000, 0x00000001, // ds_write_b32 v1, v0
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xbf8a0000,             // s_barrier
      0xd86c0000, 0x02000003, // ds_read_b32 v2, v3
      0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
      0xbf800004,             // s_nop 4
      0xdc708000, 0x00020201, // global_store_dword v1, v2, s[2:3]
      0xbf810000,             // s_endpgm
  };
  run.threads = 128;
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i ^ 64) << i;
  }
}

TEST(AmdFault, SplitBarriersOrderWaves) {
  WaveRun run;
  run.generation = Generation::Rdna4;
  run.threads = 32;
  run.code = {
      0xf4002080, 0xf8000000,             // s_load_b64 s[2:3], s[0:1], 0x0
      0x30020082,                         // v_lshlrev_b32_e32 v1, 2, v0
      0xbfc70000,                         // s_wait_kmcnt 0x0
      0x3a0602ff, 0x00000080,             // v_xor_b32_e32 v3, 0x80, v1
      0xd8340000, 0x00000001,             // ds_store_b32 v1, v0
      0xbfc60000,                         // s_wait_dscnt 0x0
      0xbe804ec1,                         // s_barrier_signal -1
      0xbf94ffff,                         // s_barrier_wait 0xffff
      0xd8d80000, 0x02000003,             // ds_load_b32 v2, v3
      0xbfc60000,                         // s_wait_dscnt 0x0
      0xee068002, 0x01000000, 0x00000001, // global_store_b32 v1, v2, s[2:3]
      0xbfb00000,                         // s_endpgm
  };
  run.threads = 64;
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i ^ 32) << i;
  }
}

TEST(AmdFault, UnknownInstructionsAreRefused) {
  WaveRun run;
  run.code = {0xffffffff, 0xffffffff};
  EXPECT_THAT(run.run(), testing::HasSubstr("not simulated: ffffffff"));
}

} // namespace nereid::sim::amd
