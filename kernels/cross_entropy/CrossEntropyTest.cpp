//===- CrossEntropyTest.cpp -------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/cross_entropy/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(CrossEntropy);

namespace {

struct CrossEntropyCase {
  Tensor targets;
  CrossEntropyOptions options;
  Numbers operator()(const Numbers &x) const {
    double ignored = double(options.ignoreIndex);
    Values values = targets.toFloat64();
    Numbers losses =
        reference::crossEntropy(x, values, ignored, options.labelSmoothing);
    return options.reduction == Reduction::None
               ? losses
               : Numbers{
                     reference::sumOf(losses, values, ignored,
                                      options.reduction == Reduction::Mean)};
  }
};

} // namespace

static CrossEntropyCase
randomCase(const std::function<int64_t(int64_t, int64_t)> &pick, int64_t rows,
           int64_t classes, Device device) {
  CrossEntropyCase c;
  c.options.reduction = Reduction(pick(0, 2));
  c.options.labelSmoothing = pick(0, 1) ? 0 : 0.1;
  c.options.ignoreIndex = pick(0, 1) ? -100 : 0;
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < rows; ++i) {
    targets.push_back(pick(0, 4) ? pick(0, classes - 1)
                                 : c.options.ignoreIndex);
  }
  c.targets = Tensor::fromVector(targets).to(pick(0, 1) ? i32 : i64).to(device);
  return c;
}

TEST_P(CrossEntropy, agreesWithDoublePrecision) {
  forCases([&] {
    int64_t classes =
        !isSlow && pick(0, 5) == 0 ? 50257 : awkwardSize(isSlow ? 300 : 9000);
    int64_t rows = pick(1, 1 + (isSlow ? 500 : 20000) / classes);
    CrossEntropyCase c =
        randomCase([&](int64_t a, int64_t b) { return pick(a, b); }, rows,
                   classes, device);
    Tensor logits = random({rows, classes}, floatType(), 3);
    auto run = [&] { return crossEntropy(logits, c.targets, c.options); };
    Tensor loss = run();
    Numbers expected = c(exactly(logits));
    expectClose(loss, expected, "loss");
    EXPECT_EQ(run().toFloat64(), loss.toFloat64()) << "other bits";
    // Where the gradient is computed beside it, another block may go over the
    // row.
    Variable recorded(logits, true);
    expectClose(crossEntropy(recorded, c.targets, c.options).value(), expected,
                "loss beside its gradient");
  });
}

TEST_P(CrossEntropy, gradientsAgreeWithDerivatives) {
  forCases([&] {
    int64_t classes =
        !isSlow && pick(0, 5) == 0 ? 50257 : awkwardSize(isSlow ? 300 : 9000);
    int64_t rows = pick(1, 1 + (isSlow ? 500 : 20000) / classes);
    CrossEntropyCase c =
        randomCase([&](int64_t a, int64_t b) { return pick(a, b); }, rows,
                   classes, device);
    Variable logits(random({rows, classes}, floatType()), true);
    // Where it is computed beside the loss, the gradient is kept in the logits'
    // type until it is multiplied by the loss's.
    checkGradients(crossEntropy(logits, c.targets, c.options), {logits},
                   [&](const std::vector<Numbers> &at) {
                     return c(gradientIn(at[0], logits.dtype()));
                   });
  });
}

TEST_P(CrossEntropy, keepsSmallGradientsOfHalves) {
  // 1 / 300 of 1 / 64 of a row's share is below fp16 before it is scaled.
  int64_t rows = 64, classes = 300;
  Variable x(zeros({rows, classes}, f16, device), true);
  Tensor targets = zeros({rows}, i32, device);
  crossEntropy(x, targets).backward(full({}, 65536, f32, device));
  Number share = exp(-log(Number(300))) / 64;
  expectClose(x.grad().slice(0, 5, 6).slice(1, 7, 8), Numbers{share * 65536},
              "dx");
}

TEST_P(CrossEntropy, writesItsGradientOverLogits) {
  Tensor logits = random({7, isSlow ? 300 : 9001}, bf16);
  Tensor targets = randint({7}, 0, 300, i64, device, 5);
  Variable kept(logits, true), given(logits.clone(), true);
  crossEntropy(kept, targets).backward();
  CrossEntropyOptions options;
  options.overwritesLogits = true;
  Variable loss = crossEntropy(given, targets, options);
  EXPECT_EQ(loss.value().item(), crossEntropy(logits, targets).item());
  loss.backward();
  EXPECT_EQ(given.grad().toFloat64(), kept.grad().toFloat64());
  EXPECT_EQ(given.value().toFloat64(), kept.grad().toFloat64());
}

