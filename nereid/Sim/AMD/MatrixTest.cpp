//===- MatrixTest.cpp - Products of MFMA and WMMA -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/AMD/testing/WordPerThread.h"
#include "nereid/Sim/Float.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace nereid::sim::amd {

namespace {
/// A product of 16 by 16 by 16 halves, and where its elements lie: the lane and
/// the half in it of a left element (of the right one, transposed), the lane
/// and the word of a result.
struct Places {
  unsigned lanes, halves;
  unsigned (*lane)(unsigned row, unsigned k);
  unsigned (*half)(unsigned k);
  unsigned (*resultLane)(unsigned row, unsigned column);
  unsigned (*resultWord)(unsigned row);
};
} // namespace

/// Small whole numbers, which no order of sums rounds.
static int left(unsigned row, unsigned k) {
  return int(row * 3 + k * 5) % 7 - 3;
}
static int right(unsigned k, unsigned column) {
  return int(k * 2 + column * 3) % 5 - 2;
}

/// Memory: left operands, right operands 2048 bytes on, results 4096 bytes on.
static void check(WaveRun run, const Places &at) {
  run.threads = at.lanes;
  run.memory.assign(2048, 0);
  auto put = [&](unsigned first, unsigned lane, unsigned half, int value) {
    uint32_t bits = Half::of(value).bits;
    run.memory[first + lane * at.halves / 2 + half / 2] |= bits
                                                           << half % 2 * 16;
  };
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned k = 0; k < 16; ++k) {
      for (unsigned repeat = 0; repeat < at.halves / 16 + 1; ++repeat) {
        unsigned lane = at.lane(i, k) + (at.halves == 16 ? 16 * repeat : 0);
        if (repeat && at.halves != 16) {
          break;
        }
        put(0, lane, at.half(k), left(i, k));
        put(512, lane, at.half(k), right(k, i));
      }
    }
  }
  ASSERT_EQ(run.run(), "");
  unsigned words = 256 / at.lanes;
  for (unsigned row = 0; row < 16; ++row) {
    for (unsigned column = 0; column < 16; ++column) {
      int sum = 0;
      for (unsigned k = 0; k < 16; ++k) {
        sum += left(row, k) * right(k, column);
      }
      unsigned place =
          1024 + at.resultLane(row, column) * words + at.resultWord(row);
      EXPECT_EQ(std::bit_cast<float>(run.memory[place]), float(sum))
          << row << ", " << column;
    }
  }
}

TEST(AmdMatrix, Mfma16x16x16) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.code = {
      0xc0060080,
      0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020083, // v_lshlrev_b32_e32 v1, 3, v0
      0x24280084, // v_lshlrev_b32_e32 v20, 4, v0
      0x682a02ff,
      0x00000800, // v_add_u32_e32 v21, 0x800, v1
      0x682c28ff,
      0x00001000, // v_add_u32_e32 v22, 0x1000, v20
      0xbf8cc07f, // s_waitcnt lgkmcnt(0)
      0xdc548000,
      0x02020001, // global_load_dwordx2 v[2:3], v1, s[2:3]
      0xdc548000,
      0x04020015, // global_load_dwordx2 v[4:5], v21, s[2:3]
      0xbf8c0f70, // s_waitcnt vmcnt(0)
      // v_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[4:5], 0
      0xd3cd0008,
      0x02020902,
      0xbf800006, // s_nop 6
      0xdc7c8000,
      0x00020816, // global_store_dwordx4 v22, v[8:11], s[2:3]
      0xbf810000, // s_endpgm
  };
  check(run,
        {64, 4, [](unsigned row, unsigned k) { return row + 16 * (k / 4); },
         [](unsigned k) { return k % 4; },
         [](unsigned row, unsigned column) { return column + 16 * (row / 4); },
         [](unsigned row) { return row % 4; }});
}

TEST(AmdMatrix, MfmaIntoAccumulators) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.code = {
      0xc0060080,
      0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020083, // v_lshlrev_b32_e32 v1, 3, v0
      0x24280084, // v_lshlrev_b32_e32 v20, 4, v0
      0x682a02ff,
      0x00000800, // v_add_u32_e32 v21, 0x800, v1
      0x682c28ff,
      0x00001000, // v_add_u32_e32 v22, 0x1000, v20
      0xbf8cc07f, // s_waitcnt lgkmcnt(0)
      0xdc548000,
      0x02020001, // global_load_dwordx2 v[2:3], v1, s[2:3]
      0xdc548000,
      0x04020015, // global_load_dwordx2 v[4:5], v21, s[2:3]
      0xbf8c0f70, // s_waitcnt vmcnt(0)
      // v_mfma_f32_16x16x16_f16 a[8:11], v[2:3], v[4:5], 0
      0xd3cd8008,
      0x02020902,
      0xbf800006, // s_nop 6
      0xdc7c8000,
      0x00820816, // global_store_dwordx4 v22, a[8:11], s[2:3]
      0xbf810000, // s_endpgm
  };
  check(run,
        {64, 4, [](unsigned row, unsigned k) { return row + 16 * (k / 4); },
         [](unsigned k) { return k % 4; },
         [](unsigned row, unsigned column) { return column + 16 * (row / 4); },
         [](unsigned row) { return row % 4; }});
}

