//===- AgreementTest.cpp - Which configurations compute the same ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Tune/Agreement.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::tune;
using testing::HasSubstr;
using testing::IsEmpty;

static ConfigDescription config(int block, uint32_t warps = 4) {
  ConfigDescription config;
  config.values["BLOCK"] = block;
  config.options.numWarps = warps;
  return config;
}

static Results floats(std::vector<double> values, DType dtype = f32) {
  return {{"out", dtype, std::move(values)}};
}

TEST(Difference, RoundingIsNone) {
  EXPECT_THAT(difference(floats({1000, 1}), floats({1000.01, 1.01})),
              IsEmpty());
  EXPECT_THAT(difference(floats({1000}), floats({1001})),
              HasSubstr("'out' differs in 1 of 1 elements, by up to 1"));
  EXPECT_THAT(difference(floats({1000}, bf16), floats({1004}, bf16)),
              IsEmpty());
  EXPECT_THAT(difference(floats({NAN, 1}), floats({NAN, 1})), IsEmpty());
  EXPECT_THAT(difference(floats({NAN, 1}), floats({1, 1})),
              HasSubstr("1 of 2"));
}

TEST(Difference, OfIntegersIsSeldomOne) {
  std::vector<double> many(100, 7), seldom = many;
  seldom[3] = 8;
  EXPECT_THAT(difference(floats(many, i8), floats(seldom, i8)), IsEmpty());
  std::vector<double> often(100, 8);
  EXPECT_THAT(difference(floats(many, i8), floats(often, i8)),
              HasSubstr("100 of 100"));
}

TEST(Agreement, TheMostAreRight) {
  Agreement agreement;
  for (int i = 0; i < 3; ++i) {
    agreement.add(i, config(1 << i), floats({1, 2}));
  }
  agreement.add(3, config(64), floats({1, 3}));
  EXPECT_TRUE(agreement.agrees(0));
  EXPECT_FALSE(agreement.agrees(3));
  EXPECT_THAT(agreement.reason(0), IsEmpty());
  EXPECT_THAT(agreement.reason(3), HasSubstr("not those of 3 others"));
}

TEST(Agreement, OptionsDoNotMakeAKindOfTheirOwn) {
  // A block that is too small is wrong in the same way with all warps.
  Agreement agreement;
  for (uint32_t warps : {1, 2, 4, 8, 16}) {
    agreement.add(warps, config(64, warps), floats({9}));
  }
  agreement.add(100, config(1024), floats({1}));
  agreement.add(101, config(2048), floats({1}));
  EXPECT_FALSE(agreement.agrees(4));
  EXPECT_TRUE(agreement.agrees(100));
}

TEST(Agreement, ATieIsTold) {
  Agreement agreement;
  agreement.add(0, config(64), floats({1}));
  agreement.add(1, config(128), floats({2}));
  EXPECT_TRUE(agreement.agrees(0));
  EXPECT_TRUE(agreement.agrees(1));
  EXPECT_THAT(agreement.reason(0), HasSubstr("nothing says which is right"));
}

TEST(Results, OfManyElementsAreEvenlyChosen) {
  Tensor large = zeros({1 << 20}, f32, Device::cpu());
  Results whole = resultsOf(std::vector<NamedTensor>{{"out", large}});
  EXPECT_LT(whole[0].values.size(), size_t{1} << 20);
  large.slice(0, (1 << 20) - 1).fill(1);
  EXPECT_EQ(
      resultsOf(std::vector<NamedTensor>{{"out", large}})[0].values.back(), 1);
}

//===----------------------------------------------------------------------===//
// What is touched
//===----------------------------------------------------------------------===//

static ConfigDescription config(int block, const std::string &kind) {
  ConfigDescription result = config(block);
  result.values["KIND"] = kind;
  return result;
}

static Coverage writes(std::vector<bool> elements) {
  return {{{"out", std::move(elements)}}, {}};
}

TEST(Coverages, AGroupThatTouchesLessIsWrongThoughItIsLarger) {
  Agreement agreement;
  for (int i = 0; i < 3; ++i) {
    // Each narrow block of another kind, as in a search.
    agreement.add(i, config(8, "rows " + std::to_string(i)), floats({1, 0}));
  }
  agreement.add(3, config(64, "rows 0"), floats({1, 2}));
  agreement.add(4, config(128, "rows 0"), floats({1, 2}));
  EXPECT_EQ(agreement.unexplored(), (std::vector<size_t>{0, 3}));
  agreement.setCoverage(0, writes({true, false}));
  agreement.setCoverage(3, writes({true, true}));
  EXPECT_FALSE(agreement.isUndecided());
  EXPECT_FALSE(agreement.agrees(0));
  EXPECT_TRUE(agreement.agrees(4));
  EXPECT_EQ(agreement.reason(0),
            "its results are not those of 2 others: it writes 1 of the 2 "
            "elements of 'out' that others write");
}

TEST(Coverages, OneThatTouchesMoreIsNotRightForThat) {
  Agreement agreement; // the mask of the second is forgotten
  agreement.add(0, config(8), floats({1, 0}));
  agreement.add(1, config(64), floats({1, 2}));
  agreement.setCoverage(0, writes({true, false}));
  agreement.setCoverage(1, writes({true, true}));
  EXPECT_TRUE(agreement.isUndecided());
  EXPECT_THAT(agreement.doubt(),
              HasSubstr("nothing says which is right: BLOCK=8 num_warps=4 "
                        "num_stages=3 and BLOCK=64 num_warps=4 num_stages=3: "
                        "of the first, it writes 1 of the 2 elements"));
  EXPECT_EQ(agreement.likeliest(), std::set<size_t>{1});
}

TEST(Coverages, AreOfDifferentElements) {
  Agreement agreement; // halves
  for (int i = 0; i < 2; ++i) {
    agreement.add(i, config(64 << i, "a"), floats({1, 0}));
    agreement.add(2 + i, config(64 << i, "b"), floats({0, 1}));
  }
  agreement.add(4, config(512, "a"), floats({1, 0}));
  agreement.setCoverage(0, writes({true, false}));
  agreement.setCoverage(2, writes({false, true}));
  EXPECT_TRUE(agreement.isUndecided());
}

TEST(Agreement, ThoseThatShareACauseAreOne) {
  Agreement agreement;
  agreement.add(0, config(64, "fast"), floats({9}));
  agreement.add(1, config(128, "fast"), floats({9}));
  agreement.add(2, config(256, "exact"), floats({1}));
  EXPECT_TRUE(agreement.isUndecided());
  agreement.add(3, config(512, "other"), floats({9}));
  EXPECT_FALSE(agreement.isUndecided());
}

TEST(Agreement, WhatIsTakenOutHasNoSay) {
  Agreement agreement;
  agreement.add(0, config(64), floats({1}));
  agreement.add(1, config(128), floats({2}));
  agreement.remove(1);
  EXPECT_FALSE(agreement.isUndecided());
  EXPECT_FALSE(agreement.has(1));
  EXPECT_TRUE(agreement.agrees(0));
}