TEST_P(CrossEntropy, saysThatItOverwroteLogits) {
  Variable x(random({4, 8}, f32), true), logits = x * 2;
  Tensor targets = zeros({4}, i64, device);
  Variable other = logits * logits; // its backward reads logits
  CrossEntropyOptions options;
  options.overwritesLogits = true;
  Variable loss = crossEntropy(logits, targets, options);
  EXPECT_THROW(other.backward(full({4, 8}, 1, f32, device)), Error);
  logits.value().fill(0); // where the gradient is
  EXPECT_THROW(loss.backward(), Error);
}

TEST_P(CrossEntropy, takesMoreRowsThanAGridIsHigh) {
  if (isSlow) {
    GTEST_SKIP() << "70,000 rows take too long here";
  }
  Variable x(zeros({70000, 2}, f32, device), true);
  CrossEntropyOptions options;
  options.reduction = Reduction::None;
  crossEntropy(x, zeros({70000}, i64, device), options)
      .backward(full({70000}, 1, f32, device));
  EXPECT_EQ(x.grad().slice(0, 69999, 70000).toFloat64(), (Values{-0.5, 0.5}));
}

// A number that the targets' type does not have.
TEST_P(CrossEntropy, ignoresNothing) {
  Tensor x = random({5, 7}, f32);
  CrossEntropyOptions options;
  options.ignoreIndex = INT64_MIN;
  EXPECT_EQ(crossEntropy(x, zeros({5}, i32, device), options).item(),
            crossEntropy(x, zeros({5}, i32, device)).item());
}

TEST_P(CrossEntropy, ignoresAllRows) {
  Variable x(random({3, 5}, f32), true);
  Variable loss = crossEntropy(x, full({3}, -100, i64, device));
  EXPECT_EQ(loss.value().item(), 0);
  loss.backward();
  EXPECT_EQ(x.grad().toFloat64(), Values(15, 0.0));
}

TEST_P(CrossEntropy, takesNoElements) {
  Variable x(empty({0, 5}, bf16, device), true);
  crossEntropy(x, empty({0}, i64, device)).backward();
  EXPECT_EQ(x.grad().shape(), (Shape{0, 5}));
  EXPECT_EQ(x.grad().dtype(), bf16);
}

TEST_P(CrossEntropy, aKeptGraphRunsAgain) {
  for (Reduction reduction : {Reduction::Mean, Reduction::Sum}) {
    Variable x(random({3, 5}, f32), true);
    Variable loss =
        crossEntropy(x, zeros({3}, i64, device), {.reduction = reduction});
    loss.backward(full({}, 3, f32, device), /*retainGraph=*/true);
    Values threefold = x.grad().toFloat64();
    x.zeroGrad();
    loss.backward(full({}, 3, f32, device), /*retainGraph=*/true);
    EXPECT_EQ(x.grad().toFloat64(), threefold);
    x.zeroGrad();
    loss.backward(full({}, 3, f32, device));
    EXPECT_EQ(x.grad().toFloat64(), threefold);
  }
}

TEST_P(CrossEntropy, namesTheArgumentThatDoesNotFit) {
  auto messageOf = [&](const Tensor &targets, CrossEntropyOptions options) {
    try {
      crossEntropy(random({2, 8}, f32), targets, options);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(messageOf(zeros({3}, i32, device), {}),
              HasSubstr("cross_entropy: argument 'targets': expected shape [2] "
                        "(that of logits without the last dimension), got "
                        "i32[3]"));
  EXPECT_THAT(messageOf(zeros({2}, f32, device), {}),
              HasSubstr("argument 'targets': expected a tensor of i32 or i64"));
  EXPECT_THAT(
      messageOf(zeros({2}, i32, device), {.labelSmoothing = 2}),
      HasSubstr("argument 'labelSmoothing': expected a number from 0 to 1, "
                "got 2"));
  if (device.isHost()) {
    EXPECT_THAT(messageOf(full({2}, 8, i32, device), {}),
                HasSubstr("argument 'targets': expected classes from 0 to 7, "
                          "or -100 for what is ignored, got 8 at element 0"));
  }
}
