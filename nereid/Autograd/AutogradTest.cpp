//===- AutogradTest.cpp -----------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Autograd/Recompute.h"
#include "nereid/Autograd/Views.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

using namespace nereid;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Tensor mapped(const Tensor &a, const Tensor &b, double (*f)(double, double)) {
  std::vector<double> x = a.toFloat64(), y = b.toFloat64();
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = f(x[i], y[i]);
  }
  return Tensor::fromVector(x, a.shape()).to(a.dtype());
}

Tensor times(const Tensor &a, const Tensor &b) {
  return mapped(a, b, [](double x, double y) { return x * y; });
}

Variable multiply(const Variable &a, const Variable &b) {
  return autograd::record(
      "multiply", {a, b}, times(a.value(), b.value()),
      [a = a.value(), b = b.value()](const Tensor &dy, autograd::Needs needs) {
        return autograd::Gradients{needs[0] ? times(dy, b) : Tensor(),
                                   needs[1] ? times(dy, a) : Tensor()};
      },
      {b.requiresGrad() ? a.value() : Tensor(),
       a.requiresGrad() ? b.value() : Tensor()});
}

Variable add(const Variable &a, const Variable &b) {
  return autograd::record(
      "add", {a, b},
      mapped(a.value(), b.value(), [](double x, double y) { return x + y; }),
      [](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{dy, dy};
      });
}

Variable leaf(std::vector<float> values) {
  return Variable(Tensor::fromVector(values), true);
}

std::vector<float> gradOf(const Variable &v) {
  return v.grad().toVector<float>();
}

std::string messageOf(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
    return error.message();
  }
  return "nothing was thrown";
}

} // namespace

TEST(Autograd, differentiatesAProduct) {
  Variable a = leaf({3}), b = leaf({5});
  multiply(a, b).backward();
  EXPECT_THAT(gradOf(a), ElementsAre(5));
  EXPECT_THAT(gradOf(b), ElementsAre(3));
}

TEST(Autograd, addsTheGradientsOfSeveralUses) {
  Variable a = leaf({3});
  Variable square = multiply(a, a);
  add(multiply(square, a), square).backward(); // a^3 + a^2
  EXPECT_THAT(gradOf(a), ElementsAre(3 * 9 + 2 * 3));
}

TEST(Autograd, addsToTheGradientOfAnEarlierPass) {
  Variable a = leaf({3}), b = leaf({5});
  multiply(a, b).backward();
  multiply(a, b).backward();
  EXPECT_THAT(gradOf(a), ElementsAre(10));
  a.zeroGrad();
  EXPECT_FALSE(a.grad().defined());
}

TEST(Autograd, aSumInFp32IsAddedToInFp32) {
  Variable x(full({2}, 1, bf16, Device::cpu()), true);
  Tensor sum = full({2}, 1, f32, Device::cpu());
  x.setGrad(sum);
  multiply(x, full({2}, 0x1p-10, bf16, Device::cpu()))
      .backward(full({2}, 1, bf16, Device::cpu()));
  EXPECT_EQ(x.grad().dtype(), f32);
  EXPECT_EQ(x.grad().toFloat64(), std::vector(2, 1 + 0x1p-10));
}

TEST(Autograd, refusesASumOfAnotherType) {
  Variable x(full({2}, 1, bf16, Device::cpu()), true);
  EXPECT_THAT(
      messageOf([&] { x.setGrad(full({2}, 1, f16, Device::cpu())); }),
      HasSubstr("setGrad: expected bf16[2] on cpu, as the value is, or a "
                "sum in fp32; got fp16[2] on cpu"));
}

TEST(Autograd, gradientsOfLeavesShareNoMemory) {
  Variable a = leaf({1}), b = leaf({2});
  add(a, b).backward();
  a.grad().fill(7);
  EXPECT_THAT(gradOf(b), ElementsAre(1));
}

