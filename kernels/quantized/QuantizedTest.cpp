//===- QuantizedTest.cpp ----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/quantized/Quantized.h"
#include "kernels/quantized/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Quantized);

/// What `quantize` should store of `w` [n, k]: the whole numbers.
static Values wholeNumbers(const Values &w, const Values &scales, size_t k,
                           size_t group) {
  size_t groups = (k + group - 1) / group;
  Values q;
  for (size_t i = 0; i < w.size(); ++i) {
    float scale = float(scales[i / k * groups + i % k / group]);
    q.push_back(scale == 0 ? 0 : std::nearbyint(float(w[i]) / scale));
  }
  return q;
}

TEST_P(Quantized, productsAndTheirGradients) {
  forCases(
      [&] {
        int64_t rows = awkwardSize(isSlow ? 10 : 80),
                n = awkwardSize(isSlow ? 12 : 90),
                k = oneOf<int64_t>({1, 31, 64, 97, 200}),
                group = oneOf<int64_t>({0, 32, 64, 96});
        QuantizeOptions options = {.bits = oneOf<int64_t>({4, 8}),
                                   .group = group};
        DType type = floatType();
        Tensor w = random({n, k}, type);
        QuantizedWeight q = quantize(w, options);
        double largest = options.bits == 8 ? 127 : 7;
        size_t width = size_t(q.group);
        // A scale is the largest of its group, divided and rounded.
        Values all = w.toFloat64(), scales = q.scales.toFloat64();
        size_t groups = size_t(q.scales.size(1));
        for (size_t i = 0; i < scales.size(); ++i) {
          float most = 0;
          for (size_t j = i % groups * width;
               j < std::min<size_t>(size_t(k), (i % groups + 1) * width); ++j) {
            most = std::max(most,
                            std::fabs(float(all[i / groups * size_t(k) + j])));
          }
          ASSERT_NEAR(scales[i], double(most) / largest,
                      1e-6 * double(most) / largest);
        }
        Values whole = wholeNumbers(all, scales, size_t(k), width);
        Tensor back = dequantize(q);
        Values again = back.toFloat64();
        for (size_t i = 0; i < again.size(); ++i) {
          double scale = scales[i / size_t(k) * groups + i % size_t(k) / width];
          // A quotient half way between two may be rounded either way.
          ASSERT_NEAR(again[i] / (scale == 0 ? 1 : scale), whole[i], 1.001);
          ASSERT_LE(std::fabs(again[i] - all[i]), 0.501 * scale);
          whole[i] = scale == 0 ? 0 : std::nearbyint(again[i] / scale);
        }
        Variable x(random({rows, k}, type), true),
            bias(random({n}, coin() ? f32 : type), true);
        auto reference = [&](const std::vector<Numbers> &at) {
          return reference::quantizedLinear(at[0], whole, scales, at[1],
                                            size_t(k), width, type);
        };
        Variable y = quantizedLinear(x, q, bias);
        expectClose(y.value(),
                    reference({exactly(x.value()), exactly(bias.value())}),
                    "y");
        checkGradients(y, {x, bias}, reference);
        EXPECT_EQ(quantizedLinear(x.value(), q, bias.value()).toFloat64(),
                  y.value().toFloat64())
            << "other bits";
      },
      4);
}

TEST_P(Quantized, halvesOfBytesAreNeighboursOfABlock) {
  std::vector<float> values(66);
  values[0] = 7;
  values[1] = -3;
  values[33] = 5;
  values[65] = -7;
  QuantizedWeight q = quantize(
      Tensor::fromVector(values, Shape{1, 66}).to(device), {.bits = 4});
  EXPECT_EQ(q.values.shape(), (Shape{1, 64}));
  EXPECT_EQ(q.scales.toFloat64(), Values{1});
  Values bytes = q.values.toFloat64();
  EXPECT_EQ(bytes[0], 7);
  EXPECT_EQ(bytes[1], double(int8_t((5 << 4) | (-3 & 15))));
  EXPECT_EQ(bytes[33], -7 & 15);
  EXPECT_EQ(dequantize(q, bf16).toFloat64(),
            Values(values.begin(), values.end()));
}

