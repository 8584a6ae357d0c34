//===- OutliersTest.cpp ---------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/gradients/Outliers.h"
#include "kernels/adamw/AdamW.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <cmath>
#include <gmock/gmock.h>
#include <vector>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Outliers);

/// What llm.c's detector says of each number, in its own way: sums that go on.
/// NaN for the first ones.
static std::vector<double> scoresOf(const std::vector<double> &numbers) {
  constexpr size_t window = 128;
  std::vector<double> buffer, scores;
  double sum = 0, squares = 0;
  size_t next = 0;
  for (double x : numbers) {
    sum += x;
    squares += x * x;
    if (buffer.size() < window) {
      buffer.push_back(x);
      scores.push_back(NAN);
      continue;
    }
    sum -= buffer[next];
    squares -= buffer[next] * buffer[next];
    buffer[next] = x;
    next = (next + 1) % window;
    double mean = sum / double(window);
    double deviation = std::sqrt(squares / double(window) - mean * mean);
    scores.push_back(deviation == 0 ? 0 : (x - mean) / deviation);
  }
  return scores;
}

static std::vector<double> someNumbers(size_t count) {
  Tensor drawn = randn({int64_t(count)}, f32, Device::cpu(), 3);
  std::vector<double> numbers;
  for (double one : drawn.toFloat64()) {
    numbers.push_back(double(float(2 + 0.25 * one)));
  }
  // Outliers, the last one below the mean.
  for (auto [at, number] :
       {std::pair(150, 4.0), std::pair(200, 3.5), std::pair(300, 0.0)}) {
    if (size_t(at) < count) {
      numbers[size_t(at)] = number;
    }
  }
  return numbers;
}

TEST_P(Outliers, areThoseOfTheFormula) {
  std::vector<double> numbers = someNumbers(320), expected = scoresOf(numbers);
  OutlierFilter filter(3.5, device);
  Tensor factor = full({1}, 0.5, f32, device);
  int64_t skipped = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    double got =
        filter.filter(full({1}, numbers[i], f32, device), factor).item();
    bool isOutlier = expected[i] > 3.5;
    skipped += isOutlier ? 1 : 0;
    ASSERT_EQ(std::isnan(got), isOutlier) << "number " << i;
    ASSERT_TRUE(isOutlier || got == 0.5);
    // The sums that go on lose digits, not these.
    ASSERT_NEAR(filter.score(), std::isnan(expected[i]) ? 0 : expected[i],
                1e-9);
  }
  EXPECT_EQ(filter.skipped(), skipped);
  EXPECT_GE(skipped, 2);
}

TEST_P(Outliers, aValueThatIsNotFiniteIsLeftOutAndForgotten) {
  std::vector<double> numbers = someNumbers(180);
  OutlierFilter with(3, device), without(3, device);
  Tensor factor = full({1}, 1, f32, device);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i % 7 == 0) {
      Tensor bad = full({}, i % 2 ? NAN : INFINITY, f32, device);
      EXPECT_TRUE(std::isnan(with.filter(bad, factor).item()));
    }
    Tensor value = full({1}, numbers[i], f32, device);
    with.filter(value, factor);
    without.filter(value, factor);
    ASSERT_EQ(with.score(), without.score());
  }
  EXPECT_EQ(with.skipped(), without.skipped() + 26);
}

TEST_P(Outliers, equalNumbersHaveNone) {
  OutlierFilter filter(0.1, device);
  Tensor value = full({1}, 3, f32, device), factor = full({1}, 1, f32, device);
  for (int i = 0; i < 140; ++i) {
    ASSERT_EQ(filter.filter(value, factor).item(), 1);
  }
  EXPECT_EQ(filter.skipped(), 0);
}

TEST_P(Outliers, aStepThatIsLeftOutChangesNothing) {
  Variable w(full({3}, 1, f32, device), true);
  w.setGrad(full({3}, 1, f32, device));
  AdamW optimizer(std::vector{w});
  OutlierFilter filter(1, device);
  optimizer.step(
      filter.filter(full({1}, NAN, f32, device), full({1}, 1, f32, device)));
  EXPECT_EQ(w.value().toFloat64(), Values(3, 1.0));
}

TEST_P(Outliers, itsStateIsKeptAndLoaded) {
  std::vector<double> numbers = someNumbers(170);
  OutlierFilter whole(3, device), first(3, device), second(3, device);
  Tensor factor = full({1}, 1, f32, device);
  for (size_t i = 0; i < numbers.size(); ++i) {
    Tensor value = full({1}, numbers[i], f32, device);
    Tensor expected = whole.filter(value, factor);
    if (i == 140) {
      second.loadStateDict(first.stateDict());
    }
    OutlierFilter &now = i < 140 ? first : second;
    Tensor got = now.filter(value, factor);
    ASSERT_EQ(std::isnan(got.item()), std::isnan(expected.item()));
    ASSERT_EQ(now.score(), whole.score());
  }
  EXPECT_EQ(second.skipped(), whole.skipped());
}

static std::string errorOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

TEST_P(Outliers, sayWhatDoesNotFit) {
  EXPECT_THAT(errorOf([&] { OutlierFilter(0, device); }),
              HasSubstr("outliers: argument 'most': expected a positive "
                        "number, got 0"));
  OutlierFilter filter(1, device);
  Tensor one = full({1}, 1, f32, device);
  EXPECT_THAT(errorOf([&] { filter.filter(full({2}, 1, f32, device), one); }),
              HasSubstr("'value': expected one number, got 2"));
  EXPECT_THAT(errorOf([&] { filter.filter(one, full({2}, 1, f32, device)); }),
              HasSubstr("'factor'"));
  EXPECT_THAT(errorOf([&] { filter.loadStateDict({}); }),
              HasSubstr("missing: 'counts', 'values'"));
  auto state = filter.stateDict();
  state["values"] = full({128}, NAN, f64, device);
  EXPECT_THAT(errorOf([&] { filter.loadStateDict(state); }),
              HasSubstr("'values': expected finite numbers, got nan"));
  state = filter.stateDict();
  state["counts"] = full({2}, -1, i64, device);
  EXPECT_THAT(errorOf([&] { filter.loadStateDict(state); }),
              HasSubstr("'counts': expected numbers from 0 on, got -1"));
}
