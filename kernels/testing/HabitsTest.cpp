//===- HabitsTest.cpp - What users of other libraries write -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lines in the habit of libtorch and MLX, which compile with this library's
// names in scope, and do what they say. A line that no longer compiles is a
// name or a conversion that somebody will miss.
//
//===----------------------------------------------------------------------===//

#include "kernels/testing/OperatorTest.h"
#include "nereid/kernels.h"

#include <sstream>

using namespace nereid;
using namespace nereid::kernels;

namespace {

class Habits : public OperatorTest {
protected:
  void SetUp() override {
    OperatorTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    x = Variable(random({4, 8}, f32), true);
    z = Variable(random({4, 8}, f32), true);
    w = Variable(random({8, 8}, f32), true);
    g = Variable(random({8}, f32), true);
    b = Variable(random({8}, f32), true);
    t = random({4, 8}, f32);
    ids = Tensor::fromVector(std::vector<int64_t>{1, 0, 3, 2}, {}, device);
  }
  Variable x, z, w, g, b;
  Tensor t, ids;
};

} // namespace

NEREID_ON_EVERY_DEVICE(Habits);

TEST_P(Habits, ofElementWiseChains) {
  auto y1 = gelu(x);
  gelu(x).backward(t);
  auto y2 = silu(x) * z + x;
  EXPECT_EQ(y2.value().shape(), t.shape());
  Variable y3 = where(x > 0, x, 0.1 * x);
  auto y4 = clamp(x, 0, 1);
  auto y5 = clip(x, std::nullopt, 1.0);
  auto y6 = pow(x, 3);
  auto y7 = pow(abs(x), abs(z));
  auto y8 = sin(x) + cos(x) + exp(-x * x);
  auto y9 = floor(x) + ceil(x) + round(x);
  auto y10 = log1p(exp(x)) - softplus(x);
  auto y11 = maximum(x, z) - minimum(x, 0);
  auto y12 = x == z;
  auto y13 = cast(x > 0, f32);
  for (const Expression &e : {y1, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13}) {
    EXPECT_EQ(e.value().shape(), t.shape());
  }
  Variable y = x;
  y += z;
  y *= 2;
  y -= 1.0;
  y /= 3;
  EXPECT_TRUE(y.requiresGrad());
  Tensor u = t.clone();
  u += 1;
}

TEST_P(Habits, ofReductions) {
  auto s1 = sum(x);
  s1.backward();
  auto s2 = mean(x, -1);
  auto s3 = sum(x, {0, 1}, true);
  auto s4 = mean(square(x - z));
  s4.backward();
  auto s5 = max(x, 1);
  auto s6 = min(x);
  auto s7 = var(x, -1, true);
  auto s8 = argmax(x, -1);
  auto s9 = logSumExp(x, -1);
  double loss = mean(abs(x)).item();
  EXPECT_GT(loss, 0);
  EXPECT_EQ(s2.shape(), s8.shape());
  EXPECT_EQ(s3.shape(), (Shape{1, 1}));
  EXPECT_EQ(s5.shape(), s9.shape());
  EXPECT_EQ(s6.numel(), 1);
  EXPECT_EQ(s7.shape(), (Shape{4, 1}));
  auto normalised = (x - mean(x, -1, true)) / sqrt(var(x, -1, true) + 1e-5);
  normalised.backward(t);
}

TEST_P(Habits, ofShapes) {
  auto v1 = x.reshape({2, 2, 8}).transpose(1, 2);
  auto v2 = x[0];
  auto v3 = x.view({-1}).unsqueeze(0);
  auto v4 = x.expand({3, 4, 8});
  auto v5 = (x + z).reshape({8, 4});
  auto v6 = concat({x, z}, 1);
  auto v7 = cat({x, z}, -1);
  auto v8 = stack({x, z});
  auto v9 = split(x, 2);
  auto v10 = chunk(x, 2, 1);
  auto v11 = pad(x, {{0, 0}, {1, 1}});
  auto v12 = repeat(x, {2, 1});
  auto v13 = concat({gelu(x), z, Variable(t)}, 0);
  auto v14 = t[0][1].item<float>();
  EXPECT_EQ(v1.shape(), (Shape{2, 8, 2}));
  EXPECT_EQ(v2.shape(), Shape{8});
  EXPECT_EQ(v3.shape(), (Shape{1, 32}));
  EXPECT_EQ(v4.shape(), (Shape{3, 4, 8}));
  EXPECT_EQ(v5.shape(), (Shape{8, 4}));
  EXPECT_EQ(v6.shape(), v7.shape());
  EXPECT_EQ(v8.shape(), (Shape{2, 4, 8}));
  EXPECT_EQ(v9.size(), v10.size());
  EXPECT_EQ(v11.shape(), (Shape{4, 10}));
  EXPECT_EQ(v12.shape(), (Shape{8, 8}));
  EXPECT_EQ(v13.shape(), (Shape{12, 8}));
  EXPECT_EQ(v14, t.toVector<float>()[1]);
}

