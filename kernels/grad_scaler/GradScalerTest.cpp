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

TEST_P(GradientScaler, callsOfOneOptimiserHaveAnOrder) {
  Variable w(full({2}, 1, f32, device), true),
      half(full({2}, 1, f16, device), true);
  SGD optimizer(std::vector{w}, {.learningRate = 0}), other(std::vector{half});
  GradScaler scaler;
  scaler.scale(sum(w)).backward();
  half.setGrad(full({2}, 1, f16, device));
  EXPECT_THAT(errorOf([&] { scaler.update(); }),
              HasSubstr("gradScaler: argument 'update': expected a step or an "
                        "unscale before, got none"));
  EXPECT_THAT(errorOf([&] { scaler.unscale(other); }),
              HasSubstr("gradScaler: argument 'gradient': expected fp32 or "
                        "bf16 to divide where it is, got fp16[2]; hint: "));
  EXPECT_EQ(half.grad().toFloat64(), Values(2, 1.0));
  for (bool unscales : {true, false}) {
    if (unscales) {
      scaler.unscale(optimizer);
    }
    scaler.step(optimizer);
    EXPECT_THAT(errorOf([&] { scaler.step(optimizer); }),
                HasSubstr("'step': expected one call between two updates, got "
                          "two"));
    EXPECT_THAT(errorOf([&] { scaler.unscale(optimizer); }),
                HasSubstr("'unscale': expected one call between two updates, "
                          "before the step, got one behind the step"));
    scaler.update();
  }
}

TEST_P(GradientScaler, itsStateIsKeptAndLoaded) {
  GradScaler first({.initialScale = 8, .growthInterval = 3}),
      second({.growthInterval = 3});
  EXPECT_EQ(first.stateDict().at("scale").item(), 8);
  Variable w(full({1}, 1, f32, device), true);
  SGD optimizer(std::vector{w}, {.learningRate = 0});
  auto step = [&](GradScaler &scaler) {
    scaler.scale(sum(w));
    w.setGrad(full({1}, 1, f32, device));
    scaler.step(optimizer);
    scaler.update();
    return scaler.currentScale();
  };
  step(first);
  step(first);
  second.loadStateDict(first.stateDict());
  EXPECT_EQ(second.currentScale(), 8);
  EXPECT_EQ(step(second), 16) << "the third good step";
  EXPECT_EQ(first.currentScale(), 8) << "it is no view";
  auto state = first.stateDict();
  state["scale"] = full({}, -1, f32, device);
  EXPECT_THAT(errorOf([&] { first.loadStateDict(state); }),
              HasSubstr("gradScaler: argument 'scale': expected a positive "
                        "number of fp32, got -1"));
  EXPECT_THAT(errorOf([&] { first.loadStateDict({}); }),
              HasSubstr("missing: 'goodSteps', 'scale'"));
  EXPECT_EQ(first.currentScale(), 8);
}

TEST_P(GradientScaler, aNormThatIsKnownNeedsNoOtherPass) {
  Variable w(full({4}, 1, f32, device), true);
  AdamW optimizer(std::vector{w});
  GradScaler scaler({.initialScale = 8, .growthInterval = 2});
  scaler.scale(sum(w)).backward();
  // Ones times 8: a norm of 16, of 2 without the scale.
  for (double most : {double(INFINITY), 1.0}) {
    GradScaler::Clipped clipped = scaler.clip(optimizer.gradNorm(), most);
    EXPECT_EQ(clipped.norm.item(), 2);
    EXPECT_NEAR(clipped.factor.item(), std::min(1.0, most / 2) / 8, 1e-6);
    EXPECT_THAT(errorOf([&] { scaler.clip(optimizer.gradNorm(), most); }),
                HasSubstr("'clip': expected one call between two updates"));
    scaler.update();
  }
  EXPECT_EQ(scaler.currentScale(), 16) << "two good steps";
  GradScaler::Clipped bad =
      scaler.clip(full({1}, INFINITY, f32, device), INFINITY);
  EXPECT_TRUE(std::isnan(bad.factor.item()));
  scaler.update();
  EXPECT_EQ(scaler.currentScale(), 8);
  EXPECT_THAT(errorOf([&] { scaler.clip(bad.norm, 0); }), HasSubstr("'most'"));
}

TEST_P(GradientScaler, theScaleStaysPositive) {
  GradScaler scaler({.initialScale = 0x1p-125, .backoffFactor = 0.25});
  Variable w(full({1}, 1, f32, device), true);
  SGD optimizer(std::vector{w}, {.learningRate = 1});
  scaler.scale(sum(w));
  for (int i = 0; i < 20; ++i) {
    w.setGrad(full({1}, INFINITY, f32, device));
    scaler.step(optimizer);
    scaler.update();
  }
  EXPECT_EQ(scaler.currentScale(), 0x1p-126);
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
  EXPECT_EQ(cosine(-3), 0) << "as the first step";
  EXPECT_EQ(line(-3), 0);
  EXPECT_EQ(steps(-3), 8);
  // Numbers that make no sense divide nothing by zero.
  EXPECT_EQ((StepRate{.every = 0, .factor = 1}(5)), 1e-3);
  EXPECT_EQ((CosineRate{.steps = 0}(5)), 0);
}
