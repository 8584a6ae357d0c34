//===- FunctionsTest.cpp - One function of an expression --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values against the C library's in double precision, derivatives against
// differences of those; what happens at NaN, infinities, zeros and bounds
// against what PyTorch 2.13 answers, which is written down here.
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Values.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Functions);

namespace {
struct Function {
  const char *name;
  Expression (*apply)(const Expression &x);
  double (*exact)(double x);
  double low, high;
};
} // namespace

static const Function functions[] = {
    {"sin", sin, std::sin, -30, 30},
    {"cos", cos, std::cos, -30, 30},
    {"log1p", log1p, std::log1p, -0.9, 20},
    {"expm1", expm1, std::expm1, -10, 10},
    {"softplus", [](const Expression &x) { return softplus(x); },
     [](double x) {
       return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
     },
     -40, 40},
    {"softplus of beta 3", [](const Expression &x) { return softplus(x, 3); },
     [](double x) { return std::log1p(std::exp(3 * x)) / 3; }, -10, 10},
    {"logSigmoid", logSigmoid,
     [](double x) { return -std::log1p(std::exp(-x)); }, -30, 30},
    {"sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -30,
     30},
    {"square", square, [](double x) { return x * x; }, -5, 5},
    {"reciprocal", reciprocal, [](double x) { return 1 / x; }, 0.1, 5},
    {"leakyRelu", [](const Expression &x) { return leakyRelu(x, 0.25); },
     [](double x) { return x > 0 ? x : 0.25 * x; }, 0.01, 5},
    {"elu", [](const Expression &x) { return elu(x, 2); },
     [](double x) { return x > 0 ? x : 2 * std::expm1(x); }, -5, -0.01},
    {"x^2.5", [](const Expression &x) { return pow(x, 2.5); },
     [](double x) { return std::pow(x, 2.5); }, 0.05, 9},
    {"x^-0.3", [](const Expression &x) { return pow(x, -0.3); },
     [](double x) { return std::pow(x, -0.3); }, 0.05, 9},
    {"2.5^x", [](const Expression &x) { return pow(2.5, x); },
     [](double x) { return std::pow(2.5, x); }, -5, 5},
    {"x^x", [](const Expression &x) { return pow(x, x); },
     [](double x) { return std::pow(x, x); }, 0.05, 5},
};

TEST_P(Functions, agreeWithTheCLibrary) {
  for (const Function &f : functions) {
    std::vector<float> points;
    for (int i = 0; i < (isSlow ? 40 : 2000); ++i) {
      points.push_back(static_cast<float>(
          f.low + (f.high - f.low) * double(pick(0, 1 << 20)) / (1 << 20)));
    }
    Variable x(Tensor::fromVector(points, {}, device), true);
    auto y = f.apply(x);
    y.backward(full(y.shape(), 1, f32, device));
    Values values = y.value().toFloat64(), slopes = x.grad().toFloat64();
    for (size_t i = 0; i < points.size(); ++i) {
      double at = points[i], step = 1e-5, expected = f.exact(at);
      // Of the fourth order, with steps beside which doubles have no error.
      double slope = (8 * (f.exact(at + step) - f.exact(at - step)) -
                      (f.exact(at + 2 * step) - f.exact(at - 2 * step))) /
                     (12 * step);
      ASSERT_NEAR(values[i], expected, 1e-6 * std::fabs(expected) + 3e-7)
          << f.name << " at " << at;
      ASSERT_NEAR(slopes[i], slope, 4e-6 * std::fabs(slope) + 1e-6)
          << f.name << "' at " << at;
    }
  }
}

