//===- MatrixFragmentsTest.cpp - Fragments against the manuals' tables
//-----===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/MatrixFragments.h"

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

TEST(MatrixFragments, MmaAccumulatorFollowsThePtxManual) {
  LinearLayout l = fragmentResult({16, 8}, mmaFragments(2), {1, 1});
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = lane / 4 + (i < 2 ? 0 : 8);
      unsigned column = lane % 4 * 2 + (i & 1);
      Point p = at(l, i, lane, 0);
      ASSERT_EQ(indexOf(p, 0), row);
      ASSERT_EQ(indexOf(p, 1), column);
    }
  }
}

TEST(MatrixFragments, MmaOperandsFollowThePtxManual) {
  // m16n8k16 with 16-bit operands: a0..a7 and b0..b3.
  LinearLayout a = fragmentOperand({16, 16}, 0, mmaFragments(2), {1, 1});
  LinearLayout b = fragmentOperand({16, 8}, 1, mmaFragments(2), {1, 1});
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane / 4, thread = lane % 4;
    for (unsigned i = 0; i < 8; ++i) {
      bool lowRow = i < 2 || (i >= 4 && i < 6);
      Point p = at(a, i, lane, 0);
      ASSERT_EQ(indexOf(p, 0), lowRow ? group : group + 8);
      ASSERT_EQ(indexOf(p, 1), thread * 2 + (i & 1) + (i < 4 ? 0 : 8));
    }
    for (unsigned i = 0; i < 4; ++i) {
      Point p = at(b, i, lane, 0);
      ASSERT_EQ(indexOf(p, 0), thread * 2 + (i & 1) + (i < 2 ? 0 : 8));
      ASSERT_EQ(indexOf(p, 1), group);
    }
  }
}

TEST(MatrixFragments, OperandsMeetTheirAccumulator) {
  // Every warp holds the rows of A and the columns of B that its part of the
  // accumulator needs.
  std::vector<unsigned> warps = {2, 4};
  LinearLayout c = fragmentResult({64, 64}, mmaFragments(2), warps);
  LinearLayout a = fragmentOperand({64, 32}, 0, mmaFragments(2), warps);
  LinearLayout b = fragmentOperand({32, 64}, 1, mmaFragments(2), warps);
  for (unsigned warp = 0; warp < 8; ++warp) {
    auto collect = [&](const LinearLayout &l, unsigned dim) {
      std::set<uint32_t> seen;
      for (unsigned r = 0; r < 1u << l.inputBits(Axis::Register); ++r) {
        for (unsigned lane = 0; lane < 32; ++lane) {
          seen.insert(indexOf(at(l, r, lane, warp), dim));
        }
      }
      return seen;
    };
    ASSERT_EQ(collect(c, 0), collect(a, 0));
    ASSERT_EQ(collect(c, 1), collect(b, 1));
    ASSERT_EQ(collect(a, 1).size(), 32u);
    ASSERT_EQ(collect(b, 0).size(), 32u);
  }
}