TEST(Autograd, memoryOfTheCallerIsNeverAddedTo) {
  float mine[2] = {1, 2}, sum[2] = {3, 4};
  Variable a = leaf({5, 6}), one(full({2}, 1, f32, Device::cpu()));
  add(a, one).backward(Tensor::borrow(mine, {2}, f32));
  add(a, one).backward(one.value());
  EXPECT_THAT(gradOf(a), ElementsAre(2, 3));
  EXPECT_THAT(mine, ElementsAre(1, 2));
  a.setGrad(Tensor::borrow(sum, {2}, f32));
  add(a, one).backward(one.value());
  EXPECT_THAT(gradOf(a), ElementsAre(4, 5));
  EXPECT_THAT(sum, ElementsAre(3, 4));
}

TEST(Autograd, addsToNoMemoryOfAnother) {
  // The gradient that comes out of `add` is one tensor for both inputs.
  Variable a = leaf({2}), b = leaf({3});
  Variable c = multiply(a, b), sum = add(c, c);
  sum.retainGrad();
  sum.backward();
  EXPECT_THAT(gradOf(a), ElementsAre(6));
  EXPECT_THAT(gradOf(sum), ElementsAre(1));
}

TEST(Autograd, askForNoGradientOfConstants) {
  Variable a = leaf({2}), b(Tensor::fromVector(std::vector<float>{3}));
  bool wanted = true;
  Variable y = autograd::record("second", {a, b}, times(a.value(), b.value()),
                                [&](const Tensor &dy, autograd::Needs needs) {
                                  wanted = needs[1];
                                  return autograd::Gradients{dy, dy};
                                });
  y.backward();
  EXPECT_FALSE(wanted);
  EXPECT_FALSE(b.grad().defined());
}

TEST(Autograd, recordsNothingUnderNoGrad) {
  Variable a = leaf({2});
  NoGrad guard;
  Variable y = multiply(a, a);
  EXPECT_FALSE(y.requiresGrad());
  EXPECT_TRUE(y.isLeaf());
}

TEST(Autograd, detachedValuesHaveNoHistory) {
  Variable a = leaf({3});
  Variable y = multiply(multiply(a, a).detach(), a);
  y.backward();
  EXPECT_THAT(gradOf(a), ElementsAre(9));
}

TEST(Autograd, outputsThatNothingUsesHaveNoGradient) {
  Variable a = leaf({3});
  bool first = true;
  std::vector<Tensor> values = {a.value().clone(), a.value().clone()};
  std::vector<Variable> both =
      autograd::record("split", std::vector{a}, values,
                       [&](std::span<const Tensor> gradients, autograd::Needs) {
                         first = gradients[0].defined();
                         return autograd::Gradients{gradients[1]};
                       });
  both[1].backward();
  EXPECT_FALSE(first);
  EXPECT_THAT(gradOf(a), ElementsAre(1));
}

TEST(Autograd, freesSavedTensorsAsItGoes) {
  Variable a = leaf({3});
  std::weak_ptr<int> saved;
  bool wasFreed = false;
  Variable first = autograd::record("first", {a}, a.value().clone(),
                                    [&](const Tensor &dy, autograd::Needs) {
                                      wasFreed = saved.expired();
                                      return autograd::Gradients{dy};
                                    });
  auto mark = std::make_shared<int>(1);
  saved = mark;
  Variable second = autograd::record(
      "second", {first}, a.value().clone(),
      [mark = std::move(mark)](const Tensor &dy, autograd::Needs) {
        return autograd::Gradients{dy};
      });
  second.backward();
  EXPECT_TRUE(wasFreed);
}

TEST(Autograd, keptGradientsAreNoMemoryOfTheCaller) {
  Variable a = leaf({1, 2}), y = add(a, a);
  y.retainGrad();
  Tensor g = full({2}, 3, f32, Device::cpu());
  y.backward(g);
  g.fill(5);
  EXPECT_THAT(gradOf(y), ElementsAre(3, 3));
  EXPECT_THAT(gradOf(a), ElementsAre(6, 6));
}

