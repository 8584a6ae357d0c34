//===- ScanTest.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/scan/Scan.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Scan);

/// Each running sum as a sum of its own: what is added, in any order.
static Numbers runningSums(const Numbers &x, const Shape &shape, int axis) {
  size_t inner = 1, length = size_t(shape[size_t(axis)]);
  for (size_t k = size_t(axis) + 1; k < shape.size(); ++k) {
    inner *= size_t(shape[k]);
  }
  Numbers results;
  for (size_t i = 0; i < x.size(); ++i) {
    reference::Sum sum;
    size_t j = i / inner % length;
    for (size_t k = 0; k <= j; ++k) {
      sum.add(x[i - (j - k) * inner]);
    }
    results.push_back(sum.total());
  }
  return results;
}

TEST_P(Scan, agreesWithDoublePrecision) {
  forCases([&] {
    Shape shape = {pick(1, 4), pick(1, isSlow ? 40 : 1500), pick(1, 3)};
    shape.resize(size_t(pick(1, 3)));
    int rank = int(shape.size()), axis = int(pick(0, rank - 1));
    Variable x(random(shape, f32), true);
    Variable y = cumsum(x, coin() ? axis : axis - rank);
    expectClose(y.value(), runningSums(exactly(x.value()), shape, axis), "y");
    checkGradients(y, {x}, [&](const std::vector<Numbers> &at) {
      return runningSums(at[0], shape, axis);
    });
    Tensor half = random(shape, oneOf({bf16, f16}));
    Tensor sums = cumsum(half, axis);
    EXPECT_EQ(sums.dtype(), half.dtype());
    expectClose(sums, runningSums(exactly(half), shape, axis), "of halves");
    EXPECT_EQ(cumsum(half, axis).toFloat64(), sums.toFloat64()) << "other bits";
  });
}

TEST_P(Scan, integersAreExact) {
  int64_t large = (int64_t{1} << 53) + 1;
  Tensor x = full({3}, 0, i64, device);
  x.copyFrom(Tensor::fromVector(std::vector<int64_t>{large, 1, -3}));
  EXPECT_THAT(cumsum(x, 0).toVector<int64_t>(),
              ElementsAre(large, large + 1, large - 2));
  Tensor bits = full({2, 2}, 1, i1, device);
  EXPECT_EQ(cumsum(bits, 0).dtype(), i64);
  EXPECT_THAT(cumsum(bits, 0).toFloat64(), ElementsAre(1, 1, 2, 2));
}

TEST_P(Scan, doublesAreSummedInDoubles) {
  if (!hasCompiler()) {
    EXPECT_THAT(messageOf([&] { cumsum(zeros({2}, f64, device), 0); }),
                HasSubstr("cumsum: argument 'x': expected no fp64 in a program "
                          "without a compiler, got fp64[2]"));
    return;
  }
  Variable x(full({3}, 1 + 0x1p-50, f64, device), true);
  Variable y = cumsum(x, 0);
  EXPECT_EQ(y.value().toFloat64()[1], 2 + 0x1p-49);
  y.backward(full({3}, 1, f64, device));
  EXPECT_EQ(x.grad().toFloat64(), (Values{3, 2, 1}));
}

TEST_P(Scan, nanStaysFromWhereItIs) {
  Tensor x = Tensor::fromVector(std::vector<float>{1, NAN, 2}, {}, device);
  Values y = cumsum(x, 0).toFloat64();
  EXPECT_EQ(y[0], 1);
  EXPECT_TRUE(std::isnan(y[1]) && std::isnan(y[2]));
}

TEST_P(Scan, namesWhatDoesNotFit) {
  EXPECT_EQ(cumsum(empty({0, 2}, f32, device), 0).shape(), (Shape{0, 2}));
  auto messageOf = [&](const Tensor &x, int axis) {
    try {
      cumsum(x, axis);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(messageOf(zeros({2}, f32, device), 1),
              HasSubstr("cumsum: argument 'axis': expected a dimension from -1 "
                        "to 0, of fp32[2], got 1"));
  EXPECT_THAT(messageOf(zeros({2}, u64, device), 0),
              HasSubstr("cumsum: argument 'x': expected a tensor of fp32"));
}