TEST_P(Habits, ofIndicesAndOrder) {
  auto i1 = indexSelect(x, 0, ids);
  auto i2 = gather(x, 1, argmax(x, 1, true));
  auto i3 = oneHot(ids, 4);
  auto i4 = index(x, ids);
  auto [values, places] = topk(x, 2);
  auto i5 = sort(x).values;
  auto i6 = argsort(x, -1, true);
  auto i7 = cumsum(x, 1);
  EXPECT_EQ(i1.shape(), i4.shape());
  EXPECT_EQ(i2.value().toFloat64(), max(x, 1).value().toFloat64());
  EXPECT_EQ(i3.shape(), (Shape{4, 4}));
  EXPECT_EQ(values.shape(), places.shape());
  EXPECT_EQ(i5.shape(), i6.shape());
  EXPECT_EQ(i7.shape(), x.shape());
}

TEST_P(Habits, ofLayersAndLosses) {
  auto l1 = linear(x, w);
  auto l2 = rmsNorm(x);
  auto l3 = layerNorm(x, g);
  auto l4 = layerNorm(linearGelu(x, w, b), g, b);
  auto l5 = softmax(x + x);
  auto l6 = logSoftmax(x * 2.0);
  auto l7 = linear(gelu(x), w, b) + x;
  auto l8 = matmul(x * 2, w);
  Tensor l9 = softmax(t * 2);
  auto l10 = rmsNorm(x + x, g);
  auto l11 = groupNorm(x + z, 2);
  auto q = (x + z).reshape({1, 4, 1, 8}).transpose(1, 2);
  auto l12 = attention(q * 2, q, q);
  auto l13 = linearCrossEntropy(gelu(x), w, ids);
  l13.backward();
  auto l14 = embedding(ids, w);
  EXPECT_EQ(l11.shape(), t.shape());
  EXPECT_EQ(l12.shape(), q.shape());
  EXPECT_EQ(l14.shape(), t.shape());
  auto loss = crossEntropy(l7, ids, {.labelSmoothing = 0.1, .ignoreIndex = -1});
  loss.backward();
  auto m1 = mseLoss(l1, t);
  m1.backward();
  auto m2 = huberLoss(l2, t) + l1Loss(l3, t);
  m2.backward();
  auto m3 = binaryCrossEntropyWithLogits(l4, sigmoid(t));
  m3.backward();
  auto m4 = klDiv(l6, l9);
  m4.backward();
  EXPECT_EQ(l5.shape(), l8.shape());
  EXPECT_EQ(l10.shape(), t.shape());
  EXPECT_TRUE(w.grad().defined());
}

TEST_P(Habits, ofModels) {
  nn::Linear layer(8, 3, {.bias = false, .device = device});
  nn::Sequential model(nn::LayerNorm(8, {.device = device}), gelu,
                       nn::Dropout(0.1), layer);
  AdamW adamw(model.parameters(), {.learningRate = 1e-3});
  SGD sgd(model.parameters(), {.learningRate = 0.1, .momentum = 0.9});
  GradScaler scaler;
  CosineRate rate = {.base = 1e-3, .warmup = 2, .steps = 10};
  model.train();
  Variable loss = crossEntropy(model(x), ids.to(i32) * 0,
                               {.labelSmoothing = 0.1, .ignoreIndex = -1});
  scaler.scale(loss).backward();
  scaler.unscale(sgd);
  clipGradNorm(model.parameters(), 1.0);
  sgd.setLearningRate(rate(3));
  scaler.step(sgd);
  scaler.update();
  sgd.zeroGrad();
  model.eval();
  model.zeroGrad();
  model.loadStateDict(model.stateDict());
  for (const auto &[name, parameter] : model.namedParameters()) {
    EXPECT_TRUE(parameter.requiresGrad()) << name;
  }
  std::ostringstream text;
  text << x << x * 2 << t << loss;
  EXPECT_FALSE(text.str().empty());
}

TEST_P(Habits, ofAbsentArguments) {
  Variable y1 = linear(x, w, nullopt);
  Variable y2 = layerNorm(x, nullopt, b);
  auto [y3, sum1] = addLayerNorm(x, z);
  auto [y4, sum2] = addRmsNorm(x, z);
  Variable y5 = sum(x, nullopt);
  auto y6 = attention(x.view({1, 1, 4, 8}), z.view({1, 1, 4, 8}),
                      z.view({1, 1, 4, 8}), {.causal = true});
  for (const Variable &y : {y1, y2, y3, y4, sum1, sum2}) {
    EXPECT_EQ(y.shape(), x.shape());
  }
  EXPECT_EQ(y5.numel() * 32, y6.numel());
}
