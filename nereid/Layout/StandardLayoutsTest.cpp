//===- StandardLayoutsTest.cpp - Layout families against their definitions -*-
// C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/StandardLayouts.h"

#include <gtest/gtest.h>

#include <set>

using namespace nereid;

namespace {
uint32_t indexOf(const Point &point, unsigned dim) {
  for (const auto &[axis, value] : point) {
    if (axis == tensorAxis(dim)) {
      return value;
    }
  }
  return ~0u;
}

Point at(const LinearLayout &layout, unsigned reg, unsigned lane,
         unsigned warp) {
  return layout.apply(
      {{Axis::Register, reg}, {Axis::Lane, lane}, {Axis::Warp, warp}});
}
} // namespace

TEST(StandardLayouts, BlockedFollowsItsDefinition) {
  LinearLayout l = blocked({64, 128}, {1, 4}, {2, 16}, {4, 1}, {1, 0});
  EXPECT_TRUE(l.isInvertible());
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned warp = 0; warp < 4; ++warp) {
      for (unsigned reg = 0; reg < 64; ++reg) {
        // 8 x 64 elements a pass: 4 a thread, 16 x 2 lanes, 1 x 4 warps.
        unsigned row = lane / 16 + 2 * warp + 8 * (reg / 8);
        unsigned column = reg % 4 + 4 * (lane % 16) + 64 * (reg / 4 % 2);
        Point p = at(l, reg, lane, warp);
        ASSERT_EQ(indexOf(p, 0), row);
        ASSERT_EQ(indexOf(p, 1), column);
      }
    }
  }
  EXPECT_EQ(l.contiguousRegisters(tensorAxis(1)), 4u);
}

TEST(StandardLayouts, BlockedLargerThanTheTensorHoldsCopies) {
  LinearLayout l = blocked({32}, {1}, {32}, {4}, {0});
  EXPECT_EQ(l.freeMask(Axis::Warp), 3u);
  EXPECT_TRUE(l.isSurjective());
}

TEST(StandardLayouts, WarpgroupAccumulatorFollowsThePtxManual) {
  // Row 16 * warp + lane / 4 (+ 8), columns 8 * j + lane % 4 * 2 (+ 1).
  LinearLayout l = warpgroupAccumulator({64, 32}, {1, 1});
  for (unsigned warp = 0; warp < 4; ++warp) {
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (unsigned i = 0; i < 16; ++i) {
        Point p = at(l, i, lane, warp);
        ASSERT_EQ(indexOf(p, 0), 16 * warp + lane / 4 + (i & 2 ? 8 : 0));
        ASSERT_EQ(indexOf(p, 1), i / 4 * 8 + lane % 4 * 2 + (i & 1));
      }
    }
  }
}

TEST(StandardLayouts, WarpgroupsCoverTheirShareOfATile) {
  // Two groups along each dimension: 64 rows and half of the columns each.
  LinearLayout c = warpgroupAccumulator({128, 128}, {2, 2});
  LinearLayout a = warpgroupOperand({128, 32}, 2, {2, 2});
  EXPECT_TRUE(c.isInvertible());
  for (unsigned warp = 0; warp < 16; ++warp) {
    for (unsigned r = 0; r < 1u << c.inputBits(Axis::Register); ++r) {
      Point p = at(c, r, 0, warp);
      ASSERT_EQ(indexOf(p, 0) / 64, warp / 4 % 2);
      ASSERT_EQ(indexOf(p, 0) / 16 % 4, warp % 4);
      ASSERT_EQ(indexOf(p, 1) / 64, warp / 8);
    }
    for (unsigned r = 0; r < 1u << a.inputBits(Axis::Register); ++r) {
      ASSERT_EQ(indexOf(at(a, r, 0, warp), 0) / 16, warp % 8);
    }
  }
}

TEST(StandardLayouts, FmaOperandHoldsAllOfK) {
  LinearLayout c = blocked({16, 16}, {2, 2}, {4, 8}, {1, 1}, {1, 0});
  LinearLayout a = fmaOperand(c, {16, 8}, 0);
  for (unsigned lane = 0; lane < 32; ++lane) {
    std::set<uint32_t> rowsOfC, rowsOfA, ks;
    for (unsigned r = 0; r < 1u << c.inputBits(Axis::Register); ++r) {
      rowsOfC.insert(indexOf(at(c, r, lane, 0), 0));
    }
    for (unsigned r = 0; r < 1u << a.inputBits(Axis::Register); ++r) {
      rowsOfA.insert(indexOf(at(a, r, lane, 0), 0));
      ks.insert(indexOf(at(a, r, lane, 0), 1));
    }
    ASSERT_EQ(rowsOfC, rowsOfA);
    ASSERT_EQ(ks.size(), 8u);
  }
}

TEST(StandardLayouts, SliceDropsADimension) {
  LinearLayout parent = blocked({8, 64}, {1, 2}, {2, 16}, {2, 2}, {1, 0});
  LinearLayout rows = slice(parent, 1);
  LinearLayout columns = slice(parent, 0);
  for (uint64_t x = 0; x < uint64_t{1} << parent.inputBits(); ++x) {
    Point p = parent.unflattenOutput(parent.applyFlat(x));
    ASSERT_EQ(indexOf(rows.unflattenOutput(rows.applyFlat(x)), 0),
              indexOf(p, 0));
    ASSERT_EQ(indexOf(columns.unflattenOutput(columns.applyFlat(x)), 0),
              indexOf(p, 1));
  }
}

TEST(StandardLayouts, SwizzleMovesVectorsWithinARow) {
  LinearLayout l = swizzledShared({8, 64}, 8, 1, 8, {1, 0});
  EXPECT_TRUE(l.isInvertible());
  for (uint32_t offset = 0; offset < 512; ++offset) {
    uint32_t row = offset / 64, column = offset % 64;
    Point p = l.apply({{Axis::Offset, offset}});
    ASSERT_EQ(indexOf(p, 0), row);
    ASSERT_EQ(indexOf(p, 1), column ^ row % 8 * 8);
  }
}
