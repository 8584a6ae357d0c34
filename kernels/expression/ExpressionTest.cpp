//===- ExpressionTest.cpp ---------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Expression.h"
#include "kernels/expression/reference.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/reduce/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Stream.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

using namespace nereid;
using namespace nereid::kernels;
using reference::StepOp;
using ::testing::HasSubstr;

namespace {
struct Step {
  StepOp op;
  size_t a, b, c;
  double number;
};
struct Shaped {
  Shape shape;
  Numbers values;
};
} // namespace

/// A random composition: leaves first, then a value a step.
class Expressions : public OperatorTest {
protected:
  void makeLeaves(bool floatsAlone);
  void makeSteps(int count, int ops);
  /// By the operators under test.
  Expression build(const std::vector<Expression> &leaves) const;
  Shaped compute(const std::vector<Numbers> &leaves) const;

  std::vector<Tensor> leaves;
  std::vector<Step> steps;
};

NEREID_ON_EVERY_DEVICE(Expressions);

void Expressions::makeLeaves(bool floatsAlone) {
  int64_t left = isSlow ? 200 : 20000;
  Shape whole;
  for (int i = int(pick(1, 4)); i > 0; --i) {
    whole.push_back(awkwardSize(std::min<int64_t>(left, 3000)));
    left = std::max<int64_t>(left / whole.back(), 1);
  }
  leaves.clear();
  for (int64_t count = pick(1, 4); count > 0; --count) {
    Shape shape = whole;
    for (int64_t &size : shape) {
      size = pick(0, 3) ? size : 1;
    }
    shape.erase(shape.begin(), shape.begin() + pick(0, int(shape.size())) / 2);
    Tensor leaf = random(shape, floatType());
    if (!floatsAlone && pick(0, 5) == 0) {
      leaf = laidOut(leaf.to(oneOf({i8, i32, i64, i1, u8})).to(Device::cpu()));
    }
    leaves.push_back(leaf);
  }
}

void Expressions::makeSteps(int count, int ops) {
  steps.clear();
  for (int i = 0; i < count; ++i) {
    auto any = [&] { return size_t(pick(0, int64_t(leaves.size()) + i - 1)); };
    // The last value is used, so that the result depends on all steps.
    size_t last = i ? leaves.size() + size_t(i) - 1 : any();
    constexpr double exponents[] = {2, 0.5, 3, -1.5, 0.75, 1.25};
    StepOp op = StepOp(pick(0, ops - 1));
    double number =
        op == StepOp::Power ? exponents[pick(0, 5)] : double(pick(-30, 30)) / 8;
    bool swaps = coin();
    size_t other = any();
    steps.push_back(
        {op, swaps ? other : last, swaps ? last : other, any(), number});
    if (op >= StepOp::Negate && op != StepOp::Maximum &&
        op != StepOp::Minimum && op != StepOp::Where) {
      steps.back().a = last;
    }
  }
}

Expression Expressions::build(const std::vector<Expression> &given) const {
  std::vector<Expression> values = given;
  for (const Step &step : steps) {
    // Integers are small: sums and products of them are taken as fp32.
    auto value = [&](size_t i) {
      return isFloat(values[i].dtype()) ? values[i] : values[i] * 1.0;
    };
    Expression a = value(step.a), b = value(step.b), c = value(step.c);
    auto result = [&]() -> Expression {
      switch (step.op) {
      case StepOp::Add:
        return a + b;
      case StepOp::Subtract:
        return a - b;
      case StepOp::Multiply:
        return a * b;
      case StepOp::Divide:
        return a / (b * b + 0.5);
      case StepOp::Negate:
        return -a;
      case StepOp::Exp:
        return exp(2 * tanh(a));
      case StepOp::Log:
        return log(a * a + 0.5);
      case StepOp::Sqrt:
        return sqrt(a * a + 0.5);
      case StepOp::Rsqrt:
        return rsqrt(0.5 + pow(a, 2));
      case StepOp::Tanh:
        return tanh(a);
      case StepOp::Sigmoid:
        return sigmoid(a);
      case StepOp::Erf:
        return erf(a);
      case StepOp::Silu:
        return silu(a);
      case StepOp::Gelu:
        return gelu(a);
      case StepOp::GeluTanh:
        return geluTanh(a);
      case StepOp::Scale:
        return step.number * a;
      case StepOp::Power:
        return pow(a * a + 0.5, step.number);
      case StepOp::Maximum:
        return maximum(a, b);
      case StepOp::Minimum:
        return minimum(a, b);
      case StepOp::Abs:
        return abs(a);
      case StepOp::Relu:
        return relu(a);
      case StepOp::Where:
        return where(a < b, a, c);
      case StepOp::Round:
        return cast(cast(a, bf16), f32);
      }
      return a;
    };
    values.push_back(result());
  }
  return values.back();
}