// One kernel forward and one backward, with numbers that fp32 does not have.
TEST_P(Functions, areDoubleOfDoubles) {
  Values points;
  for (int i = 0; i < 33; ++i) {
    points.push_back(0.1 + i / 7.0);
  }
  Tensor values = Tensor::fromVector(points).to(device);
  Variable x(values, true), half(full({1}, 0.3, f64, device), true);
  auto f = [](auto x, auto half) {
    using std::exp, std::log1p, std::sin, std::sqrt, std::pow, std::log,
        std::tanh, std::erf;
    return sin(x * 17.3) * 0.1 + log1p(x) / (x + 0.7) + exp(x * -0.9) * half +
           sqrt(x) * pow(x, 0.3) - log(x) * tanh(x) + erf(x * half);
  };
  Variable y = f(Expression(x), Expression(half)) +
               cast(Expression(values), f32) * Expression(values);
  EXPECT_EQ(y.dtype(), f64);
  // The tensor that is no variable has no gradient.
  y.backward(full(y.shape(), 1, f64, device));
  Values got = y.value().toFloat64(), slopes = x.grad().toFloat64();
  double sum = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    double at = points[i], h = 1e-3;
    ASSERT_NEAR(got[i], f(at, 0.3) + double(float(at)) * at, 1e-13) << at;
    // Of the sixth order.
    auto difference = [&](double step) {
      return f(at + step, 0.3) - f(at - step, 0.3);
    };
    double slope =
        (45 * difference(h) - 9 * difference(2 * h) + difference(3 * h)) /
        (60 * h);
    ASSERT_NEAR(slopes[i], slope, 1e-8 * (1 + std::fabs(slope))) << at;
    sum += std::exp(at * -0.9) +
           2 / std::sqrt(std::numbers::pi) * at * std::exp(-0.09 * at * at);
  }
  EXPECT_EQ(half.grad().dtype(), f64);
  EXPECT_NEAR(half.grad().toFloat64()[0], sum, 1e-12);
  EXPECT_EQ(evaluate(Expression(values) < 0.1).toFloat64(), Values(33, 0.0));
}

TEST_P(Functions, keepDigitsNearZero) {
  Tensor x = Tensor::fromVector(std::vector<float>{1e-20F, -3e-9F}, {}, device);
  for (const Expression &y : {log1p(x), expm1(x)}) {
    Values values = evaluate(y).toFloat64(), at = x.toFloat64();
    EXPECT_NEAR(values[0] / at[0], 1, 2e-7);
    EXPECT_NEAR(values[1] / at[1], 1, 2e-7);
  }
}

TEST_P(Functions, roundToIntegers) {
  Tensor x = Tensor::fromVector(
      std::vector<float>{0.5, 1.5, 2.5, -0.5, -1.5, 2.4F, -2.6F}, {}, device);
  EXPECT_EQ(evaluate(round(x)).toFloat64(), (Values{0, 2, 2, 0, -2, 2, -3}));
  EXPECT_EQ(evaluate(floor(x)).toFloat64(), (Values{0, 1, 2, -1, -2, 2, -3}));
  EXPECT_EQ(evaluate(ceil(x)).toFloat64(), (Values{1, 2, 3, 0, -1, 3, -2}));
  Variable v(x, true);
  Variable y = round(v) + floor(v) * 2 + ceil(v) + v;
  y.backward(full({7}, 1, f32, device));
  EXPECT_EQ(v.grad().toFloat64(), Values(7, 1.0));
  EXPECT_EQ(floor(full({2}, 3, i64, device)).dtype(), i64);
}

TEST_P(Functions, knowNanAndInfinity) {
  float nan = NAN, inf = INFINITY;
  Tensor x = Tensor::fromVector(std::vector<float>{nan, inf, -inf}, {}, device);
  EXPECT_THAT(evaluate(isnan(x)).toFloat64(), ElementsAre(1, 0, 0));
  EXPECT_THAT(evaluate(isinf(x)).toFloat64(), ElementsAre(0, 1, 1));
  EXPECT_THAT(evaluate(sign(x)).toFloat64(), ElementsAre(0, 1, -1));
  Values soft = evaluate(softplus(x)).toFloat64();
  EXPECT_TRUE(std::isnan(soft[0]));
  EXPECT_EQ(soft[1], INFINITY);
  EXPECT_EQ(soft[2], 0);
  EXPECT_TRUE(std::isnan(evaluate(clamp(x, 0, 1)).toFloat64()[0]));
}

TEST_P(Functions, clampBetweenBounds) {
  Variable x(
      Tensor::fromVector(std::vector<float>{-2, -1, 0, 1, 2}, {}, device),
      true);
  auto y = clamp(x, -1, 1);
  y.backward(full({5}, 1, f32, device));
  EXPECT_THAT(y.value().toFloat64(), ElementsAre(-1, -1, 0, 1, 1));
  EXPECT_THAT(x.grad().toFloat64(), ElementsAre(0, 1, 1, 1, 0));
  EXPECT_THAT(clamp(x, std::nullopt, 0).value().toFloat64(),
              ElementsAre(-2, -1, 0, 0, 0));
  EXPECT_THAT(clip(x, 0.5).value().toFloat64(),
              ElementsAre(0.5, 0.5, 0.5, 1, 2));
  EXPECT_THAT(clamp(x, 5, 2).value().toFloat64(), ElementsAre(2, 2, 2, 2, 2));
  Tensor least =
      Tensor::fromVector(std::vector<float>{-5, 0, 0, 0, 0}, {}, device);
  EXPECT_THAT(clamp(x, least).value().toFloat64(), ElementsAre(-2, 0, 0, 1, 2));
  EXPECT_THROW(clamp(x, std::nullopt), Error);
}

