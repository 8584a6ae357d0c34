//===- GroupNormTest.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/group_norm/GroupNorm.h"
#include "kernels/group_norm/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(GroupNorm);

static constexpr double eps = 1e-5;

namespace {

struct GroupNormCase {
  int64_t groups = 1, channels = 1, height = 1, width = 1;
  Tensor x;
  Numbers operator()(const Numbers &x, const Numbers &w,
                     const Numbers &b) const {
    return reference::groupNorm(x, w, b, size_t(channels),
                                size_t(height * width), size_t(groups), eps);
  }
};

} // namespace

/// [samples, channels, height, width], in both memory orders and any other.
static GroupNormCase
randomCase(const std::function<int64_t(int64_t, int64_t)> &pick,
           const std::function<Tensor(const Shape &)> &random, bool isSlow) {
  GroupNormCase c;
  c.groups = pick(1, 4);
  c.channels = c.groups * pick(1, isSlow ? 3 : 40);
  c.height = pick(1, isSlow ? 8 : 40);
  c.width = pick(1, isSlow ? 8 : 40);
  int64_t samples = pick(1, 3);
  if (pick(0, 1)) {
    c.x = random({samples, c.channels, c.height, c.width});
  } else {
    c.x = random({samples, c.height, c.width, c.channels})
              .contiguous()
              .permute({0, 3, 1, 2});
  }
  return c;
}

TEST_P(GroupNorm, agreesWithDoublePrecision) {
  forCases([&] {
    DType dtype = floatType();
    GroupNormCase c = randomCase(
        [&](int64_t a, int64_t b) { return pick(a, b); },
        [&](const Shape &shape) { return random(shape, dtype); }, isSlow);
    Tensor w, b;
    if (coin()) {
      w = random({c.channels}, dtype);
    }
    if (coin()) {
      b = random({c.channels}, f32);
    }
    Tensor y = groupNorm(c.x, c.groups, w, b, eps);
    EXPECT_EQ(y.shape(), c.x.shape());
    expectClose(y, c(exactly(c.x), exactly(w), exactly(b)), "y");
    EXPECT_EQ(groupNorm(c.x, c.groups, w, b, eps).toFloat64(), y.toFloat64())
        << "other bits";
  });
}

TEST_P(GroupNorm, gradientsAgreeWithDerivatives) {
  forCases([&] {
    DType dtype = floatType();
    GroupNormCase c = randomCase(
        [&](int64_t a, int64_t b) { return pick(a, b); },
        [&](const Shape &shape) { return random(shape, dtype); }, isSlow);
    Variable x(c.x, true), w(random({c.channels}, dtype), coin()),
        b(random({c.channels}, dtype), coin());
    checkGradients(
        groupNorm(x, c.groups, w, b, eps), {x, w, b},
        [&](const std::vector<Numbers> &at) { return c(at[0], at[1], at[2]); });
  });
}

/// More than two tiles in a group: programs of a GPU share its lines, too.
TEST_P(GroupNorm, linesOfAGroupAreSharedByPrograms) {
  GroupNormCase c{.groups = 2, .channels = 6, .height = 40, .width = 70};
  c.x = random({1, c.height, c.width, c.channels}, f32).permute({0, 3, 1, 2});
  Variable x(c.x, true), w(random({c.channels}, f32), true),
      b(random({c.channels}, f32), true);
  expectClose(groupNorm(c.x, c.groups, w.value(), b.value(), eps),
              c(exactly(c.x), exactly(w.value()), exactly(b.value())), "y");
  checkGradients(
      groupNorm(x, c.groups, w, b, eps), {x, w, b},
      [&](const std::vector<Numbers> &at) { return c(at[0], at[1], at[2]); });
}

TEST_P(GroupNorm, keepsTheMemoryOrder) {
  Tensor last = random({2, 4, 5, 6}, f32).contiguous().permute({0, 3, 1, 2});
  EXPECT_EQ(groupNorm(last, 3).strides(), last.strides());
  EXPECT_TRUE(groupNorm(last.contiguous(), 3).isContiguous());
}

// Of the dimensions of a GPU's grid only the first has more than 65,535.
TEST_P(GroupNorm, takesMoreSamplesThanAGridIsHigh) {
  if (isSlow) {
    GTEST_SKIP() << "70,000 samples take too long here";
  }
  Tensor x = zeros({70000, 2, 2}, f32, device);
  x.slice(2, 1, 2).fill(1);
  Tensor y = groupNorm(x, 2, {}, {}, 0).slice(0, 69999, 70000);
  EXPECT_EQ(y.toVector<float>(), (std::vector<float>{-1, 1, -1, 1}));
}

TEST_P(GroupNorm, takesNoElements) {
  Variable x(empty({0, 4, 3}, f32, device), true), w(random({4}, f32), true);
  groupNorm(x, 2, w, {}).backward(empty({0, 4, 3}, f32, device));
  EXPECT_EQ(w.grad().toFloat64(), Values(4, 0.0));
}

TEST_P(GroupNorm, namesTheArgumentThatDoesNotFit) {
  auto messageOf = [&](int64_t groups, const Tensor &weight) {
    try {
      groupNorm(random({2, 6, 5}, f32), groups, weight);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(messageOf(4, {}),
              HasSubstr("group_norm: argument 'groups': expected a divisor of "
                        "the channels, 6, got 4"));
  EXPECT_THAT(messageOf(3, zeros({5}, f32, device)),
              HasSubstr("group_norm: argument 'weight': expected shape [6] "
                        "(the channels of x), got fp32[5]"));
}
