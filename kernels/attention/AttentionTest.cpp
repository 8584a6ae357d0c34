//===- AttentionTest.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/attention/Attention.h"
#include "kernels/attention/reference.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Autograd/Views.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

class Attention : public OperatorTest {
protected:
  struct Inputs {
    Tensor q, k, v;
    AttentionOptions options;
    reference::AttentionSizes sizes;
  };

  /// Of random sizes.
  Inputs inputs(int64_t longest, std::initializer_list<int64_t> headSizes) {
    Inputs in;
    reference::AttentionSizes &s = in.sizes;
    s.batch = pick(1, 2);
    s.kvHeads = pick(1, 2);
    s.heads = s.kvHeads * pick(1, 3);
    s.headSize = isSlow ? pick(2, 16) : oneOf(headSizes);
    s.keys = awkwardSize(longest);
    s.queries = coin() ? s.keys : awkwardSize(longest);
    s.causal = coin();
    s.window = coin() ? 0 : pick(1, s.keys + 2);
    s.scale = 1 / std::sqrt(double(s.headSize));
    in.options.causal = s.causal;
    in.options.window = s.window;
    if (coin()) {
      in.options.scale = s.scale = 0.1;
    }
    DType dtype = s.type = floatType();
    in.q = random({s.batch, s.heads, s.queries, s.headSize}, dtype);
    in.k = random({s.batch, s.kvHeads, s.keys, s.headSize}, dtype);
    in.v = random({s.batch, s.kvHeads, s.keys, s.headSize}, dtype);
    return in;
  }

  std::string messageOf(const Tensor &q, const Tensor &k, const Tensor &v,
                        const AttentionOptions &options = {}) {
    try {
      attention(q, k, v, options);
    } catch (const Error &error) {
      return error.message();
    }
    return "";
  }
};

NEREID_ON_EVERY_DEVICE(Attention);

TEST_P(Attention, agreesWithDoublePrecision) {
  forCases(
      [&] {
        Inputs in =
            inputs(isSlow ? 20 : 200, {1, 7, 16, 32, 64, 80, 96, 128, 256});
        Tensor o = attention(in.q, in.k, in.v, in.options);
        expectClose(o,
                    reference::attention(exactly(in.q), exactly(in.k),
                                         exactly(in.v), in.sizes),
                    "o");
        EXPECT_EQ(attention(in.q, in.k, in.v, in.options).toFloat64(),
                  o.toFloat64())
            << "other bits";
      },
      6);
}

TEST_P(Attention, gradientsAgreeWithDerivatives) {
  forCases(
      [&] {
        Inputs in = inputs(isSlow ? 12 : 50, {2, 16, 32, 64, 80, 96});
        Variable q(in.q, true), k(in.k, true), v(in.v, true);
        checkGradients(attention(q, k, v, in.options), {q, k, v},
                       [&](const std::vector<Numbers> &at) {
                         // The backward reads the result as it was stored.
                         return storedAs(reference::attention(at[0], at[1],
                                                              at[2], in.sizes),
                                         in.sizes.type);
                       });
      },
      3);
}

TEST_P(Attention, dropoutIsOneMaskForwardAndBackward) {
  forCases(
      [&] {
        Inputs in = inputs(isSlow ? 12 : 40, {16, 32, 64});
        reference::AttentionSizes &s = in.sizes;
        AttentionDropout &dropout = in.options.dropout;
        dropout.p = 0.3;
        dropout.site = int32_t(pick(1, 1000));
        if (coin()) {
          dropout.seed = pick(0, INT64_MAX - 1);
        } else {
          dropout.seedOnDevice =
              full({1}, double(pick(0, 1 << 30)), i64, device);
        }
        // Equal scores and values of one key each show the factors.
        AttentionOptions all;
        all.dropout = dropout;
        Tensor q = zeros({s.batch, s.heads, s.queries, 1}, f32, device),
               k = zeros({s.batch, s.kvHeads, s.keys, 1}, f32, device);
        s.factors.resize(size_t(s.batch * s.heads * s.queries * s.keys));
        int64_t dropped = 0;
        for (int64_t key = 0; key < s.keys; ++key) {
          Tensor v = zeros(k.shape(), f32, device);
          v.slice(2, key, key + 1).fill(double(s.keys));
          Values o = attention(q, k, v, all).toFloat64();
          for (size_t i = 0; i < o.size(); ++i) {
            // keep is 1 / (1 - p), rounded.
            Number factor = reference::parameter(o[i] != 0 ? 1 / 0.7 : 0);
            s.factors[i * size_t(s.keys) + size_t(key)] = factor;
            dropped += o[i] == 0;
            // A weight of 1 / keys, times keys.
            Number one = exp(Number(0) - log(Number(double(s.keys))));
            ASSERT_LE(std::fabs(o[i] - factor.value),
                      (factor * one * double(s.keys)).error);
          }
        }
        double count = double(s.factors.size());
        // 6 standard deviations.
        EXPECT_NEAR(double(dropped) / count, 0.3,
                    6 * std::sqrt(0.3 * 0.7 / count) + 1 / count);
        Variable x(in.q, true), y(in.k, true), z(in.v, true);
        checkGradients(attention(x, y, z, in.options), {x, y, z},
                       [&](const std::vector<Numbers> &at) {
                         return storedAs(
                             reference::attention(at[0], at[1], at[2], s),
                             s.type);
                       });
      },
      2);
}

