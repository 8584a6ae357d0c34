//===- LossesTest.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/losses/Losses.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Losses);

namespace {
struct Loss {
  const char *name;
  Expression (*apply)(const Expression &x, const Expression &target,
                      Reduction reduction);
  double (*exact)(double x, double target);
  bool areProbabilities, isLogarithm;
};
} // namespace

static double huber(double x, double t) {
  double d = std::fabs(x - t);
  return d <= 0.7 ? d * d / 2 : 0.7 * (d - 0.35);
}

static const Loss losses[] = {
    {"mse", mseLoss, [](double x, double t) { return (x - t) * (x - t); },
     false, false},
    {"l1", l1Loss, [](double x, double t) { return std::fabs(x - t); }, false,
     false},
    {"huber",
     [](const Expression &x, const Expression &t, Reduction r) {
       return huberLoss(x, t, r, 0.7);
     },
     huber, false, false},
    {"bce", binaryCrossEntropy,
     [](double p, double t) {
       return -(t * std::log(p) + (1 - t) * std::log1p(-p));
     },
     true, false},
    {"bce of logits", binaryCrossEntropyWithLogits,
     [](double z, double t) {
       return std::max(z, 0.0) - z * t + std::log1p(std::exp(-std::fabs(z)));
     },
     false, false},
    {"kl",
     [](const Expression &x, const Expression &t, Reduction r) {
       return klDiv(x, t, r);
     },
     [](double x, double t) { return t * (std::log(t) - x); }, true, true},
    {"kl of logarithms",
     [](const Expression &x, const Expression &t, Reduction r) {
       return klDiv(x, t, r, true);
     },
     [](double x, double t) { return std::exp(t) * (t - x); }, false, false},
};

TEST_P(Losses, agreeWithDoublePrecision) {
  for (const Loss &loss : losses) {
    auto values = [&](bool isLogarithm) {
      std::vector<float> numbers;
      for (int i = 0; i < 60; ++i) {
        double p = double(pick(1, 999)) / 1000;
        numbers.push_back(static_cast<float>(
            isLogarithm             ? std::log(p)
            : loss.areProbabilities ? p
                                    : double(pick(-4000, 4000)) / 1000));
      }
      return laidOut(Tensor::fromVector(numbers, {{6, 10}}));
    };
    for (Reduction reduction :
         {Reduction::Mean, Reduction::Sum, Reduction::None}) {
      Variable x(values(loss.isLogarithm), true), t(values(false), true);
      auto y = loss.apply(x, t, reduction);
      bool isNone = reduction == Reduction::None;
      ASSERT_EQ(y.shape(), isNone ? (Shape{6, 10}) : Shape());
      y.backward(full(y.shape(), 1, f32, device));
      double scale = reduction == Reduction::Mean ? 60 : 1, total = 0;
      Values a = x.value().toFloat64(), b = t.value().toFloat64(),
             got = y.value().toFloat64(), da = x.grad().toFloat64(),
             db = t.grad().toFloat64();
      for (size_t i = 0; i < a.size(); ++i) {
        double step = 1e-6, exact = loss.exact(a[i], b[i]);
        double slope =
            (loss.exact(a[i] + step, b[i]) - loss.exact(a[i] - step, b[i])) /
            (2 * step);
        double ofTarget =
            (loss.exact(a[i], b[i] + step) - loss.exact(a[i], b[i] - step)) /
            (2 * step);
        total += exact;
        if (isNone) {
          ASSERT_NEAR(got[i], exact, 1e-5 * std::fabs(exact) + 1e-6)
              << loss.name;
        }
        ASSERT_NEAR(da[i] * scale, slope, 1e-5 * std::fabs(slope) + 3e-6)
            << loss.name << " at " << a[i] << ", " << b[i];
        ASSERT_NEAR(db[i] * scale, ofTarget, 1e-5 * std::fabs(ofTarget) + 3e-6)
            << loss.name << " at " << a[i] << ", " << b[i];
      }
      if (!isNone) {
        ASSERT_NEAR(got[0], total / scale,
                    1e-5 * std::fabs(total / scale) + 1e-5)
            << loss.name;
      }
    }
  }
}