Shaped Expressions::compute(const std::vector<Numbers> &given) const {
  std::vector<Shaped> all;
  for (size_t i = 0; i < given.size(); ++i) {
    all.push_back({leaves[i].shape(), given[i]});
  }
  for (const Step &step : steps) {
    bool two = step.op <= StepOp::Divide || step.op == StepOp::Maximum ||
               step.op == StepOp::Minimum || step.op == StepOp::Where;
    std::vector<size_t> of = {step.a};
    if (two) {
      of.push_back(step.b);
    }
    if (step.op == StepOp::Where) {
      of.push_back(step.c);
    }
    Shaped result;
    for (size_t i : of) {
      const Shape &s = all[i].shape;
      if (s.size() > result.shape.size()) {
        result.shape.insert(result.shape.begin(),
                            s.size() - result.shape.size(), 1);
      }
      for (size_t d = 0; d < s.size(); ++d) {
        int64_t &size = result.shape[result.shape.size() - 1 - d];
        size = std::max(size, s[s.size() - 1 - d]);
      }
    }
    size_t count = 1;
    for (int64_t size : result.shape) {
      count *= size_t(size);
    }
    for (size_t i = 0; i < count; ++i) {
      Number in[3];
      for (size_t k = 0; k < of.size(); ++k) {
        const Shaped &from = all[of[k]];
        in[k] =
            from.values[reference::broadcastIndex(i, result.shape, from.shape)];
      }
      result.values.push_back(
          reference::apply(step.op, in[0], in[1], in[2], step.number));
    }
    all.push_back(std::move(result));
  }
  return all.back();
}

TEST_P(Expressions, compositionsAgreeWithDoublePrecision) {
  forCases(
      [&] {
        makeLeaves(false);
        makeSteps(int(pick(1, 12)), reference::numOps);
        std::vector<Expression> given(leaves.begin(), leaves.end());
        std::vector<Numbers> values;
        for (const Tensor &leaf : leaves) {
          values.push_back(exactly(leaf));
        }
        Expression expression = build(given);
        Tensor y = expression;
        Shaped expected = compute(values);
        ASSERT_EQ(y.shape(), expected.shape);
        EXPECT_EQ(misfit(y, expected.values), "") << source(expression);
        EXPECT_EQ(evaluate(expression).toFloat64(), y.toFloat64())
            << "other bits";
      },
      20);
}

TEST_P(Expressions, gradientsAgreeWithDerivatives) {
  forCases([&] {
    makeLeaves(true);
    makeSteps(int(pick(1, 5)), reference::numSmoothOps);
    std::vector<Variable> variables;
    std::vector<Expression> given;
    for (Tensor &leaf : leaves) {
      leaf = leaf.to(f32);
      variables.push_back(Variable(leaf, pick(0, 3)));
      given.push_back(variables.back());
    }
    Variable y = build(given);
    if (!y.requiresGrad()) {
      return;
    }
    // Those that the steps use.
    std::vector<bool> used(leaves.size() + steps.size());
    used.back() = true;
    for (size_t i = steps.size(); i-- > 0;) {
      if (used[leaves.size() + i]) {
        used[steps[i].a] = true;
        used[steps[i].b] = used[steps[i].b] || steps[i].op <= StepOp::Divide;
      }
    }
    for (size_t i = 0; i < variables.size(); ++i) {
      if (!used[i]) {
        variables[i] = Variable(leaves[i]);
      }
    }
    checkGradients(y, variables, [&](const std::vector<Numbers> &at) {
      return compute(at).values;
    });
  });
}

