//===- LaneRegionsTest.cpp - Lanes that do not come back ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/testing/WaveRun.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::sim::amd {

static constexpr uint32_t nop = 0xbf800000, restore = 0x87fe047e;

/// The code with the restore of the exec mask, or a S_NOP in its place.
static std::string runOf(Words code, bool restores) {
  for (uint32_t &word : code) {
    if (word == restore && !restores) {
      word = nop;
    }
  }
  WaveRun run;
  run.code = std::move(code);
  return run.run();
}

static const Words lessThan16 = {
    0xc0060080, 0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
    0x24020082,             // v_lshlrev_b32_e32 v1, 2, v0
    0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
    0x7d980090,             // v_cmp_gt_u32_e32 vcc, 16, v0
};
static const Words stored = {
    0xbf800004, // s_nop 4
    0xdc708000,
    0x00020001, // global_store_dword v1, v0, s[2:3]
    0xbf810000, // s_endpgm
};

TEST(AmdLanes, ComeBackWhereTheJumpLeadsTo) {
  Words code = lessThan16 +
               Words{
                   0xbe84206a, // s_and_saveexec_b64 s[4:5], vcc
                   0xbf880001, // s_cbranch_execz 1
                   0x68000100, // v_add_u32_e32 v0, v0, v0
                   0x87fe047e, // s_or_b64 exec, exec, s[4:5]
               } +
               stored;
  EXPECT_EQ(runOf(code, true), "");
  std::string said = runOf(code, false);
  EXPECT_THAT(said, testing::HasSubstr("lane 16 of wave 0"));
  EXPECT_THAT(said, testing::HasSubstr("global_store_dword v1, v0, s[2:3]: is "
                                       "off"));
  EXPECT_THAT(said, testing::HasSubstr("s_and_saveexec_b64 s[4:5], vcc"));
}

TEST(AmdLanes, MayBeOffWhileACacheIsInvalidated) {
  Words code = lessThan16 +
               Words{
                   0xbe84206a, // s_and_saveexec_b64 s[4:5], vcc
                   0xbf880001, // s_cbranch_execz 1
                   0x68000100, // v_add_u32_e32 v0, v0, v0
                   0xe0a48000,
                   0x00000000, // buffer_inv sc1
                   0x87fe047e, // s_or_b64 exec, exec, s[4:5]
               } +
               stored;
  EXPECT_EQ(runOf(code, true), "");
}

TEST(AmdLanes, ComeBackBehindBothWays) {
  Words code = lessThan16 +
               Words{
                   0xbe84206a, // s_and_saveexec_b64 s[4:5], vcc
                   0x8884047e, // s_xor_b64 s[4:5], exec, s[4:5]
                   0xbf880001, // s_cbranch_execz 1
                   0x68000100, // v_add_u32_e32 v0, v0, v0
                   0xbe842304, // s_andn2_saveexec_b64 s[4:5], s[4:5]
                   0xbf880001, // s_cbranch_execz 1
                   0x7e000280, // v_mov_b32_e32 v0, 0
                   0x87fe047e, // s_or_b64 exec, exec, s[4:5]
               } +
               stored;
  EXPECT_EQ(runOf(code, true), "");
  EXPECT_THAT(runOf(code, false), testing::HasSubstr("lane 0 of wave 0"));
}

TEST(AmdLanes, ComeBackBehindALoop) {
  Words code =
      Words{
          0xc0060080,
          0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
          0x24020082, // v_lshlrev_b32_e32 v1, 2, v0
          0xbf8cc07f, // s_waitcnt lgkmcnt(0)
          0xbe840180, // s_mov_b64 s[4:5], 0
          0x6c000090, // v_subrev_u32_e32 v0, 16, v0
          0x7d880090, // v_cmp_gt_i32_e32 vcc, 16, v0
          0x8784046a, // s_or_b64 s[4:5], vcc, s[4:5]
          0x89fe047e, // s_andn2_b64 exec, exec, s[4:5]
          0xbf89fffb, // s_cbranch_execnz 65531
          0x87fe047e, // s_or_b64 exec, exec, s[4:5]
      } +
      stored;
  EXPECT_EQ(runOf(code, true), "");
  EXPECT_THAT(runOf(code, false), testing::HasSubstr("is off"));
}

TEST(AmdLanes, MayStayOutToTheEnd) {
  Words code = lessThan16 +
               Words{
                   0xbe84206a, // s_and_saveexec_b64 s[4:5], vcc
                   0xbf880003, // s_cbranch_execz 3
               } +
               stored;
  EXPECT_EQ(runOf(code, true), "");
}

TEST(AmdLanes, AreAllAtABarrier) {
  Words code = lessThan16 +
               Words{
                   0xbe84206a, // s_and_saveexec_b64 s[4:5], vcc
                   0x68000100, // v_add_u32_e32 v0, v0, v0
                   0x87fe047e, // s_or_b64 exec, exec, s[4:5]
                   0xbf8a0000, // s_barrier
               } +
               stored;
  EXPECT_EQ(runOf(code, true), "");
  std::string said = runOf(code, false);
  EXPECT_THAT(said, testing::HasSubstr("misused barrier: lane 16 of wave 0"));
  EXPECT_THAT(said, testing::HasSubstr("hint: restore the exec mask before"));
}

} // namespace nereid::sim::amd
