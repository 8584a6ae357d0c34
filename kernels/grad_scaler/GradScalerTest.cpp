//===- GradScalerTest.cpp ---------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside PyTorch's: test/models/outside/optimizers.cpp.
//
//===----------------------------------------------------------------------===//

#include "kernels/grad_scaler/GradScaler.h"
#include "kernels/adamw/AdamW.h"
#include "kernels/expression/Expression.h"
#include "kernels/gradients/Gradients.h"
#include "kernels/learning_rate/LearningRate.h"
#include "kernels/reduce/Reductions.h"
#include "kernels/sgd/Sgd.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(GradientScaler);

static std::string errorOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

TEST_P(GradientScaler, keepsWhatFp16WouldLose) {
  Variable w(full({2}, 1, f16, device), true);
  SGD optimizer(std::vector{w}, {.learningRate = 1024, .masterWeights = false});
  GradScaler scaler({.initialScale = 1024});
  // 2^-25 is below half of fp16's smallest number.
  Variable loss = sum(cast(w, f32) * std::ldexp(1.0, -25));
  scaler.scale(loss).backward();
  scaler.step(optimizer);
  scaler.update();
  EXPECT_EQ(w.grad().toFloat64(), Values(2, std::ldexp(1.0, -15)));
  EXPECT_EQ(w.value().to(f32).toFloat64(), Values(2, 1.0));
  optimizer.setLearningRate(std::ldexp(1.0, 23));
  scaler.step(optimizer);
  EXPECT_EQ(w.value().to(f32).toFloat64(), Values(2, 0.75));
}

TEST_P(GradientScaler, leavesOutStepsThatAreNotFinite) {
  Variable w(full({2}, 1, f32, device), true),
      other(full({1}, 1, f32, device), true);
  AdamW optimizer(std::vector{w});
  SGD second(std::vector{other}, {.learningRate = 1});
  GradScaler scaler({.initialScale = 8, .growthInterval = 2});
  scaler.scale(sum(other)).backward();
  w.setGrad(full({2}, INFINITY, f32, device));
  uint64_t writes = w.value().writes();
  scaler.step(optimizer);
  scaler.step(second);
  scaler.update();
  EXPECT_EQ(w.value().toFloat64(), Values(2, 1.0));
  if (device.isHost()) {
    EXPECT_EQ(w.value().writes(), writes);
  }
  EXPECT_EQ(other.value().item(), 0) << "its own gradient is finite";
  EXPECT_EQ(scaler.currentScale(), 4);
  w.setGrad(full({2}, 1, f32, device));
  for (double expected : {4, 8, 8}) {
    scaler.unscale(second);
    scaler.step(second);
    scaler.update();
    EXPECT_EQ(scaler.currentScale(), expected);
  }
}

TEST_P(GradientScaler, saysWhatDoesNotFit) {
  EXPECT_THAT(errorOf([] { GradScaler({.initialScale = 0}); }),
              HasSubstr("initialScale"));
  EXPECT_THAT(errorOf([] { GradScaler({.growthFactor = 1}); }),
              HasSubstr("growthFactor"));
  EXPECT_THAT(errorOf([] { GradScaler({.backoffFactor = 1}); }),
              HasSubstr("backoffFactor"));
  EXPECT_THAT(errorOf([] { GradScaler({.growthInterval = 0}); }),
              HasSubstr("growthInterval"));
  GradScaler scaler;
  SGD optimizer;
  EXPECT_THAT(errorOf([&] { scaler.step(optimizer); }), HasSubstr("scaled"));
  EXPECT_THAT(errorOf([&] { scaler.update(); }), HasSubstr("scaled"));
  scaler.scale(Variable(full({}, 1, f32, device)));
  scaler.unscale(optimizer);
  EXPECT_THAT(errorOf([&] { scaler.unscale(optimizer); }), HasSubstr("two"));
}

TEST_P(GradientScaler, gradientsAreClippedToANorm) {
  Variable a(zeros({2}, f32, device), true), b(zeros({1}, f32, device), true),
      none(zeros({1}, f32, device), true);
  std::vector<Variable> all = {a, b, none};
  EXPECT_EQ(clipGradNorm(all, 1).item(), 0);
  a.setGrad(full({2}, 2, f32, device));
  b.setGrad(full({1}, 1, f32, device));
  EXPECT_EQ(gradNorm(all).item(), 3);
  EXPECT_EQ(clipGradNorm(all, 4).item(), 3);
  EXPECT_EQ(b.grad().item(), 1);
  EXPECT_EQ(clipGradNorm(all, 1.5).item(), 3);
  EXPECT_NEAR(b.grad().item(), 0.5, 1e-6);
  EXPECT_NEAR(a.grad().toFloat64()[1], 1, 1e-6);
  EXPECT_THAT(errorOf([&] { clipGradNorm(all, 0); }), HasSubstr("'most'"));
}

TEST(LearningRates, areThoseOfTheirFormulas) {
  CosineRate cosine = {.base = 2, .warmup = 4, .steps = 12, .least = 1};
  EXPECT_EQ(cosine(0), 0);
  EXPECT_EQ(cosine(2), 1);
  EXPECT_EQ(cosine(4), 2);
  EXPECT_NEAR(cosine(8), 1.5, 1e-12);
  EXPECT_EQ(cosine(12), 1);
  EXPECT_EQ(cosine(99), 1);
  LinearRate line = {.base = 2, .warmup = 1, .steps = 5};
  EXPECT_EQ(line(0), 0);
  EXPECT_EQ(line(1), 2);
  EXPECT_EQ(line(3), 1);
  EXPECT_EQ(line(9), 0);
  StepRate steps = {.base = 8, .every = 3, .factor = 0.5};
  EXPECT_EQ(steps(2), 8);
  EXPECT_EQ(steps(3), 4);
  EXPECT_EQ(steps(7), 2);
  // Numbers that make no sense divide nothing by zero.
  EXPECT_EQ((StepRate{.every = 0, .factor = 1}(5)), 1e-3);
  EXPECT_EQ((CosineRate{.steps = 0}(5)), 0);
}
