//===- DecodingTest.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/decoding/Decoding.h"
#include "kernels/decoding/reference.h"
#include "kernels/linear/reference.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Decoding);

static std::string messageOf(const Tensor &q, const Tensor &k, const Tensor &v,
                             const Tensor &lengths,
                             const DecodingOptions &options = {}) {
  try {
    decoding(q, k, v, lengths, options);
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

TEST_P(Decoding, agreesWithDoublePrecision) {
  forCases(
      [&] {
        int64_t batch = pick(1, 3), kvHeads = pick(1, 2),
                heads = kvHeads * oneOf<int64_t>({1, 1, 2, 4, 7}),
                capacity = awkwardSize(isSlow ? 40 : 1500),
                headSize = isSlow
                               ? pick(1, 16)
                               : oneOf<int64_t>({1, 16, 64, 80, 96, 128, 256});
        DType dtype = floatType();
        Tensor q = random({batch, heads, headSize}, dtype),
               k = random({batch, kvHeads, capacity, headSize}, dtype),
               v = random({batch, kvHeads, capacity, headSize}, dtype);
        std::vector<int64_t> lengths;
        for (int64_t i = 0; i < batch; ++i) {
          lengths.push_back(pick(-1, capacity + 1));
        }
        Tensor given =
            Tensor::fromVector(lengths).to(coin() ? i32 : i64).to(device);
        DecodingOptions options;
        options.window = coin() ? 0 : pick(1, capacity + 1);
        if (coin()) {
          options.splits = oneOf<int64_t>({1, 2, 8, 64});
        }
        Tensor o = decoding(q, k, v, given, options);
        expectClose(o,
                    reference::decoding(exactly(q), exactly(k), exactly(v),
                                        lengths, heads, kvHeads, capacity,
                                        headSize, options.window,
                                        1 / std::sqrt(double(headSize)), dtype),
                    "o");
        EXPECT_EQ(decoding(q, k, v, given, options).toFloat64(), o.toFloat64())
            << "other bits";
      },
      8);
}

TEST_P(Decoding, takesTheTokensOwnKeyAndKeepsIt) {
  forCases(
      [&] {
        int64_t batch = pick(1, 3), kvHeads = pick(1, 2),
                heads = kvHeads * oneOf<int64_t>({1, 1, 3}),
                capacity = awkwardSize(isSlow ? 40 : 1200),
                headSize =
                    isSlow ? pick(1, 16) : oneOf<int64_t>({1, 16, 64, 80, 128});
        DType dtype = floatType();
        Tensor q = random({batch, heads, headSize}, dtype),
               k = random({batch, kvHeads, capacity, headSize}, dtype),
               v = random({batch, kvHeads, capacity, headSize}, dtype),
               both = random({batch, 2, kvHeads, headSize}, dtype);
        KeyAndValue own = {both.select(1, 0), both.select(1, 1)};
        // What the caches hold afterwards: one place more, for a full one.
        Shape longer = {batch, kvHeads, capacity + 1, headSize};
        Tensor keys = zeros(longer, dtype, Device::cpu()),
               values = zeros(longer, dtype, Device::cpu());
        keys.slice(2, 0, capacity).copyFrom(k.onHost());
        values.slice(2, 0, capacity).copyFrom(v.onHost());
        std::vector<int64_t> before, lengths;
        for (int64_t i = 0; i < batch; ++i) {
          int64_t length = pick(0, capacity);
          before.push_back(length);
          lengths.push_back(length + 1);
          keys.select(0, i).select(1, length).copyFrom(
              own.k.select(0, i).onHost());
          values.select(0, i).select(1, length).copyFrom(
              own.v.select(0, i).onHost());
        }
        DecodingOptions options;
        options.window = coin() ? 0 : pick(1, capacity + 2);
        if (coin()) {
          options.splits = oneOf<int64_t>({1, 2, 8, 64});
        }
        Tensor o =
            decodeNext(q, own, k, v,
                       Tensor::fromVector(before).to(i32).to(device), options);
        expectClose(o,
                    reference::decoding(
                        exactly(q), exactly(keys), exactly(values), lengths,
                        heads, kvHeads, capacity + 1, headSize, options.window,
                        1 / std::sqrt(double(headSize)), dtype),
                    "o");
        EXPECT_EQ(k.toFloat64(), keys.slice(2, 0, capacity).toFloat64());
        EXPECT_EQ(v.toFloat64(), values.slice(2, 0, capacity).toFloat64());
      },
      8);
}

// One sequence, whose splits the product combines on a GPU, and several.
TEST_P(Decoding, aLinearLayerOfItIsThatOfTheResult) {
  forCases(
      [&] {
        int64_t batch = oneOf<int64_t>({1, 1, 2}), heads = pick(1, 3),
                capacity = awkwardSize(isSlow ? 40 : 1200),
                headSize = isSlow ? oneOf<int64_t>({5, 8, 16})
                                  : oneOf<int64_t>({16, 64, 80}),
                rows = awkwardSize(isSlow ? 20 : 300);
        DType dtype = floatType();
        Tensor q = random({batch, heads, headSize}, dtype),
               k = random({batch, heads, capacity, headSize}, dtype),
               v = random({batch, heads, capacity, headSize}, dtype),
               both = random({batch, 2, heads, headSize}, dtype),
               weight = random({rows, heads * headSize}, dtype), bias;
        if (coin()) {
          bias = random({rows}, dtype);
        }
        KeyAndValue own = {both.select(1, 0), both.select(1, 1)};
        int64_t length = pick(0, capacity - 1);
        Tensor lengths = full({batch}, double(length), i32, device);
        DecodingOptions options;
        if (coin()) {
          options.splits = oneOf<int64_t>({1, 2, 4, 8, 16});
        }
        Tensor y =
            decodeNextLinear(q, own, k, v, lengths, weight, bias, options);
        // The token's own lie in the cache now.
        Numbers mixed = reference::decoding(
            exactly(q), exactly(k), exactly(v),
            std::vector<int64_t>(size_t(batch), length + 1), heads, heads,
            capacity, headSize, 0, 1 / std::sqrt(double(headSize)), dtype);
        expectClose(y,
                    reference::linear(storedAs(mixed, dtype), exactly(weight),
                                      exactly(bias), size_t(rows),
                                      size_t(heads * headSize),
                                      Activation::None),
                    "y");
      },
      8);
}

// Pages in any order, more of them than are used, and none after the lengths.
TEST_P(Decoding, findsKeysByATableOfPages) {
  forCases(
      [&] {
        int64_t batch = pick(1, 3), kvHeads = pick(1, 2),
                heads = kvHeads * oneOf<int64_t>({1, 3}),
                page = oneOf<int64_t>({1, 7, 16}), count = pick(1, 5),
                capacity = page * count, pages = batch * count + 2,
                headSize = isSlow ? pick(1, 16) : oneOf<int64_t>({16, 80});
        DType dtype = floatType();
        Tensor q = random({batch, heads, headSize}, dtype),
               k = random({pages, kvHeads, page, headSize}, dtype),
               v = random({pages, kvHeads, page, headSize}, dtype);
        KeyAndValue own = {
            random({batch, kvHeads, headSize}, dtype).contiguous(),
            random({batch, kvHeads, headSize}, dtype).contiguous()};
        // What caches in one piece would hold, with the tokens' own.
        Shape shape = {batch, kvHeads, capacity, headSize};
        Tensor keys = zeros(shape, dtype, Device::cpu()),
               values = zeros(shape, dtype, Device::cpu());
        std::vector<int64_t> before, lengths, table,
            order(static_cast<size_t>(pages));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), generator);
        for (int64_t b = 0; b < batch; ++b) {
          before.push_back(pick(0, capacity - 1));
          lengths.push_back(before.back() + 1);
          for (int64_t i = 0; i < count; ++i) {
            bool isUsed = i * page < lengths.back();
            int64_t from = order[size_t(b * count + i)];
            table.push_back(isUsed ? from : -1);
            for (auto [cache, whole] : {std::pair(&k, &keys), {&v, &values}}) {
              whole->select(0, b)
                  .slice(1, i * page, (i + 1) * page)
                  .copyFrom(cache->select(0, from).onHost());
            }
          }
          keys.select(0, b)
              .select(1, before.back())
              .copyFrom(own.k.select(0, b).onHost());
          values.select(0, b)
              .select(1, before.back())
              .copyFrom(own.v.select(0, b).onHost());
        }
        DecodingOptions options;
        options.table = laidOut(Tensor::fromVector(table, Shape{batch, count}))
                            .to(coin() ? i32 : i64);
        options.window = coin() ? 0 : pick(1, capacity);
        options.splits = oneOf<int64_t>({1, 2});
        Numbers expected = reference::decoding(
            exactly(q), exactly(keys), exactly(values), lengths, heads, kvHeads,
            capacity, headSize, options.window, 1 / std::sqrt(double(headSize)),
            dtype);
        expectClose(decodeNext(q, own, k, v,
                               Tensor::fromVector(before).to(device), options),
                    expected, "next");
        // The tokens lie in their pages now.
        Tensor o =
            decoding(q, k, v, Tensor::fromVector(lengths).to(device), options);
        expectClose(o, expected, "o");
        for (int64_t b = 0; b < batch; ++b) {
          int64_t at = before[size_t(b)],
                  in = table[size_t(b * count + at / page)];
          EXPECT_EQ(k.select(0, in).select(1, at % page).toFloat64(),
                    own.k.select(0, b).toFloat64());
        }
      },
      4);
}

