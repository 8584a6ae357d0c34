//===- JudgeTest.cpp - The judges of operators find what is wrong ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/testing/OperatorTest.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;
using ::testing::HasSubstr;

//===----------------------------------------------------------------------===//
// Kernels with planted errors
//===----------------------------------------------------------------------===//

namespace {

struct Edit {
  const char *text, *with;
};

/// Sums of squares of rows.
constexpr const char *squares = R"(
import triton
import triton.language as tl

@triton.jit
def squares_kernel(y_ptr, x_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        x = tl.load(x_ptr + row * N + start + at, mask=start + at < N, other=0.0)
        total += x * x
    tl.store(y_ptr + row, tl.sum(total.to(tl.float32), axis=0))
)";

std::string edited(const std::vector<Edit> &edits) {
  std::string text = squares;
  for (const Edit &edit : edits) {
    size_t at = text.find(edit.text);
    EXPECT_NE(at, std::string::npos) << edit.text;
    text.replace(at, std::string_view(edit.text).size(), edit.with);
  }
  return text;
}

struct Planted {
  const char *name;
  std::vector<Edit> edits;
};

class PlantedErrors : public testing::TestWithParam<Planted> {
protected:
  static constexpr int64_t rows = 8, columns = 61;
  Tensor x = [] {
    Tensor values = rand({rows, columns}, f32, Device::cpu(), 1);
    std::vector<float> shifted = values.toVector<float>();
    for (float &value : shifted) {
      value += 0.5F; // no term is too small to be missed
    }
    return Tensor::fromVector(shifted, Shape{rows, columns});
  }();
  Tensor y = zeros({rows}, f32, Device::cpu());

  /// The judge's words on the kernel with these edits.
  std::string judged(const std::vector<Edit> &edits) const {
    auto compile = [](const std::string &text, Context &context) {
      return Kernel::fromSource({"planted.py", text, {}}, "squares_kernel",
                                context);
    };
    LaunchArgument arguments[] = {y, x, columns, "BLOCK"_a = 4};
    return LaunchJudge(Device::cpu())
        .judge({compile(edited(edits), Context::shared()), Grid(rows),
                arguments,
                [&](Context &context) { return compile(squares, context); }});
  }
  /// What the reference says of it.
  std::string misfitOf(const std::vector<Edit> &edits) const {
    Kernel kernel =
        Kernel::fromSource({"planted.py", edited(edits), {}}, "squares_kernel");
    kernel[{rows}](y, x, columns, "BLOCK"_a = 4);
    Numbers expected, values = exactly(x);
    for (int64_t row = 0; row < rows; ++row) {
      reference::Sum sum;
      for (int64_t j = 0; j < columns; ++j) {
        const Number &value = values[size_t(row * columns + j)];
        sum.addProduct(value, value);
      }
      expected.push_back(sum.total());
    }
    return misfit(y, expected);
  }
};

} // namespace

INSTANTIATE_TEST_SUITE_P(
    Kernels, PlantedErrors,
    testing::Values(
        Planted{"aTermIsMissing", {{"start + at < N", "start + at < N - 1"}}},
        Planted{"aMaskIsTooWide", {{"start + at < N", "start + at <= N"}}},
        Planted{"halvesAddUp",
                {{"(BLOCK,), tl.float32", "(BLOCK,), tl.float16"},
                 {"total += x * x", "total += (x * x).to(tl.float16)"}}},
        Planted{"aProductIsRoundedOnceMore",
                {{"x * x", "(x * x).to(tl.float16).to(tl.float32)"}}},
        Planted{"theResultIsRoundedOnceMore",
                {{"total.to(tl.float32), axis=0)",
                  "total, axis=0).to(tl.bfloat16)"}}},
        Planted{"aRowIsNotWritten",
                {{"y_ptr + row, tl.sum(total.to(tl.float32), axis=0)",
                  "y_ptr + row, tl.sum(total, axis=0), mask=row != 3"}}}),
    [](const auto &info) { return std::string(info.param.name); });

TEST_P(PlantedErrors, areFoundInALaunch) {
  EXPECT_EQ(judged({}), "");
  EXPECT_THAT(judged(GetParam().edits), HasSubstr("WRONG"));
}