TEST_P(Attention, aPackedProductIsTheSameInOneTensor) {
  int64_t heads = 3, width = heads * 8;
  Tensor qkv = random({2, 9, 3 * width}, f32).contiguous();
  auto part = [&](const Variable &packed, int64_t i) {
    Variable one = autograd::slice(packed, 2, i * width, (i + 1) * width);
    return autograd::transpose(autograd::reshape(one, {2, 9, heads, 8}), 1, 2);
  };
  AttentionOptions causal;
  causal.causal = true;
  Variable packed(qkv, true), apart(qkv, true);
  Variable y = selfAttention(packed, heads, causal);
  Variable expected = autograd::reshape(
      autograd::transpose(
          attention(part(apart, 0), part(apart, 1), part(apart, 2), causal), 1,
          2),
      {2, 9, width});
  EXPECT_EQ(y.value().toFloat64(), expected.value().toFloat64());
  EXPECT_EQ(selfAttention(qkv, heads, causal).toFloat64(),
            y.value().toFloat64());
  Tensor turned = qkv.transpose(0, 1).contiguous().transpose(0, 1);
  EXPECT_EQ(selfAttention(turned, heads, causal).toFloat64(),
            y.value().toFloat64());
  Tensor dy = random(y.shape(), f32);
  y.backward(dy);
  expected.backward(dy);
  EXPECT_EQ(packed.grad().toFloat64(), apart.grad().toFloat64());
}

TEST_P(Attention, gradientsHaveTheSameBitsInEachRun) {
  Inputs in = inputs(isSlow ? 12 : 100, {32});
  Tensor grad = random(in.q.shape(), in.q.dtype());
  std::vector<Values> first;
  for (int run = 0; run < 2; ++run) {
    Variable q(in.q, true), k(in.k, true), v(in.v, true);
    attention(q, k, v, in.options).backward(grad);
    std::vector<Values> bits = {q.grad().toFloat64(), k.grad().toFloat64(),
                                v.grad().toFloat64()};
    EXPECT_TRUE(run == 0 || bits == first);
    first = bits;
  }
}

TEST_P(Attention, theResultKeepsTheOrderOfMemory) {
  Tensor x = random({2, 5, 3, 16}, f32).contiguous(), q = x.transpose(1, 2);
  Tensor o = attention(q, q, q);
  EXPECT_TRUE(o.transpose(1, 2).isContiguous());
  EXPECT_EQ(
      o.toFloat64(),
      attention(q.contiguous(), q.contiguous(), q.contiguous()).toFloat64());
}

TEST_P(Attention, ofMuchLargerScoresStaysFinite) {
  Tensor q = full({1, 1, 3, 16}, 100, f32, device);
  AttentionResult result = attentionForward(q, q, q, {}, true);
  EXPECT_EQ(result.o.toFloat64(), Values(48, 100.0));
  // Three times 100 * 100 * 16 / sqrt(16).
  Numbers scores(3, Number(160000) * reference::parameter(0.25));
  expectClose(result.lse,
              Numbers(3, reference::logSumExp(scores) / Number(0.25)), "lse");
}

