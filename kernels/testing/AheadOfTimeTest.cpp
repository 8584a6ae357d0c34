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

#include "kernels/adamw/AdamW.h"
#include "kernels/attention/Attention.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/expression/Expression.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/layer_norm/reference.h"
#include "kernels/linear/Linear.h"
#include "kernels/linear/reference.h"
#include "kernels/linear_cross_entropy/LinearCrossEntropy.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/rms_norm/RmsNorm.h"
#include "kernels/rotary/Rotary.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Autograd/Views.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <utility>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

TEST(AheadOfTime, hasNoCompiler) { EXPECT_FALSE(hasCompiler()); }

static std::string errorOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.message();
  }
  return "no error";
}

TEST(AheadOfTime, expressionsOfIntegersSayThatTheyNeedACompiler) {
  Tensor i = arange({3}, i32, Device::cpu());
  EXPECT_EQ(errorOf([&] { Tensor y = i + 1; }),
            "expression: expected fp32, fp16 or bf16, since this program has "
            "no compiler to make a kernel of other types, got i32[3]; hint: "
            "cast to fp32 first, or link Nereid::Nereid and include "
            "nereid/nereid.h");
  EXPECT_THAT(errorOf([&] { Tensor y = where(2 < Expression(i), 1.5, 0.5); }),
              HasSubstr("got i32[3]"));
  EXPECT_THAT(errorOf([&] { Tensor y = cast(i * 0.5, i8); }),
              HasSubstr("got i8[3]"));
}

namespace {
/// The names of the kernels that are launched while it lives.
class Launches : public LaunchWatcher {
public:
  void launching(const OperatorLaunch &launch) override {
    names.push_back(launch.kernel.name());
  }
  std::vector<std::string> names;
};
} // namespace

TEST(AheadOfTime, commonExpressionsAreOneKernelWithoutCopies) {
  using Names = std::vector<std::string>;
  Device cpu = Device::cpu();
  for (DType dtype : {f32, f16, bf16}) {
    Variable gate(randn({3, 40}, dtype, cpu, 1), true),
        up(randn({3, 40}, dtype, cpu, 2), true);
    Tensor dy = randn({3, 40}, dtype, cpu, 3);
    Launches seen;
    Variable y = swiglu(gate, up);
    EXPECT_EQ(std::exchange(seen.names, {}), Names{"swiglu_kernel"});
    y.backward(dy);
    EXPECT_EQ(std::exchange(seen.names, {}),
              Names{"swiglu_backward_0_1_kernel"});
    EXPECT_EQ(y.dtype(), dtype);
    y = silu(gate) * up; // the same, written out
    EXPECT_EQ(std::exchange(seen.names, {}), Names{"swiglu_kernel"});
    y = gate + dropout(up, 0.25, 7);
    EXPECT_EQ(std::exchange(seen.names, {}), Names{"add_dropout_kernel"});
    y = 0.3 * gate;
    Variable same = gate * 0.3;
    EXPECT_EQ(std::exchange(seen.names, {}),
              (Names{"scale_kernel", "scale_kernel"}));
  }
}

// What no kernel has is one operation after the other.
TEST(AheadOfTime, otherExpressionsAreTheirOperations) {
  Device cpu = Device::cpu();
  Tensor x = randn({3, 40}, bf16, cpu, 1), bias = randn({40}, f32, cpu, 2);
  Tensor y = gelu(x + bias) * 0.25;
  Numbers expected;
  Numbers xs = exactly(x), biases = exactly(bias);
  for (size_t i = 0; i < xs.size(); ++i) {
    expected.push_back(
        0.25 * reference::activate(xs[i] + biases[i % 40], Activation::Gelu));
  }
  EXPECT_EQ(y.dtype(), f32);
  EXPECT_EQ(misfit(y, expected), "");
}

// A leaf is copied, as where there is a compiler.
TEST(AheadOfTime, expressionsOfATensorAloneAreCopies) {
  Tensor x = randn({8}, f32, Device::cpu(), 1);
  Expression twice[] = {Expression(x), Expression(x) * 2};
  std::vector<Tensor> results = evaluate(twice);
  EXPECT_NE(results[0].data(), x.data());
  EXPECT_EQ(results[0].toFloat64(), x.toFloat64());
  EXPECT_EQ(results[1].toFloat64()[3], 2 * x.toFloat64()[3]);
}

