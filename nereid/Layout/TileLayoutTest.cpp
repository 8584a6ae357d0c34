//===- TileLayoutTest.cpp - Layouts by flattened indices ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/TileLayout.h"
#include "nereid/Layout/WarpPart.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <random>

using namespace nereid;

namespace {

uint32_t indexOf(const TileLayout &layout, unsigned r, unsigned thread) {
  uint32_t index = layout.ofRegister(r);
  unsigned bit = 0;
  for (const auto *part : {&layout.lanes, &layout.warps}) {
    for (uint32_t column : *part) {
      index ^= thread >> bit++ & 1 ? column : 0;
    }
  }
  return index;
}

unsigned threads(const TileLayout &layout) {
  return 1u << (layout.lanes.size() + layout.warps.size());
}

bool isInside(uint32_t flat, const Shape &shape) {
  std::vector<uint32_t> index = splitIndex(flat, shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (index[d] >= shape[d]) {
      return false;
    }
  }
  return true;
}

/// Every shape of interest: powers of two, primes, just over, of any rank.
const std::vector<Shape> shapes = {
    {1},      {5},      {32},      {768},       {1000},     {1024},
    {3, 22},  {64, 1},  {16, 48},  {128, 40},   {2, 3, 20}, {4, 8, 16},
    {7, 146}, {17, 60}, {1, 1, 9}, {2, 2, 2, 5}};

} // namespace

TEST(TileLayout, CoalescedHoldsEveryElement) {
  for (const Shape &shape : shapes) {
    for (unsigned vector : {1u, 2u, 4u, 8u}) {
      for (unsigned warpBits : {0u, 2u, 4u}) {
        std::vector<unsigned> order(shape.size());
        for (unsigned d = 0; d < shape.size(); ++d) {
          order[d] = shape.size() - 1 - d;
        }
        TileLayout layout = coalesced(shape, order, vector, {5, warpBits});
        std::map<uint32_t, int> holders;
        for (unsigned r = 0; r < layout.registerCount(); ++r) {
          for (unsigned t = 0; t < threads(layout); ++t) {
            ++holders[indexOf(layout, r, t)];
          }
        }
        EXPECT_EQ(holders.size(), size_t{1} << tileBits(shape));
      }
    }
  }
}

TEST(TileLayout, DeadAndPartlyDeadByEnumeration) {
  std::mt19937 random(1);
  for (const Shape &shape : shapes) {
    for (int trial = 0; trial < 20; ++trial) {
      // Bits of the index dealt out at random, some mixed, some copied.
      TileLayout layout;
      std::vector<uint32_t> *parts[] = {&layout.registers, &layout.lanes,
                                        &layout.warps};
      unsigned bits = tileBits(shape);
      for (unsigned b = 0; b < bits; ++b) {
        uint32_t column = 1u << b;
        if (b && random() % 4 == 0) {
          column |= random() & ((1u << b) - 1);
        }
        parts[random() % 3]->push_back(column);
      }
      layout.lanes.resize(std::max<size_t>(layout.lanes.size(), 3), 0);
      std::vector<bool> dead = deadRegisters(layout, shape);
      std::vector<bool> partly = partlyDeadRegisters(layout, shape);
      for (unsigned r = 0; r < layout.registerCount(); ++r) {
        bool someInside = false, allInside = true;
        for (unsigned t = 0; t < threads(layout); ++t) {
          bool inside = isInside(indexOf(layout, r, t), shape);
          someInside |= inside;
          allInside &= inside;
        }
        // A column that mixes dimensions may leave a register that is dead
        // for a reason in each thread; those are kept.
        EXPECT_TRUE(!dead[r] || !someInside);
        EXPECT_TRUE(partly[r] || allInside);
        if (shape.size() == 1) {
          EXPECT_EQ(dead[r], !someInside);
          EXPECT_EQ(partly[r], !allInside);
        }
      }
    }
  }
}

