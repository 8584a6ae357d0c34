//===- PatchesTest.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/patches/Patches.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Patches);

/// `use(place in x, place in y)` for each element of a patch that the image
/// has.
static void forEachElement(const Shape &x, const Patch &p,
                           const std::function<void(size_t, size_t)> &use) {
  size_t at = 0;
  for (int64_t b = 0; b < x[0]; ++b) {
    for (int64_t row = -p.padDown; row + p.height <= x[2] + p.padDown;
         row += p.stepDown) {
      for (int64_t col = -p.padAcross; col + p.width <= x[3] + p.padAcross;
           col += p.stepAcross) {
        for (int64_t i = 0; i < x[1] * p.height * p.width; ++i, ++at) {
          int64_t c = i / p.width / p.height, r = row + i / p.width % p.height,
                  k = col + i % p.width;
          if (r >= 0 && r < x[2] && k >= 0 && k < x[3]) {
            use(size_t(((b * x[1] + c) * x[2] + r) * x[3] + k), at);
          }
        }
      }
    }
  }
}

TEST_P(Patches, areRowsAndSumsOfRows) {
  forCases(
      [&] {
        Patch p = {pick(1, 4), pick(1, 4), pick(1, 4),
                   pick(1, 4), pick(0, 2), pick(0, 2)};
        Shape shape = {pick(1, 2), pick(1, 3), pick(p.height, isSlow ? 6 : 33),
                       pick(p.width, isSlow ? 6 : 33)};
        Variable x(random(shape, floatType()), true);
        Variable y = unfold(x, p);
        auto rows = [&](const std::vector<Numbers> &at) {
          Numbers values(size_t(y.numel()));
          forEachElement(shape, p, [&](size_t from, size_t to) {
            values[to] = at[0][from];
          });
          return values;
        };
        expectClose(y.value(), rows({exactly(x.value())}), "y");
        checkGradients(y, {x}, rows);
        Variable z(random(y.shape(), x.dtype()), true);
        auto sums = [&](const std::vector<Numbers> &at) {
          std::vector<reference::Sum> all(size_t(x.numel()));
          forEachElement(shape, p, [&](size_t to, size_t from) {
            all[to].add(at[0][from]);
          });
          Numbers values;
          for (const reference::Sum &sum : all) {
            values.push_back(sum.total());
          }
          return values;
        };
        Variable image = fold(z, shape[2], shape[3], p);
        EXPECT_EQ(image.shape(), shape);
        expectClose(image.value(), sums({exactly(z.value())}), "image");
        checkGradients(image, {z}, sums);
      },
      2);
}

TEST_P(Patches, thatDoNotOverlapArePutBack) {
  Tensor x = random({2, 3, 8, 12}, f32);
  Patch p = {4, 6, 4, 6};
  EXPECT_EQ(fold(unfold(x, p), 8, 12, p).toFloat64(), x.toFloat64());
  EXPECT_EQ(unfold(empty({0, 3, 8, 12}, f32, device), p).shape(),
            (Shape{0, 4, 72}));
}

TEST_P(Patches, namesTheArgumentThatDoesNotFit) {
  auto messageOf = [](auto call) {
    try {
      call();
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  Tensor x = zeros({1, 2, 5, 6}, f32, device);
  EXPECT_THAT(messageOf([&] { unfold(x.select(0, 0), {2, 2}); }),
              HasSubstr("unfold: argument 'x': expected 4 dimensions"));
  EXPECT_THAT(messageOf([&] { unfold(x, {6, 2}); }),
              HasSubstr("'patch': expected one that fits the image with its "
                        "padding, 5 x 6, got 6 x 2"));
  EXPECT_THAT(messageOf([&] { unfold(x, {2, 0}); }),
              HasSubstr("'patch.width': expected a number from 1 to 256, got "
                        "0"));
  EXPECT_THAT(messageOf([&] { unfold(x, {2, 2, 0}); }),
              HasSubstr("'patch.stepDown': expected a number from 1 to"));
  EXPECT_THAT(messageOf([&] { unfold(x, {2, 2, 1, 1, -1}); }),
              HasSubstr("'patch.padDown': expected a number from 0 to"));
  EXPECT_THAT(
      messageOf([&] { fold(zeros({1, 20, 9}, f32, device), 5, 6, {2, 2}); }),
      HasSubstr("fold: argument 'y': expected 20 patches of a multiple "
                "of 4 elements, got fp32[1, 20, 9]"));
}