TEST_P(Expressions, isOneKernelThatCanBeRead) {
  Tensor x = random({3, 40}, bf16).contiguous(),
         bias = random({40}, f32).contiguous();
  EXPECT_EQ(source(gelu(x + bias) * 0.25), R"(import triton
import triton.language as tl


@triton.jit
def expression_kernel(y_ptr, x0_ptr, x1_ptr, row_count, column_count, x0_row, c0, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    program = tl.program_id(0)
    column_blocks = tl.cdiv(column_count, BLOCK_N)
    cols = (program % column_blocks) * BLOCK_N + tl.arange(0, BLOCK_N)
    program //= column_blocks
    rows = program * BLOCK_M + tl.arange(0, BLOCK_M)
    inside = (rows < row_count)[:, None] & (cols < column_count)[None, :]
    x0 = tl.load(x0_ptr + (rows * x0_row)[:, None] + (cols)[None, :], mask=inside).to(tl.float32)
    x1 = tl.load(x1_ptr + cols, mask=cols < column_count)[None, :]
    t0 = x0 + x1
    t1 = t0 * 0.70710678
    t2 = tl.erf(t1)
    t3 = 0.5 * t2
    t4 = 0.5 + t3
    t5 = t0 * t4
    t6 = t5 * c0
    tl.store(y_ptr + (rows * column_count)[:, None] + cols[None, :], t6, mask=inside)
)");
}

TEST_P(Expressions, areWrittenWhereTheyAreWanted) {
  Tensor x = random({5, 7}, f32);
  Tensor all = zeros({10, 14}, bf16, device);
  Tensor part = all.slice(0, 2, 7).slice(1, 1, 8);
  evaluateInto(part, x * 2);
  Tensor expected = evaluate(x * 2).to(bf16);
  EXPECT_EQ(part.toFloat64(), expected.toFloat64());
  part.zero();
  for (double rest : all.toFloat64()) {
    EXPECT_EQ(rest, 0);
  }
}

TEST_P(Expressions, isOneLaunch) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "only common expressions are one kernel ahead of time";
  }
  if (device.isHost()) {
    GTEST_SKIP() << "launches are counted by graphs";
  }
  Tensor x = random({6, 40}, f32), bias = random({40}, bf16),
         gate = random({6, 40}, f32), y;
  auto step = [&] { y = gelu(x * 2 + bias) * gate; };
  step();
  EXPECT_EQ(Graph::capture(device, step).nodes(), 1u);
}

TEST_P(Expressions, aStepOfTwoLeavesIsTwoLaunches) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "only common expressions are one kernel ahead of time";
  }
  if (device.isHost()) {
    GTEST_SKIP() << "launches are counted by graphs";
  }
  Variable x(random({6, 40}, f32), true), gate(random({6, 40}, f32), true);
  Tensor dy = randn({6, 40}, f32, device, 3);
  auto step = [&] {
    x.zeroGrad();
    gate.zeroGrad();
    Variable y = gelu(x * 2) * gate;
    y.backward(dy);
  };
  step();
  EXPECT_EQ(Graph::capture(device, step).nodes(), 2u);
}

TEST_P(Expressions, severalResultsAreOneKernel) {
  Tensor g = random({7, 33}, f32), u = random({7, 33}, f32);
  Expression both[] = {silu(g) * u, silu(g) + u};
  std::string text = source(both);
  EXPECT_EQ(text.find("sigmoid"), text.rfind("sigmoid"));
  std::vector<Tensor> results = evaluate(both);
  Numbers product, sum, gates = exactly(g), values = exactly(u);
  for (size_t i = 0; i < gates.size(); ++i) {
    Number gated = reference::activate(gates[i], Activation::Silu);
    product.push_back(gated * values[i]);
    sum.push_back(gated + values[i]);
  }
  expectClose(results[0], product, "product");
  expectClose(results[1], sum, "sum");
}

