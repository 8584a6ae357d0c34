//===- MemoryTest.cpp - Loads, stores, atomics and LDS --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/Counts/Profile.h"
#include "nereid/Sim/AMD/testing/WordPerThread.h"

#include <gtest/gtest.h>

namespace nereid::sim::amd {

TEST(AmdMemory, SharedMemoryMovesWords) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xd81a0010, 0x00000201, // ds_write_b32 v1, v2 offset:16
                 0x2a06028c,             // v_xor_b32_e32 v3, 12, v1
                 0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
                 0xd86c0010, 0x02000003, // ds_read_b32 v2, v3 offset:16
                 0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i ^ 3) << i;
  }
}

// LLVM folds offsets into addresses whose registers are negative.
TEST(AmdMemory, SharedAddressesWrap) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x680602d0, // v_add_u32_e32 v3, -16, v1
                 0xd81a0010,
                 0x00000203, // ds_write_b32 v3, v2 offset:16
                 0xbf8cc07f, // s_waitcnt lgkmcnt(0)
                 0xd86c0000,
                 0x02000001, // ds_read_b32 v2, v1
                 0xd86e0404,
                 0x04000003, // ds_read2_b32 v[4:5], v3 offset0:4
                             //   offset1:4
                 0xbf8cc07f, // s_waitcnt lgkmcnt(0)
                 0x68040902, // v_add_u32_e32 v2, v2, v4
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 2 * i) << i;
  }
}

TEST(AmdMemory, GlobalLoadsBeginAtAnyByte) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 // global_load_dword v2, v1, s[2:3] offset:258
                 0xdc508102,
                 0x02020001,
                 0xbf8c0f70, // s_waitcnt vmcnt(0)
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i << 16 | i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], (i + 65) << 16 | (i + 64)) << i;
  }
}

TEST(AmdMemory, SharedPairsHaveTwoOffsets) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x24060083,             // v_lshlrev_b32_e32 v3, 3, v0
                 0xd81c0100, 0x00000203, // ds_write2_b32 v3, v2, v0 offset1:1
                 0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
                 0xd86e0100, 0x04000003, // ds_read2_b32 v[4:5], v3 offset1:1
                 0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
                 0x68040b04,             // v_add_u32_e32 v2, v4, v5
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i * 10;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i * 11) << i;
  }
}

TEST(AmdMemory, SharedAtomicsReturnTheOld) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e060280,             // v_mov_b32_e32 v3, 0
                 0xd81a0000, 0x00000303, // ds_write_b32 v3, v3
                 0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
                 0x7e080281,             // v_mov_b32_e32 v4, 1
                 0xd8400000, 0x02000403, // ds_add_rtn_u32 v2, v3, v4
                 0xbf8cc07f,             // s_waitcnt lgkmcnt(0)
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

TEST(AmdMemory, BytesAreExtended) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0xdc448001,
                 0x02020001, // global_load_sbyte v2, v1, s[2:3] offset:1
                 0xbf8c0f70, // s_waitcnt vmcnt(0)
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = 0xff00u + i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], ~0u) << i;
  }
}

TEST(AmdMemory, HalvesAreStoredFromAbove) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code =
      loadCdna() +
      Words{
          0xdc6c8000, 0x00020201, // global_store_short_d16_hi v1, v2, s[2:3]
          0xbf8c0f70,             // s_waitcnt vmcnt(0)
          0xdc508000, 0x02020001, // global_load_dword v2, v1, s[2:3]
          0xbf8c0f70,             // s_waitcnt vmcnt(0)
      } +
      storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i << 16 | 7u;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i << 16 | i) << i;
  }
}

TEST(AmdMemory, GlobalAtomicsReturnTheOld) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e060280, // v_mov_b32_e32 v3, 0
                 0x7e080282, // v_mov_b32_e32 v4, 2
                 // global_atomic_add v2, v3, v4, s[2:3] offset:512 sc0
                 0xdd098200,
                 0x02020403,
                 0xbf8c0f70, // s_waitcnt vmcnt(0)
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i == 128 ? 5u : 0u;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], 5 + 2 * i) << i;
  }
}

TEST(AmdMemory, CompareAndSwap) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code =
      loadCdna() +
      Words{
          0x7e080287,             // v_mov_b32_e32 v4, 7
          0x7e0a0283,             // v_mov_b32_e32 v5, 3
          0xdd048000, 0x00020401, // global_atomic_cmpswap v1, v[4:5], s[2:3]
          0xbf8c0f70,             // s_waitcnt vmcnt(0)
          0xdc508000, 0x02020001, // global_load_dword v2, v1, s[2:3]
          0xbf8c0f70,             // s_waitcnt vmcnt(0)
      } +
      storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i == 3 ? 7u : i) << i;
  }
}

