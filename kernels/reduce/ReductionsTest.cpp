//===- ReductionsTest.cpp ---------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/reduce/Reductions.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/reduce/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

enum class Kind { Sum, Mean, Max, Min, Var };

/// A random reduction of a random shape.
struct Case {
  Kind kind = Kind::Sum;
  Shape shape, kept, result;
  std::vector<int> axes;
  bool keepDim = false;
  double correction = 1;
  int64_t length = 1;
};

class Reductions : public OperatorTest {
protected:
  Case randomCase();
  Numbers reference(const Case &c, const Numbers &x) const;
  template <typename T>
  T run(const Case &c, const T &x) const {
    switch (c.kind) {
    case Kind::Sum:
      return sum(x, c.axes, c.keepDim);
    case Kind::Mean:
      return mean(x, c.axes, c.keepDim);
    case Kind::Max:
      return max(x, c.axes, c.keepDim);
    case Kind::Min:
      return min(x, c.axes, c.keepDim);
    case Kind::Var:
      return var(x, c.axes, c.keepDim, c.correction);
    }
    __builtin_unreachable();
  }
};

} // namespace

NEREID_ON_EVERY_DEVICE(Reductions);

Case Reductions::randomCase() {
  Case c;
  c.kind = oneOf({Kind::Sum, Kind::Mean, Kind::Max, Kind::Min, Kind::Var});
  int64_t left = isSlow ? 300 : 20000;
  int rank = int(pick(1, 4));
  for (int i = 0; i < rank; ++i) {
    c.shape.push_back(awkwardSize(std::min<int64_t>(left, 10000)));
    left = std::max<int64_t>(left / c.shape.back(), 1);
  }
  for (int i = 0; i < rank; ++i) {
    bool reduced = coin();
    if (reduced) {
      c.axes.push_back(coin() ? i : i - rank);
    }
    c.kept.push_back(reduced ? 1 : c.shape[size_t(i)]);
  }
  if (c.axes.empty()) { // all
    c.kept.assign(size_t(rank), 1);
  }
  c.keepDim = coin();
  c.correction = double(pick(0, 2)) / 2;
  for (size_t i = 0; i < c.shape.size(); ++i) {
    bool reduced = c.axes.empty();
    for (int axis : c.axes) {
      reduced |= size_t(axis < 0 ? axis + rank : axis) == i;
    }
    c.length *= reduced ? c.shape[i] : 1;
    if (!reduced || c.keepDim) {
      c.result.push_back(reduced ? 1 : c.shape[i]);
    }
  }
  // The variance of one is NaN.
  if (c.kind == Kind::Var && c.length < 2) {
    c.kind = Kind::Mean;
  }
  return c;
}

Numbers Reductions::reference(const Case &c, const Numbers &x) const {
  size_t count = x.size() / size_t(c.length);
  std::vector<Numbers> groups(count);
  for (size_t i = 0; i < x.size(); ++i) {
    groups[reference::broadcastIndex(i, c.shape, c.kept)].push_back(x[i]);
  }
  Numbers results;
  auto total = [](const Numbers &group) {
    reference::Sum sum;
    for (const Number &one : group) {
      sum.add(one);
    }
    return sum.total();
  };
  for (const Numbers &group : groups) {
    Number n = double(group.size());
    switch (c.kind) {
    case Kind::Sum:
      results.push_back(total(group));
      break;
    case Kind::Mean:
      results.push_back(total(group) / n);
      break;
    case Kind::Max:
    case Kind::Min: {
      auto less = [](const Number &a, const Number &b) {
        return a.value < b.value;
      };
      results.push_back(
          c.kind == Kind::Max
              ? *std::max_element(group.begin(), group.end(), less)
              : *std::min_element(group.begin(), group.end(), less));
      break;
    }
    case Kind::Var: {
      Number mean = total(group) / n;
      reference::Sum squares;
      for (const Number &one : group) {
        squares.addProduct(one - mean, one - mean);
      }
      results.push_back(squares.total() /
                        Number(double(group.size()) - c.correction));
      break;
    }
    }
  }
  return results;
}

TEST_P(Reductions, agreeWithDoublePrecision) {
  forCases([&] {
    Case c = randomCase();
    Tensor x = random(c.shape, floatType());
    Tensor y = run(c, x);
    EXPECT_EQ(y.shape(), c.result);
    EXPECT_EQ(y.dtype(), x.dtype());
    expectClose(y, reference(c, exactly(x)), "result");
    EXPECT_EQ(run(c, x).toFloat64(), y.toFloat64()) << "other bits";
  });
}

