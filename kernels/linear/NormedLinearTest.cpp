//===- NormedLinearTest.cpp -------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear/NormedLinear.h"

#include "kernels/add_norm/reference.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/layer_norm/reference.h"
#include "kernels/linear/reference.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OverlappedLaunches.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(NormedLinear);

namespace {
struct LaunchCount final : LaunchWatcher {
  int launches = 0;
  void launching(const OperatorLaunch &) override { ++launches; }
};
} // namespace

// One row, which one launch takes on a GPU, and several.
TEST_P(NormedLinear, agreesWithDoublePrecision) {
  int64_t most = isSlow ? 40 : 3000;
  forCases([&] {
    int64_t m = oneOf<int64_t>({1, 1, 1, 2, 9}), n = awkwardSize(most),
            k = awkwardSize(most);
    DType dtype = floatType();
    Tensor x = random({m, k}, dtype), residual = random({m, k}, dtype);
    // So small that a long row's rounding leaves the bounds of y finite.
    std::vector<float> values =
        randn({n, k}, f32, Device::cpu(), seed).toVector<float>();
    for (float &value : values) {
      value /= std::sqrt(float(k));
    }
    Tensor weight =
        Tensor::fromVector(values, Shape{n, k}).to(dtype).to(device);
    NormedLinearOptions options;
    options.activation = oneOf({Activation::None, Activation::Relu,
                                Activation::Gelu, Activation::GeluTanh});
    if (coin()) {
      options.normWeight = random({k}, dtype);
    }
    if (coin()) {
      options.normBias = random({k}, dtype);
    }
    if (coin()) {
      options.bias = random({n}, dtype);
    }
    std::optional<OverlappedLaunches> overlap;
    if (coin()) {
      overlap.emplace();
    }
    auto [y, sum] = addLayerNormLinear(x, residual, weight, options);
    expectClose(sum,
                reference::residualSum(exactly(x), exactly(residual),
                                       Numbers(size_t(m * k), Number(1.0))),
                "sum");
    Numbers normed = storedAs(
        reference::layerNorm(exactly(sum), exactly(options.normWeight),
                             exactly(options.normBias), size_t(k), options.eps),
        dtype);
    expectClose(y,
                reference::linear(normed, exactly(weight),
                                  exactly(options.bias), size_t(n), size_t(k),
                                  options.activation),
                "y");
    EXPECT_EQ(
        addLayerNormLinear(x, residual, weight, options).first.toFloat64(),
        y.toFloat64())
        << "other bits";
  });
}

TEST_P(NormedLinear, takesOneLaunchForARowOnGpus) {
  Tensor x = random({1, 96}, f32), weight = random({40, 96}, f32);
  LaunchCount count;
  addLayerNormLinear(x, x, weight);
  bool isOne = !device.isHost() && hasCompiler();
  EXPECT_EQ(count.launches == 1, isOne);
}

// Tokens and places of a text are rows of two tables.
TEST_P(NormedLinear, takesRowsOfTables) {
  forCases([&] {
    int64_t m = oneOf<int64_t>({1, 1, 3}), k = awkwardSize(isSlow ? 40 : 1000);
    DType dtype = floatType();
    Tensor table = random({7, k}, dtype), other = random({5, k}, dtype),
           weight = random({12, k}, dtype);
    std::vector<int64_t> rows, otherRows;
    for (int64_t i = 0; i < m; ++i) {
      rows.push_back(pick(0, 6));
      otherRows.push_back(pick(0, 4));
    }
    NormedLinearOptions options;
    options.xRows = Tensor::fromVector(rows).to(coin() ? i32 : i64).to(device);
    options.residualRows =
        Tensor::fromVector(otherRows).to(coin() ? i32 : i64).to(device);
    auto [y, sum] = addLayerNormLinear(table, other, weight, options);
    auto [expected, expectedSum] =
        addLayerNormLinear(embedding(options.xRows, table),
                           embedding(options.residualRows, other), weight);
    EXPECT_EQ(y.shape(), (Shape{m, 12}));
    EXPECT_EQ(y.toFloat64(), expected.toFloat64());
    EXPECT_EQ(sum.toFloat64(), expectedSum.toFloat64());
  });
}