TEST(AmdMemory, ScratchIsALanesOwn) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code =
      loadCdna() +
      Words{
          0xdc704008, 0x007f0200, // scratch_store_dword off, v2, off offset:8
          0xbf8c0f70,             // s_waitcnt vmcnt(0)
          0xdc504008, 0x027f0000, // scratch_load_dword v2, off, off offset:8
          0xbf8c0f70,             // s_waitcnt vmcnt(0)
      } +
      storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i * 5;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i * 5) << i;
  }
}

TEST(AmdMemory, BuffersReadZeroOutside) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code =
      loadCdna() +
      Words{
          0xbe840002,             // s_mov_b32 s4, s2
          0xbe850003,             // s_mov_b32 s5, s3
          0xbe8600a8,             // s_mov_b32 s6, 40
          0xbe8700ff, 0x00027000, // s_mov_b32 s7, 0x27000
          0xe0501000, 0x80010201, // buffer_load_dword v2, v1, s[4:7], 0 offen
          0xbf8c0f70,             // s_waitcnt vmcnt(0)
      } +
      storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i + 1;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i < 10 ? i + 1 : 0) << i;
  }
}

TEST(AmdMemory, FlatMemoryIsGlobal) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = loadCdna() +
             Words{
                 0x7e080202, // v_mov_b32_e32 v4, s2
                 0x7e0a0203, // v_mov_b32_e32 v5, s3
                 0x32080304, // v_add_co_u32_e32 v4, vcc, v4, v1
                 0x380a0a80, // v_addc_co_u32_e32 v5, vcc, 0, v5, vcc
                 0xdc500004, 0x02000004, // flat_load_dword v2, v[4:5] offset:4
                 0xbf8c0070,             // s_waitcnt vmcnt(0) lgkmcnt(0)
             } +
             storeCdna();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i + 1) << i;
  }
}

TEST(AmdMemory, CompareStoreOfRdnaHasTheNewFirst) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 0x7e060280,             // v_mov_b32_e32 v3, 0
                 0x7e080287,             // v_mov_b32_e32 v4, 7
                 0xd8340000, 0x00000201, // ds_store_b32 v1, v2
                 0xbf89fc07,             // s_waitcnt lgkmcnt(0)
                 0x7e0a0283,             // v_mov_b32_e32 v5, 3
                 0xd8400000, 0x00050401, // ds_cmpstore_b32 v1, v4, v5
                 0xbf89fc07,             // s_waitcnt lgkmcnt(0)
                 0xd8d80000, 0x02000001, // ds_load_b32 v2, v1
                 0xbf89fc07,             // s_waitcnt lgkmcnt(0)
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i == 3 ? 7u : i) << i;
  }
}

TEST(AmdMemory, HalvesAreLoadedIntoAHalf) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.threads = 32;
  run.code = loadRdna3() +
             Words{
                 0x7e060302, // v_mov_b32_e32 v3, v2
                 0xdc8e0000,
                 0x02020001, // global_load_d16_hi_b16 v2, v1, s[2:3]
                 0xbf8903f7, // s_waitcnt vmcnt(0)
             } +
             storeRdna3();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i << 16 | i) << i;
  }
}

TEST(AmdMemory, LongOffsets) {
  WaveRun run;
  run.generation = Generation::Rdna4;
  run.threads = 32;
  run.code = loadRdna4() +
             Words{
                 // global_load_b32 v2, v1, s[2:3] offset:256
                 0xee050002,
                 0x00000002,
                 0x00010001,
                 0xbfc00000, // s_wait_loadcnt 0x0
             } +
             storeRdna4();
  for (uint32_t i = 0; i < 256; ++i) {
    run.memory[i] = i;
  }
  ASSERT_EQ(run.run(), "");
  for (uint32_t i = 0; i < run.threads; ++i) {
    EXPECT_EQ(run.memory[i], i + 64) << i;
  }
}

//===----------------------------------------------------------------------===//
// Counts of requests
//===----------------------------------------------------------------------===//

namespace {
struct Counted {
  std::string target = "gfx942";
  unsigned lanes = 64;
  uint32_t bytes = 4; ///< of a lane
  bool reads = true, writes = false;

