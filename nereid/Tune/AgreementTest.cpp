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
