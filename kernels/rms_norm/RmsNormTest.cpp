//===- RmsNormTest.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/rms_norm/RmsNorm.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/rms_norm/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(RmsNorm);

TEST_P(RmsNorm, agreesWithDoublePrecision) {
  forCases([&] {
    int64_t columns =
        !isSlow && pick(0, 9) == 0 ? 70001 : awkwardSize(isSlow ? 600 : 20000);
    int64_t rows = pick(1, 1 + (isSlow ? 2000 : 20000) / columns);
    DType dtype = floatType();
    Tensor x = random({rows, columns}, dtype), w;
    if (coin()) {
      w = random({columns}, coin() ? dtype : f32);
    }
    Tensor y = rmsNorm(x, w, 1e-6);
    expectClose(
        y, reference::rmsNorm(exactly(x), exactly(w), size_t(columns), 1e-6),
        "y");
    EXPECT_EQ(rmsNorm(x, w, 1e-6).toFloat64(), y.toFloat64()) << "other bits";
  });
}

TEST_P(RmsNorm, gradientsAgreeWithDerivatives) {
  forCases([&] {
    int64_t columns = awkwardSize(isSlow ? 300 : 20000);
    int64_t rows = pick(1, 1 + (isSlow ? 2000 : 20000) / columns);
    DType dtype = floatType();
    Variable x(random({rows, columns}, dtype), true),
        w(random({columns}, dtype), coin());
    checkGradients(
        rmsNorm(x, w, 1e-6), {x, w}, [&](const std::vector<Numbers> &at) {
          return reference::rmsNorm(at[0], at[1], size_t(columns), 1e-6);
        });
  });
}

// Differences of the norm itself, of the fourth order, in fp64.
TEST_P(RmsNorm, ofDoublesHasGradientsOfDoubles) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "fp64 needs a compiler";
  }
  std::mt19937 numbers(3);
  std::normal_distribution<double> normal;
  auto draw = [&](int64_t count) {
    Values values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(normal(numbers));
    }
    return values;
  };
  Values at = draw(2 * 5), gain = draw(5), weights = draw(2 * 5);
  auto norm = [&](const Values &values) {
    Variable x(Tensor::fromVector(values, Shape{2, 5}).to(device), true);
    return std::pair(x,
                     rmsNorm(x, Variable(Tensor::fromVector(gain).to(device))));
  };
  auto sumOf = [&](const Values &values) {
    Values y = norm(values).second.value().toFloat64();
    double total = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      total += y[i] * weights[i];
    }
    return total;
  };
  auto [x, y] = norm(at);
  EXPECT_EQ(y.dtype(), f64);
  y.backward(Tensor::fromVector(weights, Shape{2, 5}).to(device));
  Values gradient = x.grad().toFloat64();
  for (size_t i = 0; i < at.size(); ++i) {
    constexpr double step = 1e-3;
    auto moved = [&](double by) {
      Values values = at;
      values[i] += by;
      return sumOf(values);
    };
    double slope = (8 * (moved(step) - moved(-step)) -
                    (moved(2 * step) - moved(-2 * step))) /
                   (12 * step);
    EXPECT_NEAR(gradient[i], slope, 1e-9) << i;
  }
}

TEST_P(RmsNorm, takesNoElements) {
  Variable x(empty({0, 5}, f32, device), true), w(random({5}, f32), true);
  rmsNorm(x, w).backward(empty({0, 5}, f32, device));
  EXPECT_EQ(w.grad().toFloat64(), Values(5, 0.0));
}

TEST_P(RmsNorm, namesTheArgumentThatDoesNotFit) {
  try {
    rmsNorm(random({2, 768}, f32), random({512}, f32));
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("rms_norm: argument 'weight': expected shape [768] "
                          "(the last dimension of x), got fp32[512]"));
  }
}