  /// What one request has, whose lanes are at these addresses.
  template <typename F>
  Counts global(F address) const {
    return count([&](AccessCounter &counter, unsigned lane) {
      counter.addGlobal(lane, address(lane), bytes, reads, writes);
    });
  }
  template <typename F>
  Counts shared(F address) const {
    return count([&](AccessCounter &counter, unsigned lane) {
      counter.addShared(lane, address(lane), bytes, reads, writes);
    });
  }

private:
  template <typename F>
  Counts count(F add) const {
    Program program;
    program.target = target;
    program.generation =
        target == "gfx1100" ? Generation::Rdna3 : Generation::Cdna;
    program.instructions.resize(1);
    Profile profile;
    profile.begin(program, {});
    AccessCounter counter(program, profile);
    for (unsigned lane = 0; lane < lanes; ++lane) {
      add(counter, lane);
    }
    counter.finish(0, lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1);
    return counter.counts[0];
  }
};
} // namespace

TEST(AmdRequests, NeighboursShareLines) {
  Counts words = Counted{}.global([](unsigned i) { return 0x1000 + 4 * i; });
  EXPECT_EQ(words.executed, 1u);
  EXPECT_EQ(words.lanes, 64u);
  EXPECT_EQ(words.requests, 1u);
  EXPECT_EQ(words.bytes, 256u);
  EXPECT_EQ(words.halfLines, 4u);
  EXPECT_EQ(words.lines, 2u);
  EXPECT_EQ(words.leastHalfLines, 4u);
  EXPECT_EQ(words.leastLines, 2u);
  EXPECT_EQ(words.laneStride, 4);
  EXPECT_EQ(words.remainders, 1 << 0 | 1 << 4 | 1 << 8 | 1 << 12);
  Counts wide = Counted{.target = "gfx1100", .lanes = 32, .bytes = 16}.global(
      [](unsigned i) { return 0x1000 + 16 * i; });
  EXPECT_EQ(wide.halfLines, 8u);
  EXPECT_EQ(wide.lines, 4u);
}

TEST(AmdRequests, WhatBeginsInsideALineTakesOneMore) {
  Counts one = Counted{}.global([](unsigned i) { return 0x1020 + 4 * i; });
  EXPECT_EQ(one.halfLines, 5u);
  EXPECT_EQ(one.lines, 3u);
  EXPECT_EQ(one.leastHalfLines, 4u);
  EXPECT_EQ(one.leastLines, 2u);
}

TEST(AmdRequests, ScatteredLanesTakeOneEach) {
  Counts one = Counted{}.global([](unsigned i) { return 0x1000 + 256 * i; });
  EXPECT_EQ(one.halfLines, 64u);
  EXPECT_EQ(one.lines, 64u);
  EXPECT_EQ(one.leastHalfLines, 4u);
}

TEST(AmdRequests, LanesAtOnePlaceNeedItOnce) {
  Counts one = Counted{}.global([](unsigned) { return 0x1000; });
  EXPECT_EQ(one.halfLines, 1u);
  EXPECT_EQ(one.leastHalfLines, 1u);
  EXPECT_EQ(one.bytes, 256u);
}

TEST(AmdRequests, BanksGiveAWordEachInAPass) {
  auto neighbours = [](unsigned i) { return 4 * i; };
  EXPECT_EQ(Counted{}.shared(neighbours).passes, 2u);
  EXPECT_EQ(Counted{.target = "gfx950"}.shared(neighbours).passes, 1u);
  Counted rdna = {.target = "gfx1100", .lanes = 32};
  EXPECT_EQ(rdna.shared(neighbours).passes, 1u);
  Counts column = Counted{}.shared([](unsigned i) { return 128 * i; });
  EXPECT_EQ(column.passes, 64u);
  EXPECT_EQ(column.leastPasses, 2u);
  Counts padded = Counted{}.shared([](unsigned i) { return 132 * i; });
  EXPECT_EQ(padded.passes, 2u);
}

TEST(AmdRequests, LanesShareAWordButForAtomics) {
  auto same = [](unsigned) { return 8; };
  EXPECT_EQ(Counted{}.shared(same).passes, 2u);
  Counts atomic = Counted{.writes = true}.shared(same);
  EXPECT_EQ(atomic.passes, 64u);
  EXPECT_EQ(atomic.leastPasses, 2u);
}

// Lanes 0 to 15 have the lower half of the banks, 16 to 31 the upper one: lanes
// 0 to 3 go with 20 to 23 where they read, with 4 to 7 where they write.
TEST(AmdRequests, WideReadsHaveAnOrderOfTheirOwn) {
  auto address = [](unsigned i) {
    return 16 * (i % 4) + (i & 16) * 4 + 128 * (i / 4);
  };
  EXPECT_EQ(Counted{.bytes = 16}.shared(address).passes, 8u);
  Counts written =
      Counted{.bytes = 16, .reads = false, .writes = true}.shared(address);
  EXPECT_EQ(written.passes, 16u);
  EXPECT_EQ(written.leastPasses, 8u);
}

} // namespace nereid::sim::amd