// Numbers are PyTorch's.
TEST_P(Losses, stayFiniteAtTheEdges) {
  auto leaf = [&](std::vector<float> values) {
    return Variable(Tensor::fromVector(values, {}, device), true);
  };
  Variable p = leaf({0, 1, 1, 0}), t = leaf({1, 1, 0, 0});
  auto y = binaryCrossEntropy(p, t, Reduction::None);
  y.backward(full({4}, 1, f32, device));
  EXPECT_EQ(y.value().toFloat64(), (Values{100, 0, 100, 0}));
  Values dp = p.grad().toFloat64();
  EXPECT_NEAR(dp[0] / -1e12, 1, 1e-6);
  EXPECT_EQ(dp[1], 0);
  EXPECT_NEAR(dp[2] / 1e12, 1, 1e-6);
  Variable z = leaf({0, 100, -100, -100}), u = leaf({1, 1, 0, 1});
  auto l = binaryCrossEntropyWithLogits(z, u, Reduction::None);
  l.backward(full({4}, 1, f32, device));
  EXPECT_NEAR(l.value().toFloat64()[0], 0.6931472, 1e-6);
  EXPECT_NEAR(l.value().toFloat64()[1], 0, 1e-40);
  EXPECT_EQ(l.value().toFloat64()[3], 100);
  EXPECT_NEAR(z.grad().toFloat64()[0], -0.5, 1e-7);
  EXPECT_NEAR(z.grad().toFloat64()[3], -1, 1e-7);
  Variable x = leaf({-1, -2}), none = leaf({0, 0});
  klDiv(x, none, Reduction::Sum).backward();
  EXPECT_EQ(x.grad().toFloat64(), Values(2, 0.0));
  Variable never = leaf({-INFINITY, -1}), some = leaf({0, 1});
  Variable kl = klDiv(never, some, Reduction::None);
  kl.backward(full({2}, 1, f32, device));
  EXPECT_EQ(kl.value().toFloat64(), (Values{0, 1}));
  EXPECT_EQ(never.grad().toFloat64(), (Values{0, -1}));
  EXPECT_EQ(some.grad().toFloat64(), (Values{0, 2}));
  Variable other = leaf({-INFINITY, -1}), logs = leaf({-INFINITY, 0});
  Variable ofLogs = klDiv(other, logs, Reduction::None, true);
  ofLogs.backward(full({2}, 1, f32, device));
  EXPECT_EQ(ofLogs.value().toFloat64(), (Values{0, 1}));
  EXPECT_EQ(other.grad().toFloat64(), (Values{0, -1}));
  EXPECT_EQ(logs.grad().toFloat64(), (Values{0, 2}));
}

TEST_P(Losses, noticeWritesToWhatTheySaved) {
  for (auto loss : {binaryCrossEntropy, binaryCrossEntropyWithLogits}) {
    for (bool isTarget : {false, true}) {
      Variable x(full({2}, 0.5, f32, device), true);
      Tensor target = zeros({2}, f32, device);
      Variable y = loss(x, target, Reduction::Sum);
      (isTarget ? target : x.value()).fill(0.25);
      EXPECT_THROW(y.backward(), Error);
    }
  }
}

TEST_P(Losses, takeMixesOfValues) {
  Tensor t = random({5}, bf16);
  Variable x(random({5}, bf16), true);
  auto loss = mseLoss(x * 2, t);
  EXPECT_EQ(loss.dtype(), bf16);
  loss.backward();
  EXPECT_EQ(x.grad().dtype(), bf16);
  Tensor plain = mseLoss(t, t);
  EXPECT_EQ(plain.item(), 0);
}

TEST_P(Losses, nameWhatDoesNotFit) {
  Tensor x = zeros({2}, f32, device);
  EXPECT_THAT(messageOf([&] { mseLoss(x, zeros({2, 1}, f32, device)); }),
              HasSubstr("mse_loss: argument 'target': expected the shape of x, "
                        "fp32[2], got fp32[2, 1]"));
  EXPECT_THAT(messageOf([&] { klDiv(zeros({2}, i32, device), x); }),
              HasSubstr("kl_div: argument 'x': expected a tensor of fp32"));
  EXPECT_THAT(messageOf([&] { huberLoss(x, x, Reduction::Mean, 0); }),
              HasSubstr("'delta': expected a number above 0, got 0"));
}
