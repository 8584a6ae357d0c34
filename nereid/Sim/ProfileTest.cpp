//===- ProfileTest.cpp - What a sample of blocks says of the grid ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/Launch.h"

#include <gtest/gtest.h>

using namespace nereid::sim;

namespace {

/// Blocks (x, y) of 32 x 32 read 64 bytes of a row x of `a`, 64 of a row y of
/// `b`, 64 that all read, and write 4 of their own.
const char *product = R"(.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 all, .param .u64 c)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<8>;
  .reg .pred %p<2>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  ld.param.u64 %rd0, [a];
  mad.lo.u32 %r3, %r1, 16, %r0;
  mad.wide.u32 %rd4, %r3, 4, %rd0;
  ld.global.b32 %r4, [%rd4];
  ld.param.u64 %rd1, [b];
  mad.lo.u32 %r3, %r2, 16, %r0;
  mad.wide.u32 %rd4, %r3, 4, %rd1;
  ld.global.b32 %r4, [%rd4];
  ld.param.u64 %rd2, [all];
  mad.wide.u32 %rd4, %r0, 4, %rd2;
  ld.global.b32 %r4, [%rd4];
  ld.param.u64 %rd3, [c];
  mad.lo.u32 %r3, %r2, 32, %r1;
  mad.wide.u32 %rd4, %r3, 4, %rd3;
  setp.eq.u32 %p0, %r0, 0;
  @%p0 st.global.b32 [%rd4], %r4;
  ret;
}
)";

Profile profileOf(const GridSample &sample) {
  auto module = parsePtx(product);
  EXPECT_TRUE(module.ok());
  auto program = decode(**module, (*module)->entries[0], 0);
  EXPECT_TRUE(program.ok());
  // Larger than what is touched: the end of an array is no answer.
  struct alignas(64) Row {
    std::array<uint32_t, 16> words;
  };
  std::vector<Row> a(256), b(256), all(256), c(256);
  Allocations allocations;
  LaunchRequest request{**program, allocations, {32, 32, 1}, {16, 1, 1}};
  for (auto *array : {&a, &b, &all, &c}) {
    auto address = reinterpret_cast<uint64_t>(array->data());
    allocations.add(address, array->size() * sizeof(Row));
    for (unsigned i = 0; i < 8; ++i) {
      request.parameters.push_back(uint8_t(address >> (8 * i)));
    }
  }
  Profile profile;
  request.profile = &profile;
  request.sample = sample;
  EXPECT_TRUE(launch(request).ok());
  return profile;
}

Traffic trafficOf(const GridSample &sample) {
  return profileOf(sample).traffic();
}

} // namespace

TEST(Profile, AllBlocksAreCounted) {
  Traffic traffic = trafficOf({});
  EXPECT_EQ(traffic.read, 32 * 64 + 32 * 64 + 64);
  EXPECT_EQ(traffic.written, 32 * 32 * 4);
}

// Blocks of one y run together: all of `a`, a row of `b`.
TEST(Profile, BlocksThatReadTheSameBeginAtOnePlace) {
  for (uint64_t mostBlocks : {32, 2048}) {
    ReadPlaces places = profileOf({.mostBlocks = mostBlocks}).places;
    constexpr double row = 64;
    ASSERT_EQ(places.blocks, 32 * 32) << mostBlocks;
    EXPECT_EQ(places.bytesOf(0, 32), (32 + 1 + 1) * row);
    EXPECT_EQ(places.bytesOf(0, 32 * 32), (32 + 32 + 1) * row);
    // What all of them read is read once.
    EXPECT_EQ(places.bytesOfWaves(32), (32 * 32 + 32 + 1) * row);
    // Parts of two rows of `b`; the last one is half a row.
    EXPECT_EQ(places.bytesOfWaves(48), (21 * (32 + 2) + (16 + 1) + 1) * row);
  }
  EXPECT_EQ(profileOf({}).places.blocks, 0u); // not asked for
}

TEST(Profile, ASampleTellsWhatBlocksShare) {
  for (uint64_t blocks : {128u, 200u, 512u}) {
    Traffic traffic = trafficOf({.mostBlocks = blocks});
    EXPECT_NEAR(traffic.read / (32 * 64 + 32 * 64 + 64), 1, 0.03) << blocks;
    EXPECT_NEAR(traffic.written / (32 * 32 * 4), 1, 0.01) << blocks;
  }
}

TEST(Profile, MemoryIsReadInWholePieces) {
  Touched touched(4096, 4096);
  touched.read(4096 + 4, 4, 0);        // one sector of a pair
  touched.read(4096 + 128 + 28, 8, 0); // both of a pair
  touched.read(4096 + 256 + 4, 64, 1); // a pair and a half
  touched.write(4096 + 512 + 32, 4, 1);
  EXPECT_EQ(touched.bytesRead(), 4 + 8 + 64);
  EXPECT_EQ(touched.bytesReadBy(32), 32 + 64 + 96);
  EXPECT_EQ(touched.bytesReadBy(64), 64 + 64 + 128);
  EXPECT_EQ(touched.bytesReadBy(64, Sample::EverySecond), 64 + 64);
  EXPECT_EQ(touched.bytesWrittenBy(32), 32);
}

