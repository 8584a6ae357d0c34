//===- RotaryTest.cpp -------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/rotary/Rotary.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/rotary/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Rotary);

TEST_P(Rotary, agreesWithDoublePrecision) {
  forCases([&] {
    int64_t half = awkwardSize(isSlow ? 16 : 129), heads = pick(1, 9),
            positions = pick(1, isSlow ? 4 : 20), batches = pick(1, 3),
            rest = coin() ? 0 : awkwardSize(isSlow ? 16 : 129);
    bool interleaved = coin();
    auto [cos, sin] = rotaryAngles(positions, 2 * half, device, 1000, 5);
    Variable x(
        random({batches, positions, heads, 2 * half + rest}, floatType()),
        true);
    auto expected = [&](const std::vector<Numbers> &at) {
      return reference::rotary(at[0], exactly(cos), exactly(sin),
                               size_t(positions), size_t(heads), size_t(half),
                               interleaved, size_t(rest));
    };
    Variable y = rotary(x, cos, sin, interleaved);
    expectClose(y.value(), expected({exactly(x.value())}), "y");
    checkGradients(y, {x}, expected);
  });
}

TEST_P(Rotary, isUndoneByItsInverse) {
  Tensor x = random({7, 2, 8}, f32);
  auto [cos, sin] = rotaryAngles(7, 8, device);
  Numbers angles = exactly(cos), heights = exactly(sin), back = heights;
  for (Number &height : back) {
    height = -height;
  }
  // cos^2 + sin^2 of the table's rounded angles is not quite 1: the reference
  // turns by the same table.
  expectClose(rotaryInverse(rotary(x, cos, sin), cos, sin),
              reference::rotary(reference::rotary(exactly(x), angles, heights,
                                                  7, 2, 4, false),
                                angles, back, 7, 2, 4, false),
              "x");
  EXPECT_EQ(cos.at({0, 3}), 1);
  EXPECT_EQ(rotary(empty({0, 2, 8}, f32, device), cos.slice(0, 0, 0),
                   sin.slice(0, 0, 0))
                .shape(),
            (Shape{0, 2, 8}));
}

TEST_P(Rotary, namesWhatDoesNotFit) {
  auto errorOf = [](const std::function<void()> &call) {
    try {
      call();
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  auto [cos, sin] = rotaryAngles(7, 8, device);
  Tensor x = zeros({6, 2, 8}, f32, device), odd = zeros({7, 2, 7}, f32, device);
  EXPECT_THAT(errorOf([&] { rotary(x, cos, sin); }),
              HasSubstr("rotary: argument 'cos': expected shape [6, any] "
                        "(positions of x, and pairs that turn), got "
                        "fp32[7, 4]"));
  EXPECT_THAT(errorOf([&] { rotary(odd, cos, sin); }),
              HasSubstr("'cos': expected from 1 to 3 columns, half the head "
                        "of x, got 4"));
  EXPECT_THAT(errorOf([&] {
                rotary(zeros({7, 2, 8}, f32, device), cos, sin.slice(1, 0, 2));
              }),
              HasSubstr("'sin': expected shape [7, 4] (that of cos)"));
  EXPECT_THAT(errorOf([&] { rotaryAngles(4, 7, device); }),
              HasSubstr("'headSize': expected a positive even number, got 7"));
}