TEST(Autograd, tellsOperatorsWhetherTheGraphStays) {
  Variable a = leaf({3});
  std::vector<bool> stays;
  Variable y = autograd::record("mine", {a}, a.value().clone(),
                                [&](const Tensor &dy, autograd::Needs needs) {
                                  stays.push_back(needs.graphStays());
                                  return autograd::Gradients{dy};
                                });
  y.backward({}, /*retainGraph=*/true);
  y.backward();
  EXPECT_THAT(stays, ElementsAre(true, false));
}

// Each thread has a graph of its own; they meet in the leaf.
TEST(Autograd, passesOfSeveralThreadsAddToOneLeaf) {
  Variable a = leaf({1, 1, 1, 1});
  std::atomic<int> seen = 0;
  a.onGradient([&](const Variable &) { ++seen; });
  constexpr int threads = 4, passes = 500;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&a] {
      for (int i = 0; i < passes; ++i) {
        add(a, a).backward(full({4}, 0.5, f32, Device::cpu()));
      }
    });
  }
  for (std::thread &one : all) {
    one.join();
  }
  EXPECT_EQ(seen, threads * passes);
  constexpr float expected = threads * passes;
  EXPECT_THAT(gradOf(a), ElementsAre(expected, expected, expected, expected));
}

TEST(Autograd, differentiatesDoubles) {
  Variable a(full({2}, 0.1, f64, Device::cpu()), true);
  for (int i = 0; i < 3; ++i) {
    multiply(a, a).backward(full({2}, 1, f64, Device::cpu()));
  }
  EXPECT_EQ(a.grad().dtype(), f64);
  double expected = 0;
  for (int uses = 0; uses < 6; ++uses) {
    expected += 0.1;
  }
  EXPECT_EQ(a.grad().at({1}), expected);
}

TEST(Autograd, savedTensorsThatWereWrittenToAreNoticed) {
  auto expectRefused = [](const Variable &y) {
    EXPECT_THAT(messageOf([&] { y.backward(); }),
                HasSubstr("backward of 'multiply': expected fp32[1], which it "
                          "saved, as it was, got one that was written to"));
  };
  Variable a = leaf({3}), y = multiply(a, a);
  a.value().fill(10);
  expectRefused(y);
  Variable b = leaf({3}), z = multiply(b, b);
  b.value().view({1, 1}).copyFrom(zeros({1, 1}));
  expectRefused(z);
  // What nothing reads may change, and what was changed before.
  Variable c = leaf({3}), d(Tensor::fromVector(std::vector<float>{4}));
  c.value().fill(5);
  Variable w = multiply(c, d);
  c.value().fill(6);
  w.backward();
  EXPECT_THAT(gradOf(c), ElementsAre(4));
}

TEST(Autograd, aRefusedBackwardLeavesGradientsAsTheyWere) {
  Variable a = leaf({3}), b = leaf({4}), c = leaf({5});
  Variable y = add(multiply(multiply(a, b), b), multiply(c, c));
  a.value().fill(7); // of the operator that comes last
  EXPECT_THAT(messageOf([&] { y.backward(); }), HasSubstr("written to"));
  for (const Variable &v : {a, b, c}) {
    EXPECT_FALSE(v.grad().defined());
  }
}

TEST(Autograd, leavesMayBeFrozenBehindTheOperator) {
  Variable w = leaf({2}), x = leaf({5});
  int asked = 0;
  Variable y = autograd::record("mine", {w, x}, times(w.value(), x.value()),
                                [&](const Tensor &dy, autograd::Needs needs) {
                                  asked = needs[0] + 2 * needs[1];
                                  return autograd::Gradients{dy, dy};
                                });
  w.setRequiresGrad(false);
  y.backward();
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(w.grad().defined());
  EXPECT_THAT(gradOf(x), ElementsAre(1));
}

TEST(Autograd, recordNamesWhatIsMissing) {
  Variable a = leaf({3});
  EXPECT_THAT(
      messageOf([&] { autograd::record("mine", {a}, a.value(), nullptr); }),
      HasSubstr("record of 'mine': expected a function that computes "
                "gradients, got none"));
  auto passOn = [](const Tensor &dy, autograd::Needs) {
    return autograd::Gradients{dy};
  };
  EXPECT_THAT(
      messageOf([&] { autograd::record("mine", {a}, Tensor(), passOn); }),
      HasSubstr("record of 'mine': expected outputs that are tensors, got an "
                "undefined one, number 0"));
}