// Scores of 1e11, one far above the others: its value is the result, and it has
// all of the gradient.
// Also learned: of a shape that is broadcast.
TEST_P(Attention, addsABias) {
  forCases(
      [&] {
        Inputs in = inputs(isSlow ? 8 : 40, {16, 24});
        reference::AttentionSizes s = in.sizes;
        Shape all = {s.batch, s.heads, s.queries, s.keys}, shape = all;
        for (int64_t &size : shape) {
          size = pick(0, 2) ? size : 1;
        }
        shape.erase(shape.begin(), shape.begin() + pick(0, 2));
        Variable q(in.q, true), k(in.k, true), v(in.v, true),
            bias(random(shape, floatType()), true);
        auto withBias = [&](const Numbers &values) {
          reference::AttentionSizes sizes = s;
          Shape padded(4 - shape.size(), 1);
          padded.insert(padded.end(), shape.begin(), shape.end());
          for (int64_t i = 0; i < s.batch * s.heads * s.queries * s.keys; ++i) {
            int64_t place = 0, rest = i, stride = 1;
            for (size_t d = 4; d-- > 0;) {
              place += padded[d] == 1 ? 0 : rest % all[d] * stride;
              rest /= all[d];
              stride *= padded[d];
            }
            sizes.bias.push_back(values[size_t(place)]);
          }
          return sizes;
        };
        Variable o = attention(q, k, v, bias, in.options);
        expectClose(o.value(),
                    reference::attention(exactly(in.q), exactly(in.k),
                                         exactly(in.v),
                                         withBias(exactly(bias.value()))),
                    "o");
        checkGradients(o, {q, k, v, bias}, [&](const std::vector<Numbers> &at) {
          return reference::attention(at[0], at[1], at[2], withBias(at[3]));
        });
      },
      3);
}

TEST_P(Attention, hidesWhatAMaskTurnsOff) {
  constexpr int64_t batch = 2, heads = 2, queries = 5, keys = 21, size = 16;
  // Padding: each sequence has its own length, and the last query sees nothing.
  std::vector<bool> on;
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < queries; ++i) {
      for (int64_t j = 0; j < keys; ++j) {
        on.push_back(j < 7 + 9 * b && i + 1 < queries);
      }
    }
  }
  Tensor mask =
      Tensor::fromVector(on, Shape{batch, 1, queries, keys}).to(device);
  Tensor floats =
      full({batch, 1, queries, keys}, -INFINITY, f32, Device::cpu());
  for (int64_t b = 0; b < batch; ++b) {
    floats.select(0, b).slice(1, 0, queries - 1).slice(2, 0, 7 + 9 * b).fill(0);
  }
  Variable q(random({batch, heads, queries, size}, f32), true),
      k(random({batch, heads, keys, size}, f32), true),
      v(random({batch, heads, keys, size}, f32), true);
  Tensor dy = random(q.shape(), f32);
  auto run = [&](const AttentionOptions &options) {
    for (const Variable &one : {q, k, v}) {
      one.zeroGrad();
    }
    Variable o = attention(q, k, v, options);
    o.backward(dy);
    return std::vector{o.value().toFloat64(), q.grad().toFloat64(),
                       k.grad().toFloat64(), v.grad().toFloat64()};
  };
  std::vector<Values> masked = run({.bias = mask});
  EXPECT_EQ(run({.bias = floats.to(device)}), masked);
  Tensor o = attention(q.value(), k.value(), v.value(), {.bias = mask});
  for (int64_t b = 0; b < batch; ++b) {
    EXPECT_EQ(o.select(0, b).select(1, queries - 1).toFloat64(),
              Values(heads * size, 0.0));
    // As if what is hidden were not there.
    auto part = [&](const Tensor &t) {
      return t.slice(0, b, b + 1).slice(2, 0, 7 + 9 * b).contiguous();
    };
    Values alone = attention(q.value().slice(0, b, b + 1).contiguous(),
                             part(k.value()), part(v.value()))
                       .slice(2, 0, queries - 1)
                       .toFloat64(),
           here = o.slice(0, b, b + 1).slice(2, 0, queries - 1).toFloat64();
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_NEAR(here[i], alone[i], 1e-5);
    }
  }
  // The lowest number alone hides nothing from anything: PyTorch's mean.
  Tensor lowest = full({1}, -3.4028234e38, f32, device);
  Values mean =
      attention(q.value(), k.value(), v.value(), {.bias = lowest}).toFloat64();
  for (double value : mean) {
    EXPECT_TRUE(std::isfinite(value));
  }
  // A very high one hides all else.
  Tensor high = zeros({keys}, f32, device);
  high.slice(0, 1, 2).fill(2e38);
  Values second = attention(q.value(), k.value(), v.value(), {.bias = high})
                      .slice(2, 0, 1)
                      .toFloat64();
  EXPECT_EQ(second, v.value().slice(2, 1, 2).toFloat64());
  // A variable that is empty leaves that of the options.
  Variable same = attention(q, k, v, Variable(), {.bias = mask});
  EXPECT_EQ(same.value().toFloat64(), o.toFloat64());
}