TEST_P(Decoding, doesNotSeeKeysOfPagesThatAreNotThere) {
  Tensor q = full({3, 1, 16}, 1, f32, device),
         k = full({2, 1, 4, 16}, 1, f32, device),
         lengths = full({3}, 8, i32, device);
  k.slice(0, 1, 2).fill(5);
  DecodingOptions options;
  options.table =
      Tensor::fromVector(std::vector<int32_t>{0, -1, -7, 2, 1000000, 1},
                         Shape{3, 2})
          .to(device);
  Values o = decoding(q, k, k, lengths, options).toFloat64();
  EXPECT_EQ(o[0], 1);
  EXPECT_EQ(o[16], 0);
  EXPECT_EQ(o[32], 5);
  // Nor are keys stored there.
  KeyAndValue own = {full({3, 1, 16}, 2, f32, device),
                     full({3, 1, 16}, 2, f32, device)};
  options.table = full({3, 2}, -1, i64, device);
  Values before = k.toFloat64();
  EXPECT_EQ(
      decodeNext(q, own, k, k.contiguous(), zeros({3}, i32, device), options)
          .toFloat64(),
      Values(48, 2.0));
  EXPECT_EQ(k.toFloat64(), before);
}

TEST_P(Decoding, keysBehindTheLengthAreNotRead) {
  Tensor k = full({1, 1, 9, 16}, NAN, f32, device);
  k.slice(2, 0, 5).fill(1);
  Tensor o = decoding(full({1, 2, 16}, 1, f32, device), k, k,
                      full({1}, 5, i32, device));
  EXPECT_EQ(o.toFloat64(), Values(32, 1.0));
}