TEST(Autograd, hooksSeeTheCompleteGradientOnce) {
  Variable a = leaf({3});
  std::vector<float> seen;
  a.onGradient([&](const Variable &v) { seen.push_back(gradOf(v)[0]); });
  add(multiply(a, a), a).backward();
  EXPECT_THAT(seen, ElementsAre(7));
}

TEST(Autograd, hooksOfALeafRunWhereBackwardBegins) {
  Variable a = leaf({3});
  int calls = 0;
  a.onGradient([&](const Variable &v) { calls += v.grad().defined(); });
  a.backward();
  EXPECT_EQ(calls, 1);
}

TEST(Autograd, leavesMoveToOtherMemory) {
  Variable x(full({2}, 3, f32, Device::cpu()), true);
  Tensor block = full({4}, 5, f32, Device::cpu());
  Variable(x).setValue(block.slice(0, 2));
  EXPECT_EQ(x.value().data(), block.slice(0, 2).data());
  Variable y = autograd::reshape(x, {1, 2});
  for (const Tensor &other : {Tensor(), zeros({3}, f32, Device::cpu())}) {
    try {
      x.setValue(other);
      FAIL() << "expected an error";
    } catch (const Error &error) {
      EXPECT_THAT(error.what(), HasSubstr("setValue: expected fp32[2]"));
    }
  }
  try {
    y.setValue(zeros({1, 2}, f32, Device::cpu()));
    FAIL() << "expected an error";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("expected a leaf"));
  }
}

TEST(Autograd, runsLongChains) {
  Variable a = leaf({1}), y = a;
  for (int i = 0; i < 200000; ++i) {
    y = autograd::record("step", {y}, y.value(),
                         [](const Tensor &dy, autograd::Needs) {
                           return autograd::Gradients{dy};
                         });
  }
  y.backward(Tensor(), /*retainGraph=*/true);
  EXPECT_THAT(gradOf(a), ElementsAre(1));
  y = Variable(); // freed without a recursion
}

TEST(Autograd, aSecondBackwardIsRefused) {
  Variable a = leaf({3}), y = multiply(a, a);
  y.backward();
  EXPECT_THAT(messageOf([&] { y.backward(); }),
              AllOf(HasSubstr("graph of 'multiply' was consumed"),
                    HasSubstr("retainGraph")));
}

TEST(Autograd, aKeptGraphRunsAgain) {
  Variable a = leaf({3}), y = multiply(a, a);
  y.backward(Tensor(), true);
  y.backward();
  EXPECT_THAT(gradOf(a), ElementsAre(12));
}

TEST(Autograd, refusesToBeginWithManyElements) {
  Variable a = leaf({1, 2});
  EXPECT_THAT(messageOf([&] { multiply(a, a).backward(); }),
              HasSubstr("backward of fp32[2]: expected one element"));
}

TEST(Autograd, refusesAGradientOfAnotherShape) {
  Variable a = leaf({1, 2});
  EXPECT_THAT(messageOf([&] {
                multiply(a, a).backward(zeros({3}, f32, Device::cpu()));
              }),
              HasSubstr("expected a gradient of fp32[2] on cpu, got fp32[3]"));
}

TEST(Autograd, refusesWhatRequiresNoGradient) {
  Variable a(Tensor::fromVector(std::vector<float>{3}));
  EXPECT_THAT(messageOf([&] { multiply(a, a).backward(); }),
              HasSubstr("requires no gradient"));
}

