//===- DoublesTest.cpp - Gradients of every operator against fp64 ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator of fp64 is what it is made of (kernels/operator/Doubles.h). Its
// gradients are compared with differences of its values, and those of the fused
// kernels in fp32 with them.
//
//===----------------------------------------------------------------------===//

#include "kernels/add_norm/AddNorm.h"
#include "kernels/attention/Attention.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/embedding/Embedding.h"
#include "kernels/expression/Expression.h"
#include "kernels/group_norm/GroupNorm.h"
#include "kernels/linear/Linear.h"
#include "kernels/losses/Losses.h"
#include "kernels/reduce/Reductions.h"
#include "kernels/rotary/Rotary.h"
#include "kernels/selective_scan/SelectiveScan.h"
#include "kernels/softmax/Softmax.h"
#include "kernels/testing/OperatorCalls.h"
#include "kernels/testing/OperatorTest.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::ElementsAre;

namespace {

class Doubles : public e2e::OnDevice {
protected:
  /// Numbers that fp32 holds, no two near each other; `positive` ones for what
  /// takes logarithms.
  Values draw(int64_t count, bool positive) {
    Values values;
    for (int64_t i = 0; i < count; ++i) {
      double x = 0.25 + double(numbers() % 4096) / 4096;
      values.push_back(positive || numbers() % 2 ? x : -x);
    }
    return values;
  }
  Tensor tensorOf(const Values &values, const Shape &shape, DType type) const {
    return Tensor::fromVector(values, shape).to(type).to(device);
  }
  std::vector<Variable> leaves(const OperatorCall &one,
                               const std::vector<Values> &values,
                               DType type) const {
    std::vector<Variable> all;
    for (size_t i = 0; i < values.size(); ++i) {
      all.emplace_back(tensorOf(values[i], one.arguments[i], type), true);
    }
    return all;
  }
  /// The weighted sum of the results.
  double total(const OperatorCall &one, const std::vector<Values> &values,
               const Values &weights) const {
    Values y = one.call(leaves(one, values, f64)).value().toFloat64();
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) {
      sum += y[i] * weights[i];
    }
    return sum;
  }
  /// Does the call have a gradient?
  bool check(const OperatorCall &one);

  std::mt19937 numbers{7};
};

} // namespace

NEREID_ON_EVERY_DEVICE(Doubles);

bool Doubles::check(const OperatorCall &one) {
  SCOPED_TRACE(one.name);
  std::vector<Values> at;
  for (const Shape &shape : one.arguments) {
    int64_t count = 1;
    for (int64_t size : shape) {
      count *= size;
    }
    at.push_back(draw(count, std::string_view(one.name) == "klDiv"));
  }
  std::vector<Variable> narrow = leaves(one, at, f32);
  Variable narrowY = one.call(narrow);
  if (!narrowY.requiresGrad()) {
    return false;
  }
  std::vector<Variable> wide = leaves(one, at, f64);
  Variable y = one.call(wide);
  EXPECT_EQ(y.dtype(), f64);
  EXPECT_EQ(y.shape(), narrowY.shape());
  Values weights = draw(y.numel(), false);
  y.backward(tensorOf(weights, y.shape(), f64));
  narrowY.backward(tensorOf(weights, y.shape(), narrowY.dtype()));
  for (size_t i = 0; i < wide.size(); ++i) {
    // Of an argument that only values come from, as a weight that is quantized.
    EXPECT_EQ(wide[i].grad().defined(), narrow[i].grad().defined()) << i;
    if (!wide[i].grad().defined() || !narrow[i].grad().defined()) {
      continue;
    }
    EXPECT_EQ(wide[i].grad().dtype(), f64);
    Values gradient = wide[i].grad().toFloat64(),
           fused = narrow[i].grad().toFloat64();
    double scale = 0;
    for (double g : gradient) {
      scale = std::max(scale, std::fabs(g));
    }
    for (size_t k = 0; k < gradient.size(); ++k) {
      EXPECT_NEAR(fused[k], gradient[k], 1e-6 * scale) << i << ", " << k;
      // Some of them: differences take four calls each.
      if (k % (1 + gradient.size() / 4) != 0) {
        continue;
      }
      auto moved = [&](double by) {
        std::vector<Values> values = at;
        values[i][k] += by;
        return total(one, values, weights);
      };
      constexpr double step = 0x1p-9;
      double slope = (8 * (moved(step) - moved(-step)) -
                      (moved(2 * step) - moved(-2 * step))) /
                     (12 * step);
      EXPECT_NEAR(gradient[k], slope, 1e-7 * std::max(scale, 1.0))
          << i << ", " << k;
    }
  }
  return true;
}