TEST_P(Attention, takesScoresOfAnySize) {
  constexpr int64_t keys = 37, size = 16;
  std::vector<float> rows;
  for (int64_t j = 0; j < keys; ++j) {
    rows.insert(rows.end(), size, float(j * 11 % keys - 9) / keys);
  }
  constexpr int64_t largest = 10, smallest = 0; // 36 - 9 and 0 - 9
  static_assert(largest * 11 % keys == 36);
  for (double factor : {1e10, -1e10, 3.3e12}) {
    Variable q(full({1, 1, 2, size}, factor, f32, device), true),
        k(Tensor::fromVector(rows, Shape{1, 1, keys, size}, device), true),
        v(random({1, 1, keys, size}, f32), true);
    Variable o = attention(q, k, v);
    int64_t winner = factor > 0 ? largest : smallest;
    Values expected = v.value().select(2, winner).toFloat64(),
           row = o.value().select(2, 1).toFloat64();
    EXPECT_EQ(row, expected) << factor;
    o.backward(full(o.shape(), 1, f32, device));
    for (int64_t j = 0; j < keys; ++j) {
      EXPECT_EQ(v.grad().select(2, j).toFloat64(),
                Values(size, j == winner ? 2.0 : 0.0));
    }
  }
}

// Its weight is 1, whatever the score is.
TEST_P(Attention, oneVisibleKeyGivesScoresNoGradient) {
  struct Case {
    int64_t queries, keys;
    AttentionOptions options;
    int64_t alone; ///< queries, from the first on, that see one key
  };
  for (const Case &c :
       {Case{3, 1, {}, 3}, Case{1, 1, {.causal = true}, 1},
        Case{9, 9, {.window = 1}, 9}, Case{9, 9, {.causal = true}, 1},
        Case{9, 20, {.causal = true, .window = 1}, 9},
        Case{9, 20, {.causal = true, .window = 2}, 0}}) {
    Variable q(random({1, 2, c.queries, 16}, f32), true),
        k(random({1, 2, c.keys, 16}, f32), true),
        v(random({1, 2, c.keys, 16}, f32), true);
    attention(q, k, v, c.options).backward(random(q.shape(), f32));
    for (int64_t i = 0; i < c.queries; ++i) {
      Values row = q.grad().select(2, i).toFloat64();
      EXPECT_EQ(row == Values(row.size(), 0.0), i < c.alone) << i;
    }
    if (c.alone == c.queries) {
      EXPECT_EQ(k.grad().toFloat64(), Values(size_t(k.value().numel()), 0.0));
    }
  }
}

// Also in a program without a compiler, whose forms read fp32 as it is.
TEST_P(Attention, mayReadFloatsAsTf32) {
  Tensor q = full({1, 1, 3, 16}, 0.5, f32, device);
  AttentionOptions options;
  options.tf32 = true;
  Variable x(q, true);
  Variable y = attention(x, x, x, options);
  y.backward(q);
  // 0.5 is a number of tf32; the weights, 1 / 3, may lose up to 2^-10 of
  // themselves, as much again what is rounded in fp32.
  constexpr double bound = 2 * 0.5 * 0x1p-10;
  for (double value : y.value().toFloat64()) {
    EXPECT_NEAR(value, 0.5, bound);
  }
  for (double value : x.grad().toFloat64()) {
    EXPECT_NEAR(value, 0.5, bound);
  }
}

TEST_P(Attention, namesABiasThatDoesNotFit) {
  Tensor q = random({2, 4, 3, 8}, f32);
  EXPECT_THAT(messageOf(q, q, q, {.bias = zeros({2, 3}, f32, device)}),
              HasSubstr("attention: argument 'bias': expected a shape that "
                        "broadcasts to [2, 4, 3, 3], that of the scores, got "
                        "fp32[2, 3]"));
  EXPECT_THAT(messageOf(q, q, q, {.bias = zeros({3, 3}, i32, device)}),
              HasSubstr("argument 'bias': expected a tensor of fp32, fp16 or "
                        "bf16, got i32[3, 3]"));
  Tensor bias = zeros({3, 3}, f32, device);
  try {
    attention(Variable(q), Variable(q), Variable(q), Variable(bias),
              {.bias = bias});
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("attention: argument 'bias': expected one, as a "
                          "variable or in the options, got both"));
  }
}