TEST_P(PlantedErrors, areFoundByTheReference) {
  EXPECT_EQ(misfitOf({}), "");
  y.zero();
  EXPECT_NE(misfitOf(GetParam().edits), "");
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// A softmax and its gradient by plain loops in fp32.
static std::vector<float> softmaxGradient(const std::vector<float> &x,
                                          const std::vector<float> &dy,
                                          size_t missing) {
  float total = 0, sum = 0;
  std::vector<float> y(x.size()), dx(x.size());
  for (float value : x) {
    total += std::exp(value);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = std::exp(x[i]) / total;
    sum += i == missing ? 0 : y[i] * dy[i];
  }
  for (size_t i = 0; i < x.size(); ++i) {
    dx[i] = y[i] * (dy[i] - sum);
  }
  return dx;
}

TEST(Number, aGradientOfAPlainLoopFitsAndOneWithoutATermDoesNot) {
  constexpr size_t count = 100;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::vector<float>
        x = randn({count}, f32, Device::cpu(), seed).toVector<float>(),
        dy = rand({count}, f32, Device::cpu(), seed + 1000).toVector<float>();
    reference::Tape tape;
    Numbers leaves;
    for (float value : x) {
      leaves.push_back(tape.leaf(value));
    }
    Number lse = reference::logSumExp(leaves);
    Numbers y;
    for (const Number &leaf : leaves) {
      y.push_back(exp(leaf - lse));
    }
    std::vector<Bound> expected =
        tape.backward(y, Values(dy.begin(), dy.end()), leaves);
    auto misfitWithout = [&](size_t missing) {
      return misfit(Tensor::fromVector(softmaxGradient(x, dy, missing)),
                    expected);
    };
    EXPECT_EQ(misfitWithout(count), "") << seed;
    size_t largest =
        size_t(std::max_element(dy.begin(), dy.end()) - dy.begin());
    EXPECT_NE(misfitWithout(largest), "") << seed;
  }
}

/// d f(x) / dx.
template <typename F>
static Bound slope(double x, F f) {
  reference::Tape tape;
  Numbers leaf = {tape.leaf(x)};
  return tape.backward({f(leaf[0])}, {1}, leaf)[0];
}

TEST(Number, functionsHaveTheirDerivatives) {
  using Function = std::function<Number(const Number &)>;
  auto expectEqual = [](const Function &f, const Function &g) {
    for (double x : {0.25, 0.75, 1.5, 3.0}) {
      Bound a = slope(x, f), b = slope(x, g);
      EXPECT_LE(std::fabs(a.value - b.value), 1e-12 * std::fabs(b.value))
          << "in double precision at " << x;
      EXPECT_LT(a.error, 1e-4 * (1 + std::fabs(a.value)));
    }
  };
  auto same = [](const Number &x) { return x; };
  expectEqual([](const Number &x) { return log(exp(x)); }, same);
  expectEqual([](const Number &x) { return sqrt(x) * sqrt(x); }, same);
  expectEqual([](const Number &x) { return rsqrt(x) * rsqrt(x) * x * x; },
              same);
  expectEqual([](const Number &x) { return pow(pow(x, 2.5), 0.4); }, same);
  expectEqual([](const Number &x) { return 1 - (1 / (1 / (1 - x))); }, same);
  expectEqual([](const Number &x) { return sigmoid(x); },
              [](const Number &x) { return 1 / (1 + exp(-x)); });
  expectEqual([](const Number &x) { return tanh(x); },
              [](const Number &x) { return 2 * sigmoid(2 * x) - 1; });
  expectEqual(
      [](const Number &x) {
        Number both[] = {x, 2 * x};
        return reference::logSumExp(both);
      },
      [](const Number &x) { return log(exp(x) + exp(2 * x)); });
  // That of erf is given.
  Bound bell = slope(0.5, [](const Number &x) { return erf(x); });
  EXPECT_DOUBLE_EQ(bell.value, 2 / std::sqrt(M_PI) * std::exp(-0.25));
}

TEST(Number, sumsOfAnyOrderFit) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::vector<float> x =
        randn({1000}, f32, Device::cpu(), seed).toVector<float>();
    reference::BoundedSum sum;
    for (float value : x) {
      sum.add({value, 0});
    }
    Bound expected = sum.total();
    std::sort(x.begin(), x.end());
    float sorted = 0, lanes[8] = {};
    for (size_t i = 0; i < x.size(); ++i) {
      sorted += x[i];
      lanes[i % 8] += x[i];
    }
    float inLanes = 0;
    for (float lane : lanes) {
      inLanes += lane;
    }
    EXPECT_LE(std::fabs(inLanes - expected.value), expected.error) << seed;
    EXPECT_LE(std::fabs(sorted - expected.value), expected.error) << seed;
  }
}

TEST(Number, nothingIsClaimedBeyondTheRangeOfFp32) {
  EXPECT_TRUE(std::isinf(reference::exp(Bound{100, 0}).error));
  EXPECT_TRUE(std::isinf((Bound{1, 0} / Bound{1e-8, 2e-8}).error));
  EXPECT_EQ(misfit(full({1}, 5, f32, Device::cpu()), Numbers{exp(Number(100))}),
            "");
}
