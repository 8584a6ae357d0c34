//===- JoinTest.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/join/Join.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Join);

/// Where element `index`, row-major, of a tensor of `shape` is along each axis.
static Shape placeOf(int64_t index, const Shape &shape) {
  Shape place(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    place[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return place;
}

static double elementAt(const Values &values, const Shape &shape,
                        const Shape &place) {
  size_t index = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    index = index * size_t(shape[axis]) + size_t(place[axis]);
  }
  return values[index];
}

TEST_P(Join, concatenatesAndSplits) {
  forCases([&] {
    Shape shape;
    int rank = int(pick(1, 4)), axis = int(pick(0, rank - 1));
    for (int i = 0; i < rank; ++i) {
      shape.push_back(pick(1, 7));
    }
    DType dtype = oneOf({f32, bf16, f16});
    std::vector<Variable> values;
    std::vector<int64_t> sizes;
    for (int64_t count = pick(1, 4); count > 0; --count) {
      shape[size_t(axis)] = pick(values.empty() ? 1 : 0, 9);
      sizes.push_back(shape[size_t(axis)]);
      values.emplace_back(random(shape, dtype), true);
    }
    Variable y = concat(values, coin() ? axis : axis - rank);
    Values all = y.value().toFloat64();
    Tensor dy = random(y.shape(), dtype);
    y.backward(dy);
    Values seeds = dy.toFloat64();
    for (int64_t i = 0; i < y.numel(); ++i) {
      Shape place = placeOf(i, y.shape());
      size_t part = 0;
      while (place[size_t(axis)] >= sizes[part]) {
        place[size_t(axis)] -= sizes[part++];
      }
      const Variable &from = values[part];
      ASSERT_EQ(all[size_t(i)],
                elementAt(from.value().toFloat64(), from.shape(), place));
      ASSERT_EQ(seeds[size_t(i)],
                elementAt(from.grad().toFloat64(), from.shape(), place));
    }
    // And back: of every second part a gradient arrives.
    Variable whole(y.value(), true);
    std::vector<Variable> parts =
        split(whole, std::span<const int64_t>(sizes), axis);
    Values expected(size_t(whole.numel()), 0.0);
    for (size_t k = 0; k < parts.size(); ++k) {
      EXPECT_EQ(parts[k].value().toFloat64(), values[k].value().toFloat64());
      if (k % 2 == 0) {
        Variable twice = parts[k] * 2;
        twice.backward(full(parts[k].shape(), 1, dtype, device), true);
      }
    }
    Values grad = whole.grad().toFloat64();
    for (int64_t i = 0; i < whole.numel(); ++i) {
      int64_t at = placeOf(i, whole.shape())[size_t(axis)];
      size_t part = 0;
      while (at >= sizes[part]) {
        at -= sizes[part++];
      }
      ASSERT_EQ(grad[size_t(i)], part % 2 == 0 ? 2 : 0);
    }
  });
}

TEST_P(Join, stacksAlongANewAxis) {
  Variable x(arange({2, 3}, f32, device), true), y(x.value() * 10, true);
  EXPECT_EQ(stack({x, y}).shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(stack({x, y}, -1).shape(), (Shape{2, 3, 2}));
  Variable z = stack({x, y}, 1);
  EXPECT_THAT(z.value().toFloat64(),
              ElementsAre(0, 1, 2, 0, 10, 20, 3, 4, 5, 30, 40, 50));
  z.backward(arange({2, 2, 3}, f32, device));
  EXPECT_THAT(x.grad().toFloat64(), ElementsAre(0, 1, 2, 6, 7, 8));
  EXPECT_THAT(y.grad().toFloat64(), ElementsAre(3, 4, 5, 9, 10, 11));
}

TEST_P(Join, joinsEveryType) {
  for (DType dtype :
       {f64, f32, f16, bf16, fp8e4nv, fp8e5, i64, i32, i16, i8, u8, i1}) {
    Values values = {1, 0, 1, 1, 0, 0};
    Tensor x = Tensor::fromVector(values, Shape{2, 3}, device).to(dtype);
    Tensor two = concat({x, x.slice(1, 0, 1).contiguous()}, 1),
           four = concat({x, x, x, x});
    EXPECT_THAT(two.toFloat64(), ElementsAre(1, 0, 1, 1, 1, 0, 0, 1))
        << shortName(dtype);
    Values expected;
    for (int i = 0; i < 4; ++i) {
      expected.insert(expected.end(), values.begin(), values.end());
    }
    EXPECT_EQ(four.toFloat64(), expected) << shortName(dtype);
  }
}

TEST_P(Join, gradientsOfAllPartsAreJoined) {
  for (int64_t parts = 1; parts <= 5; ++parts) {
    Variable x(arange({3, 2 * parts, 2}, f32, device), true);
    std::vector<Variable> results;
    for (const Variable &part : split(x, 2, 1)) {
      results.push_back(part * part);
    }
    concat(results, 1).backward(full(x.shape(), 1, f32, device));
    EXPECT_EQ(x.grad().toFloat64(), (x.value() * 2).value().toFloat64());
  }
}

TEST_P(Join, takesMixesOfValues) {
  Variable x(arange({2}, f32, device), true);
  Tensor t = full({1}, 7, f32, device);
  auto y = concat({x + 1, x, t});
  EXPECT_THAT(y.value().toFloat64(), ElementsAre(1, 2, 0, 1, 7));
  y.backward(full({5}, 1, f32, device));
  EXPECT_THAT(x.grad().toFloat64(), ElementsAre(2, 2));
  Tensor both = concat({t, t});
  EXPECT_THAT(both.toFloat64(), ElementsAre(7, 7));
  Tensor sum = cat({t + 1, t}, 0);
  EXPECT_THAT(sum.toFloat64(), ElementsAre(8, 7));
  EXPECT_EQ(cat(std::vector<Variable>{x, x}).numel(), 4);
  Tensor integers =
      concat({full({1}, 3, i64, device), full({2}, 4, i64, device)});
  EXPECT_EQ(integers.dtype(), i64);
}

TEST_P(Join, splitsAndChunksAsPyTorch) {
  Tensor x = arange({7, 2}, f32, device);
  auto sizesOf = [](const std::vector<Tensor> &parts) {
    std::vector<int64_t> sizes;
    for (const Tensor &part : parts) {
      sizes.push_back(part.size(0));
    }
    return sizes;
  };
  EXPECT_THAT(sizesOf(split(x, 3)), ElementsAre(3, 3, 1));
  EXPECT_THAT(sizesOf(split(x, {1, 6})), ElementsAre(1, 6));
  EXPECT_THAT(sizesOf(chunk(x, 3)), ElementsAre(3, 3, 1));
  EXPECT_THAT(sizesOf(chunk(x, 5)), ElementsAre(2, 2, 2, 1));
  EXPECT_THAT(sizesOf(split(empty({0, 2}, f32, device), 3)), ElementsAre(0));
  EXPECT_EQ(chunk(x, 2, 1)[1].shape(), (Shape{7, 1}));
  EXPECT_EQ(chunk(x + 1, 2, 1).size(), 2u);
}

TEST_P(Join, padsAround) {
  Variable x(arange({2, 2}, f32, device), true);
  Variable y = pad(x, {{1, 0}, {0, 2}}, -1);
  EXPECT_EQ(y.shape(), (Shape{3, 4}));
  EXPECT_THAT(y.value().toFloat64(),
              ElementsAre(-1, -1, -1, -1, 0, 1, -1, -1, 2, 3, -1, -1));
  y.backward(arange({3, 4}, f32, device));
  EXPECT_THAT(x.grad().toFloat64(), ElementsAre(4, 5, 8, 9));
  EXPECT_EQ(pad(empty({0}, f32, device), {{1, 1}}).toFloat64(), Values(2, 0.0));
}

TEST_P(Join, repeatsTilesAndElements) {
  Variable x(arange({2, 2}, f32, device), true);
  Variable y = repeat(x, {2, 1, 2});
  EXPECT_EQ(y.shape(), (Shape{2, 2, 4}));
  EXPECT_THAT(y.value()[1].toFloat64(), ElementsAre(0, 1, 0, 1, 2, 3, 2, 3));
  y.backward(full(y.shape(), 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), Values(4, 4.0));
  EXPECT_THAT(repeat(x.value(), 2, 1).toFloat64(),
              ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  x.zeroGrad();
  repeat(x, 3, 0).backward(arange({6, 2}, f32, device));
  EXPECT_THAT(x.grad().toFloat64(), ElementsAre(6, 9, 24, 27));
  EXPECT_EQ(repeat(x.value(), {0, 1}).shape(), (Shape{0, 2}));
}

TEST_P(Join, namesWhatDoesNotFit) {
  Tensor x = zeros({2, 3}, f32, device);
  EXPECT_THAT(
      messageOf([&] { concat(std::vector<Tensor>()); }),
      HasSubstr("concat: argument 'values': expected tensors, got none"));
  EXPECT_THAT(messageOf([&] { concat({x, zeros({3, 3}, f32, device)}, 1); }),
              HasSubstr("concat: argument 'values[1]': expected a type and "
                        "sizes, but that of dimension 1, as of values[0], "
                        "fp32[2, 3], got fp32[3, 3]"));
  EXPECT_THAT(messageOf([&] { concat({x, zeros({2, 3}, i32, device)}); }),
              HasSubstr("got i32[2, 3]"));
  EXPECT_THAT(messageOf([&] { concat({x, Tensor()}); }),
              HasSubstr("'values[1]': expected a tensor, got an undefined"));
  EXPECT_THAT(messageOf([&] { concat({x}, 2); }),
              HasSubstr("'axis': expected a dimension from -2 to 1"));
  EXPECT_THAT(messageOf([&] { stack({x}, 3); }),
              HasSubstr("'axis': expected a dimension from -3 to 2"));
  EXPECT_THAT(messageOf([&] { stack({x, zeros({3}, f32, device)}); }),
              HasSubstr("expected the shape of values[0], fp32[2, 3]"));
  EXPECT_THAT(messageOf([&] { stack(std::vector<Variable>()); }),
              HasSubstr("stack: argument 'values': expected tensors"));
  EXPECT_THAT(messageOf([&] { split(x, 0); }),
              HasSubstr("'size': expected a number above 0, got 0"));
  EXPECT_THAT(messageOf([&] { split(x, {1, 2}); }),
              HasSubstr("expected sizes from 0 on that sum up to 2, of "
                        "dimension 0 of fp32[2, 3], got [1, 2]"));
  EXPECT_THAT(messageOf([&] { split(x, {INT64_MAX, INT64_MAX, 4}); }),
              HasSubstr("sum up to 2"));
  EXPECT_THAT(messageOf([&] { chunk(x, -1); }),
              HasSubstr("'chunks': expected a number above 0, got -1"));
  EXPECT_EQ(chunk(x, INT64_MAX).size(), 2);
  EXPECT_THAT(messageOf([&] { chunk(x, INT64_MIN + 1); }),
              HasSubstr("got -9223372036854775807"));
  EXPECT_THAT(messageOf([&] { repeat(x, {int64_t{1} << 62, 4}); }),
              HasSubstr("repeat: argument 'times': expected a result of less "
                        "than 2^48 elements, got 4611686018427387904, of "
                        "fp32[2, 3]"));
  EXPECT_THAT(messageOf([&] { repeat(x, INT64_MAX, 0); }),
              HasSubstr("than 2^48 elements, got 9223372036854775807"));
  EXPECT_THAT(messageOf([&] { pad(x, {{1, 1}}); }),
              HasSubstr("expected one {before, after} for each dimension of "
                        "fp32[2, 3], got 1"));
  EXPECT_THAT(
      messageOf([&] { pad(x, {{1, 1}, {-1, 0}}); }),
      HasSubstr("expected numbers of elements from 0 to below 2^48, got -1"));
  EXPECT_THAT(messageOf([&] { repeat(x, {2}); }),
              HasSubstr("expected a number for each dimension of fp32[2, 3]"));
  EXPECT_THAT(messageOf([&] { repeat(x, {2, -1}); }),
              HasSubstr("expected numbers from 0 on, got -1"));
  EXPECT_THAT(messageOf([&] { repeat(x, -2, 0); }),
              HasSubstr("expected a number from 0 on, got -2"));
}
