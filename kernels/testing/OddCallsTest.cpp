//===- OddCallsTest.cpp - Operators given odd arguments -------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each argument of each operator is replaced by an odd one of each kind, and
// each number by odd numbers. A call ends in one of two ways: in an Error that
// says what was expected and what it got, or in the value that the same call
// has of a row-major fp32 copy. Gradients of what was taken have the shape of
// what they are of.
//
//===----------------------------------------------------------------------===//

#include "kernels/causal_conv/CausalConv.h"
#include "kernels/experts/Experts.h"
#include "kernels/patches/Patches.h"
#include "kernels/quantized/Quantized.h"
#include "kernels/selective_scan/SelectiveScan.h"
#include "kernels/testing/OperatorCalls.h"
#include "nereid/kernels.h"
#include "nereid/nereid.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;

namespace {

constexpr double nan = NAN, infinity = INFINITY;
constexpr int64_t huge = INT64_MAX;

/// From 0.1 to 0.9: numbers that logarithms, variances and steps of time take.
Tensor fitting(const Shape &shape, uint64_t seed) {
  Tensor t = rand(shape, f32, Device::cpu(), seed);
  std::vector<double> values = t.toFloat64();
  for (double &one : values) {
    one = 0.1 + 0.8 * one;
  }
  return Tensor::fromVector(values, shape).to(f32);
}

struct Oddity {
  const char *name;
  std::function<Tensor(const Tensor &)> make; ///< of what fits
};

Tensor longer(const Tensor &t, int axis) {
  Shape shape = t.shape();
  shape[size_t(axis)] += 1;
  return fitting(shape, 7);
}

Tensor emptied(const Tensor &t, int axis) {
  Shape shape = t.shape();
  shape[size_t(axis)] = 0;
  return empty(shape, f32, Device::cpu());
}

/// Every other element of a larger tensor.
Tensor gapped(const Tensor &t) {
  Shape shape = t.shape();
  shape.back() *= 2;
  Tensor wide = full(shape, nan, f32, Device::cpu());
  Tensor view = wide.slice(t.rank() - 1, 0, shape.back(), 2);
  view.copyFrom(t);
  return view;
}

Tensor turned(const Tensor &t) {
  int last = t.rank() - 1;
  return t.transpose(0, last).clone().transpose(0, last);
}

Tensor shifted(const Tensor &t) {
  Tensor line = empty({t.numel() + 1}, f32, Device::cpu());
  return line.slice(0, 1).view(t.shape()).copyFrom(t);
}

const std::vector<Oddity> &oddities() {
  static const std::vector<Oddity> all = {
      {"undefined", [](const Tensor &) { return Tensor(); }},
      {"one dimension more", [](const Tensor &t) { return t.unsqueeze(0); }},
      {"one dimension less", [](const Tensor &t) { return t.select(0, 0); }},
      {"a scalar", [](const Tensor &) { return fitting({}, 3); }},
      {"a longer row", [](const Tensor &t) { return longer(t, t.rank() - 1); }},
      {"one more of the first", [](const Tensor &t) { return longer(t, 0); }},
      {"empty rows", [](const Tensor &t) { return emptied(t, t.rank() - 1); }},
      {"none of the first", [](const Tensor &t) { return emptied(t, 0); }},
      {"i32", [](const Tensor &t) { return t.to(i32); }},
      {"int1", [](const Tensor &t) { return t.to(i1); }},
      {"fp8", [](const Tensor &t) { return t.to(fp8e5); }},
      {"bf16", [](const Tensor &t) { return t.to(bf16); }},
      {"fp16", [](const Tensor &t) { return t.to(f16); }},
      {"fp64", [](const Tensor &t) { return t.to(f64); }},
      {"another device",
       [](const Tensor &t) { return t.to(Device::interp()); }},
      {"expanded",
       [](const Tensor &t) {
         return fitting(Shape(size_t(t.rank()), 1), 5).expand(t.shape());
       }},
      {"with gaps", gapped},
      {"column-major", turned},
      {"off the beginning", shifted},
      {"NaN",
       [](const Tensor &t) { return full(t.shape(), nan, f32, t.device()); }},
      {"infinite",
       [](const Tensor &t) {
         return full(t.shape(), infinity, f32, t.device());
       }},
      {"the largest",
       [](const Tensor &t) {
         return full(t.shape(), 3.4e38, f32, t.device());
       }},
  };
  return all;
}

/// What is wrong with a message for users; empty if nothing is. Of memory that
/// there is not nothing else was expected.
std::string flawOf(const Error &error) {
  const std::string message = error.message();
  if (error.code() == ErrorCode::OutOfMemory) {
    return "";
  }
  for (const char *word : {"expected ", "got "}) {
    if (message.find(word) == std::string::npos) {
      return "no '" + std::string(word) + "' in: " + message;
    }
  }
  return "";
}

std::vector<Variable> variablesOf(const std::vector<Tensor> &tensors) {
  std::vector<Variable> all;
  for (const Tensor &t : tensors) {
    all.emplace_back(t, t.defined() && isFloat(t.dtype()));
  }
  return all;
}

/// Of what was taken: is it what row-major copies of fp32 give?
void judgeValue(const OperatorCall &one, std::vector<Tensor> tensors,
                const Tensor &value) {
  bool isNarrow = byteSize(value.dtype()) < 4;
  for (Tensor &t : tensors) {
    if (t.defined()) {
      isNarrow |= isFloat(t.dtype()) && byteSize(t.dtype()) < 4;
      t = t.to(Device::cpu()).to(f32).clone();
    }
  }
  Tensor expected = one.call(variablesOf(tensors)).value();
  ASSERT_EQ(value.shape(), expected.shape());
  std::vector<double> a = value.toFloat64(), b = expected.toFloat64();
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i]) || std::isinf(b[i])) {
      continue; // of a type with another range it may be finite
    }
    ASSERT_NEAR(a[i], b[i], (isNarrow ? 3e-2 : 1e-5) * (1 + std::fabs(b[i])))
        << "element " << i;
  }
}

