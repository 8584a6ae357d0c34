//===- ExpertsTest.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/experts/Experts.h"
#include "kernels/experts/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Experts);

TEST_P(Experts, sortsChoicesByExpert) {
  forCases(
      [&] {
        int64_t tokens = awkwardSize(isSlow ? 60 : 3000), shared = pick(1, 4),
                count = awkwardSize(isSlow ? 9 : 64);
        std::vector<int64_t> chosen;
        for (int64_t i = 0; i < tokens * shared; ++i) {
          // Some of no expert.
          chosen.push_back(pick(0, 9) ? pick(0, count - 1)
                                      : oneOf({int64_t(-1), count}));
        }
        DType type = coin() ? i32 : i64;
        Groups groups = groupByExpert(
            laidOut(Tensor::fromVector(chosen, Shape{tokens, shared}).to(type)),
            count);
        std::vector<int64_t> order, starts(size_t(count + 1)),
            places(chosen.size(), -1);
        for (int64_t e = 0; e < count; ++e) {
          for (size_t i = 0; i < chosen.size(); ++i) {
            if (chosen[i] == e) {
              places[i] = int64_t(order.size());
              order.push_back(int64_t(i));
            }
          }
          starts[size_t(e + 1)] = int64_t(order.size());
        }
        order.resize(chosen.size(), -1);
        EXPECT_EQ(groups.order.toVector<int64_t>(), order);
        EXPECT_EQ(groups.places.toVector<int64_t>(), places);
        EXPECT_EQ(groups.starts.toVector<int64_t>(), starts);
      },
      4);
}

TEST_P(Experts, ofNumbersBeyond32BitsAreNone) {
  Groups groups = groupByExpert(
      Tensor::fromVector(std::vector<int64_t>{1, (int64_t{1} << 32) + 1, 0},
                         Shape{3, 1})
          .to(device),
      2);
  EXPECT_THAT(groups.places.toVector<int64_t>(), ElementsAre(1, -1, 0));
}

TEST_P(Experts, productsOfGroupsAndTheirGradients) {
  forCases(
      [&] {
        int64_t count = pick(1, 5), k = awkwardSize(isSlow ? 9 : 70),
                n = awkwardSize(isSlow ? 9 : 70), most = isSlow ? 9 : 100;
        std::vector<int64_t> starts = {0};
        for (int64_t e = 0; e < count; ++e) {
          starts.push_back(starts.back() +
                           (pick(0, 3) ? awkwardSize(most) : 0));
        }
        // Rows after the last group.
        int64_t rows = starts.back() + pick(0, 2);
        DType type = floatType();
        Variable a(random({rows, k}, type), true),
            b(coin() ? random({count, k, n}, type)
                     : random({count, n, k}, type).transpose(1, 2),
              true);
        Tensor from =
            Tensor::fromVector(starts).to(coin() ? i32 : i64).to(device);
        Variable y = groupedMatmul(a, b, from);
        auto reference = [&](const std::vector<Numbers> &at) {
          return reference::groupedMatmul(at[0], at[1], starts, size_t(k),
                                          size_t(n));
        };
        expectClose(y.value(),
                    reference({exactly(a.value()), exactly(b.value())}), "y");
        EXPECT_EQ(groupedMatmul(a.value(), b.value(), from).toFloat64(),
                  y.value().toFloat64())
            << "other bits";
        if (rows > 0) {
          checkGradients(y, {a, b}, reference);
        }
      },
      4);
}

TEST_P(Experts, takeRowsAndGiveWeightedSums) {
  forCases(
      [&] {
        int64_t tokens = awkwardSize(isSlow ? 20 : 200), shared = pick(1, 3),
                count = pick(1, 4), n = awkwardSize(isSlow ? 30 : 1200);
        std::vector<int64_t> chosen;
        for (int64_t i = 0; i < tokens * shared; ++i) {
          chosen.push_back(pick(-1, count - 1));
        }
        Groups groups = groupByExpert(
            Tensor::fromVector(chosen, Shape{tokens, shared}).to(device),
            count);
        std::vector<int64_t> places = groups.places.toVector<int64_t>(),
                             order = groups.order.toVector<int64_t>();
        DType type = floatType();
        Variable x(random({tokens, n}, type), true);
        Variable rows = dispatch(x, groups);
        auto spread = [&](const std::vector<Numbers> &at) {
          Numbers y;
          for (int64_t choice : order) {
            for (int64_t j = 0; j < n; ++j) {
              y.push_back(choice < 0 ? Number(0)
                                     : at[0][size_t(choice / shared * n + j)]);
            }
          }
          return y;
        };
        expectClose(rows.value(), spread({exactly(x.value())}), "rows");
        checkGradients(rows, {x}, spread);
        Variable results(random({tokens * shared, n}, type), true),
            weights(random({tokens, shared}, coin() ? f32 : type), true);
        Variable y = combine(results, weights, groups);
        auto combined = [&](const std::vector<Numbers> &at) {
          return reference::combine(at[0], at[1], places, size_t(shared),
                                    size_t(n));
        };
        expectClose(
            y.value(),
            combined({exactly(results.value()), exactly(weights.value())}),
            "y");
        checkGradients(y, {results, weights}, combined);
        expectClose(combine(results.value(), Tensor(), groups),
                    combined({exactly(results.value()), {}}), "sums");
      },
      2);
}

