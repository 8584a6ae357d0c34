//===- SamplingTest.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/sampling/Sampling.h"
#include "kernels/sampling/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Sampling);

// On a device nothing can throw; torch.multinomial refuses such rows.
TEST_P(Sampling, hasNoTokenOfRowsThatHaveNone) {
  const double inf = std::numeric_limits<double>::infinity();
  for (int64_t columns : {7, 5000}) {
    if (isSlow && columns > 1000) {
      continue;
    }
    Tensor x = full({4, columns}, -inf, f32, Device::cpu());
    x.select(0, 1).fill(1);
    x.slice(0, 1, 2).slice(1, columns - 2, columns - 1).fill(NAN);
    x.slice(0, 2, 3).slice(1, 3, 4).fill(-5);
    x.select(0, 3).fill(1);
    x.slice(0, 3, 4).slice(1, 5, 6).fill(inf);
    Tensor logits = x.to(device);
    for (SamplingOptions options :
         {SamplingOptions{}, SamplingOptions{.temperature = 0},
          SamplingOptions{.topK = 3}, SamplingOptions{.topP = 0.5}}) {
      std::vector<int> tokens = sample(logits, options).toVector<int>();
      EXPECT_EQ(tokens[0], -1);
      EXPECT_EQ(tokens[1], -1);
      EXPECT_EQ(tokens[2], 3);
      if (options.topP == 1) { // else infinity minus infinity has no weight
        EXPECT_EQ(tokens[3], 5);
      }
    }
  }
}

TEST_P(Sampling, takesTheTokenThatTheNumbersSay) {
  forCases([&] {
    int64_t columns = awkwardSize(isSlow ? 200 : 9000), rows = pick(1, 3);
    SamplingOptions options;
    options.temperature = oneOf({0.0, 0.5, 1.0, 2.0});
    options.topK = coin() ? pick(1, 40) : 0;
    options.topP = coin() ? oneOf({0.3, 0.9}) : 1;
    options.seed = pick(0, 1 << 30);
    options.offset = pick(0, 1000);
    Tensor logits = random({rows, columns}, floatType(), 3);
    Tensor tokens = sample(logits, options);
    EXPECT_EQ(sample(logits, options).toFloat64(), tokens.toFloat64());
    // Lane 0 of counter i is element 4i of Tensor's generator.
    Values numbers = rand({4 * (options.offset + rows * columns)}, f32,
                          Device::cpu(), uint64_t(options.seed))
                         .toFloat64();
    Values x = logits.toFloat64();
    double scale = options.temperature > 0 ? 1 / options.temperature : 1;
    for (double &v : x) {
      v *= scale;
    }
    for (int64_t r = 0; r < rows; ++r) {
      Values row(x.begin() + r * columns, x.begin() + (r + 1) * columns);
      bool draws = options.temperature > 0;
      // What is kept depends on two sums of exponentials, and each may be
      // off: a little more or less is kept.
      reference::BoundedSum sum;
      double most = *std::max_element(row.begin(), row.end());
      for (double v : row) {
        sum.add(reference::exp(Bound{v - most, 0}));
      }
      double slack = 2 * 2 * sum.total().error / sum.total().value;
      auto leastFor = [&](double p) {
        return draws ? reference::leastKept(row, size_t(options.topK), p)
                     : -INFINITY;
      };
      double top = options.topP;
      double least = leastFor(top < 1 ? top * (1 + slack) : 1),
             surely = leastFor(top < 1 ? top * (1 - slack) : 1);
      auto score = [&](int64_t c) -> Bound {
        size_t i = size_t(options.offset + r * columns + c);
        Bound x = {row[size_t(c)], 0};
        return draws ? x - log(-log(Bound{numbers[4 * i], 0})) : x;
      };
      double best = -INFINITY;
      for (int64_t c = 0; c < columns; ++c) {
        if (row[size_t(c)] >= surely) {
          Bound one = score(c);
          best = std::max(best, one.value - one.error);
        }
      }
      auto token = int64_t(tokens.at({r}));
      ASSERT_TRUE(token >= 0 && token < columns);
      EXPECT_GE(row[size_t(token)], least);
      Bound taken = score(token);
      EXPECT_GE(taken.value + taken.error, best);
    }
  });
}