void judgeGradients(const Variable &y, const std::vector<Variable> &arguments) {
  try {
    y.backward(full(y.shape(), 1, y.dtype(), y.device()));
  } catch (const Error &error) {
    EXPECT_EQ(flawOf(error), "") << "of the backward";
    return;
  }
  for (const Variable &one : arguments) {
    if (one.defined() && one.grad().defined()) {
      EXPECT_EQ(one.grad().shape(), one.shape());
    }
  }
}

/// The two ways to end.
void judge(const OperatorCall &one, const std::vector<Tensor> &tensors) {
  std::vector<Variable> arguments = variablesOf(tensors);
  Variable y;
  try {
    y = one.call(arguments);
    y.value().toFloat64(); // waits
  } catch (const Error &error) {
    EXPECT_EQ(flawOf(error), "");
    return;
  }
  judgeValue(one, tensors, y.value());
  if (y.requiresGrad()) {
    judgeGradients(y, arguments);
  }
}

} // namespace

TEST(OddCalls, argumentsThatDoNotFit) {
  for (const OperatorCall &one : operatorCalls()) {
    std::vector<Tensor> fits;
    for (const Shape &shape : one.arguments) {
      fits.push_back(fitting(shape, fits.size() + 1));
    }
    for (size_t i = 0; i < fits.size(); ++i) {
      for (const Oddity &odd : oddities()) {
        SCOPED_TRACE(std::string(one.name) + ", argument " + std::to_string(i) +
                     ": " + odd.name);
        std::vector<Tensor> tensors = fits;
        tensors[i] = odd.make(fits[i]);
        judge(one, tensors);
      }
    }
  }
}