TEST_P(Doubles, everyOperatorHasItsGradients) {
  std::vector<std::string> without;
  for (const OperatorCall &one : operatorCalls()) {
    if (!check(one)) {
      without.push_back(one.name);
    }
  }
  EXPECT_THAT(without,
              ElementsAre("argmax", "sample", "decoding", "decoding of pages",
                          "SGD", "AdamW", "clipGradNorm"));
}

using Arguments = std::span<const Variable>;

static Tensor integers(Arguments x, const std::vector<int32_t> &values,
                       const Shape &shape) {
  return Tensor::fromVector(values, shape).to(x[0].device());
}

static Tensor isEven(Arguments x, const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  std::vector<int32_t> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(int32_t(i % 2 == 0));
  }
  return integers(x, values, shape) != 0;
}

static std::vector<OperatorCall> reductionsAndNorms() {
  return {
      {"softmax, causal, scaled",
       {{2, 3, 5}},
       [](Arguments x) {
         return softmax(x[0], {.scale = 0.5, .causal = true});
       }},
      {"logSoftmax of a mask",
       {{2, 4}},
       [](Arguments x) {
         return logSoftmax(x[0] * 2,
                           {.mask = full({4}, 0.5, f32, x[0].device())})
             .variable();
       }},
      // Its first row has nothing.
      {"softmax of a mask of int1",
       {{3, 4}},
       [](Arguments x) {
         Tensor mask =
             integers(x, {0, 0, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1}, {3, 4}) != 0;
         return softmax(x[0], {.mask = mask});
       }},
      {"var without correction",
       {{3, 4}},
       [](Arguments x) { return var(x[0], {0, 1}, true, 0.5); }},
      {"stddev", {{3, 4}}, [](Arguments x) { return stddev(x[0], 0); }},
      {"logSumExp", {{3, 4}}, [](Arguments x) { return logSumExp(x[0], 1); }},
      {"min", {{3, 4}}, [](Arguments x) { return min(x[0], 0); }},
      {"groupNorm of images",
       {{2, 4, 2, 3}, {4}},
       [](Arguments x) {
         return groupNorm(x[0].permute({0, 2, 1, 3}), 1, {}, {}) +
                groupNorm(x[0], 2, x[1]).permute({0, 2, 1, 3});
       }},
      {"addLayerNorm with dropout",
       {{3, 8}, {3, 8}},
       [](Arguments x) {
         auto [y, sum] = addLayerNorm(x[0], x[1], {}, {}, 1e-5,
                                      {.p = 0.5, .seed = 3, .offset = 5});
         return Variable(y + sum);
       }},
      {"smoothed crossEntropy, some ignored",
       {{4, 3}},
       [](Arguments x) {
         Tensor targets = integers(x, {2, 7, 0, 1}, {4});
         return crossEntropy(x[0], targets,
                             {.labelSmoothing = 0.25, .ignoreIndex = 7});
       }},
      {"crossEntropy of each row",
       {{2, 2, 3}},
       [](Arguments x) {
         Tensor targets = integers(x, {2, -100, 0, 1}, {2, 2});
         return crossEntropy(x[0], targets, {.reduction = Reduction::None});
       }},
      {"huberLoss",
       {{6}, {6}},
       [](Arguments x) {
         return huberLoss(x[0], x[1], Reduction::Sum, 0.75).variable();
       }},
      {"binaryCrossEntropyWithLogits",
       {{6}, {6}},
       [](Arguments x) {
         return binaryCrossEntropyWithLogits(x[0], x[1]).variable();
       }},
  };
}

static Variable attend(Arguments x, const AttentionOptions &options) {
  return attention(x[0], x[1], x[2], options);
}