TEST(Profile, LinesOfWhichAPartIsRead) {
  Touched touched(4096, 1024);
  touched.read(4096 + 64, 4, 0);  // the second half of a line
  touched.read(4096 + 128, 4, 0); // the first one
  touched.read(4096 + 512 + 60, 8, 0);
  EXPECT_EQ(touched.bytesReadBy(64), 4 * 64);
  EXPECT_EQ(touched.bytesReadBy(128), 3 * 128);
}

TEST(Profile, WhatIsTouchedMayBeFarApart) {
  constexpr uint64_t begin = 4096, bytes = uint64_t{1} << 28;
  Touched touched(begin, bytes);
  EXPECT_EQ(touched.bytesRead() + touched.bytesWrittenBy(128), 0);
  touched.read(begin, 4, 0);
  touched.read(begin + (1 << 15) - 4, 8, 0); // in two pages of bits
  touched.read(begin + bytes - 4, 4, 1);
  EXPECT_EQ(touched.bytesRead(), 4 + 8 + 4);
  EXPECT_EQ(touched.bytesReadBy(32), 32 + 64 + 32);
  EXPECT_EQ(touched.bytesReadBy(128), 128 + 256 + 128);
  EXPECT_EQ(touched.bytesReadBy(128, Sample::EverySecond), 128 + 256);
  EXPECT_EQ(touched.bytesWritten(), 0);
}

TEST(Profile, DisjointAndSharedBytes) {
  Profile profile;
  profile.gridBlocks = 1000;
  profile.blocks = 100;
  EXPECT_DOUBLE_EQ(profile.ofGrid(400, 200), 4000);
  EXPECT_NEAR(profile.ofGrid(400, 400), 400, 1);
  profile.blocks = 1000;
  EXPECT_EQ(profile.ofGrid(400, 200), 400);
}

TEST(Profile, AGridThatCostsLittleRunsAsAWhole) {
  Traffic whole = trafficOf({.mostBlocks = 16, .wholeCost = 1 << 22});
  EXPECT_EQ(whole.written, 32 * 32 * 4);
  Traffic told = trafficOf({.mostBlocks = 16, .wholeCost = 1000});
  EXPECT_NE(told.read, whole.read);
}

TEST(Profile, NoBlockBeginsWhereItGoesOnNoLonger) {
  std::atomic<int> asked = 0;
  trafficOf({.goesOn = [&](uint64_t, uint64_t) { return ++asked <= 3; }});
  EXPECT_EQ(asked, 4);
}

static Counts countsOf(const WarpAccess &access) {
  Counts counts;
  countGlobal(counts, access, nullptr);
  return counts;
}

TEST(Profile, WhatLanesAskForTogetherIsNeededOnce) {
  WarpAccess same{allLanes, {}, 4};
  same.addresses.fill(4096 + 4);
  EXPECT_EQ(countsOf(same).leastSectors, 1u);
  EXPECT_EQ(countsOf(same).remainders, 1u << 4);
  WarpAccess rows{allLanes, {}, 4};
  for (unsigned lane = 0; lane < lanes; ++lane) {
    rows.addresses[lane] = 4096 + lane % 16 * 4;
  }
  EXPECT_EQ(countsOf(rows).leastSectors, 2u);
}

TEST(Profile, TheSecondLevelCacheServesTwoSectorsOfALineATurn) {
  WarpAccess words{allLanes, {}, 4};
  for (unsigned lane = 0; lane < lanes; ++lane) {
    words.addresses[lane] = 4096 + lane * 4;
  }
  EXPECT_EQ(countsOf(words).turns, 2u); // a line of four
  EXPECT_EQ(countsOf(words).partialTurns, 0u);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    words.addresses[lane] = 4096 + lane * 128;
  }
  EXPECT_EQ(countsOf(words).turns, 32u);
  EXPECT_EQ(countsOf(words).partialTurns, 32u);
  // One element off: the ends are parts.
  for (unsigned lane = 0; lane < lanes; ++lane) {
    words.addresses[lane] = 4096 + 4 + lane * 4;
  }
  EXPECT_EQ(countsOf(words).turns, 3u);
  EXPECT_EQ(countsOf(words).partialTurns, 2u);
}

TEST(Profile, AtomicsAtOneWordTakeTurns) {
  std::unordered_map<uint64_t, uint64_t> turns;
  WarpAccess access{allLanes, {}, 4};
  access.addresses.fill(4096);
  countTurns(turns, access);
  EXPECT_EQ(turns[4096 / 32], 32u);
  for (unsigned lane = 0; lane < lanes; ++lane) {
    access.addresses[lane] = 8192 + lane * 4;
  }
  countTurns(turns, access);
  EXPECT_EQ(turns[8192 / 32], 1u); // eight words together
}