namespace {

struct Call {
  const char *text;
  std::function<void()> call;
};

Tensor some(const Shape &shape) { return fitting(shape, 1); }
Tensor ids(const std::vector<int64_t> &values) {
  return Tensor::fromVector(values);
}

/// Each ends in an error.
std::vector<Call> refusedViews() {
  return {
      {"size(2)", [] { some({3}).size(2); }},
      {"size(-2)", [] { some({3}).size(-2); }},
      {"size of none", [] { Tensor().size(0); }},
      {"select(1, 5)", [] { some({2, 5}).select(1, 5); }},
      {"select(0, -3)", [] { some({2}).select(0, -3); }},
      {"select of a scalar", [] { some({}).select(0, 0); }},
      {"slice step 0", [] { some({4}).slice(0, 0, 4, 0); }},
      {"slice step -1", [] { some({4}).slice(0, 0, 4, -1); }},
      {"view {-1, -1}", [] { some({4}).view({-1, -1}); }},
      {"view {3}", [] { some({4}).view({3}); }},
      {"view {-2}", [] { some({4}).view({-2}); }},
      {"view of a turned one", [] { some({2, 3}).transpose(0, 1).view({6}); }},
      {"reshape {5}", [] { some({4}).reshape({5}); }},
      {"transpose(0, 2)", [] { some({2, 3}).transpose(0, 2); }},
      {"permute {0}", [] { some({2, 3}).permute({0}); }},
      {"permute {0, 0}", [] { some({2, 3}).permute({0, 0}); }},
      {"permute {0, 7}", [] { some({2, 3}).permute({0, 7}); }},
      {"expand {3, 4}", [] { some({2, 1}).expand({3, 4}); }},
      {"expand {4}", [] { some({2, 1}).expand({4}); }},
      {"unsqueeze(5)", [] { some({2}).unsqueeze(5); }},
      {"squeeze(0)", [] { some({2}).squeeze(0); }},
      {"bitcast to f64", [] { some({2}).bitcast(f64); }},
      {"copyFrom {3}", [] { some({2}).copyFrom(some({3})); }},
      {"copyFrom none", [] { some({2}).copyFrom(Tensor()); }},
      {"fill of none", [] { Tensor().fill(1); }},
      {"fill of an expanded one", [] { some({1}).expand({3}).fill(1); }},
      {"clone of none", [] { Tensor().clone(); }},
      {"to(f16) of none", [] { Tensor().to(f16); }},
      {"at {1, 2}", [] { some({3}).at({1, 2}); }},
      {"at {3}", [] { some({3}).at({3}); }},
      {"item of two", [] { some({2}).item(); }},
      {"item of none", [] { Tensor().item(); }},
      {"data of another type", [] { some({2}).data<int32_t>(); }},
      {"fromVector {3} of 2",
       [] { Tensor::fromVector(std::vector<float>(2), Shape{3}); }},
      {"borrow null", [] { Tensor::borrow(nullptr, {2}, f32); }},
      {"empty {-1}", [] { empty({-1}, f32, Device::cpu()); }},
      {"empty {huge, huge}", [] { empty({huge, huge}, f32, Device::cpu()); }},
      {"empty {2^62}", [] { empty({int64_t{1} << 62}, f32, Device::cpu()); }},
      {"emptyLike of none", [] { emptyLike(Tensor()); }},
      {"rand of i32", [] { rand({2}, i32, Device::cpu()); }},
      {"randn of i32", [] { randn({2}, i32, Device::cpu()); }},
      {"randint 3 to 3", [] { randint({2}, 3, 3, i32, Device::cpu()); }},
      {"randint of i8 to 1000",
       [] { randint({2}, 0, 1000, i8, Device::cpu()); }},
  };
}

std::vector<Call> refusedVariables() {
  auto leaf = [](const Shape &shape) { return Variable(some(shape), true); };
  return {
      {"a gradient of none", [] { Variable(Tensor(), true); }},
      {"a gradient of i32", [] { Variable(ids({1}), true); }},
      {"backward of none", [] { Variable().backward(); }},
      {"backward of a constant", [] { Variable(some({1})).backward(); }},
      {"backward of two", [=] { leaf({2}).backward(); }},
      {"backward with {3}", [=] { leaf({2}).backward(some({3})); }},
      {"backward with f64", [=] { leaf({2}).backward(some({2}).to(f64)); }},
      {"grad of none", [] { Variable().grad(); }},
      {"grad of a result",
       [=] {
         Variable y = leaf({2}) * 2;
         y.grad();
       }},
      {"setGrad {3}", [=] { leaf({2}).setGrad(some({3})); }},
      {"setGrad f16", [=] { leaf({2}).setGrad(some({2}).to(f16)); }},
      {"setValue {3}", [=] { leaf({2}).setValue(some({3})); }},
      {"setValue of none", [=] { leaf({2}).setValue(Tensor()); }},
      {"setRequiresGrad of i32",
       [] { Variable(ids({1})).setRequiresGrad(true); }},
      {"retainGrad of a constant", [] { Variable(some({1})).retainGrad(); }},
      {"onGradient of a constant",
       [] { Variable(some({1})).onGradient([](const Variable &) {}); }},
      {"record of no function",
       [=] { autograd::record("x", {leaf({1})}, some({1}), nullptr); }},
      {"recomputed of no function",
       [=] { autograd::recomputed("x", std::vector{leaf({1})}, {}); }},
      {"select(0, 9)", [=] { leaf({2}).select(0, 9); }},
      {"expand {3}", [=] { leaf({2}).expand({3}); }},
      {"permute {1}", [=] { leaf({2}).permute({1}); }},
      {"view {7}", [=] { leaf({2}).view({7}); }},
  };
}

std::vector<Call> refusedNumbers() {
  Tensor x = some({3, 4}), q = some({1, 2, 4, 16}), y = some({1, 4, 8});
  return {
      {"sum axis 2", [=] { sum(x, 2); }},
      {"sum axis -3", [=] { sum(x, -3); }},
      {"mean axis 9", [=] { mean(x, 9); }},
      {"argmax axis 2", [=] { argmax(x, 2); }},
      {"cumsum axis 2", [=] { cumsum(x, 2); }},
      {"sort axis 2", [=] { sort(x, 2); }},
      {"topk 5", [=] { topk(x, 5); }},
      {"topk -1", [=] { topk(x, -1); }},
      {"concat axis 2", [=] { concat({x, x}, 2); }},
      {"concat of nothing", [] { concat(std::span<const Tensor>()); }},
      {"stack of two shapes", [=] { stack({x, some({3})}); }},
      {"split 0", [=] { split(x, 0); }},
      {"split -1", [=] { split(x, -1); }},
      {"chunk 0", [=] { chunk(x, 0); }},
      {"pad -9", [=] { pad(x, {{-9, 0}, {0, 0}}); }},
      {"groupNorm 0", [=] { groupNorm(some({2, 4, 3}), 0); }},
      {"groupNorm 3", [=] { groupNorm(some({2, 4, 3}), 3); }},
      {"dropout -0.1", [=] { dropout(x, -0.1, 0); }},
      {"dropout NaN", [=] { dropout(x, nan, 0); }},
      {"dropout offset -1", [=] { dropout(x, 0.5, 0, -1); }},
      {"attention window -1", [=] { attention(q, q, q, {.window = -1}); }},
      {"attention scale 0", [=] { attention(q, q, q, {.scale = 0.0}); }},
      {"attention scale NaN", [=] { attention(q, q, q, {.scale = nan}); }},
      {"attention dropout 1",
       [=] { attention(q, q, q, {.dropout = {.p = 1}}); }},
      {"selfAttention of 0 heads", [=] { selfAttention(y, 0); }},
      {"selfAttention of 5 heads", [=] { selfAttention(y, 5); }},
      {"rotaryAngles of an odd size",
       [] { rotaryAngles(4, 3, Device::cpu()); }},
      {"rotaryAngles base 0", [] { rotaryAngles(4, 4, Device::cpu(), 0); }},
      {"sample temperature -1", [=] { sample(x, {.temperature = -1}); }},
      {"sample temperature NaN", [=] { sample(x, {.temperature = nan}); }},
      {"sample topK -1", [=] { sample(x, {.topK = -1}); }},
      {"sample topP 2", [=] { sample(x, {.topP = 2}); }},
      {"sample topP NaN", [=] { sample(x, {.topP = nan}); }},
      {"huberLoss delta 0", [=] { huberLoss(x, x, Reduction::Mean, 0); }},
      {"labelSmoothing 2",
       [=] { crossEntropy(x, ids({0, 1, 2}), {.labelSmoothing = 2}); }},
      {"quantize 5 bits", [=] { quantize(x, {.bits = 5}); }},
      {"quantize group -1", [=] { quantize(x, {.group = -1}); }},
      {"oneHot -1", [] { oneHot(ids({0}), -1); }},
      {"groupByExpert 0", [] { groupByExpert(ids({0}).view({1, 1}), 0); }},
      {"unfold height 0",
       [] { unfold(some({1, 1, 4, 4}), Patch{.height = 0}); }},
      {"unfold step 0",
       [] { unfold(some({1, 1, 4, 4}), Patch{.stepDown = 0}); }},
      {"unfold pad -1",
       [] { unfold(some({1, 1, 4, 4}), Patch{.padDown = -1}); }},
      {"unfold of too large a patch",
       [] { unfold(some({1, 1, 4, 4}), Patch{.height = 5}); }},
      {"fold of another height", [=] { fold(y, 9, 4, Patch{2, 2, 2, 2}); }},
      {"clipGradNorm 0", [] { clipGradNorm({}, 0); }},
      {"clipGradNorm NaN", [] { clipGradNorm({}, nan); }},
      {"AdamW rate NaN", [] { AdamW({.learningRate = nan}); }},
      {"AdamW rate -1", [] { AdamW({.learningRate = -1}); }},
      {"AdamW beta1 1", [] { AdamW({.beta1 = 1}); }},
      {"AdamW beta2 NaN", [] { AdamW({.beta2 = nan}); }},
      {"AdamW eps -1", [] { AdamW({.eps = -1}); }},
      {"AdamW decay -1", [] { AdamW({.weightDecay = -1}); }},
      {"SGD rate infinite", [] { SGD({.learningRate = infinity}); }},
      {"SGD momentum -1", [] { SGD({.momentum = -1}); }},
      {"SGD nesterov", [] { SGD({.nesterov = true}); }},
      {"GradScaler 0", [] { GradScaler({.initialScale = 0}); }},
      {"GradScaler update", [] { GradScaler().update(); }},
  };
}

std::vector<Call> refusedIndices() {
  Tensor table = some({5, 4}), x = some({3, 4});
  return {
      {"embedding 5", [=] { embedding(ids({5}), table); }},
      {"embedding -1", [=] { embedding(ids({-1}), table); }},
      {"embedding huge", [=] { embedding(ids({huge}), table); }},
      {"embedding of floats", [=] { embedding(some({3}), table); }},
      {"embedding of none", [=] { embedding(Tensor(), table); }},
      {"embedding on interp",
       [=] { embedding(ids({1}).to(Device::interp()), table); }},
      {"embedding padding 5", [=] { embedding(ids({1}), Variable(table), 5); }},
      {"crossEntropy 4", [=] { crossEntropy(x, ids({0, 1, 4})); }},
      {"crossEntropy -1", [=] { crossEntropy(x, ids({0, 1, -1})); }},
      {"crossEntropy of two", [=] { crossEntropy(x, ids({0, 1})); }},
      {"crossEntropy of floats", [=] { crossEntropy(x, some({3})); }},
      {"crossEntropy of none", [=] { crossEntropy(x, Tensor()); }},
      {"linearCrossEntropy 5",
       [=] { linearCrossEntropy(x, table, ids({0, 1, 5})); }},
      {"gather 4", [=] { gather(x, 1, ids({4}).view({1, 1})); }},
      {"gather of one dimension", [=] { gather(x, 1, ids({0})); }},
      {"gather axis 2", [=] { gather(x, 2, ids({0}).view({1, 1})); }},
      {"indexSelect 3", [=] { indexSelect(x, 0, ids({3})); }},
      {"indexSelect of floats", [=] { indexSelect(x, 0, some({1})); }},
      {"take 9", [=] { take(x, ids({9})); }},
      {"scatterAdd 4",
       [=] { scatterAdd(x, 1, ids({4}).view({1, 1}), some({1, 1})); }},
      {"oneHot 3 of 3", [] { oneHot(ids({3}), 3); }},
      {"groupByExpert of floats", [] { groupByExpert(some({2, 1}), 2); }},
      {"decoding of no lengths",
       [] {
         Tensor k = some({2, 2, 4, 16});
         decoding(some({2, 2, 16}), k, k, Tensor());
       }},
      {"decoding of floats",
       [] {
         Tensor k = some({2, 2, 4, 16});
         decoding(some({2, 2, 16}), k, k, some({2}));
       }},
  };
}

std::vector<Call> refusedModules() {
  return {
      {"Linear(0, 1)", [] { nn::Linear(0, 1); }},
      {"Linear(1, -1)", [] { nn::Linear(1, -1); }},
      {"Embedding(0, 1)", [] { nn::Embedding(0, 1); }},
      {"Embedding padding 9", [] { nn::Embedding(2, 1, {.padding = 9}); }},
      {"LayerNorm(0)", [] { nn::LayerNorm(0); }},
      {"GroupNorm(2, 3)", [] { nn::GroupNorm(2, 3); }},
      {"Dropout(NaN)", [] { nn::Dropout{nan}; }},
      {"MultiheadAttention(8, 3)", [] { nn::MultiheadAttention(8, 3); }},
      {"add without a name", [] { nn::Module().add("", some({1})); }},
      {"add with a dot", [] { nn::Module().add("a.b", some({1})); }},
      {"add twice",
       [] {
         nn::Module m;
         m.add("a", some({1}));
         m.add("a", some({1}));
       }},
      {"addBuffer of none", [] { nn::Module().addBuffer("a", Tensor()); }},
      {"a parameter of i32", [] { nn::Module().add("a", Variable(ids({1}))); }},
      {"a module in itself",
       [] {
         nn::Module m;
         m.add("m", m);
       }},
      {"to(i32)", [] { nn::Module().to(i32); }},
      {"loadStateDict", [] { nn::Module().loadStateDict({{"x", some({1})}}); }},
      {"uniform 2 to 1", [] { nn::init::uniform(Variable(some({1})), 2, 1); }},
      {"normal -1", [] { nn::init::normal(Variable(some({1})), 0, -1); }},
      {"truncatedNormal 1 to 1",
       [] { nn::init::truncatedNormal(Variable(some({1})), 0, 1, 1, 1); }},
      {"xavierNormal of a line",
       [] { nn::init::xavierNormal(Variable(some({3}))); }},
  };
}

} // namespace

TEST(OddCalls, whatIsRefusedSaysWhy) {
  for (auto list : {refusedViews, refusedVariables, refusedNumbers,
                    refusedIndices, refusedModules}) {
    for (const Call &one : list()) {
      SCOPED_TRACE(one.text);
      try {
        one.call();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const Error &error) {
        EXPECT_EQ(flawOf(error), "");
      }
    }
  }
}