TEST_P(Quantized, whatIsNotFiniteMakesItsGroupNan) {
  for (double bad : {double(NAN), double(INFINITY), -double(INFINITY)}) {
    for (int64_t bits : {4, 8}) {
      Tensor w = full({2, 64}, 7, f32, device);
      w.slice(0, 1, 2).slice(1, 3, 4).fill(bad);
      QuantizedWeight q = quantize(w, {.bits = bits, .group = 32});
      Values back = dequantize(q).toFloat64();
      for (size_t i = 0; i < back.size(); ++i) {
        bool isNan = i >= 64 && i < 96;
        EXPECT_EQ(std::isnan(back[i]), isNan) << i;
        EXPECT_TRUE(isNan || std::fabs(back[i] - 7) < 1e-5) << back[i];
      }
      Values y = quantizedLinear(full({1, 64}, 1, f32, device), q).toFloat64();
      EXPECT_NEAR(y[0], 7 * 64, 1e-3);
      EXPECT_TRUE(std::isnan(y[1]));
    }
  }
}

TEST_P(Quantized, takesNoElements) {
  QuantizedWeight none = quantize(empty({0, 5}, f32, device));
  EXPECT_EQ(dequantize(none).shape(), (Shape{0, 5}));
  EXPECT_EQ(quantizedLinear(zeros({3, 5}, f32, device), none).shape(),
            (Shape{3, 0}));
  QuantizedWeight q = quantize(zeros({4, 5}, f32, device), {.bits = 4});
  EXPECT_EQ(quantizedLinear(zeros({2, 5}, f32, device), q).toFloat64(),
            Values(8, 0.0));
  EXPECT_EQ(quantizedLinear(empty({0, 5}, f32, device), q).shape(),
            (Shape{0, 4}));
}

TEST_P(Quantized, namesTheArgumentThatDoesNotFit) {
  auto messageOf = [](auto call) {
    try {
      call();
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  Tensor w = zeros({4, 64}, f32, device);
  EXPECT_THAT(messageOf([&] { quantize(w, {.bits = 3}); }),
              HasSubstr("quantize: argument 'bits': expected 8 or 4, got 3"));
  EXPECT_THAT(messageOf([&] { quantize(w, {.group = 48}); }),
              HasSubstr("'group': expected a multiple of 32, or all 64 "
                        "columns, got 48"));
  EXPECT_THAT(messageOf([&] { quantize(zeros({4}, f32, device)); }),
              HasSubstr("'weight': expected 2 dimensions"));
  QuantizedWeight q = quantize(w, {.group = 32});
  EXPECT_THAT(messageOf([&] { dequantize(q, i32); }),
              HasSubstr("dequantize: argument 'type': expected fp32, fp16 or "
                        "bf16, got i32"));
  EXPECT_THAT(
      messageOf([&] { quantizedLinear(zeros({3, 5}, f32, device), q); }),
      HasSubstr("quantizedLinear: argument 'x': expected a last dimension of "
                "64, the columns of weight, got fp32[3, 5]"));
  EXPECT_THAT(messageOf([&] {
                quantizedLinear(zeros({3, 64}, f32, device), q,
                                zeros({3}, f32, device));
              }),
              HasSubstr("'bias': expected shape [4] (the rows of weight)"));
  QuantizedWeight wrong = q;
  wrong.bits = 4;
  EXPECT_THAT(messageOf([&] { dequantize(wrong); }),
              HasSubstr("'weight.values': expected shape [4, 32] (bytes of a "
                        "row)"));
  wrong = q;
  wrong.group = 64;
  EXPECT_THAT(messageOf([&] { dequantize(wrong); }),
              HasSubstr("'weight.scales': expected shape [4, 1] (groups of "
                        "each row)"));
  wrong.columns = 0;
  EXPECT_THAT(messageOf([&] { dequantize(wrong); }),
              HasSubstr("'weight.columns': expected from 1 to 2^29, got 0"));
}