TEST_P(Expressions, typesMeetAsPyTorchs) {
  Tensor a = random({2}, f16), b = random({2}, bf16), c = random({2}, f32),
         i = arange({2}, i32, device), j = arange({2}, u8, device);
  EXPECT_EQ((a + a).dtype(), f16);
  EXPECT_EQ((a * b).dtype(), f32);
  EXPECT_EQ((b + c).dtype(), f32);
  EXPECT_EQ((2.5 * b).dtype(), bf16);
  EXPECT_EQ((i + 1).dtype(), i32);
  EXPECT_EQ((i * 1.5).dtype(), f32);
  EXPECT_EQ((i / 2).dtype(), f32);
  EXPECT_EQ((i + j).dtype(), i32);
  EXPECT_EQ((a + i).dtype(), f16);
  EXPECT_EQ((a < b).dtype(), i1);
  EXPECT_EQ(exp(i).dtype(), f32);
  EXPECT_EQ(evaluate(i * 1.5).toFloat64(), (Values{0, 1.5}));
  EXPECT_EQ(evaluate(cast(a * 0 < b * 0 + 1, i1)).toFloat64(), (Values{1, 1}));
  if (!hasCompiler()) {
    return;
  }
  EXPECT_EQ(evaluate(i * 3 - j).toFloat64(), (Values{0, 2}));
  EXPECT_EQ(evaluate(i / 2).toFloat64(), (Values{0, 0.5}));
  EXPECT_EQ(evaluate(where(i < j + 1, i, -7)).toFloat64(), (Values{0, 1}));
  EXPECT_EQ(evaluate(cast(i > 0, i1)).toFloat64(), (Values{0, 1}));
}

// As PyTorch: a number takes the type of the tensor, and wraps.
TEST_P(Expressions, numbersTakeTheTypeOfIntegers) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "integers need a compiler";
  }
  auto one = [&](int64_t value, DType type) {
    return Tensor::fromVector(std::vector{value}).to(type).to(device);
  };
  auto valueOf = [](const Expression &e) { return evaluate(e).item(); };
  EXPECT_EQ(valueOf(cast(one(100, i8) + 100, f32)), -56);
  EXPECT_EQ(valueOf(one(100, i8) + 1000), 76);
  EXPECT_EQ(valueOf(one(200, u8) * -1), 56);
  EXPECT_EQ(valueOf(cast(one(200, u8) > -1, i32)), 0);
  EXPECT_EQ(valueOf(one(5, i32) + (int64_t{1} << 40)), 5);
  int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_EQ(evaluate(one(1, i64) + odd).toVector<int64_t>()[0], odd + 1);
  EXPECT_EQ(valueOf(cast(equal(one(INT64_MAX, i64), INT64_MAX), i32)), 1);
}

TEST_P(Expressions, anotherNumberIsTheSameKernel) {
  Tensor x = random({5}, f32).contiguous();
  EXPECT_EQ(source(x * 3.14), source(x * 2.72));
  EXPECT_NE(source(x * 2), source(x * 3));
}

TEST_P(Expressions, namedOperators) {
  Tensor x = Tensor::fromVector(std::vector<float>{-1, 0, 2}).to(device);
  EXPECT_EQ(evaluate(relu(x)).toFloat64(), (Values{0, 0, 2}));
  EXPECT_EQ(evaluate(reluSquared(x)).toFloat64(), (Values{0, 0, 4}));
  Tensor one = swiglu(x, x), two = geglu(x, x);
  EXPECT_EQ(one.toFloat64(), evaluate(silu(x) * x).toFloat64());
  EXPECT_EQ(two.toFloat64(), evaluate(gelu(x) * x).toFloat64());
  EXPECT_EQ(evaluate(add(x, multiply(x, x))).toFloat64(), (Values{0, 0, 6}));
}

TEST_P(Expressions, kinksHavePyTorchsGradients) {
  Variable x(Tensor::fromVector(std::vector<float>{-1, 0, 2}).to(device), true);
  Variable y = relu(x) + abs(x) + maximum(x, 0);
  y.backward(full({3}, 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), (Values{-1, 0.5, 3}));
}

