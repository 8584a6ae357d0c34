//===- ReduceTest.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reduce/Reduce.h"
#include "kernels/reduce/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Reduce);

TEST_P(Reduce, sumsOverWhatWasBroadcast) {
  forCases([&] {
    int rank = int(pick(1, 4));
    int64_t left = isSlow ? 500 : 100000;
    Shape from, to;
    for (int i = 0; i < rank; ++i) {
      from.push_back(awkwardSize(std::min<int64_t>(left, 20000)));
      left = std::max<int64_t>(left / from.back(), 1);
      to.push_back(coin() ? 1 : from.back());
    }
    to.erase(to.begin(), to.begin() + pick(0, rank));
    Tensor x = random(from, floatType());
    DType dtype = coin() ? f32 : x.dtype();
    Tensor sums = sumTo(x, to, dtype);
    ASSERT_EQ(sums.shape(), to);
    ASSERT_EQ(sums.dtype(), dtype);
    expectClose(sums, reference::sumTo(exactly(x), from, to), "sums");
    EXPECT_EQ(sumTo(x, to, dtype).toFloat64(), sums.toFloat64())
        << "other bits";
  });
}

TEST_P(Reduce, sumsOfNothingAreZero) {
  Tensor x = empty({0, 3}, f32, device);
  EXPECT_EQ(sumTo(x, {3}).toFloat64(), Values(3, 0.0));
}

TEST_P(Reduce, namesShapesThatDoNotFit) {
  try {
    sumTo(random({2, 3}, f32), {2});
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("sum_to: argument 'shape': expected sizes that "
                          "broadcast to those of x, fp32[2, 3]"));
  }
}