static std::vector<OperatorCall> productsAndModels() {
  return {
      {"matmul with all that follows",
       {{2, 1, 3, 4}, {5, 4, 2}, {2}, {2, 5, 3, 2}},
       [](Arguments x) {
         return matmul(x[0], x[1],
                       {.bias = x[2], .residual = x[3], .scale = 0.5});
       }},
      {"matmul of a shared matrix",
       {{3, 2, 4}, {4, 2}},
       [](Arguments x) { return matmul(x[0], x[1]); }},
      {"matmul of vectors",
       {{4}, {4}},
       [](Arguments x) { return matmul(x[0], x[1]); }},
      {"linear with silu",
       {{2, 3, 4}, {5, 4}, {5}},
       [](Arguments x) { return linear(x[0], x[1], x[2], Activation::Silu); }},
      {"linear with geluTanh",
       {{4}, {5, 4}},
       [](Arguments x) {
         return linear(x[0], x[1], Variable(), Activation::GeluTanh);
       }},
      {"scaled linear",
       {{3, 4}, {5, 4}, {5}},
       [](Arguments x) {
         return linear(x[0], x[1], x[2], LinearOptions{.scale = 0.25});
       }},
      {"attention, causal, of shared heads",
       {{1, 4, 3, 8}, {1, 2, 5, 8}, {1, 2, 5, 8}},
       [](Arguments x) { return attend(x, {.causal = true}); }},
      {"attention in a window",
       {{1, 1, 6, 8}, {1, 1, 6, 8}, {1, 1, 6, 8}},
       [](Arguments x) { return attend(x, {.window = 2, .scale = 0.5}); }},
      // Every second query sees nothing.
      {"attention with a mask",
       {{1, 2, 4, 8}, {1, 2, 4, 8}, {1, 2, 4, 8}},
       [](Arguments x) {
         return attend(x, {.causal = true, .bias = isEven(x, {4, 1})});
       }},
      {"selfAttention",
       {{2, 3, 24}},
       [](Arguments x) { return selfAttention(x[0], 2, {.causal = true}); }},
      {"interleaved rotary of a part",
       {{3, 2, 8}},
       [](Arguments x) {
         auto [cos, sin] = rotaryAngles(3, 4, x[0].device());
         return rotary(x[0], cos, sin, true);
       }},
      {"selectiveScan without d",
       {{2, 3, 2}, {2, 3, 2}, {2, 3}, {2, 3, 3}, {2, 3, 3}},
       [](Arguments x) { return selectiveScan(x[0], x[1], x[2], x[3], x[4]); }},
  };
}

TEST_P(Doubles, optionsHaveTheirGradients) {
  for (auto list : {reductionsAndNorms, productsAndModels}) {
    for (const OperatorCall &one : list()) {
      EXPECT_TRUE(check(one)) << one.name;
    }
  }
}

// What fused kernels keep in fp32, and what they draw themselves.
TEST_P(Doubles, whatFp64DoesNotHaveIsSaid) {
  Tensor q = full({1, 1, 2, 8}, 0.5, f64, device),
         x = full({2, 2}, 0.5, f64, device);
  EXPECT_EQ(messageOf([&] { attention(q, q, q, {.dropout = {.p = 0.5}}); }),
            "attention: argument 'dropout': expected 0, where q is of fp64, "
            "got 0.5");
  EXPECT_EQ(messageOf([&] { matmul(x, x, {.type = f32}); }),
            "matmul: argument 'type': expected fp64, as a has, got fp32");
  EXPECT_EQ(
      messageOf([&] { linear(x, x, Tensor(), LinearOptions{.type = f32}); }),
      "linear: argument 'type': expected fp64, as x has, got fp32");
  EXPECT_EQ(
      messageOf([&] { softmax(full({2, 2}, 1, f32, device), {.mask = x}); }),
      "softmax: argument 'mask': expected a tensor of fp32, fp16 or bf16, got "
      "fp64[2, 2]");
}

// By definition, and not by that of a derivative.
TEST_P(Doubles, theRowOfPaddingHasNoGradient) {
  Variable table(full({3, 1}, 0.5, f64, device), true);
  Tensor indices = Tensor::fromVector(std::vector<int32_t>{0, 2, 2}).to(device);
  embedding(indices, table, -1).backward(full({3, 1}, 1, f64, device));
  EXPECT_EQ(table.grad().toFloat64(), (Values{1, 0, 0}));
  table.zeroGrad();
  embedding(indices, table).backward(full({3, 1}, 1, f64, device));
  EXPECT_EQ(table.grad().toFloat64(), (Values{1, 0, 2}));
}

TEST_P(Doubles, emptyTensorsHaveGradients) {
  Variable x(empty({0, 3}, f64, device), true);
  for (const Variable &y :
       {softmax(x), crossEntropy(x, empty({0}, i32, device)),
        Variable(linear(x, Variable(full({2, 3}, 1, f64, device)))),
        groupNorm(x, 3)}) {
    y.backward(full(y.shape(), 1, f64, device), true);
    EXPECT_EQ(x.grad().shape(), x.shape());
  }
}
