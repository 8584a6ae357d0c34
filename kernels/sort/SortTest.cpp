//===- SortTest.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/sort/Sort.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Sort);

/// The places of a line in order; equal ones keep theirs.
static std::vector<int64_t> placesOf(const Values &line, bool descending) {
  std::vector<int64_t> places(line.size());
  std::iota(places.begin(), places.end(), 0);
  auto isLess = [](double a, double b) {
    return std::isnan(b) ? !std::isnan(a) : a < b;
  };
  std::ranges::sort(places, [&](int64_t i, int64_t j) {
    double a = line[size_t(i)], b = line[size_t(j)];
    bool isBefore = descending ? isLess(b, a) : isLess(a, b);
    bool isBehind = descending ? isLess(a, b) : isLess(b, a);
    return isBefore || (!isBehind && i < j);
  });
  return places;
}

TEST_P(Sort, agreesWithAStableSort) {
  forCases([&] {
    Shape shape = {pick(1, 3), awkwardSize(isSlow ? 60 : 1100), pick(1, 3)};
    if (!isSlow && pick(0, 3) == 0) {
      shape = {1, pick(2000, 5000), 1};
    }
    int axis = int(pick(0, 2));
    bool descending = coin();
    Tensor x = random(shape, oneOf({f32, bf16, f16}));
    if (coin()) { // many equal ones, of another type
      x = laidOut((random(shape, f32, 3).to(Device::cpu()).contiguous())
                      .to(i32)
                      .to(hasCompiler() ? oneOf({i32, i8, i64, f64, i16, bf16})
                                        : oneOf({i32, i8, i16, bf16})));
    }
    auto [values, places] = sort(x, axis - 3, descending);
    ASSERT_EQ(values.shape(), shape);
    ASSERT_EQ(values.dtype(), x.dtype());
    ASSERT_EQ(places.dtype(), i64);
    Tensor lines = x.onHost().transpose(axis, -1).contiguous(),
           sorted = values.onHost().transpose(axis, -1).contiguous(),
           from = places.onHost().transpose(axis, -1).contiguous();
    Values all = lines.toFloat64(), got = sorted.toFloat64();
    std::vector<int64_t> at = from.toVector<int64_t>();
    auto length = size_t(lines.size(-1));
    for (size_t first = 0; first < all.size(); first += length) {
      Values line(all.begin() + std::ptrdiff_t(first),
                  all.begin() + std::ptrdiff_t(first + length));
      std::vector<int64_t> expected = placesOf(line, descending);
      for (size_t i = 0; i < length; ++i) {
        ASSERT_EQ(at[first + i], expected[i]) << "line " << first / length;
        ASSERT_EQ(got[first + i], line[size_t(expected[i])]);
      }
    }
  });
}

TEST_P(Sort, nanIsLastAndZerosAreEqual) {
  Tensor x = Tensor::fromVector(
      std::vector<float>{3, NAN, -0.0F, 0, -1, INFINITY, -INFINITY, NAN}, {},
      device);
  for (DType type : {f32, hasCompiler() ? f64 : f16, bf16}) {
    EXPECT_THAT(argsort(x.to(type)).toVector<int64_t>(),
                ElementsAre(6, 4, 2, 3, 0, 5, 1, 7));
    EXPECT_THAT(argsort(x.to(type), 0, true).toVector<int64_t>(),
                ElementsAre(1, 7, 5, 0, 2, 3, 4, 6));
  }
}

TEST_P(Sort, integersOf64BitsAreExact) {
  if (!hasCompiler()) {
    EXPECT_THAT(messageOf([&] { argsort(zeros({2}, i64, device)); }),
                HasSubstr("argsort: argument 'x': expected elements of no more "
                          "than 32 bits, and not u32, in a program without a "
                          "compiler, got i64[2]"));
    return;
  }
  int64_t large = int64_t{1} << 53;
  Tensor x = Tensor::fromVector(
      std::vector<int64_t>{large + 1, large, INT64_MIN, -1, INT64_MAX, large},
      {}, device);
  EXPECT_THAT(argsort(x).toVector<int64_t>(), ElementsAre(2, 3, 1, 5, 0, 4));
  EXPECT_THAT(argsort(x, 0, true).toVector<int64_t>(),
              ElementsAre(4, 0, 1, 5, 3, 2));
  Tensor u = Tensor::fromVector(
      std::vector<uint64_t>{UINT64_MAX, 0, uint64_t{1} << 63, 5}, {}, device);
  EXPECT_THAT(sort(u).values.toVector<uint64_t>(),
              ElementsAre(0, 5, uint64_t{1} << 63, UINT64_MAX));
  Tensor v =
      Tensor::fromVector(std::vector<uint32_t>{UINT32_MAX, 0, 7}, {}, device);
  EXPECT_THAT(argsort(v).toVector<int64_t>(), ElementsAre(1, 2, 0));
}

TEST_P(Sort, topkAreTheFirst) {
  Tensor x = Tensor::fromVector(std::vector<float>{1, 9, 3, 7, 5, 2, 8, 0},
                                {{2, 4}}, device);
  auto [values, places] = topk(x, 2);
  EXPECT_THAT(values.toFloat64(), ElementsAre(9, 7, 8, 5));
  EXPECT_THAT(places.toVector<int64_t>(), ElementsAre(1, 3, 2, 0));
  EXPECT_THAT(topk(x, 1, 0, false).values.toFloat64(), ElementsAre(1, 2, 3, 0));
  EXPECT_EQ(topk(x, 0).values.shape(), (Shape{2, 0}));
}

TEST_P(Sort, gradientsGoToTheirPlaces) {
  Variable x(random({3, 50}, f32), true);
  auto [values, places] = sort(x, 1);
  Tensor dy = random({3, 50}, f32);
  values.backward(dy);
  Values grad = x.grad().toFloat64(), seeds = dy.toFloat64();
  std::vector<int64_t> at = places.toVector<int64_t>();
  for (size_t i = 0; i < at.size(); ++i) {
    ASSERT_EQ(grad[i / 50 * 50 + size_t(at[i])], seeds[i]);
  }
  Variable v(Tensor::fromVector(std::vector<float>{1, 9, 3, 7}, {}, device),
             true);
  auto top = topk(v * 2, 2);
  top.values.backward(arange({2}, f32, device, 1));
  EXPECT_THAT(v.grad().toFloat64(), ElementsAre(0, 2, 0, 4));
}

TEST_P(Sort, namesWhatDoesNotFit) {
  EXPECT_EQ(sort(empty({0, 3}, f32, device)).values.shape(), (Shape{0, 3}));
  Tensor x = zeros({2, 3}, f32, device);
  EXPECT_THAT(
      messageOf([&] { topk(x, 4); }),
      HasSubstr("topk: argument 'k': expected a number from 0 to 3, the "
                "elements along the axis, got 4"));
  EXPECT_THAT(messageOf([&] { topk(x, (int64_t{1} << 40) + 1); }),
              HasSubstr("got 1099511627777"));
  EXPECT_THAT(messageOf([&] { sort(x, 2); }),
              HasSubstr("sort: argument 'axis': expected a dimension from -2"));
  EXPECT_THAT(messageOf([&] { argsort(x.to(fp8e5)); }),
              HasSubstr("argsort: argument 'x': expected a tensor of fp32"));
}
