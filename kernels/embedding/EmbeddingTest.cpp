//===- EmbeddingTest.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/embedding/Embedding.h"
#include "kernels/embedding/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Embedding);

TEST_P(Embedding, takesRowsAndSumsGradients) {
  forCases([&] {
    int64_t columns = awkwardSize(isSlow ? 100 : 3000),
            rows = awkwardSize(isSlow ? 50 : 1000),
            count = awkwardSize(isSlow ? 300 : 1 + 200000 / columns);
    // Few indices come often.
    int64_t most = coin() ? rows : std::min<int64_t>(rows, 3);
    std::vector<int64_t> values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(pick(0, most - 1));
    }
    Tensor indices = laidOut(
        Tensor::fromVector(values, Shape{1, count}).to(coin() ? i32 : i64));
    Variable weight(random({rows, columns}, floatType()), true);
    Variable y = embedding(indices, weight);
    EXPECT_EQ(y.shape(), (Shape{1, count, columns}));
    EXPECT_EQ(y.value().toFloat64(),
              reference::embedding(indices.toFloat64(),
                                   weight.value().toFloat64(),
                                   size_t(columns)));
    Tensor dy = random(y.shape(), weight.dtype());
    y.backward(dy);
    std::vector<reference::Sum> sums(size_t(rows * columns));
    Values gradient = dy.toFloat64();
    for (size_t i = 0; i < gradient.size(); ++i) {
      size_t at =
          size_t(values[i / size_t(columns)] * columns) + i % size_t(columns);
      sums[at].add(gradient[i]);
    }
    Numbers expected;
    for (const reference::Sum &sum : sums) {
      expected.push_back(sum.total());
    }
    expectClose(weight.grad(), expected, "gradient");
    EXPECT_EQ(embeddingBackward(dy, indices, rows).toFloat64(),
              weight.grad().toFloat64())
        << "other bits";
  });
}

// More tokens than are sorted at once (or than one chunk has), of rows whose
// lists several programs share.
TEST_P(Embedding, sumsManyTokensOfFewRows) {
  const int64_t tokens = isSlow ? 2101 : 70000, columns = 9;
  std::vector<int64_t> rows(static_cast<size_t>(tokens));
  for (int64_t i = 0; i < tokens; ++i) {
    rows[size_t(i)] = i % 3 == 0;
  }
  int64_t thirds = (tokens + 2) / 3;
  Tensor dy = full({tokens, columns}, 1, f32, device);
  Tensor dw = embeddingBackward(dy, Tensor::fromVector(rows).to(device), 2);
  EXPECT_EQ(dw.at({0, 0}), double(tokens - thirds));
  EXPECT_EQ(dw.at({1, columns - 1}), double(thirds));
}

TEST_P(Embedding, leavesTheRowOfPaddingAsItIs) {
  Tensor indices =
      Tensor::fromVector(std::vector<int64_t>{1, 2, 1, 0, 2, 2}).to(device);
  for (int64_t padding : {2, -1}) {
    Variable weight(random({3, 5}, f32), true);
    Variable y = embedding(indices, weight, padding);
    EXPECT_EQ(y.value().slice(0, 1, 2).toFloat64(),
              weight.value().slice(0, 2, 3).toFloat64());
    y.backward(full({6, 5}, 1, f32, device));
    for (int64_t row = 0; row < 3; ++row) {
      EXPECT_EQ(weight.grad().select(0, row).toFloat64(),
                Values(5, row == 2 ? 0.0 : double(row + 1)));
    }
  }
}

TEST_P(Embedding, hasNoGradientOfATableWithoutRows) {
  Tensor dw =
      embeddingBackward(zeros({0, 8}, f32, device), zeros({0}, i64, device), 0);
  EXPECT_EQ(dw.shape(), (Shape{0, 8}));
}

TEST_P(Embedding, takesNoElements) {
  Variable weight(random({4, 5}, f32), true);
  embedding(empty({0}, i64, device), weight)
      .backward(empty({0, 5}, f32, device));
  EXPECT_EQ(weight.grad().toFloat64(), Values(20, 0.0));
}

TEST_P(Embedding, namesTheArgumentThatDoesNotFit) {
  auto messageOf = [&](const Tensor &indices, const Tensor &weight) {
    try {
      embedding(indices, weight);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  Tensor weight = zeros({4, 5}, f32, device);
  EXPECT_THAT(messageOf(zeros({3}, f32, device), weight),
              HasSubstr("embedding: argument 'indices': expected a tensor of "
                        "i32 or i64, got fp32[3]"));
  EXPECT_THAT(messageOf(zeros({3}, i32, device), zeros({4}, f32, device)),
              HasSubstr("embedding: argument 'weight': expected 2 dimensions, "
                        "got fp32[4]"));
  try {
    embedding(zeros({3}, i32, device), Variable(weight, true), 4);
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("embedding: argument 'padding': expected a row of "
                          "weight, which has 4, got 4"));
  }
  if (device.isHost()) {
    EXPECT_THAT(messageOf(full({3}, 4, i64, device), weight),
                HasSubstr("embedding: argument 'indices': expected rows of "
                          "weight, which has 4, got 4 at element 0"));
  }
}