// 1 - sigmoid(u) has no digits where the sigmoid is near 1.
TEST_P(Expressions, geluTanhHasADerivativeOfFp32) {
  constexpr int64_t n = 2001;
  std::vector<float> points;
  Values expected;
  for (int64_t i = 0; i < n; ++i) {
    points.push_back(float(i - n / 2) / 100);
    double x = points.back(), c = 2 * std::sqrt(2 / std::numbers::pi),
           s = 1 / (1 + std::exp(-c * (x + 0.044715 * x * x * x))),
           rest = 1 / (1 + std::exp(c * (x + 0.044715 * x * x * x)));
    expected.push_back(s + x * s * rest * c * (1 + 3 * 0.044715 * x * x));
  }
  Variable x(Tensor::fromVector(points).to(device), true), y = geluTanh(x);
  y.backward(full({n}, 1, f32, device));
  Values got = x.grad().toFloat64();
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 6e-7) << points[i];
  }
}

TEST_P(Expressions, aLeafThatWasWrittenToIsNoticed) {
  Variable x(full({3}, 2, f32, device), true), y = x * x, z = x + 1;
  x.value().fill(10);
  try {
    y.backward(full({3}, 1, f32, device));
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(), HasSubstr("backward of 'expression': expected "
                                           "fp32[3], which it saved, as it"));
  }
  z.backward(full({3}, 1, f32, device)); // reads no x
  EXPECT_EQ(x.grad().toFloat64(), Values(3, 1.0));
}

TEST_P(Expressions, thePowerOfNoneHasNoGradient) {
  Variable x(Tensor::fromVector(std::vector<float>{-1, 0, 2}).to(device), true);
  Variable y = pow(x, 0) + x;
  y.backward(full({3}, 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), Values(3, 1.0));
}

TEST_P(Expressions, aTapeKeepsOnlyWhatDerivativesRead) {
  Variable bias(random({8}, f32).contiguous(), true), y;
  Tensor x = random({4, 8}, f32).contiguous();
  y = x + bias;
  EXPECT_TRUE(x.isUnique());
  y.backward(full({4, 8}, 1, f32, device));
  EXPECT_EQ(bias.grad().toFloat64(), Values(8, 4.0));
}

TEST_P(Expressions, takesNoElementsAndScalars) {
  Tensor none = empty({0, 4}, f32, device), one = full({}, 3, f32, device);
  EXPECT_EQ(evaluate(none + one).shape(), (Shape{0, 4}));
  EXPECT_EQ(evaluate(one * one).item(), 9);
}

TEST_P(Expressions, dropsWhatPhiloxSays) {
  Shape shape = {3, 50};
  Tensor x = random(shape, f32);
  Variable v(x, true), bias(random({50}, f32), true);
  constexpr double p = 0.3;
  constexpr int64_t seed = 1234567890123, offset = 77;
  Variable y = dropout(v * 2 + bias, p, seed, offset) * 3;
  Tensor dy = full(shape, 1, f32, device);
  y.backward(dy);
  // Lane 0 of counter i is element 4i of Tensor's generator.
  Values numbers =
      rand({4 * (offset + 150)}, f64, Device::cpu(), seed).toFloat64();
  Numbers expected = exactly(x), added = exactly(bias.value()), dx(150);
  Number keep = reference::parameter(1 / (1 - p));
  size_t dropped = 0;
  for (size_t i = 0; i < 150; ++i) {
    bool drops = numbers[4 * (i + size_t(offset))] < p;
    dropped += drops;
    expected[i] = drops ? 0 : (2 * expected[i] + added[i % 50]) * keep * 3;
    dx[i] = drops ? 0 : 3 * keep * 2;
  }
  EXPECT_GT(dropped, 10u);
  expectClose(y.value(), expected, "y");
  expectClose(v.grad(), dx, "dx");
}

static std::string errorOf(const std::function<void()> &call) {
  try {
    call();
  } catch (const Error &error) {
    return error.message();
  }
  return "";
}