TEST(Autograd, frozenLeavesAreLeftOut) {
  Variable w = leaf({2, 3}), x = leaf({5, 7});
  multiply(w, x).backward(Tensor::fromVector(std::vector<float>{1, 1}));
  w.setRequiresGrad(false);
  EXPECT_FALSE(w.grad().defined());
  multiply(w, x).backward(Tensor::fromVector(std::vector<float>{1, 1}));
  EXPECT_FALSE(w.grad().defined());
  EXPECT_THAT(gradOf(x), ElementsAre(4, 6));
  w.setRequiresGrad(true);
  Variable y = multiply(w, x);
  EXPECT_TRUE(y.requiresGrad());
  EXPECT_THAT(messageOf([&] { y.setRequiresGrad(false); }),
              HasSubstr("expected a leaf, got a result of 'multiply'"));
  Variable ids(arange({2}, i32));
  EXPECT_THAT(messageOf([&] { ids.setRequiresGrad(true); }),
              HasSubstr("expected a tensor of floats"));
}

TEST(Autograd, anAbsentArgumentIsUndefined) {
  EXPECT_FALSE(Variable(std::nullopt).defined());
}

TEST(Autograd, refusesIntegers) {
  EXPECT_THAT(messageOf([&] { Variable(arange({3}), true); }),
              HasSubstr("expected a tensor of floats"));
}

TEST(Autograd, refusesTheGradientOfAnIntermediate) {
  Variable a = leaf({3}), y = multiply(a, a);
  EXPECT_THAT(messageOf([&] { y.grad(); }), HasSubstr("retainGrad()"));
}

TEST(Autograd, namesAnOperatorWhoseGradientDoesNotFit) {
  Variable a = leaf({3, 4});
  Variable y = autograd::record(
      "mine", {a}, a.value().clone(), [](const Tensor &, autograd::Needs) {
        return autograd::Gradients{zeros({2, 1}, f32, Device::cpu())};
      });
  EXPECT_THAT(
      messageOf([&] { y.backward(full({2}, 1, f32, Device::cpu())); }),
      HasSubstr("backward of 'mine': expected fp32[2] on cpu as the gradient "
                "of input 0, got fp32[2, 1] on cpu"));
}

TEST(Autograd, namesAnOperatorWithTooFewGradients) {
  Variable a = leaf({3});
  Variable y = autograd::record("mine", {a, a}, a.value().clone(),
                                [](const Tensor &dy, autograd::Needs) {
                                  return autograd::Gradients{dy};
                                });
  EXPECT_THAT(messageOf([&] { y.backward(); }),
              HasSubstr("'mine': expected 2 gradients, one an input; got 1"));
}

TEST(Autograd, viewsGoBackTheOtherWay) {
  Variable x(arange({2, 3, 4}, f32, Device::cpu()), true);
  Variable y = autograd::permute(autograd::transpose(x, 0, 2), {1, 2, 0});
  EXPECT_EQ(y.shape(), (Shape{3, 2, 4}));
  Variable flat = autograd::reshape(y, {6, 4});
  flat.backward(flat.value().clone());
  EXPECT_EQ(gradOf(x), x.value().toVector<float>());
}

TEST(Autograd, aPermutationMayCountFromTheEnd) {
  Variable x(arange({2, 3, 4}, f32, Device::cpu()), true);
  Variable y = autograd::permute(x, {-1, 0, 1});
  EXPECT_EQ(y.shape(), (Shape{4, 2, 3}));
  y.backward(y.value().clone());
  EXPECT_EQ(gradOf(x), x.value().toVector<float>());
}

TEST(Autograd, slicesGoBackIntoZeros) {
  Variable x = leaf({1, 2, 3, 4, 5});
  Variable y = autograd::slice(x, 0, -4, 5, 2); // 2, 4
  y.backward(y.value().clone());
  EXPECT_THAT(gradOf(x), ElementsAre(0, 2, 0, 4, 0));
}

TEST(Autograd, undefinedVariablesAreNamed) {
  EXPECT_THAT(messageOf([] { Variable().backward(); }),
              HasSubstr("backward of an undefined variable"));
}