TEST_P(Functions, powersHavePyTorchsEdges) {
  auto leaf = [&](std::vector<float> values) {
    return Variable(Tensor::fromVector(values, {}, device), true);
  };
  Variable x = leaf({0, 0, 2, -2, 3}), p = leaf({0, 1, 0, 2, 2.5});
  auto y = pow(x, p);
  y.backward(full({5}, 1, f32, device));
  EXPECT_THAT(y.value().toFloat64(),
              ElementsAre(1, 0, 1, 4, ::testing::DoubleNear(15.588457, 1e-5)));
  EXPECT_THAT(x.grad().toFloat64(),
              ElementsAre(0, 1, 0, -4, ::testing::DoubleNear(12.990381, 1e-5)));
  Values dp = p.grad().toFloat64();
  EXPECT_EQ(dp[0], 0);
  EXPECT_EQ(dp[1], 0);
  EXPECT_NEAR(dp[2], 0.6931472, 1e-6);
  EXPECT_TRUE(std::isnan(dp[3]));
  EXPECT_NEAR(dp[4], 17.125671, 1e-5);
}

TEST_P(Functions, anotherExponentIsTheSameKernel) {
  Tensor x = random({5}, f32).contiguous();
  EXPECT_EQ(source(pow(x, 2.71)), source(pow(x, 3.14)));
}

TEST_P(Functions, ofIntegersAreExact) {
  int64_t large = (int64_t{1} << 53) + 1;
  Tensor x =
      Tensor::fromVector(std::vector<int64_t>{large, -large, 5}, {}, device);
  auto exact = [](const Expression &e) {
    return evaluate(e).toVector<int64_t>();
  };
  EXPECT_THAT(exact(clamp(x, -large + 2, large - 1)),
              ElementsAre(large - 1, -large + 2, 5));
  EXPECT_THAT(exact(abs(x)), ElementsAre(large, large, 5));
  EXPECT_THAT(exact(sign(x)), ElementsAre(1, -1, 1));
  EXPECT_THAT(exact(square(where(x == 5, x, 3037000499))),
              ElementsAre(int64_t{3037000499} * 3037000499,
                          int64_t{3037000499} * 3037000499, 25));
  EXPECT_THAT(exact(cast(x == large, i64)), ElementsAre(1, 0, 0));
  EXPECT_EQ(evaluate(x.slice(0, 0, 1) + 2).item<int64_t>(), large + 2);
}

TEST_P(Functions, comparisonsAndLogic) {
  Tensor a = Tensor::fromVector(std::vector<float>{0, 1, 2}, {}, device),
         b = Tensor::fromVector(std::vector<float>{1, 1, 0}, {}, device);
  auto bits = [](const Expression &e) { return evaluate(e).toFloat64(); };
  EXPECT_THAT(bits(a == b), ElementsAre(0, 1, 0));
  EXPECT_THAT(bits(a != b), ElementsAre(1, 0, 1));
  EXPECT_THAT(bits(lessEqual(a, b)), ElementsAre(1, 1, 0));
  EXPECT_THAT(bits(greater(a, b)), ElementsAre(0, 0, 1));
  EXPECT_THAT(bits(logicalAnd(a, b)), ElementsAre(0, 1, 0));
  EXPECT_THAT(bits(logicalOr(a, b)), ElementsAre(1, 1, 1));
  EXPECT_THAT(bits(logicalNot(a)), ElementsAre(1, 0, 0));
  EXPECT_EQ((a == b).dtype(), i1);
  EXPECT_EQ(logicalAnd(a, b).dtype(), i1);
}

class ExpressionValues : public OperatorTest {};
NEREID_ON_EVERY_DEVICE(ExpressionValues);