TEST(AmdMatrix, WmmaOfRdna3) {
  WaveRun run;
  run.generation = Generation::Rdna3;
  run.code = {
      0xf4040080,
      0xf8000000, // s_load_b64 s[2:3], s[0:1], null
      0x30020085, // v_lshlrev_b32_e32 v1, 5, v0
      0x4a5202ff,
      0x00000800, // v_add_nc_u32_e32 v41, 0x800, v1
      0x4a5402ff,
      0x00001000, // v_add_nc_u32_e32 v42, 0x1000, v1
      0xbf89fc07, // s_waitcnt lgkmcnt(0)
      0xdc5e0000,
      0x02020001, // global_load_b128 v[2:5], v1, s[2:3]
      0xdc5e0010,
      0x06020001, // global_load_b128 v[6:9], v1, s[2:3] offset:16
      0xdc5e0000,
      0x0a020029, // global_load_b128 v[10:13], v41, s[2:3]
      // global_load_b128 v[14:17], v41, s[2:3] offset:16
      0xdc5e0010,
      0x0e020029,
      0xbf8903f7, // s_waitcnt vmcnt(0)
      // v_wmma_f32_16x16x16_f16 v[20:27], v[2:9], v[10:17], 0
      0xcc404014,
      0x1a021502,
      0xdc760000,
      0x0002142a, // global_store_b128 v42, v[20:23], s[2:3]
      // global_store_b128 v42, v[24:27], s[2:3] offset:16
      0xdc760010,
      0x0002182a,
      0xbfb00000, // s_endpgm
  };
  check(run,
        {32, 16, [](unsigned row, unsigned) { return row; },
         [](unsigned k) { return k; },
         [](unsigned row, unsigned column) { return column + 16 * (row % 2); },
         [](unsigned row) { return row / 2; }});
}

TEST(AmdMatrix, WmmaOfRdna4) {
  WaveRun run;
  run.generation = Generation::Rdna4;
  run.code = {
      0xf4002080,
      0xf8000000, // s_load_b64 s[2:3], s[0:1], 0x0
      0x30020084, // v_lshlrev_b32_e32 v1, 4, v0
      0x30500085, // v_lshlrev_b32_e32 v40, 5, v0
      0x4a5202ff,
      0x00000800, // v_add_nc_u32_e32 v41, 0x800, v1
      0x4a5450ff,
      0x00001000, // v_add_nc_u32_e32 v42, 0x1000, v40
      0xbfc70000, // s_wait_kmcnt 0x0
      0xee05c002,
      0x00000002,
      0x00000001, // global_load_b128 v[2:5], v1, s[2:3]
      // global_load_b128 v[10:13], v41, s[2:3]
      0xee05c002,
      0x0000000a,
      0x00000029,
      0xbfc00000, // s_wait_loadcnt 0x0
      // v_wmma_f32_16x16x16_f16 v[20:27], v[2:5], v[10:13], 0
      0xcc404014,
      0x1a021502,
      // global_store_b128 v42, v[20:23], s[2:3]
      0xee074002,
      0x0a000000,
      0x0000002a,
      // global_store_b128 v42, v[24:27], s[2:3] offset:16
      0xee074002,
      0x0c000000,
      0x0000102a,
      0xbfb00000, // s_endpgm
  };
  check(run,
        {32, 8, [](unsigned row, unsigned k) { return row + 16 * (k / 8); },
         [](unsigned k) { return k % 8; },
         [](unsigned row, unsigned column) { return column + 16 * (row / 8); },
         [](unsigned row) { return row % 8; }});
}

TEST(AmdMatrix, ReadsItsResultTooSoon) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code = {
      0xc0060080,
      0x00000000, // s_load_dwordx2 s[2:3], s[0:1], 0x0
      0x24020083, // v_lshlrev_b32_e32 v1, 3, v0
      0x24280084, // v_lshlrev_b32_e32 v20, 4, v0
      0x682a02ff,
      0x00000800, // v_add_u32_e32 v21, 0x800, v1
      0x682c28ff,
      0x00001000, // v_add_u32_e32 v22, 0x1000, v20
      0xbf8cc07f, // s_waitcnt lgkmcnt(0)
      0xdc548000,
      0x02020001, // global_load_dwordx2 v[2:3], v1, s[2:3]
      0xdc548000,
      0x04020015, // global_load_dwordx2 v[4:5], v21, s[2:3]
      0xbf8c0f70, // s_waitcnt vmcnt(0)
      // v_mfma_f32_16x16x16_f16 v[8:11], v[2:3], v[4:5], 0
      0xd3cd0008,
      0x02020902,
      0xbf800005, // s_nop 5
      0xdc7c8000,
      0x00020816, // global_store_dwordx4 v22, v[8:11], s[2:3]
      0xbf810000, // s_endpgm
  };
  run.memory.resize(2048);
  std::string said = run.run();
  EXPECT_THAT(said, testing::HasSubstr("needs 7 wait states"));
  EXPECT_THAT(said, testing::HasSubstr("has 6"));
  EXPECT_THAT(said, testing::HasSubstr("the result of a matrix instruction"));
}

