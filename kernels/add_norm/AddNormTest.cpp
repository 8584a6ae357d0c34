//===- AddNormTest.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/add_norm/AddNorm.h"
#include "kernels/add_norm/reference.h"
#include "kernels/layer_norm/reference.h"
#include "kernels/rms_norm/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(AddNorm);

/// The factors of dropout, which ones show.
static Values factorsOf(const Shape &shape, const ResidualDropout &dropout,
                        Device device) {
  return addRmsNorm(full(shape, 1, f32, device), zeros(shape, f32, device), {},
                    1, dropout)
      .second.toFloat64();
}

TEST_P(AddNorm, agreesWithDoublePrecision) {
  forCases([&] {
    bool centred = coin();
    int64_t columns =
        !isSlow && pick(0, 9) == 0 ? 70001 : awkwardSize(isSlow ? 400 : 20000);
    Shape shape = {pick(1, 1 + (isSlow ? 2000 : 20000) / columns), columns};
    DType dtype = floatType();
    double eps = 1e-5;
    Tensor x = random(shape, dtype),
           residual = random(shape, coin() ? dtype : f32), w, b;
    if (coin()) {
      w = random({columns}, dtype);
      b = centred ? random({columns}, f32) : Tensor();
    }
    ResidualDropout dropout = {coin() ? 0 : 0.3, pick(0, 1000000), pick(0, 99)};
    auto run = [&] {
      return centred ? addLayerNorm(x, residual, w, b, eps, dropout)
                     : addRmsNorm(x, residual, w, eps, dropout);
    };
    auto [y, sum] = run();
    expectClose(
        sum,
        reference::residualSum(exactly(x), exactly(residual),
                               exactly(factorsOf(shape, dropout, device))),
        "sum");
    EXPECT_EQ(sum.dtype(), residual.dtype());
    expectClose(y,
                centred ? reference::layerNorm(exactly(sum), exactly(w),
                                               exactly(b), size_t(columns), eps)
                        : reference::rmsNorm(exactly(sum), exactly(w),
                                             size_t(columns), eps),
                "y");
    auto [again, sumAgain] = run();
    EXPECT_EQ(again.toFloat64(), y.toFloat64()) << "other bits";
  });
}

TEST_P(AddNorm, gradientsOfBothOutputsAgreeWithDerivatives) {
  forCases([&] {
    bool centred = coin(), isLong = !isSlow && pick(0, 9) == 0;
    int64_t columns = isLong ? 70001 : awkwardSize(isSlow ? 300 : 17000);
    Shape shape = {pick(1, 1 + (isSlow ? 2000 : 20000) / columns), columns};
    ResidualDropout dropout = {coin() ? 0 : 0.3, pick(0, 1000000), pick(0, 99)};
    Variable x(random(shape, f32), true), residual(random(shape, f32), true),
        w(random({columns}, f32), coin()), b;
    if (centred) {
      b = Variable(random({columns}, f32), coin());
    }
    double eps = 1e-5;
    auto [y, sum] = centred ? addLayerNorm(x, residual, w, b, eps, dropout)
                            : addRmsNorm(x, residual, w, eps, dropout);
    // One output of both, or y alone, or the sum alone.
    int64_t which = pick(0, 2);
    Tensor both = empty({2, shape[0], shape[1]}, f32, device);
    both.select(0, 0).copyFrom(y.value());
    both.select(0, 1).copyFrom(sum.value());
    Variable joined = autograd::record(
        "join", {y, sum}, both, [](const Tensor &d, autograd::Needs) {
          return autograd::Gradients{d.select(0, 0), d.select(0, 1)};
        });
    Numbers factors = exactly(factorsOf(shape, dropout, device));
    std::vector<Variable> inputs = {x, residual};
    if (which != 2) { // the sum does not depend on the weight
      inputs.push_back(w);
      if (centred) {
        inputs.push_back(b);
      }
    }
    checkGradients(
        which == 0   ? joined
        : which == 1 ? y
                     : sum,
        inputs, [&](const std::vector<Numbers> &at) {
          Numbers total = reference::residualSum(at[0], at[1], factors);
          if (which == 2) {
            return total;
          }
          Numbers normal =
              centred ? reference::layerNorm(total, at[2], at[3],
                                             size_t(columns), eps)
                      : reference::rmsNorm(total, at[2], size_t(columns), eps);
          if (which == 0) {
            normal.insert(normal.end(), total.begin(), total.end());
          }
          return normal;
        });
  });
}

TEST_P(AddNorm, gradientsHaveTheTypesOfTheirInputs) {
  Variable x(random({3, 40}, bf16), true), residual(random({3, 40}, f32), true),
      w(random({40}, bf16), true);
  auto [y, sum] = addRmsNorm(x, residual, w);
  EXPECT_EQ(y.dtype(), bf16);
  y.backward(random({3, 40}, bf16));
  EXPECT_EQ(x.grad().dtype(), bf16);
  EXPECT_EQ(residual.grad().dtype(), f32);
  EXPECT_EQ(residual.grad().to(bf16).toFloat64(), x.grad().toFloat64());
}

TEST_P(AddNorm, dropsBySeedAndOffset) {
  Values first = factorsOf({1, 1000}, {0.25, 7, 0}, device),
         later = factorsOf({1, 1000}, {0.25, 7, 10}, device),
         other = factorsOf({1, 1000}, {0.25, 8, 0}, device);
  EXPECT_TRUE(std::equal(later.begin(), later.end() - 10, first.begin() + 10));
  EXPECT_NE(first, other);
  // Lane 0 of counter i is element 4i of Tensor's generator.
  Values numbers = rand({4000}, f64, Device::cpu(), 7).toFloat64();
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i] == 0, numbers[4 * i] < 0.25) << i;
  }
  EXPECT_EQ(Values(1000, 0.0), factorsOf({1, 1000}, {1, 7, 0}, device));
}

TEST_P(AddNorm, takesNoElements) {
  Variable x(empty({0, 5}, f32, device), true), w(random({5}, f32), true);
  auto [y, sum] = addLayerNorm(x, Variable(empty({0, 5}, f32, device)), w, {});
  y.backward(empty({0, 5}, f32, device));
  EXPECT_EQ(w.grad().toFloat64(), Values(5, 0.0));
}

TEST_P(AddNorm, namesTheArgumentThatDoesNotFit) {
  try {
    addLayerNorm(random({2, 5}, f32), random({3, 5}, f32));
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("add_layer_norm: argument 'residual': expected shape "
                          "[2, 5] (that of x), got fp32[3, 5"));
  }
  try {
    Tensor x = random({2, 5}, f32);
    addRmsNorm(x, x, {}, 1e-6, {1.5, 0, 0});
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("add_rms_norm: argument 'dropout': expected a "
                          "probability from 0 to 1, got 1.5"));
  }
}