TEST(Autograd, recomputesWhatItDoesNotKeep) {
  int calls = 0;
  Variable a = leaf({3, 2}), b = leaf({5, 7}), c = leaf({1, 1});
  auto function = [&](std::span<const Variable> in) {
    ++calls;
    Variable product = multiply(in[0], in[1]);
    return std::vector<Variable>{multiply(product, in[0]), add(product, in[2])};
  };
  auto run = [&](bool recomputes) {
    for (const Variable &v : {a, b, c}) {
      v.zeroGrad();
    }
    Variable inputs[] = {a, b, multiply(c, c), Variable()};
    std::vector<Variable> y =
        recomputes ? autograd::recomputed("twice", inputs, function)
                   : function(inputs);
    Variable sum = add(multiply(y[0], y[1]), y[1]);
    sum.backward(Tensor::fromVector(std::vector<float>{1, 2}));
    return std::vector{sum.value().toVector<float>(), gradOf(a), gradOf(b),
                       gradOf(c)};
  };
  auto expected = run(false);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(run(true), expected);
  EXPECT_EQ(calls, 3);
}

TEST(Autograd, recomputesForTheInputsThatNeedIt) {
  int calls = 0;
  Variable a = leaf({3}), fixed(Tensor::fromVector(std::vector<float>{4}));
  auto function = [&](std::span<const Variable> in) {
    ++calls;
    EXPECT_EQ(in[1].requiresGrad(), false);
    return std::vector<Variable>{multiply(in[0], in[1]), in[1]};
  };
  Variable inputs[] = {a, fixed};
  std::vector<Variable> y = autograd::recomputed("part", inputs, function);
  y[0].backward();
  EXPECT_THAT(gradOf(a), ElementsAre(4));
  EXPECT_EQ(calls, 2);
  // Nothing to record: as if the function were called.
  NoGrad off;
  EXPECT_FALSE(
      autograd::recomputed("part", inputs, function)[0].requiresGrad());
  EXPECT_EQ(calls, 3);
}

TEST(Autograd, hooksRunOnceBehindWhatIsRecomputed) {
  Variable a = leaf({3});
  std::vector<float> seen;
  a.onGradient([&](const Variable &v) { seen.push_back(gradOf(v)[0]); });
  auto square = [](std::span<const Variable> in) {
    return std::vector<Variable>{multiply(in[0], in[0])};
  };
  Variable first[] = {a};
  std::vector<Variable> y = autograd::recomputed("square", first, square);
  Variable second[] = {y[0]};
  std::vector<Variable> z = autograd::recomputed("square", second, square);
  add(z[0], a).backward(); // a^4 + a
  EXPECT_THAT(seen, ElementsAre(4 * 27 + 1));
}

TEST(Autograd, whatARecomputedFunctionCapturesGetsItsGradient) {
  Variable a = leaf({3}), w = leaf({5});
  std::vector<float> seen;
  w.onGradient([&](const Variable &v) { seen.push_back(gradOf(v)[0]); });
  auto run = [&](bool recomputes) {
    a.zeroGrad();
    w.zeroGrad();
    Variable upstream = multiply(w, w);
    auto function = [=](std::span<const Variable> in) {
      return std::vector<Variable>{
          multiply(multiply(in[0], upstream), add(w, upstream)), upstream};
    };
    Variable inputs[] = {multiply(a, a)};
    std::vector<Variable> y =
        recomputes ? autograd::recomputed("captures", inputs, function)
                   : function(inputs);
    add(multiply(y[0], y[1]), upstream).backward();
    return std::vector{gradOf(a)[0], gradOf(w)[0]};
  };
  auto expected = run(false);
  EXPECT_EQ(run(true), expected);
  EXPECT_THAT(seen, ElementsAre(expected[1], expected[1])) << "once a pass";
}

TEST(Autograd, recomputedFunctionsMayStandInOneAnother) {
  Variable a = leaf({3}), w = leaf({5});
  auto run = [&](bool recomputes) {
    a.zeroGrad();
    w.zeroGrad();
    Variable upstream = multiply(w, w);
    auto call = [=](const autograd::Function &f, const Variable &x) {
      return recomputes ? autograd::recomputed("f", std::vector{x}, f)[0]
                        : f(std::vector{x})[0];
    };
    auto outer = [=](std::span<const Variable> in) {
      Variable middle = multiply(in[0], w);
      auto inner = [=](std::span<const Variable> x) {
        return std::vector{multiply(multiply(x[0], middle), upstream)};
      };
      return std::vector{add(call(inner, in[0]), middle)};
    };
    add(call(outer, a), upstream).backward();
    return std::vector{gradOf(a)[0], gradOf(w)[0]};
  };
  auto expected = run(false);
  EXPECT_EQ(run(true), expected);
}