TEST_P(Decoding, takesNoElements) {
  Tensor q = empty({0, 2, 8}, f32, device),
         k = empty({0, 2, 5, 8}, f32, device);
  EXPECT_EQ(decoding(q, k, k, empty({0}, i32, device)).shape(), q.shape());
  Tensor one = random({1, 2, 8}, f32), none = empty({1, 2, 0, 8}, f32, device);
  EXPECT_EQ(decoding(one, none, none, full({1}, 3, i32, device)).toFloat64(),
            Values(16, 0.0));
}

TEST_P(Decoding, namesTheArgumentThatDoesNotFit) {
  Tensor q = random({2, 4, 8}, f32), k = random({2, 2, 5, 8}, f32),
         lengths = full({2}, 5, i32, device);
  EXPECT_THAT(messageOf(q, random({2, 2, 5, 9}, f32), k, lengths),
              HasSubstr("decoding: argument 'k': expected shape [2, any, any, "
                        "8] (batch and head size of q), got fp32[2, 2, 5, 9"));
  EXPECT_THAT(messageOf(q, random({2, 3, 5, 8}, f32), k, lengths),
              HasSubstr("decoding: argument 'k': expected a number of heads "
                        "that divides the 4 of q"));
  EXPECT_THAT(messageOf(q, k, random({2, 2, 4, 8}, f32), lengths),
              HasSubstr("decoding: argument 'v': expected shape [2, 2, 5, 8] "
                        "(that of k)"));
  KeyAndValue next = {random({2, 2, 8}, f32), random({2, 2, 8}, f32)};
  try {
    decodeNext(random({2, 4, 8}, f32), next,
               zeros({1, 2, 5, 8}, f32, device).expand({2, 2, 5, 8}),
               zeros({2, 2, 5, 8}, f32, device), zeros({2}, i32, device));
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("decoding: argument 'k': expected a tensor whose "
                          "elements are places of their own"));
  }
  Tensor cache = zeros({2, 2, 5, 8}, f32, device);
  uint64_t writes = cache.writes();
  EXPECT_THROW(decodeNext(q, next, cache, cache, zeros({3}, i32, device)),
               Error);
  EXPECT_EQ(cache.writes(), writes) << "what is refused writes nothing";
  EXPECT_THAT(messageOf(q, k, k, full({3}, 5, i32, device)),
              HasSubstr("decoding: argument 'lengths': expected shape [2] (the "
                        "batch of q)"));
  EXPECT_THAT(messageOf(q, k, k, full({2}, 5, f32, device)),
              HasSubstr("decoding: argument 'lengths': expected a tensor of "
                        "i32 or i64"));
  Tensor large = zeros({1, 1, 257}, f32, device);
  EXPECT_THAT(messageOf(large, k, k, lengths),
              HasSubstr("decoding: argument 'q': expected a head size (its "
                        "last dimension) from 1 to 256, got 257"));
  DecodingOptions options;
  options.window = -1;
  EXPECT_THAT(messageOf(q, k, k, lengths, options),
              HasSubstr("decoding: argument 'window': expected a number that "
                        "is not negative, got -1"));
  options = {};
  options.scale = 0;
  EXPECT_THAT(messageOf(q, k, k, lengths, options),
              HasSubstr("decoding: argument 'scale': expected a finite number "
                        "of more than 0, got 0"));
  options = {};
  options.table = zeros({3, 2}, i32, device);
  EXPECT_THAT(messageOf(q, k, k, lengths, options),
              HasSubstr("decoding: argument 'table': expected shape [2, any] "
                        "(the batch of q, and pages of a sequence), got "
                        "i32[3, 2]"));
  options.table = zeros({2, 2}, f32, device);
  EXPECT_THAT(messageOf(q, k, k, lengths, options),
              HasSubstr("'table': expected a tensor of i32 or i64"));
  options.table = zeros({2, 2}, i32, device);
  Tensor none = zeros({3, 2, 0, 8}, f32, device);
  EXPECT_THAT(messageOf(q, none, none, lengths, options),
              HasSubstr("'k': expected pages of a key or more, got 0"));
  options = {};
  options.splits = 3;
  EXPECT_THAT(messageOf(q, k, k, lengths, options),
              HasSubstr("decoding: argument 'splits': expected a power of two "
                        "from 1 to 64, got 3"));
  Tensor own = random({2, 2, 8}, f32);
  auto messageOfOwn = [&](const KeyAndValue &own) {
    try {
      decodeNext(q, own, k, k, lengths);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(messageOfOwn({zeros({2, 1, 8}, f32, device), own}),
              HasSubstr("decoding: argument 'own.k': expected shape [2, 2, 8] "
                        "(batch and head size of q, heads of k)"));
  EXPECT_THAT(messageOfOwn({own, {}}), HasSubstr("decoding: argument 'own.v'"));
  EXPECT_THAT(messageOfOwn({zeros({2, 2, 8}, f32, device),
                            zeros({2, 8, 2}, f32, device).transpose(1, 2)}),
              HasSubstr("'own.v': expected the strides of own.k"));
}