TEST_P(Experts, takesNoElements) {
  Groups groups = groupByExpert(empty({0, 2}, i64, device), 3);
  EXPECT_EQ(groups.starts.toFloat64(), Values(4, 0.0));
  Variable x(empty({0, 5}, f32, device), true);
  Variable b(random({3, 5, 4}, f32), true);
  Variable y = groupedMatmul(dispatch(x, groups), b, groups.starts);
  EXPECT_EQ(y.shape(), (Shape{0, 4}));
  combine(y, Variable(), groups).backward(empty({0, 4}, f32, device));
  EXPECT_EQ(b.grad().toFloat64(), Values(60, 0.0));
  // Products of no columns in between are 0.
  Tensor starts = Tensor::fromVector(std::vector<int32_t>{0, 3}).to(device);
  EXPECT_EQ(groupedMatmul(empty({3, 0}, f32, device),
                          empty({1, 0, 2}, f32, device), starts)
                .toFloat64(),
            Values(6, 0.0));
}

TEST_P(Experts, namesTheArgumentThatDoesNotFit) {
  auto messageOf = [](auto call) {
    try {
      call();
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  Tensor a = random({6, 4}, f32), b = random({2, 4, 3}, f32);
  auto starts = [&](const std::vector<int32_t> &values) {
    return Tensor::fromVector(values).to(device);
  };
  Groups groups = groupByExpert(zeros({3, 2}, i32, device), 2);
  EXPECT_THAT(messageOf([&] { groupByExpert(zeros({3}, i32, device), 2); }),
              HasSubstr("groupByExpert: argument 'experts': expected 2 "
                        "dimensions, got i32[3]"));
  EXPECT_THAT(messageOf([&] { groupByExpert(zeros({3, 2}, f32, device), 2); }),
              HasSubstr("'experts': expected a tensor of i32 or i64"));
  EXPECT_THAT(messageOf([&] { groupByExpert(zeros({3, 2}, i32, device), 0); }),
              HasSubstr("'count': expected a number of experts from 1 to below "
                        "2^31, got 0"));
  EXPECT_THAT(messageOf([&] { dispatch(random({4, 2}, f32), groups); }),
              HasSubstr("dispatch: argument 'groups': expected those of 4 "
                        "tokens, the rows of x, got those of 3"));
  EXPECT_THAT(messageOf([&] { dispatch(random({4, 2}, f32), {}); }),
              HasSubstr("'groups.places': expected what groupByExpert returns, "
                        "got an undefined tensor"));
  EXPECT_THAT(messageOf([&] {
                dispatch(random({3, 2}, f32),
                         {groups.places, groups.order, groups.starts});
              }),
              HasSubstr("'groups': expected what groupByExpert returns, got "));
  EXPECT_THAT(messageOf([&] { combine(a.slice(0, 0, 5), Tensor(), groups); }),
              HasSubstr("combine: argument 'x': expected shape [6, 4] (a row "
                        "for each choice)"));
  EXPECT_THAT(messageOf([&] { combine(a, random({2, 3}, f32), groups); }),
              HasSubstr("'weights': expected shape [3, 2] (tokens and "
                        "choices)"));
  EXPECT_THAT(
      messageOf(
          [&] { groupedMatmul(a, random({2, 5, 3}, f32), starts({0, 2, 6})); }),
      HasSubstr("groupedMatmul: argument 'b': expected shape [any, 4, any] "
                "(the columns of a in between)"));
  EXPECT_THAT(messageOf([&] {
                groupedMatmul(a, random({2, 4, 3}, bf16), starts({0, 2, 6}));
              }),
              HasSubstr("'b': expected fp32"));
  EXPECT_THAT(messageOf([&] { groupedMatmul(a, b, starts({0, 6})); }),
              HasSubstr("'starts': expected shape [3] (one more than b has "
                        "matrices)"));
  for (const std::vector<int32_t> &wrong :
       {std::vector<int32_t>{0, 2, 7}, {1, 2, 6}, {0, 5, 4}, {-9, 900, 5}}) {
    std::string message = messageOf([&] {
      groupedMatmul(Variable(a, true), Variable(b, true), starts(wrong))
          .backward(zeros({6, 3}, f32, device));
    });
    if (device.isHost()) {
      EXPECT_THAT(message, HasSubstr("'starts': expected numbers that ascend "
                                     "from 0 to the 6 rows of a, got "));
      EXPECT_THAT(message, HasSubstr("; hint: groupByExpert(...).starts"));
    } else {
      EXPECT_EQ(message, ""); // and touches nothing else
    }
  }
}