// Rows and columns are those of both operands: lane l has row l % 16, depth
// l / 16. The first pair of registers has rows 0 to 3.
TEST(AmdMatrix, DoublesHaveRowsBesideEachOther) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code =
      loadCdna() +
      Words{
          0x7e080902, // v_cvt_f64_i32_e32 v[4:5], v2
          0xd3ee0008,
          0x02020904, // v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[4:5], 0
          0xbf80000c, // s_nop 12
          0x7e040708, // v_cvt_i32_f64_e32 v2, v[8:9]
          0xbf800001, // s_nop 1
      } +
      storeCdna();
  auto value = [](unsigned lane) { return left(lane % 16, lane / 16); };
  for (unsigned lane = 0; lane < 64; ++lane) {
    run.memory[lane] = uint32_t(value(lane));
  }
  ASSERT_EQ(run.run(), "");
  for (unsigned lane = 0; lane < 64; ++lane) {
    int sum = 0;
    for (unsigned k = 0; k < 4; ++k) {
      sum += value(lane / 16 + 16 * k) * value(lane % 16 + 16 * k);
    }
    EXPECT_EQ(int(run.memory[lane]), sum) << lane;
  }
}

// An inline constant of the sums is a double, as wide as their elements.
TEST(AmdMatrix, DoublesBeginWithAConstant) {
  WaveRun run;
  run.generation = Generation::Cdna;
  run.threads = 64;
  run.code =
      loadCdna() +
      Words{
          0x7e080902, // v_cvt_f64_i32_e32 v[4:5], v2
          0xd3ee0008,
          0x03da0904, // v_mfma_f64_16x16x4_f64 v[8:15], v[4:5], v[4:5], 4.0
          0xbf80000c, // s_nop 12
          0x7e040708, // v_cvt_i32_f64_e32 v2, v[8:9]
          0xbf800001, // s_nop 1
      } +
      storeCdna();
  std::ranges::fill(run.memory, 0);
  ASSERT_EQ(run.run(), "");
  EXPECT_THAT(std::vector(run.memory.begin(), run.memory.begin() + 64),
              testing::Each(4));
}

/// Left operands of 1, right ones of the byte 0x44, in 128 products. What each
/// lane has of the first row of sums.
static std::string runDeepBytes(WaveRun &run, unsigned leftFormat,
                                unsigned rightFormat) {
  run.generation = Generation::Cdna;
  run.target = "gfx950"; // whose bytes have infinities and two zeros
  run.threads = 64;
  Words operands;
  for (uint32_t i = 0; i < 8; ++i) {
    operands = operands + Words{0x7e0802ff + (i << 17), 0x38383838} +
               Words{0x7e1802ff + (i << 17), 0x44444444};
  }
  run.code = loadCdna() + operands +
             Words{
                 // v_mfma_f32_16x16x128_f8f6f4 v[20:23], v[4:11], v[12:19], 0
                 0xd3ad0014 | leftFormat << 8,
                 0x02021904 | rightFormat << 29,
                 0xbf80000f, // s_nop 15
                 0x7e041114, // v_cvt_i32_f32_e32 v2, v20
                 0xbf800001, // s_nop 1
             } +
             storeCdna();
  return run.run();
}

// 0x44 is 3 with a mantissa of three bits, and 4 with one of two.
TEST(AmdMatrix, DeepBytesHaveAFormatEach) {
  WaveRun run;
  EXPECT_EQ(runDeepBytes(run, 0, 0), "");
  EXPECT_THAT(std::vector(run.memory.begin(), run.memory.begin() + 64),
              testing::Each(128 * 3));
  EXPECT_EQ(runDeepBytes(run, 0, 1), "");
  EXPECT_THAT(std::vector(run.memory.begin(), run.memory.begin() + 64),
              testing::Each(128 * 4));
}

TEST(AmdMatrix, FormatsOfFewerBitsAreNotSimulated) {
  WaveRun run;
  EXPECT_THAT(runDeepBytes(run, 2, 0),
              testing::HasSubstr("an instruction that is not simulated"));
}

} // namespace nereid::sim::amd