TEST(TileLayout, PaddingCostsNoRegisters) {
  for (auto [size, warpBits, live] :
       {std::tuple(768, 2u, 6), std::tuple(96, 0u, 3),
        std::tuple(640, 2u, 5)}) {
    TileLayout layout = coalesced({size}, {0}, 4, {5, warpBits});
    std::vector<bool> dead = deadRegisters(layout, {size});
    EXPECT_EQ(std::count(dead.begin(), dead.end(), false), live) << size;
  }
}

/// A row of every shape is in one warp, if there are rows for all warps.
TEST(TileLayout, WholeRowsStayInAWarp) {
  for (const Shape &shape : shapes) {
    if (shape.size() != 2) {
      continue;
    }
    for (unsigned warpBits : {0u, 1u, 2u, 4u}) {
      TileLayout layout =
          coalesced(shape, {1, 0}, 4, {5, warpBits}, /*wholeRows=*/true);
      uint32_t rowMask = (1u << paddedBits(shape[1])) - 1;
      bool hasRows = paddedBits(shape[0]) >= warpBits;
      bool isWhole =
          std::none_of(layout.warps.begin(), layout.warps.end(),
                       [&](uint32_t column) { return column & rowMask; });
      EXPECT_TRUE(isWhole || !hasRows);
      std::set<uint32_t> held;
      for (unsigned r = 0; r < layout.registerCount(); ++r) {
        for (unsigned t = 0; t < threads(layout); ++t) {
          held.insert(indexOf(layout, r, t));
        }
      }
      EXPECT_EQ(held.size(), size_t{1} << tileBits(shape));
    }
  }
}

TEST(TileLayout, WidenRepeatsInRegisters) {
  Shape small = {8, 1, 32}, wide = {8, 3, 32};
  TileLayout layout = coalesced(small, {2, 1, 0}, 4, {3, 1});
  TileLayout result = widen(layout, small, wide);
  EXPECT_EQ(narrow(result, wide, small), layout);
  EXPECT_EQ(result.registerCount(), 4 * layout.registerCount());
  EXPECT_EQ(result.lanes.size(), layout.lanes.size());
  EXPECT_EQ(freeThreadBits(result), 0u);
  std::vector<bool> dead = deadRegisters(result, wide);
  // A dimension of 3 takes two bits.
  EXPECT_EQ(std::count(dead.begin(), dead.end(), true),
            int64_t(layout.registerCount()));
}

TEST(TileLayout, NarrowIsWhatABroadcastNeeds) {
  Shape wide = {16, 48}, narrowShape = {16, 1};
  TileLayout layout = coalesced(wide, {1, 0}, 4, {5, 2});
  std::vector<unsigned> kept;
  TileLayout result = narrow(layout, wide, narrowShape, &kept);
  EXPECT_EQ(kept.size(), result.registers.size());
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    unsigned own = 0;
    for (unsigned i = 0; i < kept.size(); ++i) {
      own |= (r >> kept[i] & 1) << i;
    }
    for (unsigned t = 0; t < threads(layout); ++t) {
      EXPECT_EQ(splitIndex(indexOf(result, own, t), narrowShape)[0],
                splitIndex(indexOf(layout, r, t), wide)[0]);
    }
  }
}

TEST(TileLayout, PermuteMovesIndices) {
  Shape shape = {4, 24, 3};
  std::vector<unsigned> order = {2, 0, 1};
  Shape permuted = {3, 4, 24};
  TileLayout layout = coalesced(shape, {2, 1, 0}, 1, {5, 1});
  TileLayout result = permute(layout, shape, order);
  for (unsigned r = 0; r < layout.registerCount(); ++r) {
    for (unsigned t = 0; t < threads(layout); ++t) {
      std::vector<uint32_t> from = splitIndex(indexOf(layout, r, t), shape);
      std::vector<uint32_t> to = splitIndex(indexOf(result, r, t), permuted);
      for (unsigned d = 0; d < 3; ++d) {
        EXPECT_EQ(to[d], from[order[d]]);
      }
    }
  }
}