namespace {
/// A decoder of one block, as Llama has it: RMS norms, rotary embedding, fewer
/// heads of keys than of queries, SwiGLU, residual sums.
struct Llama {
  static constexpr int64_t tokens = 7, width = 32, heads = 4, keyHeads = 2,
                           size = width / heads, hidden = 48, words = 19;
  explicit Llama(DType dtype) {
    int64_t seed = 0;
    auto make = [&](Shape shape, double scale, double offset) {
      Tensor value = randn(shape, f32, cpu, ++seed);
      return Variable(Tensor(Expression(value) * scale + offset).to(dtype),
                      true);
    };
    for (const Shape &shape : {Shape{words, width},
                               {width, width},
                               {keyHeads * size, width},
                               {keyHeads * size, width},
                               {width, width},
                               {hidden, width},
                               {hidden, width},
                               {width, hidden},
                               {words, width}}) {
      weights.push_back(make(shape, 0.2, 0));
    }
    for (int i = 0; i < 3; ++i) {
      weights.push_back(make({width}, 0.1, 1));
    }
  }

  Variable loss() const {
    auto [cos, sin] = rotaryAngles(tokens, size, cpu);
    auto headsOf = [&](const Variable &x, const Variable &weight,
                       int64_t count) {
      return autograd::reshape(linear(x, weight, {}), {1, tokens, count, size});
    };
    auto rows = [](const Variable &x) { return autograd::transpose(x, 1, 2); };
    const std::vector<Variable> &w = weights;
    Tensor text = randint({tokens + 1}, 0, words, i64, cpu, 5);
    Variable x = embedding(text.slice(0, 0, tokens), w[0]);
    Variable h = rmsNorm(x, w[9]);
    Variable q = rotary(headsOf(h, w[1], heads), cos, sin),
             k = rotary(headsOf(h, w[2], keyHeads), cos, sin),
             v = headsOf(h, w[3], keyHeads);
    AttentionOptions options;
    options.causal = true;
    Variable o = attention(rows(q), rows(k), rows(v), options);
    o = autograd::reshape(rows(o), {tokens, width});
    x = x + linear(o, w[4], {});
    h = rmsNorm(x, w[10]);
    Variable gated = swiglu(linear(h, w[5], {}), linear(h, w[6], {}));
    x = x + linear(gated, w[7], {});
    return linearCrossEntropy(rmsNorm(x, w[11]), w[8],
                              text.slice(0, 1, tokens + 1));
  }

  Device cpu = Device::cpu();
  std::vector<Variable> weights;
};
} // namespace

// Along a random direction the loss changes as the gradients say.
TEST(AheadOfTime, aLlamaHasItsGradients) {
  Llama model(f32);
  model.loss().backward();
  double slope = 0;
  std::vector<Tensor> at, along;
  for (const Variable &w : model.weights) {
    at.push_back(w.value().clone());
    along.push_back(randn(w.shape(), f32, model.cpu, 100 + int64_t(at.size())));
    std::vector<double> g = w.grad().toFloat64(), d = along.back().toFloat64();
    for (size_t i = 0; i < g.size(); ++i) {
      slope += g[i] * d[i];
    }
  }
  auto lossAt = [&](double step) {
    NoGrad guard;
    for (size_t i = 0; i < at.size(); ++i) {
      evaluateInto(model.weights[i].value(),
                   Expression(at[i]) + Expression(along[i]) * step);
    }
    return model.loss().value().item();
  };
  // The error of both differences is of the step's fourth power.
  constexpr double step = 1e-3;
  double near = (lossAt(step) - lossAt(-step)) / (2 * step),
         far = (lossAt(2 * step) - lossAt(-2 * step)) / (4 * step);
  EXPECT_NEAR((4 * near - far) / 3, slope, 2e-3 * std::abs(slope));
}

TEST(AheadOfTime, aLlamaTrains) {
  for (DType dtype : {f32, bf16}) {
    Llama model(dtype);
    AdamW optimizer({.learningRate = 1e-2});
    for (const Variable &w : model.weights) {
      optimizer.add(w);
    }
    double first = model.loss().value().item(), last = first;
    for (int i = 0; i < 30; ++i) {
      optimizer.zeroGrad();
      Variable loss = model.loss();
      loss.backward();
      optimizer.step(optimizer.clipFactor(1));
      last = loss.value().item();
    }
    EXPECT_LT(last, first / 10);
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