TEST_P(ExpressionValues, areComputedOnce) {
  Variable x(random({3, 4}, f32), true);
  auto y = gelu(x);
  auto copy = y;
  EXPECT_EQ(y.value().data(), copy.value().data());
  y.backward(full({3, 4}, 1, f32, device));
  EXPECT_TRUE(x.grad().defined());
  EXPECT_THROW(copy.backward(full({3, 4}, 1, f32, device)), Error)
      << "one graph, which is consumed";
}

TEST_P(ExpressionValues, areTheTensorsThatTheyBecome) {
  Tensor x = full({4}, 1, f32, device);
  auto y = x * 2;
  Tensor first = y;
  x.fill(5);
  Tensor second = y;
  EXPECT_EQ(second.data(), first.data());
  EXPECT_EQ(y.value().data(), first.data());
  EXPECT_EQ(second.toFloat64(), Values(4, 2.0));
  EXPECT_EQ(evaluate(y).toFloat64(), Values(4, 10.0)); // computed now
}

TEST_P(ExpressionValues, areRecordedBehindANoGrad) {
  Variable x(random({3}, f32), true);
  auto y = x * 2;
  {
    NoGrad guard;
    EXPECT_FALSE(y.variable().requiresGrad());
  }
  y.backward(full({3}, 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), Values(3, 2.0));
}

TEST_P(ExpressionValues, freeTheirGraph) {
  Tensor kept = random({8}, f32).contiguous();
  {
    Variable x(kept, true);
    auto y = x * x;
    EXPECT_TRUE(y.variable().requiresGrad());
  }
  EXPECT_TRUE(kept.isUnique());
}

TEST_P(ExpressionValues, haveViewsAndElements) {
  Variable x(arange({2, 3}, f32, device), true);
  auto y = x + 1;
  EXPECT_EQ(y.size(-1), 3);
  EXPECT_EQ(y.numel(), 6);
  EXPECT_EQ(y.rank(), 2);
  EXPECT_TRUE(y.requiresGrad());
  EXPECT_EQ(y.reshape({3, 2}).transpose(0, 1).shape(), (Shape{2, 3}));
  EXPECT_EQ(y[1][2].item(), 6);
  y[1].backward(full({3}, 5, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), (Values{0, 0, 0, 5, 5, 5}));
  EXPECT_THROW(y.size(2), Error);
}

TEST_P(ExpressionValues, changeInPlace) {
  Tensor t = arange({3}, f32, device), view = t;
  t += 1;
  t *= t;
  EXPECT_EQ(view.toFloat64(), (Values{1, 4, 9}));
  Variable x(arange({3}, f32, device), true), y = x;
  y += 1;
  y /= 2.0;
  EXPECT_EQ(x.value().toFloat64(), (Values{0, 1, 2}));
  EXPECT_EQ(y.value().toFloat64(), (Values{0.5, 1, 1.5}));
  y.backward(full({3}, 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), Values(3, 0.5));
  EXPECT_THROW(t -= x, Error) << "a gradient would be lost";
}

TEST_P(ExpressionValues, changeInPlaceByWhatOverlaps) {
  int64_t n = device == Device::interp() ? 40 : 300;
  Tensor x = randint({n, n}, 0, 100, i64, device, 1).to(f32);
  Values old = x.toFloat64(), expected = old;
  auto size = size_t(n);
  for (size_t i = 0; i < size * size; ++i) {
    expected[i] = old[i] - old[i % size * size + i / size];
  }
  Tensor y = x.clone();
  y -= y.transpose(0, 1);
  EXPECT_EQ(y.toFloat64(), expected);
  for (size_t i = 0; i < size * size; ++i) {
    expected[i] = old[i] - old[i % size];
  }
  Tensor row = x.select(0, 0);
  x -= row;
  EXPECT_EQ(x.toFloat64(), expected);
}

TEST_P(ExpressionValues, variablesHaveViews) {
  Variable x(arange({2, 3}, f32, device), true);
  Variable y = x.unsqueeze(0).expand({4, 2, 3}).permute({2, 1, 0}).flatten();
  EXPECT_EQ(y.numel(), 24);
  y.view({24}).backward(full({24}, 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), Values(6, 4.0));
  x.zeroGrad();
  x.select(1, -1).backward(full({2}, 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), (Values{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(x.unsqueeze(1).squeeze(1).shape(), x.shape());
  EXPECT_EQ(x.slice(1, 0, 2)[0].shape(), Shape{2});
  EXPECT_EQ(x.value()[1].toFloat64(), (Values{3, 4, 5}));
}