TEST_P(Reductions, gradientsAgreeWithDerivatives) {
  forCases([&] {
    Case c = randomCase();
    Variable x(random(c.shape, f32), true);
    checkGradients(run(c, x), {x}, [&](const std::vector<Numbers> &at) {
      return reference(c, at[0]);
    });
  });
}

TEST_P(Reductions, gradientsOfHalvesHaveTheirType) {
  Variable x(random({4, 6}, bf16), true);
  Variable total = sum(x, 1) + mean(x, 1) + max(x, 1) + var(x, 1);
  total.backward(full({4}, 1, bf16, device));
  EXPECT_EQ(x.grad().dtype(), bf16);
  EXPECT_EQ(x.grad().shape(), (Shape{4, 6}));
}

TEST_P(Reductions, takeAllDimensionsWhereNoneIsNamed) {
  Tensor x = arange({2, 3}, f32, device);
  EXPECT_EQ(sum(x).shape(), Shape());
  EXPECT_EQ(sum(x).item(), 15);
  EXPECT_EQ(mean(x, {}, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(mean(x).item(), 2.5);
  EXPECT_EQ(max(x, std::nullopt).item(), 5);
  EXPECT_EQ(var(x).item(), 3.5);
  EXPECT_NEAR(stddev(x).item(), std::sqrt(3.5), 1e-6);
  EXPECT_EQ(sum(full({}, 3, f32, device), 0).item(), 3);
}

TEST_P(Reductions, sumsOfIntegersAreExact) {
  int64_t large = (int64_t{1} << 53) + 1;
  Tensor x =
      Tensor::fromVector(std::vector<int64_t>{large, 2, -4, large}, {}, device)
          .view({2, 2});
  EXPECT_THAT(sum(x, 1).toVector<int64_t>(), ElementsAre(large + 2, large - 4));
  EXPECT_EQ(sum(x).item<int64_t>(), 2 * large - 2);
  Tensor bytes = full({3, 100}, 200, u8, device);
  EXPECT_EQ(sum(bytes, 0).dtype(), i64);
  EXPECT_EQ(sum(bytes).item(), 60000);
  EXPECT_EQ(sum(full({40}, 1, i1, device)).item(), 40);
  EXPECT_EQ(mean(bytes).dtype(), f32);
  EXPECT_EQ(mean(bytes).item(), 200);
}

TEST_P(Reductions, extremesOfIntegersAreExact) {
  std::vector<uint64_t> values = {3, UINT64_MAX, UINT64_MAX - 1, 7};
  Tensor x = Tensor::fromVector(values, {}, device);
  if (hasCompiler()) {
    EXPECT_EQ(max(x).toVector<uint64_t>()[0], UINT64_MAX);
    EXPECT_EQ(min(x).toVector<uint64_t>()[0], 3u);
    EXPECT_EQ(argmax(x).item(), 1);
  } else {
    EXPECT_THAT(messageOf([&] { max(x); }),
                HasSubstr("max: argument 'x': expected a tensor of neither "
                          "fp64 nor u64 in a program without a compiler, got "
                          "u64[4]"));
  }
  Tensor least = full({5}, double(INT64_MIN), i64, device);
  EXPECT_EQ(max(least).item<int64_t>(), INT64_MIN);
  EXPECT_EQ(argmin(least).item(), 0);
}

TEST_P(Reductions, doublesAreTakenInDoubles) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "fp64 needs a compiler";
  }
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i) {
    values.push_back(1 + std::ldexp(double(pick(-1000, 1000)), -40));
  }
  Tensor x = Tensor::fromVector(values, {{30, 100}}, device);
  double total = 0, squares = 0, most = 0;
  for (double value : values) {
    total += value;
    most = std::max(most, value);
  }
  for (double value : values) {
    squares += (value - total / 3000) * (value - total / 3000);
  }
  EXPECT_NEAR(sum(x).item(), total, 1e-10);
  EXPECT_NEAR(mean(x).item(), total / 3000, 1e-13);
  EXPECT_NEAR(var(x).item(), squares / 2999, 1e-9 * squares / 2999);
  EXPECT_EQ(max(x).item(), most);
  EXPECT_EQ(sum(x, 0).dtype(), f64);
  Variable v(x, true);
  mean(v).backward(full({}, 1 + 0x1p-50, f64, device));
  EXPECT_EQ(v.grad().toFloat64()[7], (1 + 0x1p-50) / 3000);
}

