//===- ConversionPlanTest.cpp - Conversions move every element, without
// conflicts -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Layout/ConversionPlan.h"

#include "nereid/Layout/MatrixFragments.h"

#include <gtest/gtest.h>

#include <random>

using namespace nereid;
using Kind = ConversionPlan::Kind;

namespace {
/// Of a GPU with warps of 32, and of one with warps of 64.
constexpr SharedMemoryShape narrow = {32, 4, 16}, wide = {64, 4, 16};

/// What every plan promises, by enumeration.
void check(const LinearLayout &from, const LinearLayout &to,
           unsigned elementBytes, const SharedMemoryShape &memory = narrow) {
  ConversionPlan plan = planConversion(from, to, elementBytes, memory);
  for (uint64_t x = 0; x < uint64_t{1} << to.inputBits(); ++x) {
    ASSERT_EQ(from.applyFlat(plan.pull.applyFlat(x)), to.applyFlat(x));
    Point place = to.unflattenInput(x);
    Point origin = plan.pull.unflattenOutput(plan.pull.applyFlat(x));
    for (size_t i = 0; i < place.size(); ++i) {
      bool mustStay =
          (place[i].first == Axis::Lane && plan.kind < Kind::Shuffles) ||
          (place[i].first == Axis::Warp && plan.kind < Kind::Shared) ||
          plan.kind == Kind::Nothing;
      if (mustStay) {
        ASSERT_EQ(place[i], origin[i]);
      }
    }
  }
  if (plan.kind != Kind::Shared) {
    return;
  }
  ASSERT_TRUE(plan.shared.isInvertible());
  for (auto [side, vector] :
       {std::pair(&from, plan.storeVector), std::pair(&to, plan.loadVector)}) {
    // The registers of one vector are the same on every lane and warp.
    LinearLayout toOffset = side->compose(plan.shared.invert());
    for (Axis axis : {Axis::Lane, Axis::Warp}) {
      for (unsigned i = 0; i < side->inputBits(axis); ++i) {
        ASSERT_EQ(toOffset.basis(axis, i, Axis::Offset) % vector, 0u);
      }
    }
    unsigned bytes = vector * elementBytes;
    unsigned lanes = 1u << side->inputBits(Axis::Lane);
    unsigned least = std::max(1u, lanes * std::max(bytes, memory.bankBytes) /
                                      memory.wavefrontBytes());
    ASSERT_LE(
        countWavefronts(*side, plan.shared, 0, vector, elementBytes, memory),
        least)
        << "vector " << vector << "\n"
        << from.str() << "\n"
        << to.str() << "\n"
        << plan.shared.str();
  }
}

LinearLayout randomDistributed(std::mt19937_64 &random, const Shape &shape) {
  unsigned bits = 0;
  for (int64_t s : shape) {
    bits += paddedBits(s);
  }
  for (;;) {
    unsigned extra = random() % 2;
    unsigned lanes = 5, warps = random() % 3;
    unsigned total = std::max(bits + extra, lanes + warps);
    f2::Matrix columns(total);
    for (auto &c : columns) {
      c = random() % 3 ? uint64_t{1} << random() % bits
                       : random() & ((uint64_t{1} << bits) - 1);
    }
    LinearLayout l({{Axis::Register, total - lanes - warps},
                    {Axis::Lane, lanes},
                    {Axis::Warp, warps}},
                   tensorOutputs(shape), columns);
    if (l.isSurjective()) {
      return l;
    }
  }
}
} // namespace

TEST(ConversionPlan, KindsAreTheCheapestThatDo) {
  LinearLayout rows = blocked({32, 32}, {1, 4}, {4, 8}, {4, 1}, {1, 0});
  LinearLayout columns = blocked({32, 32}, {4, 1}, {8, 4}, {1, 4}, {0, 1});
  EXPECT_EQ(planConversion(rows, rows, 4, narrow).kind, Kind::Nothing);
  EXPECT_EQ(planConversion(rows, columns, 4, narrow).kind, Kind::Shared);
  // Registers in another order.
  LinearLayout swapped = LinearLayout::fromBases(
      {{Axis::Register, {{{Axis::D0, 2}}, {{Axis::D0, 1}}}},
       {Axis::Lane, {{{Axis::D0, 4}}, {{Axis::D0, 8}}}}},
      {{Axis::D0, 4}});
  LinearLayout straight = LinearLayout::identity(Axis::Register, Axis::D0, 2) *
                          LinearLayout::identity(Axis::Lane, Axis::D0, 2);
  EXPECT_EQ(planConversion(straight, swapped, 4, narrow).kind, Kind::Registers);
  // Registers and lanes exchanged.
  LinearLayout crossed = LinearLayout::identity(Axis::Lane, Axis::D0, 2) *
                         LinearLayout::identity(Axis::Register, Axis::D0, 2);
  EXPECT_EQ(planConversion(
                straight, crossed.transposeInputs({Axis::Register, Axis::Lane}),
                4, narrow)
                .kind,
            Kind::Shuffles);
}

