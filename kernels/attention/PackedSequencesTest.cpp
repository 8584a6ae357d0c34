//===- PackedSequencesTest.cpp ----------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/Attention.h"
#include "kernels/attention/reference.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <numeric>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(PackedSequences);

static std::vector<int64_t> startsOf(const std::vector<int64_t> &lengths) {
  std::vector<int64_t> starts = {0};
  std::partial_sum(lengths.begin(), lengths.end(), std::back_inserter(starts));
  return starts;
}

/// Rows `first` to `last` of each head of row-major x [heads, rows, d].
static Numbers rowsOf(const Numbers &x, int64_t heads, int64_t d, int64_t first,
                      int64_t last) {
  int64_t rows = int64_t(x.size()) / heads / d;
  Numbers some;
  for (int64_t head = 0; head < heads; ++head) {
    auto begin = x.begin() + (head * rows + first) * d;
    some.insert(some.end(), begin, begin + (last - first) * d);
  }
  return some;
}

/// Each sequence by itself.
static Numbers expected(const std::vector<Numbers> &qkv,
                        const std::vector<int64_t> &queryStarts,
                        const std::vector<int64_t> &keyStarts,
                        reference::AttentionSizes s) {
  int64_t d = s.headSize, rows = queryStarts.back();
  Numbers o(qkv[0].size());
  for (size_t i = 0; i + 1 < queryStarts.size(); ++i) {
    int64_t first = queryStarts[i], last = queryStarts[i + 1];
    s.queries = last - first;
    s.keys = keyStarts[i + 1] - keyStarts[i];
    Numbers one = reference::attention(
        rowsOf(qkv[0], s.heads, d, first, last),
        rowsOf(qkv[1], s.kvHeads, d, keyStarts[i], keyStarts[i + 1]),
        rowsOf(qkv[2], s.kvHeads, d, keyStarts[i], keyStarts[i + 1]), s);
    for (int64_t head = 0; head < s.heads; ++head) {
      std::copy_n(one.begin() + head * s.queries * d, s.queries * d,
                  o.begin() + (head * rows + first) * d);
    }
  }
  return storedAs(o, s.type);
}

TEST_P(PackedSequences, attendToThemselvesAlone) {
  forCases(
      [&] {
        int64_t longest = isSlow ? 9 : 70;
        std::vector<int64_t> queries, keys;
        for (int64_t i = pick(1, 4); i > 0; --i) {
          queries.push_back(pick(0, 3) ? awkwardSize(longest) : 0);
          keys.push_back(pick(0, 2)   ? queries.back()
                         : pick(0, 2) ? awkwardSize(longest)
                                      : 0);
        }
        queries.push_back(awkwardSize(longest));
        keys.push_back(1);
        std::vector<int64_t> q0 = startsOf(queries), k0 = startsOf(keys);
        reference::AttentionSizes s;
        s.batch = 1;
        s.kvHeads = pick(1, 2);
        s.heads = s.kvHeads * pick(1, 2);
        s.headSize = isSlow ? pick(2, 16) : oneOf<int64_t>({16, 40, 64});
        s.causal = coin();
        s.window = coin() ? 0 : pick(1, longest);
        s.scale = 0.2;
        s.type = floatType();
        DType type = coin() ? i32 : i64;
        AttentionOptions options;
        options.causal = s.causal;
        options.window = s.window;
        options.scale = s.scale;
        options.queryStarts = Tensor::fromVector(q0).to(type).to(device);
        options.keyStarts = Tensor::fromVector(k0).to(type).to(device);
        Variable q(random({1, s.heads, q0.back(), s.headSize}, s.type), true),
            k(random({1, s.kvHeads, k0.back(), s.headSize}, s.type), true),
            v(random({1, s.kvHeads, k0.back(), s.headSize}, s.type), true);
        Variable o = attention(q, k, v, options);
        EXPECT_EQ(
            attention(q.value(), k.value(), v.value(), options).toFloat64(),
            o.value().toFloat64())
            << "other bits";
        auto reference = [&](const std::vector<Numbers> &at) {
          return expected(at, q0, k0, s);
        };
        expectClose(o.value(),
                    reference({exactly(q.value()), exactly(k.value()),
                               exactly(v.value())}),
                    "o");
        checkGradients(o, {q, k, v}, reference);
      },
      2);
}