TEST_P(NormedLinear, aRowThatATableHasNotIsNaN) {
  if (device.isHost()) {
    GTEST_SKIP() << "an error there";
  }
  Tensor table = random({4, 16}, f32), row = random({1, 16}, f32),
         weight = random({2, 16}, f32);
  NormedLinearOptions options;
  for (int64_t index : {-1, 4}) {
    options.xRows = full({1}, index, i64, device);
    auto [y, sum] = addLayerNormLinear(table, row, weight, options);
    EXPECT_TRUE(std::isnan(y.toFloat64()[1]));
    EXPECT_TRUE(std::isnan(sum.toFloat64()[15]));
  }
}

// Past the row's end the mean of large numbers must not be normed.
TEST_P(NormedLinear, equalNumbersHaveTheNormZero) {
  Tensor x = full({1, 96}, 300, f16, device),
         none = zeros({1, 96}, f16, device),
         weight = full({4, 96}, 0.5, f16, device);
  EXPECT_EQ(addLayerNormLinear(x, none, weight).first.toFloat64(),
            Values(4, 0.0));
}

TEST_P(NormedLinear, takesNoElements) {
  Tensor x = empty({0, 8}, f32, device), weight = random({3, 8}, f32);
  auto [y, sum] = addLayerNormLinear(x, x, weight);
  EXPECT_EQ(y.shape(), (Shape{0, 3}));
  EXPECT_EQ(sum.shape(), (Shape{0, 8}));
  Tensor row = random({1, 8}, f32);
  EXPECT_EQ(
      addLayerNormLinear(row, row, empty({0, 8}, f32, device)).first.shape(),
      (Shape{1, 0}));
}

TEST_P(NormedLinear, namesTheArgumentThatDoesNotFit) {
  Tensor x = random({2, 8}, f32), weight = random({3, 8}, f32);
  auto messageOf = [&](const Tensor &residual, const Tensor &w,
                       const NormedLinearOptions &options) -> std::string {
    try {
      addLayerNormLinear(x, residual, w, options);
    } catch (const Error &error) {
      return error.message();
    }
    return "";
  };
  EXPECT_THAT(messageOf(random({2, 7}, f32), weight, {}),
              HasSubstr("addLayerNormLinear: argument 'residual': expected "
                        "shape [2, 8] (that of x), got fp32[2, 7"));
  NormedLinearOptions rows;
  rows.residualRows = zeros({3}, i32, device);
  EXPECT_THAT(messageOf(x, weight, rows),
              HasSubstr("argument 'residualRows': expected shape [2] (the "
                        "dimensions of x in front), got i32[3"));
  EXPECT_THAT(messageOf(x, random({3, 7}, f32), {}),
              HasSubstr("argument 'weight': expected shape [3, 8] (the last "
                        "dimension of x), got fp32[3, 7"));
  EXPECT_THAT(messageOf(x, random({3, 8}, f16), {}),
              HasSubstr("argument 'weight': expected fp32 elements (as x "
                        "has), got fp16[3, 8"));
  NormedLinearOptions norm, added, negative;
  norm.normBias = random({7}, f32);
  added.bias = random({4}, f32);
  negative.eps = -1;
  EXPECT_THAT(messageOf(x, weight, norm),
              HasSubstr("argument 'normBias': expected shape [8] (the last "
                        "dimension of x)"));
  EXPECT_THAT(
      messageOf(x, weight, added),
      HasSubstr("argument 'bias': expected shape [3] (the rows of weight)"));
  EXPECT_THAT(messageOf(x, weight, negative),
              HasSubstr("argument 'eps': expected a number that is not "
                        "negative"));
}