TEST(Autograd, recomputedFunctionsDrawTheSameSeeds) {
  Variable a = leaf({1, 1, 1, 1});
  std::vector<std::vector<float>> drawn;
  auto noise = [&](std::span<const Variable> in) {
    Variable mask(rand({4}, f32, Device::cpu()));
    drawn.push_back(mask.value().toVector<float>());
    return std::vector{multiply(in[0], mask)};
  };
  auto twice = [&](std::span<const Variable> in) {
    return std::vector{
        multiply(autograd::recomputed("noise", in, noise)[0], noise(in)[0])};
  };
  manualSeed(3);
  Variable y = autograd::recomputed("twice", std::vector{a}, twice)[0];
  uint64_t next = nextSeed();
  y.backward(full({4}, 1, f32, Device::cpu()));
  // Forward, again, and the inner one of what was again.
  ASSERT_EQ(drawn.size(), 5);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_EQ(drawn[2], drawn[0]);
  EXPECT_EQ(drawn[3], drawn[1]);
  EXPECT_EQ(drawn[4], drawn[0]);
  EXPECT_EQ(gradOf(a)[0], 2 * y.value().toVector<float>()[0]);
  manualSeed(3);
  nextSeed();
  nextSeed();
  EXPECT_EQ(nextSeed(), next) << "the sequence goes on behind two draws";
}

TEST(Autograd, recomputedFunctionsThatChangeAreNamed) {
  Variable a = leaf({3}), w = leaf({5});
  auto asMany = [](int *calls) {
    return [=](std::span<const Variable> in) {
      for (int i = 0; i <= *calls; ++i) {
        nextSeed();
      }
      ++*calls;
      return std::vector{in[0]};
    };
  };
  int calls = 0;
  Variable y = autograd::recomputed("draws", std::vector{a}, asMany(&calls))[0];
  EXPECT_THAT(messageOf([&] { y.backward(); }),
              HasSubstr("expected 1 random seeds, as the first time, got one "
                        "more; hint: "));
  Variable upstream = multiply(w, w);
  auto captures = [&](std::span<const Variable> in) {
    return std::vector{multiply(in[0], upstream)};
  };
  y = autograd::recomputed("captures", std::vector{a}, captures)[0];
  upstream = multiply(w, w);
  EXPECT_THAT(messageOf([&] { y.backward(); }),
              HasSubstr("backward of 'captures': expected a function that "
                        "captures the same variables each time, got another "
                        "result of 'multiply'; hint: "));
  auto leaf = [&](std::span<const Variable> in) {
    return std::vector{multiply(in[0], w)};
  };
  y = autograd::recomputed("leaf", std::vector{a}, leaf)[0];
  w.value().fill(1);
  EXPECT_THAT(messageOf([&] { y.backward(); }), HasSubstr("written to"));
  Variable inside;
  auto escapes = [&](std::span<const Variable> in) {
    inside = multiply(in[0], in[0]);
    return std::vector{inside};
  };
  autograd::recomputed("escapes", std::vector{a}, escapes);
  EXPECT_THAT(messageOf([&] { inside.backward(); }),
              HasSubstr("got one of 'multiply' inside of such a function"));
  EXPECT_THAT(
      messageOf([&] { autograd::recomputed("none", std::vector{a}, {}); }),
      HasSubstr("recomputed 'none': expected a function, got none"));
  auto nothing = [](std::span<const Variable>) {
    return std::vector<Variable>(1);
  };
  EXPECT_THAT(
      messageOf([&] { autograd::recomputed("no", std::vector{a}, nothing); }),
      HasSubstr("expected outputs that are tensors, got an undefined one, "
                "number 0"));
}
