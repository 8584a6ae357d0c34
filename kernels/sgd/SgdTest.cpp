//===- SgdTest.cpp ----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/sgd/Sgd.h"
#include "kernels/module/Module.h"
#include "kernels/sgd/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(SgdOptimizer);

TEST_P(SgdOptimizer, stepsAgreeWithDoublePrecision) {
  forCases(
      [&] {
        SGDOptions options;
        options.learningRate = 0.125;
        options.momentum = coin() ? 0.9 : 0;
        options.nesterov = options.momentum > 0 && coin();
        options.dampening = options.nesterov || coin() ? 0 : 0.5;
        options.weightDecay = coin() ? 0.1 : 0;
        Tensor value = random({awkwardSize(isSlow ? 300 : 20000)}, floatType())
                           .contiguous();
        Variable w(value, true);
        SGD optimizer(options);
        optimizer.add(w);
        reference::SGD expected{options, exactly(value)};
        for (int step = 0; step < 3; ++step) {
          w.setGrad(random(w.shape(), coin() ? w.dtype() : f32).contiguous());
          expected.step(exactly(w.grad()));
          optimizer.step();
          expectClose(w.value(), expected.w, "weights");
        }
      },
      6);
}

TEST_P(SgdOptimizer, aStepOfAFactorThatIsNotFiniteChangesNothing) {
  SGD optimizer({.learningRate = 1, .momentum = 0.5, .dampening = 0.5});
  Variable w(full({3}, 1, f32, device), true),
      frozen(full({2}, 5, f32, device), true);
  optimizer.add(w);
  optimizer.add(frozen); // has no gradient
  w.setGrad(full({3}, 2, f32, device));
  uint64_t writes = w.value().writes();
  optimizer.step(full({1}, NAN, f32, device));
  if (device.isHost()) {
    EXPECT_EQ(w.value().writes(), writes);
  }
  EXPECT_EQ(w.value().toFloat64(), Values(3, 1.0));
  optimizer.step(full({1}, 0.5, f32, device)); // the first: m = g = 1
  EXPECT_EQ(w.value().toFloat64(), Values(3, 0.0));
  optimizer.step(); // m = 1/2 + 1/2 * 2
  EXPECT_EQ(w.value().toFloat64(), Values(3, -1.5));
  EXPECT_GT(w.value().writes(), writes);
  optimizer.setLearningRate(0);
  optimizer.step();
  EXPECT_EQ(w.value().toFloat64(), Values(3, -1.5));
  EXPECT_EQ(frozen.value().toFloat64(), Values(2, 5.0));
  optimizer.zeroGrad();
  EXPECT_EQ(w.grad().toFloat64(), Values(3, 0.0));
}

TEST_P(SgdOptimizer, loadsItsStateByName) {
  struct Run {
    Variable w;
    SGD optimizer{{.learningRate = 0.25, .momentum = 0.5, .dampening = 0.5}};
    explicit Run(Device device) : w(full({3}, 1, f32, device), true) {
      optimizer.add(w);
    }
    void step() {
      w.setGrad(full({3}, 1, f32, w.device()));
      optimizer.step();
    }
  };
  Run first(device), second(device);
  first.step();
  second.w.value().copyFrom(first.w.value());
  second.optimizer.loadStateDict(first.optimizer.stateDict());
  first.step();
  second.step();
  EXPECT_EQ(first.w.value().toFloat64(), Values(3, 0.5));
  EXPECT_EQ(second.w.value().toFloat64(), Values(3, 0.5));
}

TEST_P(SgdOptimizer, followsParametersThatMove) {
  auto train = [&](Device before) {
    nn::Module model;
    Variable w = model.add("w", full({3}, 1, bf16, before));
    SGD optimizer(model.parameters(), {.learningRate = 0.25, .momentum = 0.5});
    auto step = [&] {
      w.setGrad(full({3}, 1, w.dtype(), w.device()));
      optimizer.step();
    };
    step();
    model.to(device);
    step();
    EXPECT_EQ(optimizer.moments()[0].momentum.device(), device);
    model.to(f32);
    step();
    EXPECT_FALSE(optimizer.moments()[0].master.defined());
    return w.value().toFloat64();
  };
  EXPECT_EQ(train(Device::cpu()), train(device));
  EXPECT_EQ(train(device), Values(3, 1 - 0.25 * (1 + 1.5 + 1.75)));
}

TEST_P(SgdOptimizer, aRefusedStepChangesNothing) {
  Variable first(full({3}, 1, f32, device), true),
      second(zeros({3, 3}, f32, device), true);
  SGD optimizer(std::vector{first, second}, {.learningRate = 1});
  first.setGrad(full({3}, 1, f32, device));
  second.setGrad(zeros({3, 3}, f32, device).transpose(0, 1));
  EXPECT_THAT(messageOf([&] { optimizer.step(); }),
              HasSubstr("sgd: argument 'gradient': expected a row-major"));
  EXPECT_EQ(first.value().toFloat64(), Values(3, 1.0));
}

TEST_P(SgdOptimizer, saysWhatDoesNotFit) {
  auto errorOf = [](const std::function<void()> &call) {
    try {
      call();
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(errorOf([] { SGD({.learningRate = -1}); }),
              HasSubstr("learningRate"));
  EXPECT_THAT(errorOf([] { SGD({.momentum = NAN}); }), HasSubstr("momentum"));
  EXPECT_THAT(errorOf([] { SGD({.dampening = NAN}); }), HasSubstr("dampening"));
  EXPECT_THAT(errorOf([] { SGD({.nesterov = true}); }),
              HasSubstr("'nesterov': expected momentum and no dampening"));
  SGD optimizer;
  Variable w(zeros({2}, f32, device), true);
  EXPECT_THAT(errorOf([&] { optimizer.add(w, -1); }), HasSubstr("weightDecay"));
  EXPECT_THAT(errorOf([&] { optimizer.add(w.detach()); }),
              HasSubstr("a leaf that requires a gradient"));
  optimizer.add(w);
  EXPECT_THAT(errorOf([&] { optimizer.add(w); }), HasSubstr("once"));
  EXPECT_THAT(errorOf([&] { optimizer.setLearningRate(INFINITY); }),
              HasSubstr("learningRate"));
  EXPECT_THAT(errorOf([&] { optimizer.step(zeros({2}, f32, device)); }),
              HasSubstr("factor"));
}
