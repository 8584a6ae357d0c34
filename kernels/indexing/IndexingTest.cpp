//===- IndexingTest.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/indexing/Indexing.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

/// A random tensor, an axis of it, and indices of another length along it.
class Indexing : public OperatorTest {
protected:
  void makeCase();
  /// Where x's element is that result element i takes.
  size_t source(size_t i, bool isShared) const;
  Shape shape, result;
  int axis = 0;
  Tensor shared, each; ///< of indexSelect, of gather
  std::vector<int64_t> sharedValues, eachValues;
};

} // namespace

NEREID_ON_EVERY_DEVICE(Indexing);

void Indexing::makeCase() {
  shape.clear();
  int rank = int(pick(1, 3));
  int64_t left = isSlow ? 60 : 3000;
  for (int i = 0; i < rank; ++i) {
    shape.push_back(pick(1, std::min<int64_t>(left, isSlow ? 12 : 200)));
    left = std::max<int64_t>(left / shape.back(), 1);
  }
  axis = int(pick(0, rank - 1));
  result = shape;
  result[size_t(axis)] = pick(1, isSlow ? 12 : 100);
  auto indices = [&](const Shape &of, std::vector<int64_t> &values) {
    int64_t count = 1;
    for (int64_t size : of) {
      count *= size;
    }
    values.resize(size_t(count));
    for (int64_t &value : values) {
      value = pick(0, shape[size_t(axis)] - 1);
    }
    Tensor t = Tensor::fromVector(values, of);
    return laidOut(coin() ? t.to(i32) : t);
  };
  shared = indices({result[size_t(axis)]}, sharedValues);
  each = indices(result, eachValues);
}

size_t Indexing::source(size_t i, bool isShared) const {
  size_t inner = 1;
  for (size_t k = size_t(axis) + 1; k < shape.size(); ++k) {
    inner *= size_t(shape[k]);
  }
  auto taken = size_t(result[size_t(axis)]),
       length = size_t(shape[size_t(axis)]);
  size_t b = i % inner, j = i / inner % taken, a = i / inner / taken;
  auto index = size_t(isShared ? sharedValues[j] : eachValues[i]);
  return (a * length + index) * inner + b;
}

TEST_P(Indexing, picksAndSendsGradientsBack) {
  forCases([&] {
    for (bool isShared : {true, false}) {
      makeCase();
      Variable x(random(shape, isShared ? floatType() : f32), true);
      Variable y = isShared ? indexSelect(x, axis - x.rank(), shared)
                            : gather(x, axis, each);
      ASSERT_EQ(y.shape(), result);
      Values from = x.value().toFloat64(), got = y.value().toFloat64();
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_EQ(got[i], from[source(i, isShared)]);
      }
      auto reference = [&](const std::vector<Numbers> &at) {
        Numbers results;
        for (size_t i = 0; i < got.size(); ++i) {
          results.push_back(at[0][source(i, isShared)]);
        }
        return results;
      };
      checkGradients(y, {x}, reference);
    }
  });
}

TEST_P(Indexing, addsInOrder) {
  forCases([&] {
    makeCase();
    Variable x(random(shape, f32), true), source(random(result, f32), true);
    Variable y = scatterAdd(x, axis, each, source);
    auto reference = [&](const std::vector<Numbers> &at) {
      std::vector<reference::Sum> sums(at[0].size());
      for (size_t i = 0; i < at[0].size(); ++i) {
        sums[i].add(at[0][i]);
      }
      for (size_t i = 0; i < at[1].size(); ++i) {
        sums[this->source(i, false)].add(at[1][i]);
      }
      Numbers results;
      for (const reference::Sum &sum : sums) {
        results.push_back(sum.total());
      }
      return results;
    };
    expectClose(y.value(),
                reference({exactly(x.value()), exactly(source.value())}), "y");
    EXPECT_EQ(scatterAdd(x.value(), axis, each, source.value()).toFloat64(),
              y.value().toFloat64())
        << "other bits";
    checkGradients(y, {x, source}, reference);
  });
}

