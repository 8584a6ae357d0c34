//===- LayerNormTest.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/layer_norm/reference.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/DoubleGradients.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Stream.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(LayerNorm);

static constexpr double eps = 1e-5;

TEST_P(LayerNorm, agreesWithDoublePrecision) {
  forCases([&] {
    int64_t columns = awkwardSize(isSlow ? 600 : 20000),
            rows = pick(1, 1 + (isSlow ? 2000 : 20000) / columns);
    DType dtype = floatType();
    Tensor x = random({rows, columns}, dtype, 1, coin() ? 3 : 0), w, b;
    if (coin()) {
      w = random({columns}, coin() ? dtype : f32);
    }
    if (coin()) {
      b = random({columns}, coin() ? dtype : f32);
    }
    Tensor y = layerNorm(x, w, b, eps);
    expectClose(y,
                reference::layerNorm(exactly(x), exactly(w), exactly(b),
                                     size_t(columns), eps),
                "y");
    EXPECT_EQ(layerNorm(x, w, b, eps).toFloat64(), y.toFloat64())
        << "other bits";
  });
}

TEST_P(LayerNorm, gradientsAgreeWithDerivatives) {
  forCases([&] {
    int64_t columns = awkwardSize(isSlow ? 300 : 20000),
            rows = pick(1, 1 + (isSlow ? 2000 : 20000) / columns);
    DType dtype = floatType();
    Variable x(random({rows, columns}, dtype), true),
        w(random({columns}, dtype), coin()),
        b(random({columns}, dtype), coin());
    checkGradients(layerNorm(x, w, b, eps), {x, w, b},
                   [&](const std::vector<Numbers> &at) {
                     return reference::layerNorm(at[0], at[1], at[2],
                                                 size_t(columns), eps);
                   });
  });
}

TEST_P(LayerNorm, takesRowsOfAnyLength) {
  if (isSlow) {
    GTEST_SKIP() << "too long for this device";
  }
  constexpr int64_t columns = 70001; // more than a block
  Variable x(random({3, columns}, f32, 1, 5), true),
      w(random({columns}, f32), true), b(random({columns}, f32), true);
  Variable y = layerNorm(x, w, b);
  expectClose(y.value(),
              reference::layerNorm(exactly(x.value()), exactly(w.value()),
                                   exactly(b.value()), columns, eps),
              "y");
  checkGradients(y, {x, w, b}, [&](const std::vector<Numbers> &at) {
    return reference::layerNorm(at[0], at[1], at[2], columns, eps);
  });
}

// Their means and sums are merged; the means are large beside the deviations.
TEST_P(LayerNorm, programsOfAGpuShareFewLongRows) {
  if (device.isHost()) {
    GTEST_SKIP() << "a program has whole rows";
  }
  Tensor longest = random({2, 66001}, f32, 1, 300);
  expectClose(layerNorm(longest),
              reference::layerNorm(exactly(longest), {}, {}, 66001, eps), "y");
  constexpr int64_t columns = 20001;
  Variable x(random({2, columns}, f32, 1, 5), true),
      w(random({columns}, f32), true), b(random({columns}, f32), true);
  checkGradients(
      layerNorm(x, w, b), {x, w, b}, [&](const std::vector<Numbers> &at) {
        return reference::layerNorm(at[0], at[1], at[2], columns, eps);
      });
}

TEST_P(LayerNorm, fusesTheSumWithABias) {
  forCases([&] {
    bool isLong = !isSlow && pick(0, 5) == 0;
    int64_t columns = isLong ? 70001 : awkwardSize(600), rows = pick(1, 3);
    Tensor x = random({rows, columns}, f32), added = random({columns}, f32),
           w = random({columns}, f32), b = random({columns}, f32);
    Numbers sum = exactly(x), row = exactly(added);
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] = sum[i] + row[i % size_t(columns)];
    }
    expectClose(
        fusedBiasLayerNorm(x, added, w, b, eps),
        reference::layerNorm(sum, exactly(w), exactly(b), size_t(columns), eps),
        "y");
  });
}

// mean(x^2) - mean^2 has no digit of a variance of 1 beside a mean of 3000.
TEST_P(LayerNorm, theSumWithABiasKeepsSmallDeviations) {
  for (int64_t columns : {1024, 70001}) {
    if (isSlow && columns > 2000) {
      continue;
    }
    for (double mean : {100.0, 3000.0, 10000.0}) {
      Tensor x = random({2, columns}, f32, 1, mean),
             added = random({columns}, f32);
      Numbers sum = exactly(x), row = exactly(added);
      for (size_t i = 0; i < sum.size(); ++i) {
        sum[i] = sum[i] + row[i % size_t(columns)];
      }
      expectClose(fusedBiasLayerNorm(x, added, {}, {}, eps),
                  reference::layerNorm(sum, {}, {}, size_t(columns), eps), "y");
    }
  }
}

TEST_P(LayerNorm, theSumWithABiasIsFiniteInEqualRows) {
  for (int64_t columns : {37, 70001}) {
    if (isSlow && columns > 1000) {
      continue;
    }
    Tensor none = zeros({columns}, f32, device);
    for (double value : {1000.1, 333.3, 77.7, 12345.6}) {
      Tensor y = fusedBiasLayerNorm(full({1, columns}, value, f32, device),
                                    none, {}, {}, 1e-5);
      EXPECT_TRUE(std::isfinite(y.at({0, columns - 1}))) << value;
    }
  }
}

TEST_P(LayerNorm, ofDoublesHasGradientsOfDoubles) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "fp64 needs a compiler";
  }
  checkGradientOfDoubles(device, [](const Variable &x, const Variable &w) {
    return layerNorm(x, w, w);
  });
}

TEST_P(LayerNorm, takesNoElements) {
  Variable x(empty({0, 5}, f32, device), true), w(random({5}, f32), true);
  Variable y = layerNorm(x, w, Variable());
  EXPECT_EQ(y.shape(), (Shape{0, 5}));
  y.backward(empty({0, 5}, f32, device));
  EXPECT_EQ(w.grad().toFloat64(), Values(5, 0.0));
}

TEST_P(LayerNorm, namesTheArgumentThatDoesNotFit) {
  Tensor both = zeros({3, 2}, f32, device), x = random({3, 4}, f32);
  try {
    layerNormBackward(x, x, {}, both.select(1, 0), both.select(1, 1), false,
                      f32, false);
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(), HasSubstr("argument 'mean': expected a "
                                           "row-major tensor"));
  }
  try {
    layerNorm(random({2, 768}, f32), random({512}, f32));
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("layer_norm: argument 'weight': expected shape [768] "
                          "(the last dimension of x), got fp32[512]"));
  }
}

TEST_P(LayerNorm, runsInAGraph) {
  if (device.isHost()) {
    GTEST_SKIP() << "the host has no graphs";
  }
  Variable x(randn({5, 64}, f32, device, 1), true),
      w(randn({64}, f32, device, 2), true);
  Tensor dy = randn({5, 64}, f32, device, 3);
  auto step = [&] {
    x.zeroGrad();
    w.zeroGrad();
    layerNorm(x, w, Variable()).backward(dy);
  };
  step(); // compiles
  Values dx = x.grad().toFloat64(), dw = w.grad().toFloat64();
  Graph graph = Graph::capture(device, step);
  x.grad().fill(0);
  w.grad().fill(0);
  graph.replay();
  EXPECT_EQ(x.grad().toFloat64(), dx);
  EXPECT_EQ(w.grad().toFloat64(), dw);
}