TEST_P(Reductions, placesAreThoseOfTheFirst) {
  std::vector<float> values = {1, 5, 5, 2, -3, -3};
  Tensor x = Tensor::fromVector(values, {{2, 3}}, device);
  EXPECT_EQ(argmax(x).item(), 1);
  EXPECT_EQ(argmin(x).item(), 4);
  EXPECT_THAT(argmax(x, 1).toVector<int64_t>(), ElementsAre(1, 0));
  EXPECT_THAT(argmin(x, -2).toVector<int64_t>(), ElementsAre(0, 1, 1));
  EXPECT_EQ(argmax(x, 0, true).shape(), (Shape{1, 3}));
  EXPECT_EQ(argmax(Variable(x), 1).dtype(), i64);
  // Equal ones in several programs' parts.
  Tensor same = full({isSlow ? 100 : 50000}, 2, f32, device);
  EXPECT_EQ(argmax(same).item(), 0);
}

TEST_P(Reductions, nanIsTheExtreme) {
  float nan = NAN;
  std::vector<float> values = {1, nan, 3, nan, 5, INFINITY, 2, -INFINITY};
  Tensor x = Tensor::fromVector(values, {{2, 4}}, device);
  for (const Tensor &y : {max(x, 1), min(x, 1)}) {
    EXPECT_TRUE(std::isnan(y.toFloat64()[0]));
  }
  EXPECT_EQ(max(x, 1).toFloat64()[1], INFINITY);
  EXPECT_EQ(min(x, 1).toFloat64()[1], -INFINITY);
  EXPECT_THAT(argmax(x, 1).toVector<int64_t>(), ElementsAre(1, 1));
  EXPECT_THAT(argmin(x, 1).toVector<int64_t>(), ElementsAre(1, 3));
  EXPECT_TRUE(std::isnan(sum(x).item()));
}

// As torch.amax.
TEST_P(Reductions, equalExtremesShareTheGradient) {
  std::vector<float> values = {1, 4, 4, 4, 2, 9, 0, 3};
  Variable x(Tensor::fromVector(values, {{2, 4}}, device), true);
  max(x, 1).backward(full({2}, 6, f32, device));
  EXPECT_THAT(x.grad().toFloat64(), ElementsAre(0, 2, 2, 2, 0, 6, 0, 0));
}

TEST_P(Reductions, ofNothing) {
  Variable x(empty({0, 3}, f32, device), true);
  EXPECT_EQ(sum(x, 0).value().toFloat64(), Values(3, 0.0));
  EXPECT_TRUE(std::isnan(mean(x).item()));
  EXPECT_TRUE(std::isnan(var(x, 0).value().toFloat64()[2]));
  EXPECT_EQ(max(x, 1).shape(), Shape{0});
  EXPECT_EQ(argmax(x, 1).shape(), Shape{0});
  sum(x).backward();
  EXPECT_EQ(x.grad().shape(), (Shape{0, 3}));
  EXPECT_TRUE(std::isnan(var(full({1}, 2, f32, device)).item()));
}

TEST_P(Reductions, logSumExpDoesNotOverflow) {
  Tensor x = Tensor::fromVector(
      std::vector<float>{1000, 1000, -INFINITY, -INFINITY, 3, INFINITY},
      {{3, 2}}, device);
  Values y = logSumExp(x, 1).toFloat64();
  EXPECT_NEAR(y[0], 1000 + std::log(2), 1e-4);
  EXPECT_EQ(y[1], -INFINITY);
  EXPECT_EQ(y[2], INFINITY);
  Variable v(random({5}, f32), true);
  logSumExp(v).backward();
  double total = 0;
  for (double share : v.grad().toFloat64()) {
    total += share;
  }
  EXPECT_NEAR(total, 1, 1e-6);
}

TEST_P(Reductions, logSumExpOfHalvesHasALargerSum) {
  int64_t count = isSlow ? 66000 : 70000;
  Variable x(zeros({count}, f16, device), true);
  Variable y = logSumExp(x);
  EXPECT_EQ(y.dtype(), f16);
  EXPECT_NEAR(y.value().item(), std::log(double(count)), 0x1p-8);
  y.backward(full({}, 1024, f16, device));
  EXPECT_NEAR(x.grad().toFloat64()[5], 1024.0 / double(count), 1e-4);
}