TEST_P(Indexing, anIndexMayBeSmaller) {
  Variable x(arange({3, 4}, f32, device), true);
  Tensor index =
      Tensor::fromVector(std::vector<int64_t>{3, 3, 0, 1}, {{2, 2}}, device);
  Variable y = gather(x, 1, index);
  EXPECT_THAT(y.value().toFloat64(), ElementsAre(3, 3, 4, 5));
  y.backward(full({2, 2}, 1, f32, device));
  EXPECT_THAT(x.grad().toFloat64(),
              ElementsAre(0, 0, 0, 2, 1, 1, 0, 0, 0, 0, 0, 0));
}

TEST_P(Indexing, takesWithAnIndexOfAnyRank) {
  Variable x(arange({4, 2}, bf16, device), true);
  Tensor at =
      Tensor::fromVector(std::vector<int32_t>{3, 0, 1, 1}, {{2, 2}}, device);
  Variable y = index(x, at);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_THAT(y.value().toFloat64(), ElementsAre(6, 7, 0, 1, 2, 3, 2, 3));
  y.backward(full({2, 2, 2}, 1, bf16, device));
  EXPECT_THAT(x.grad().toFloat64(), ElementsAre(1, 1, 2, 2, 0, 0, 1, 1));
  EXPECT_EQ(take(x + 0, at[0].slice(0, 1), 1).shape(), (Shape{4, 1}));
}

TEST_P(Indexing, integersAreExact) {
  int64_t large = (int64_t{1} << 60) + 1;
  Tensor x = empty({3}, i64, device);
  x.copyFrom(Tensor::fromVector(std::vector<int64_t>(3, large)));
  Tensor at = Tensor::fromVector(std::vector<int64_t>{2, 2}, {}, device);
  EXPECT_THAT(
      scatterAdd(x, 0, at, full({2}, 1, i64, device)).toVector<int64_t>(),
      ElementsAre(large, large, large + 2));
  EXPECT_THAT(indexSelect(x, 0, at).toVector<int64_t>(),
              ElementsAre(large, large));
}

TEST_P(Indexing, gradientsOfDoublesAreDoubles) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "fp64 needs a compiler";
  }
  double fine = 1 + 0x1p-50;
  Tensor at = Tensor::fromVector(std::vector<int64_t>{1, 1}, {}, device);
  Tensor dy = full({2}, fine, f64, device);
  Variable x(zeros({3}, f64, device), true);
  indexSelect(x, 0, at).backward(dy);
  EXPECT_THAT(x.grad().toFloat64(), ElementsAre(0, 2 * fine, 0));
  x.zeroGrad();
  gather(x, 0, at).backward(dy);
  EXPECT_THAT(x.grad().toFloat64(), ElementsAre(0, 2 * fine, 0));
  EXPECT_EQ(scatterAdd(x.value(), 0, at, dy).toFloat64()[1], 2 * fine);
}

TEST_P(Indexing, sumsOfHalvesAreRoundedOnce) {
  Tensor x = full({1}, 256, bf16, device);
  Tensor at = zeros({100}, i64, device);
  EXPECT_EQ(scatterAdd(x, 0, at, full({100}, 1, bf16, device)).item(), 356);
}

TEST_P(Indexing, oneHotHasAOne) {
  Tensor at = Tensor::fromVector(std::vector<int64_t>{2, 0}, {}, device);
  Tensor y = oneHot(at, 3);
  EXPECT_EQ(y.dtype(), i64);
  EXPECT_THAT(y.toFloat64(), ElementsAre(0, 0, 1, 1, 0, 0));
  EXPECT_EQ(oneHot(at, 4, f32).dtype(), f32);
}