TEST(ConversionPlan, CopiesAreUsedWhereTheyAre) {
  // Every warp holds everything: any layout is within reach of registers and
  // shuffles.
  LinearLayout everywhere =
      LinearLayout::identity(Axis::Register, Axis::D0, 2) *
      LinearLayout::identity(Axis::Lane, Axis::D0, 5) *
      LinearLayout::broadcast(Axis::Warp, Axis::D0, 2);
  LinearLayout spreadOut = LinearLayout::identity(Axis::Lane, Axis::D0, 5) *
                           LinearLayout::identity(Axis::Warp, Axis::D0, 2);
  ConversionPlan plan = planConversion(
      everywhere,
      LinearLayout::broadcast(Axis::Register, Axis::D0, 0) * spreadOut, 4,
      narrow);
  EXPECT_EQ(plan.kind, Kind::Shuffles);
}

TEST(ConversionPlan, FamiliesConvertWithoutConflicts) {
  std::vector<unsigned> warps = {2, 2};
  for (unsigned bytes : {1u, 2u, 4u, 8u}) {
    Shape shape = {64, 64};
    std::vector<LinearLayout> layouts = {
        blocked(shape, {1, 8}, {4, 8}, {4, 1}, {1, 0}),
        blocked(shape, {8, 1}, {8, 4}, {1, 4}, {0, 1}),
        blocked(shape, {1, 1}, {1, 32}, {2, 2}, {1, 0}),
        fragmentResult(shape, mmaFragments(2), warps),
        fragmentOperand(shape, 0, mmaFragments(2), warps),
        fragmentOperand(shape, 1, mmaFragments(2), warps),
        fragmentOperand(shape, 1, mmaFragments(4), warps)};
    for (const LinearLayout &from : layouts) {
      for (const LinearLayout &to : layouts) {
        check(from, to, bytes);
      }
    }
  }
}

TEST(ConversionPlan, WarpsOf64AndOtherBanks) {
  for (unsigned bytes : {1u, 2u, 4u, 8u}) {
    Shape shape = {64, 64};
    std::vector<LinearLayout> layouts = {
        blocked(shape, {1, 8}, {8, 8}, {4, 1}, {1, 0}),
        blocked(shape, {8, 1}, {8, 8}, {1, 4}, {0, 1}),
        blocked(shape, {1, 1}, {1, 64}, {4, 1}, {1, 0})};
    for (const LinearLayout &from : layouts) {
      for (const LinearLayout &to : layouts) {
        check(from, to, bytes, wide);
      }
    }
  }
}

TEST(ConversionPlan, TransposesUseFullVectorsWhereBothSidesCan) {
  Shape shape = {64, 64};
  LinearLayout rows = blocked(shape, {1, 8}, {4, 8}, {4, 1}, {1, 0});
  LinearLayout tall = blocked(shape, {2, 8}, {32, 1}, {1, 4}, {1, 0});
  ConversionPlan plan = planConversion(rows, tall, 2, narrow);
  EXPECT_EQ(plan.kind, Kind::Shared);
  EXPECT_EQ(plan.storeVector, 8u);
  EXPECT_EQ(plan.loadVector, 8u);
}

TEST(ConversionPlan, OneSideTakesMoreAtOnceThanBothCan) {
  Shape shape = {32, 64};
  LinearLayout result = fragmentResult(shape, mmaFragments(2), {2, 2});
  LinearLayout rows = blocked(shape, {1, 8}, {4, 8}, {4, 1}, {1, 0});
  ConversionPlan out = planConversion(result, rows, 2, narrow);
  EXPECT_EQ(out.storeVector, 2u);
  EXPECT_EQ(out.loadVector, 8u);
  ConversionPlan in = planConversion(rows, result, 2, narrow);
  EXPECT_EQ(in.storeVector * in.loadVector, 16u);
  ConversionPlan words = planConversion(result, rows, 4, narrow);
  EXPECT_EQ(words.storeVector, 2u);
  EXPECT_EQ(words.loadVector, 4u);
}

TEST(ConversionPlan, RandomLayoutsConvertWithoutConflicts) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 600; ++trial) {
    Shape shape = {int64_t{1} << (3 + random() % 4),
                   int64_t{1} << (3 + random() % 4)};
    LinearLayout from = randomDistributed(random, shape);
    LinearLayout to = randomDistributed(random, shape);
    check(from, to, 1u << random() % 4);
    if (HasFatalFailure()) {
      return;
    }
  }
}
