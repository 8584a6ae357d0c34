//===- AheadOfTimeTest.cpp - Operators without a compiler ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Links nereid_kernels, and its context has no compiler: every launch has to
// fit a form that a file ahead.txt lists.
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Expression.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/layer_norm/reference.h"
#include "kernels/linear/Linear.h"
#include "kernels/linear/reference.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/testing/OperatorTest.h"
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
  for (DType dtype : {f32, f16, bf16}) {
    for (int64_t k : {1, 64, 130}) {
      Tensor a = randn({5, k}, dtype, cpu, 1),
             b = randn({k, 48}, dtype, cpu, 2);
      Numbers plain =
          reference::product(exactly(a), 1, exactly(b), 1, 5, 48, size_t(k));
      for (DType other : {f32, dtype}) {
        Tensor bias = randn({48}, other, cpu, 3),
               residual = randn({5, 48}, other, cpu, 4);
        Numbers rows = exactly(bias), expected = exactly(residual);
        for (size_t i = 0; i < expected.size(); ++i) {
          Number z = 0.5 * plain[i] + rows[i % 48];
          expected[i] = reference::activate(z, Activation::Relu) + expected[i];
        }
        EXPECT_EQ(misfit(matmul(a, b,
                                {.bias = bias,
                                 .residual = residual,
                                 .activation = Activation::Relu,
                                 .scale = 0.5,
                                 .type = f32}),
                         expected),
                  "");
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
          return v.defined() ? exactly(v.value()) : Numbers();
        };
        Variable y = layerNorm(x, w, b);
        EXPECT_EQ(misfit(y.value(),
                         reference::layerNorm(values(x), values(w), values(b),
                                              size_t(columns), 1e-5)),
                  "");
        EXPECT_EQ(layerNorm(x.value(), w.value(), b.value()).toFloat64(),
                  y.value().toFloat64())
            << "with and without statistics";
        y.backward(randn({3, columns}, dtype, cpu, 4));
        EXPECT_TRUE(x.grad().defined());
        EXPECT_EQ(w.defined(), w.defined() && w.grad().defined());
        EXPECT_EQ(b.defined(), b.defined() && b.grad().defined());
      }
    }
  }
}