TEST_P(Sampling, drawsAsSoftmaxDoes) {
  if (isSlow) {
    GTEST_SKIP() << "too long for this device";
  }
  constexpr int64_t rows = 20000;
  Tensor logits = Tensor::fromVector(std::vector<float>{0, 1, 2, -1})
                      .to(device)
                      .unsqueeze(0)
                      .expand({rows, 4});
  Values counts(4);
  for (double token : sample(logits, {.topK = 3, .seed = 9}).toFloat64()) {
    counts[size_t(token)] += 1.0 / rows;
  }
  double total = 1 + std::exp(1) + std::exp(2);
  for (size_t i = 0; i < 3; ++i) {
    double p = std::exp(double(i)) / total;
    EXPECT_NEAR(counts[i], p, 5 * std::sqrt(p * (1 - p) / rows)) << i;
  }
  EXPECT_EQ(counts[3], 0);
}

// What a replayed graph does: everything that changes lies on the device.
TEST_P(Sampling, goesOnFromItsState) {
  int64_t columns = isSlow ? 33 : 5000;
  constexpr int64_t rows = 3, ring = 2;
  Tensor logits = random({rows, columns}, f32);
  SamplingState state;
  auto numbers = [&](std::vector<int32_t> values) {
    return Tensor::fromVector(values).to(device);
  };
  state.tokens = numbers({0, 0, 0});
  state.positions = numbers({5, 6, 0});
  state.steps = numbers({0, 1, 7});
  state.history = zeros({ring, rows}, i32, device);
  SamplingOptions options;
  options.topK = 20;
  options.seed = 12;
  std::vector<Values> drawn;
  for (int64_t step = 0; step < 2; ++step) {
    Values expected;
    for (int64_t r : {0, 1, 2}) {
      options.offset = int64_t(state.steps.at({r})) << 40;
      expected.push_back(sample(logits, options).at({r}));
    }
    options.offset = 0;
    sampleNext(logits, state, options);
    EXPECT_EQ(state.tokens.toFloat64(), expected);
    drawn.push_back(expected);
  }
  EXPECT_EQ(state.positions.toFloat64(), (Values{7, 8, 2}));
  EXPECT_EQ(state.steps.toFloat64(), (Values{2, 3, 9}));
  EXPECT_EQ(state.history.toFloat64(),
            (Values{drawn[0][0], drawn[1][1], drawn[1][2], drawn[1][0],
                    drawn[0][1], drawn[0][2]}));
}

TEST_P(Sampling, saysWhatDoesNotFit) {
  auto errorOf = [](const std::function<void()> &call) {
    try {
      call();
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  Tensor x = zeros({2, 3}, f32, device);
  EXPECT_THAT(errorOf([&] { sample(x, {.temperature = -1}); }),
              HasSubstr("sampling: argument 'temperature': expected a number "
                        "that is not negative, got -1"));
  EXPECT_THAT(errorOf([&] { sample(x, {.topP = 0}); }),
              HasSubstr("'topP': expected a number in (0, 1], got 0"));
  EXPECT_THAT(errorOf([&] { sample(x.select(0, 0)); }),
              HasSubstr("expected 2 dimensions"));
  EXPECT_THAT(errorOf([&] { sample(zeros({2, 0}, f32, device)); }),
              HasSubstr("expected at least one column"));
  Tensor two = zeros({2}, i32, device), history = zeros({4, 2}, i32, device);
  EXPECT_THAT(
      errorOf(
          [&] { sampleNext(x, {two, zeros({3}, i32, device), two, history}); }),
      HasSubstr("'positions': expected shape [2] (the rows of logits)"));
  EXPECT_THAT(errorOf([&] {
                sampleNext(x, {two, two, zeros({2}, i64, device), history});
              }),
              HasSubstr("'steps': expected"));
  EXPECT_THAT(errorOf([&] {
                sampleNext(x, {two, two, two, zeros({0, 2}, i32, device)});
              }),
              HasSubstr("'history': expected at least one row, got 0"));
}