TEST(TileLayout, HalvedUndoesJoined) {
  TileLayout layout = coalesced({8, 32}, {1, 0}, 2, {5, 2});
  unsigned column = 7;
  EXPECT_EQ(halved(joined(layout), column), layout);
  EXPECT_EQ(column, 0u);
  // The last dimension over lanes: no pair of registers holds both halves.
  EXPECT_FALSE(halved(coalesced({64, 2}, {1, 0}, 1, {5, 0}), column));
}

TEST(TileLayout, FlatIndicesSurviveReshapes) {
  EXPECT_TRUE(isPowerOfTwo({}) && isPowerOfTwo({4, 1}));
  EXPECT_FALSE(isPowerOfTwo({4, 6}));
  EXPECT_TRUE(keepsFlatIndex({4, 8}, {2, 16}));
  EXPECT_TRUE(keepsFlatIndex({3, 20}, {1, 3, 1, 20}));
  EXPECT_FALSE(keepsFlatIndex({3, 20}, {60}));
  EXPECT_FALSE(keepsFlatIndex({6}, {2, 3}));
}

TEST(TileLayout, FreeThreadsHoldCopies) {
  TileLayout layout = coalesced({8}, {0}, 1, {5, 2});
  EXPECT_EQ(freeThreadBits(layout), 0b1111000u); // lanes 3, 4 and both warps
  EXPECT_EQ(freeThreadBits(coalesced({128}, {0}, 1, {5, 2})), 0u);
  // A lane that repeats another counts as a copy too.
  EXPECT_EQ(freeThreadBits({{1}, {2, 2, 3}, {}}), 0b110u);
}

TEST(TileLayout, CoalescedAroundWarpsThatStay) {
  // A product of 128 x 64: warps over rows 16, 32, 64.
  std::vector<uint32_t> warps = {1024, 2048, 4096};
  auto layout = coalescedAround(warps, {128, 64}, {1, 0}, 8, 5, 64);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->registers, (std::vector<uint32_t>{1, 2, 4, 256, 512}));
  EXPECT_EQ(layout->lanes, (std::vector<uint32_t>{8, 16, 32, 64, 128}));
  EXPECT_EQ(layout->warps, warps);
  // Warps over columns leave each too short a run.
  EXPECT_FALSE(coalescedAround({16, 32}, {128, 64}, {1, 0}, 8, 5, 64));
  EXPECT_TRUE(coalescedAround({16, 32}, {128, 64}, {1, 0}, 8, 5, 16));
  // Copies, and warps of several bits.
  EXPECT_FALSE(coalescedAround({0, 64}, {128, 64}, {1, 0}, 8, 5, 64));
  EXPECT_FALSE(coalescedAround({65, 128}, {128, 64}, {1, 0}, 8, 5, 64));
  // Fewer elements than lanes have.
  EXPECT_FALSE(coalescedAround({64}, {2, 64}, {1, 0}, 8, 5, 64));
}

TEST(TileLayout, PartsOfWarpsAreTheTileWithoutTheirBits) {
  TileLayout from{{1, 64}, {2, 4, 8}, {16, 32}},
      to{{2, 64}, {1, 4, 8}, {16, 32}};
  auto parts = partsOfWarp(from, to);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->from, (TileLayout{{1, 16}, {2, 4, 8}, {}}));
  EXPECT_EQ(parts->to, (TileLayout{{2, 16}, {1, 4, 8}, {}}));
  EXPECT_FALSE(partsOfWarp(from, {{1, 64}, {2, 4, 8}, {32, 16}}));
  EXPECT_FALSE(partOfWarp({{1, 48}, {2, 4, 8}, {16, 32}})); // a shared bit
  EXPECT_FALSE(partOfWarp({{1}, {2, 4, 8}, {16, 0}}));      // copies
}

TEST(TileLayout, ContiguousRegistersAreAligned) {
  TileLayout layout = coalesced({64, 128}, {1, 0}, 8, {5, 2});
  EXPECT_EQ(contiguousRegisters(layout, 0, 7), 8u);
  EXPECT_EQ(contiguousRegisters(layout, 7, 6), 1u);
  // A lane that moves the start of a run by less than the run.
  EXPECT_EQ(contiguousRegisters({{1, 2}, {2}, {}}, 0, 2), 2u);
}