TEST_P(Attention, writesGradientsToMemoryOfTheirOwn) {
  Tensor q = random({1, 2, 3, 8}, f32), d = zeros({1, 2, 3, 8}, f32, device);
  AttentionResult result = attentionForward(q, q, q, {}, true);
  auto messageOf = [&](const AttentionGradients &into) {
    try {
      attentionBackward(q, q, q, q, result, {}, true, true, into);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(messageOf({d, d, d}),
              HasSubstr("argument 'into.q': expected memory of its own, got "
                        "that of another gradient"));
  Tensor row = zeros({1, 1, 3, 8}, f32, device);
  EXPECT_THAT(messageOf({{}, row.expand({1, 2, 3, 8}), {}}),
              HasSubstr("argument 'into.k': expected a tensor whose elements "
                        "are places of their own"));
}

TEST_P(Attention, takesNoElements) {
  Tensor none = empty({2, 2, 0, 8}, f32, device),
         some = random({2, 2, 3, 8}, f32);
  EXPECT_EQ(attention(none, some, some).shape(), (Shape{2, 2, 0, 8}));
  // Without keys: 0, and no gradient.
  Variable q(some, true), k(none, true);
  Variable o = attention(q, k, k);
  EXPECT_EQ(o.value().toFloat64(), Values(96, 0.0));
  o.backward(random({2, 2, 3, 8}, f32));
  EXPECT_EQ(q.grad().toFloat64(), Values(96, 0.0));
}

TEST_P(Attention, namesTheArgumentThatDoesNotFit) {
  Tensor q = random({2, 4, 3, 8}, f32);
  EXPECT_THAT(messageOf(q, random({2, 4, 5, 9}, f32), q),
              HasSubstr("attention: argument 'k': expected shape [2, any, any, "
                        "8] (batch and head size of q), got fp32[2, 4, 5, 9"));
  EXPECT_THAT(messageOf(q, random({2, 3, 5, 8}, f32), q),
              HasSubstr("attention: argument 'k': expected a number of heads "
                        "that divides the 4 of q"));
  EXPECT_THAT(messageOf(q, random({2, 2, 5, 8}, f32), q),
              HasSubstr("attention: argument 'v': expected shape [2, 2, 5, 8] "
                        "(that of k)"));
  EXPECT_THAT(messageOf(q, random({2, 4, 5, 8}, f16), q),
              HasSubstr("attention: argument 'k': expected fp32 elements (as "
                        "q has)"));
  Tensor large = zeros({1, 1, 1, 257}, f32, device);
  EXPECT_THAT(messageOf(large, large, large),
              HasSubstr("attention: argument 'q': expected a head size (its "
                        "last dimension) from 1 to 256, got 257"));
  AttentionOptions options;
  options.window = -1;
  EXPECT_THAT(messageOf(q, q, q, options),
              HasSubstr("attention: argument 'window': expected a number that "
                        "is not negative, got -1"));
  options = {};
  options.scale = 0;
  EXPECT_THAT(messageOf(q, q, q, options),
              HasSubstr("attention: argument 'scale': expected a finite number "
                        "of more than 0, got 0"));
  Tensor good = random({1, 1, 4, 8}, f32);
  options = {};
  options.dropout.p = 1;
  EXPECT_THAT(messageOf(good, good, good, options),
              HasSubstr("attention: argument 'dropout': expected a probability "
                        "from 0 to below 1, got 1"));
  options.dropout.p = 0.5;
  options.dropout.seedOnDevice = zeros({2}, i64, device);
  EXPECT_THAT(messageOf(good, good, good, options),
              HasSubstr("argument 'seedOnDevice': expected shape [1], got"));
  auto packedMessage = [&](int64_t heads) -> std::string {
    try {
      selfAttention(zeros({1, 2, 12}, f32, device), heads);
    } catch (const Error &error) {
      return error.message();
    }
    return "";
  };
  EXPECT_THAT(packedMessage(3),
              HasSubstr("self_attention: argument 'heads': expected a number "
                        "whose triple divides the last dimension of qkv, 12, "
                        "got 3"));
}