TEST_P(Expressions, longOnesAreSeveralKernels) {
  struct Counter : LaunchWatcher {
    void launching(const OperatorLaunch &) override { ++launches; }
    int launches = 0;
  };
  constexpr int steps = 150;
  auto chain = [&](const Variable &x) {
    Expression e = x;
    for (int i = 0; i < steps; ++i) {
      e = tanh(e) * 0.5 + x;
    }
    return Variable(e);
  };
  Variable x(Tensor::fromVector(std::vector<float>{0.25, -1}).to(device), true);
  std::vector<double> value = x.value().toFloat64(), slope = {1, 1};
  Values inputs = value;
  for (int i = 0; i < steps; ++i) {
    for (size_t k = 0; k < 2; ++k) {
      double t = std::tanh(value[k]);
      slope[k] = (1 - t * t) * slope[k] * 0.5 + 1;
      value[k] = t * 0.5 + inputs[k];
    }
  }
  Counter counter;
  Variable y = chain(x);
  EXPECT_GE(counter.launches, steps * 3 / 128);
  y.backward(full({2}, 1, f32, device));
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(y.value().toFloat64()[k], value[k], 1e-5);
    EXPECT_NEAR(x.grad().toFloat64()[k], slope[k], 1e-5);
  }
  // Nothing is rounded between the parts.
  Tensor narrow = x.value().to(bf16);
  EXPECT_EQ(chain(Variable(narrow)).value().toFloat64(),
            chain(Variable(narrow.to(f32))).value().to(bf16).toFloat64());
}

TEST_P(Expressions, whatIsUsedOftenIsCountedOnce) {
  struct Counter : LaunchWatcher {
    void launching(const OperatorLaunch &) override { ++launches; }
    int launches = 0;
  };
  Expression e = full({3}, 1, f32, device);
  for (int i = 0; i < 20; ++i) {
    e = (e + e) * 0.5; // 2^20 paths
  }
  Counter counter;
  EXPECT_EQ(Tensor(e).toFloat64(), Values(3, 1.0));
  EXPECT_EQ(counter.launches, 1);
}

TEST_P(Expressions, saysWhatDoesNotFit) {
  Tensor x = zeros({2, 3}, f32, device);
  EXPECT_THAT(errorOf([&] { x + zeros({4}, bf16, device); }),
              HasSubstr("expression: expected shapes whose sizes, counted from "
                        "the last, are equal or 1, got fp32[2, 3] and "
                        "bf16[4]"));
  EXPECT_THAT(errorOf([&] { (x + 1).size(2); }),
              HasSubstr("expression: expected a dimension from -2 to 1, of "
                        "fp32[2, 3], got 2"));
  EXPECT_THAT(errorOf([&] { x + Tensor(); }),
              HasSubstr("expected a tensor, got an undefined one"));
  EXPECT_THAT(errorOf([&] { x + zeros({3}, fp8e5, device); }),
              HasSubstr("integers or int1, got fp8e5[3]"));
  EXPECT_THAT(errorOf([&] { evaluate(Expression(1) + 2); }),
              HasSubstr("expected a tensor in it, got numbers alone"));
  EXPECT_THAT(errorOf([&] { Tensor lost = Variable(x, true) + 1; }),
              HasSubstr("which a tensor would lose"));
  EXPECT_THAT(errorOf([&] { dropout(x, 1.1, 0); }),
              HasSubstr("dropout: expected a probability in [0, 1]"));
  EXPECT_THAT(
      errorOf([&] { evaluate(x + dropout(zeros({3}, f32, device), 0.5, 0)); }),
      HasSubstr("dropout: expected a tensor of the result's shape"));
  EXPECT_THAT(errorOf([&] { evaluateInto(zeros({3}, f32, device), x + 1); }),
              HasSubstr("expected a result like "));
  EXPECT_THAT(errorOf([&] { evaluateInto(Tensor(), x + 1); }),
              HasSubstr("got an undefined tensor"));
  Expression unlike[] = {x + 1, zeros({3}, f32, device) + 1};
  EXPECT_THAT(errorOf([&] { evaluate(unlike); }),
              HasSubstr("results of one shape"));
  if (device == Device::cpu()) {
    EXPECT_THAT(errorOf([&] { x + zeros({3}, f32, Device::interp()); }),
                HasSubstr("expected tensors of one device, got"));
  }
}