TEST_P(Reductions, anyAndAll) {
  Tensor x =
      Tensor::fromVector(std::vector<float>{0, 2, 0, 0}, {{2, 2}}, device);
  EXPECT_THAT(any(x, 1).toFloat64(), ElementsAre(1, 0));
  EXPECT_THAT(all(x == 0, 1).toFloat64(), ElementsAre(0, 1));
  Tensor none = empty({2, 0}, f32, device);
  EXPECT_EQ(any(none).item(), 0);
  EXPECT_EQ(all(none).item(), 1);
  EXPECT_THAT(any(none, 1).toFloat64(), ElementsAre(0, 0));
  EXPECT_THAT(all(none, 1).toFloat64(), ElementsAre(1, 1));
  EXPECT_EQ(all(none, 0, true).shape(), (Shape{1, 0}));
}

TEST_P(Reductions, anExpressionIsReduced) {
  Variable x(random({4, 5}, f32), true), y(random({4, 5}, f32));
  auto loss = mean(square(x - y));
  loss.backward();
  Values a = x.value().toFloat64(), b = y.value().toFloat64(),
         g = x.grad().toFloat64();
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(g[i], (a[i] - b[i]) / 10, 1e-6);
  }
  Tensor plain = sum(x.value() * 2);
  EXPECT_EQ(plain.rank(), 0);
}

TEST_P(Reductions, nameWhatDoesNotFit) {
  Tensor x = random({2, 3}, f32);
  EXPECT_THAT(messageOf([&] { sum(x, 2); }),
              HasSubstr("sum: argument 'axis': expected a dimension from -2 to "
                        "1, of fp32[2, 3"));
  EXPECT_THAT(messageOf([&] { max(x, {0, -2}); }),
              HasSubstr("max: argument 'axes': expected each dimension once, "
                        "got -2 twice"));
  EXPECT_THAT(messageOf([&] { argmin(x, {0, 1}); }),
              HasSubstr("argmin: argument 'axis': expected one axis, or none "
                        "for all elements, got 2 axes"));
  EXPECT_THAT(messageOf([&] { argmax(x, (int64_t{1} << 32) + 1); }),
              HasSubstr("argmax: argument 'axis': expected a dimension from -2 "
                        "to 1, of fp32[2, 3"));
  EXPECT_THAT(messageOf([&] { mean(Tensor()); }),
              HasSubstr("mean: argument 'x': expected a tensor, got an "
                        "undefined tensor"));
  EXPECT_THAT(messageOf([&] { max(empty({3, 0}, f32, device), 1); }),
              HasSubstr("max: argument 'x': expected elements along the "
                        "dimensions that are reduced, got fp32[3, 0]"));
  EXPECT_THAT(messageOf([&] { var(full({2}, 1, i1, device)); }),
              HasSubstr("var: argument 'x': expected a tensor of numbers"));
  EXPECT_THAT(messageOf([&] { sum(Variable()); }),
              HasSubstr("expected a tensor, got an undefined tensor"));
  EXPECT_THAT(messageOf([&] { sum(x, int64_t{1} << 32); }),
              HasSubstr("got 4294967296"));
}

TEST_P(Reductions, ofDoublesAreThoseOfAllTypes) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "fp64 needs a compiler";
  }
  Tensor x =
      Tensor::fromVector(Values{0, 0, 3, 1e-300}, Shape{2, 2}).to(device);
  EXPECT_EQ(any(x, 1).toFloat64(), (Values{0, 1}));
  EXPECT_EQ(all(x, 1).toFloat64(), (Values{0, 1}));
  EXPECT_DOUBLE_EQ(stddev(x, 1, false, 0).value().toFloat64()[1], 1.5);
  EXPECT_DOUBLE_EQ(var(x, 1, false, 0.5).toFloat64()[1], 3);
  EXPECT_DOUBLE_EQ(logSumExp(x, 1).toFloat64()[0], std::log(2));
}

TEST_P(Reductions, correctionsAreFinite) {
  Tensor x = zeros({2, 3}, f32, device);
  for (double correction : {double(NAN), double(INFINITY), -1e300}) {
    EXPECT_THAT(messageOf([&] { var(x, {}, false, correction); }),
                HasSubstr("var: argument 'correction': expected a finite "
                          "number, below 2^53 in size, got "));
  }
}

TEST_P(Reductions, noticeWritesToWhatTheySaved) {
  auto isNoticed = [&](auto apply) {
    Variable x(random({4}, f32), true);
    Variable y = apply(x);
    x.value().fill(1);
    return messageOf([&] { y.backward(); }).find("which it saved, as it was") !=
           std::string::npos;
  };
  EXPECT_TRUE(isNoticed([](const Variable &x) { return max(x); }));
  EXPECT_TRUE(isNoticed([](const Variable &x) { return min(x); }));
  EXPECT_TRUE(isNoticed([](const Variable &x) { return var(x); }));
}