TEST_P(Indexing, noticesWritesToTheIndex) {
  auto isNoticed = [&](auto apply) {
    Variable x(zeros({3}, f32, device), true);
    Tensor at = zeros({2}, i64, device);
    Variable y = apply(x, at);
    at.fill(1);
    try {
      y.backward(full(y.shape(), 1, f32, device));
    } catch (const Error &error) {
      return error.message().find("which it saved") != std::string::npos;
    }
    return false;
  };
  using V = Variable;
  EXPECT_TRUE(isNoticed(
      [](const V &x, const Tensor &at) { return indexSelect(x, 0, at); }));
  EXPECT_TRUE(
      isNoticed([](const V &x, const Tensor &at) { return take(x, at); }));
  EXPECT_TRUE(
      isNoticed([](const V &x, const Tensor &at) { return gather(x, 0, at); }));
  EXPECT_TRUE(isNoticed([](const V &x, const Tensor &at) {
    return scatterAdd(zeros({3}, f32, at.device()), 0, at,
                      indexSelect(x, 0, at.clone()));
  }));
}

TEST_P(Indexing, takesNoElements) {
  Variable x(zeros({3, 2}, f32, device), true);
  Variable y = indexSelect(x, 0, empty({0}, i64, device));
  EXPECT_EQ(y.shape(), (Shape{0, 2}));
  y.backward(empty({0, 2}, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), Values(6, 0.0));
  x.zeroGrad();
  gather(x, 1, empty({3, 0}, i64, device)).backward(empty({3, 0}, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), Values(6, 0.0));
}

TEST_P(Indexing, namesWhatDoesNotFit) {
  Tensor x = zeros({2, 3}, f32, device), at = full({1}, 3, i64, device);
  if (device.isHost()) {
    EXPECT_THAT(messageOf([&] { indexSelect(x, 1, at); }),
                HasSubstr("index_select: argument 'index': expected numbers "
                          "from 0 to 2, got 3 at element 0"));
    EXPECT_THAT(messageOf([&] { gather(x, 1, full({1, 1}, -1, i64, device)); }),
                HasSubstr("got -1 at element 0"));
    EXPECT_THAT(messageOf([&] { oneHot(at, 3); }),
                HasSubstr("one_hot: argument 'index': expected numbers from 0 "
                          "to 2, got 3"));
  } else {
    for (DType type : {f32, f16, bf16, f64}) {
      EXPECT_TRUE(std::isnan(indexSelect(x.to(type), 1, at).toFloat64()[0]))
          << shortName(type);
    }
  }
  if (device.isHost()) {
    Tensor none = zeros({0}, f32, device);
    EXPECT_THAT(messageOf([&] { indexSelect(none, 0, at); }),
                HasSubstr("expected none, where x has no elements, got 3 at"));
  }
  EXPECT_THAT(messageOf([&] { indexSelect(x, 1, x); }),
              HasSubstr("'index': expected a tensor of i32 or i64"));
  EXPECT_THAT(messageOf([&] { indexSelect(x, 2, at); }),
              HasSubstr("'axis': expected a dimension from -2 to 1"));
  EXPECT_THAT(messageOf([&] { gather(x, 1, zeros({3, 1}, i64, device)); }),
              HasSubstr("gather: argument 'index': expected the rank of x"));
  EXPECT_THAT(messageOf([&] {
                scatterAdd(x, 0, zeros({1, 3}, i64, device),
                           zeros({1, 2}, f32, device));
              }),
              HasSubstr("scatter_add: argument 'source': expected shape [1, 3] "
                        "(that of index)"));
  Tensor flag = zeros({1}, i1, device), byte = zeros({1}, i8, device),
         first = zeros({1}, i64, device);
  EXPECT_THAT(
      messageOf([&] { scatterAdd(flag, 0, first, flag); }),
      HasSubstr("expected a tensor of fp32, fp16, bf16, fp64 or integers"));
  EXPECT_THAT(messageOf([&] { scatterAdd(byte, 0, first, byte); }),
              HasSubstr(hasCompiler() ? ""
                                      : "'x': expected fp32, fp16, bf16, i32 "
                                        "or i64 in a program without a "
                                        "compiler, got i8[1]"));
  EXPECT_THAT(messageOf([&] { oneHot(at, 0); }),
              HasSubstr("'classes': expected a number above 0, got 0"));
}