// [1, T, 3 H D], and starts of queries that are those of keys.
TEST_P(PackedSequences, areTakenByAPackedProduct) {
  Tensor qkv = random({1, 12, 3 * 2 * 8}, f32);
  AttentionOptions options;
  options.queryStarts =
      Tensor::fromVector(std::vector<int32_t>{0, 5, 12}).to(device);
  Variable x(qkv, true);
  Variable y = selfAttention(x, 2, options);
  Tensor dy = random(y.shape(), f32);
  y.backward(dy);
  for (auto [first, last] : {std::pair(0, 5), {5, 12}}) {
    Variable alone(qkv.slice(1, first, last), true);
    Variable z = selfAttention(alone, 2);
    z.backward(dy.slice(1, first, last));
    Values here = y.value().slice(1, first, last).toFloat64(),
           gradient = x.grad().slice(1, first, last).toFloat64();
    EXPECT_THAT(here, ::testing::Pointwise(::testing::DoubleNear(1e-5),
                                           z.value().toFloat64()));
    EXPECT_THAT(gradient, ::testing::Pointwise(::testing::DoubleNear(1e-5),
                                               alone.grad().toFloat64()));
  }
}

// The first one is dropped from as if it were alone; the others differ from it.
TEST_P(PackedSequences, areDroppedFromEachByItself) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "dropout of packed sequences needs a compiler";
  }
  Tensor one = random({1, 1, 16, 16}, f32).contiguous(),
         two = empty({1, 1, 32, 16}, f32, device);
  two.slice(2, 0, 16).copyFrom(one);
  two.slice(2, 16, 32).copyFrom(one);
  AttentionOptions options;
  options.dropout.p = 0.5;
  Values alone = attention(one, one, one, options).toFloat64();
  options.queryStarts =
      Tensor::fromVector(std::vector<int32_t>{0, 16, 32}).to(device);
  Tensor o = attention(two, two, two, options);
  EXPECT_EQ(o.slice(2, 0, 16).toFloat64(), alone);
  EXPECT_NE(o.slice(2, 16, 32).toFloat64(), alone);
}

TEST_P(PackedSequences, namesTheArgumentThatDoesNotFit) {
  Tensor q = random({1, 2, 6, 8}, f32);
  auto messageOf = [&](const Tensor &x, const AttentionOptions &options) {
    try {
      attention(x, x, x, options);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  auto starts = [&](const std::vector<int32_t> &values) {
    return Tensor::fromVector(values).to(device);
  };
  AttentionOptions options;
  options.keyStarts = starts({0, 6});
  EXPECT_THAT(messageOf(q, options),
              HasSubstr("attention: argument 'queryStarts': expected a tensor, "
                        "as keyStarts is"));
  options.queryStarts = starts({0, 2, 6});
  EXPECT_THAT(messageOf(q, options),
              HasSubstr("attention: argument 'keyStarts': expected shape [3] "
                        "(that of queryStarts)"));
  options.keyStarts = {};
  EXPECT_THAT(messageOf(random({2, 2, 6, 8}, f32), options),
              HasSubstr("attention: argument 'q': expected a batch of 1, since "
                        "its sequences are packed, got 2"));
  options.queryStarts = starts({0});
  EXPECT_THAT(messageOf(q, options),
              HasSubstr("'queryStarts': expected an element for each sequence "
                        "and one more, got 1"));
  options.queryStarts = zeros({2}, f32, device);
  EXPECT_THAT(messageOf(q, options),
              HasSubstr("'queryStarts': expected a tensor of i32 or i64"));
  options.queryStarts = starts({0, 6});
  options.bias = zeros({6}, f32, device);
  EXPECT_THAT(messageOf(q, options),
              HasSubstr("'bias': expected none of packed sequences"));
  options.bias = {};
  if (!hasCompiler()) {
    options.dropout.p = 0.5;
    EXPECT_THAT(messageOf(q, options),
                HasSubstr("'dropout': expected 0 for packed sequences in a "
                          "program without a compiler"));
    options.dropout.p = 0;
  }
  for (const std::vector<int32_t> &wrong :
       {std::vector<int32_t>{0, 5}, {1, 6}, {0, 4, 2, 6}, {-7, 9, 6}}) {
    options.queryStarts = starts(wrong);
    if (device.isHost()) {
      EXPECT_THAT(messageOf(q, options),
                  HasSubstr("'queryStarts': expected numbers that ascend from "
                            "0 to the 6 queries, got "));
      EXPECT_THAT(messageOf(q, options), HasSubstr("; hint: sums of lengths"));
    } else if (hasCompiler()) {
      EXPECT_EQ(messageOf(q, options), ""); // and touches nothing else
    }
  }
}
