//===- AheadOfTimeTest.cpp - Operators without a compiler ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Links nereid_kernels and no compiler: every launch has to fit a form that a
// file ahead.txt lists.
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Expression.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/layer_norm/reference.h"
#include "kernels/linear/Linear.h"
#include "kernels/operator/OperatorKernel.h"
#include "nereid/Runtime/Error.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::kernels;

TEST(AheadOfTime, hasNoCompiler) { EXPECT_FALSE(hasCompiler()); }

TEST(AheadOfTime, expressionsSayThatTheyNeedACompiler) {
  Tensor x = randn({3}, f32, Device::cpu(), 1);
  try {
    Tensor y = gelu(Expression(x)) * 2;
    FAIL() << "computed " << y.str();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::NotFound);
    EXPECT_EQ(error.message(),
              "expression: this program has no compiler to make its kernel; "
              "hint: link NereidPipeline and include nereid/nereid.h, or call "
              "operators that were compiled ahead of time");
  }
}

TEST(AheadOfTime, productsOfEveryEpilogueFindTheirForms) {
  Device cpu = Device::cpu();
  auto values = [](const Tensor &t) { return t.toFloat64(); };
  for (DType dtype : {f32, f16, bf16}) {
    for (int64_t k : {1, 64, 130}) {
      Tensor a = randn({5, k}, dtype, cpu, 1),
             b = randn({k, 48}, dtype, cpu, 2);
      std::vector<double> plain = values(matmul(a, b, {.type = f32}));
      for (DType other : {f32, dtype}) {
        Tensor bias = randn({48}, other, cpu, 3),
               residual = randn({5, 48}, other, cpu, 4);
        std::vector<double> rows = values(bias), added = values(residual),
                            got = values(matmul(a, b,
                                                {.bias = bias,
                                                 .residual = residual,
                                                 .activation = Activation::Relu,
                                                 .scale = 0.5,
                                                 .type = f32}));
        for (size_t i = 0; i < got.size(); ++i) {
          double z = 0.5 * plain[i] + rows[i % 48];
          ASSERT_NEAR(got[i], std::max(z, 0.0) + added[i],
                      1e-5 * (1 + std::fabs(plain[i])));
        }
      }
    }
  }
}

TEST(AheadOfTime, layerNormWithEachOptionalArgument) {
  Device cpu = Device::cpu();
  for (DType dtype : {f32, f16, bf16}) {
    for (int64_t columns : {1, 768, 5001}) {
      for (int present = 0; present < 4; ++present) {
        Variable x(randn({3, columns}, dtype, cpu, 1), true), w, b;
        if (present & 1) {
          w = Variable(randn({columns}, dtype, cpu, 2), true);
        }
        if (present & 2) {
          b = Variable(randn({columns}, dtype, cpu, 3), true);
        }
        auto values = [](const Variable &v) {
          return v.defined() ? v.value().toFloat64() : reference::Values();
        };
        Variable y = layerNorm(x, w, b);
        std::vector<double> got = y.value().toFloat64(),
                            expected = reference::layerNorm(
                                values(x), values(w), values(b),
                                size_t(columns), 1e-5);
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_NEAR(got[i], expected[i],
                      (std::fabs(expected[i]) + 1) * 0x1p-7);
        }
        EXPECT_EQ(layerNorm(x.value(), w.value(), b.value()).toFloat64(), got)
            << "with and without statistics";
        y.backward(randn({3, columns}, dtype, cpu, 4));
        EXPECT_TRUE(x.grad().defined());
        EXPECT_EQ(w.defined(), w.defined() && w.grad().defined());
        EXPECT_EQ(b.defined(), b.defined() && b.grad().defined());
      }
    }
  }
}
