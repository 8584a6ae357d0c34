//===- AlignedRowsTest.cpp --------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/AlignedRows.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::kernels;

TEST(AlignedRows, theUnitIsWhatAllRowsBeginAtMultiplesOf) {
  EXPECT_EQ(unitOfRows(empty({2, 5, 32}, bf16)), 16);
  EXPECT_EQ(unitOfRows(empty({2, 5, 24}, bf16)), 8);
  EXPECT_EQ(unitOfRows(empty({2, 5, 24}, i8)), 0);
  EXPECT_EQ(unitOfRows(empty({2, 5, 20}, bf16)), 0);
  EXPECT_EQ(unitOfRows(empty({2, 24, 5}, bf16).transpose(1, 2)), 0);
  EXPECT_EQ(unitOfRows(empty({2, 5, 24}, bf16).transpose(1, 2)), 8);
  EXPECT_EQ(unitOfRows(empty({2, 5, 64}, bf16).slice(2, 1, 33)), 0);
  EXPECT_EQ(unitOfRows(empty({2, 5, 64}, bf16).slice(2, 0, 64, 2)), 0);
}

TEST(AlignedRows, aCopyHasTheValuesAndRowsOfWholeLines) {
  Tensor odd = randn({2, 5, 13}, bf16);
  for (const Tensor &given :
       {odd, odd.transpose(1, 2), odd.slice(2, 0, 13, 2)}) {
    for (bool alongFirst : {false, true}) {
      Tensor copy = withAlignedRows(given, alongFirst);
      EXPECT_EQ(copy.shape(), given.shape());
      EXPECT_EQ(copy.toFloat64(), given.toFloat64());
      EXPECT_EQ(unitOfRows(copy), 16);
      EXPECT_EQ(runAlongFirst(copy), alongFirst);
    }
  }
}

TEST(AlignedRows, matricesThatRepeatAreCopiedOnce) {
  Tensor one = randn({1, 5, 13}, f16);
  Tensor copy = withAlignedRows(one.expand({7, 5, 13}), false);
  EXPECT_EQ(copy.stride(0), 0);
  EXPECT_EQ(copy.toFloat64(), one.expand({7, 5, 13}).toFloat64());
}
