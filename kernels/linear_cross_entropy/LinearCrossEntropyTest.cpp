//===- LinearCrossEntropyTest.cpp -------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/linear_cross_entropy/LinearCrossEntropy.h"
#include "kernels/cross_entropy/reference.h"
#include "kernels/linear_cross_entropy/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Observer.h"

#include <gmock/gmock.h>

#include <atomic>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(LinearCrossEntropy);

TEST_P(LinearCrossEntropy, agreesWithDoublePrecisionAndDerivatives) {
  forCases([&] {
    // More rows than one part of 128 has, now and then.
    int64_t columns = pick(1, isSlow ? 9 : 70),
            classes = pick(1, isSlow ? 20 : 150),
            rows = !isSlow && pick(0, 3) == 0 ? 300 : pick(1, 40);
    DType dtype = oneOf({f32, f32, bf16, f16});
    CrossEntropyOptions options;
    options.reduction = coin() ? Reduction::Mean : Reduction::Sum;
    options.labelSmoothing = coin() ? 0 : 0.1;
    std::vector<int64_t> classOf;
    for (int64_t i = 0; i < rows; ++i) {
      classOf.push_back(pick(0, 4) ? pick(0, classes - 1) : -100);
    }
    Tensor targets = Tensor::fromVector(classOf).to(device);
    double scale = 1 / std::sqrt(double(columns));
    Variable x(random({rows, columns}, dtype), coin()),
        w(random({classes, columns}, dtype, scale), true);
    // Logits, and their gradients, are kept in the type of x; so are the
    // gradients of x and w until they are multiplied by the loss's.
    auto loss = [&](const std::vector<Numbers> &at) {
      Values values = targets.toFloat64();
      return Numbers{reference::sumOf(
          reference::crossEntropy(reference::logitsOf(gradientIn(at[0], dtype),
                                                      gradientIn(at[1], dtype),
                                                      size_t(columns), dtype),
                                  values, -100, options.labelSmoothing),
          values, -100, options.reduction == Reduction::Mean)};
    };
    Variable got = linearCrossEntropy(x, w, targets, options);
    expectClose(got.value(), loss({exactly(x.value()), exactly(w.value())}),
                "loss");
    EXPECT_EQ(linearCrossEntropy(x.value(), w.value(), targets, options).item(),
              got.value().item());
    checkGradients(got, {x, w}, loss);
  });
}

namespace {

struct MostMemory : Observer {
  void memory(Device, uint64_t used, uint64_t) override {
    uint64_t before = most;
    while (before < used && !most.compare_exchange_weak(before, used)) {
    }
  }
  std::atomic<uint64_t> most = 0;
};

} // namespace

TEST_P(LinearCrossEntropy, needsLessThanAQuarterOfTheLogits) {
  if (isSlow) {
    GTEST_SKIP() << "too long for the interpreter";
  }
  constexpr int64_t rows = 2048, columns = 32, classes = 1000;
  Variable x(random({rows, columns}, f32), true),
      w(random({classes, columns}, f32, 0.2), true);
  Tensor targets = zeros({rows}, i64, device);
  auto observer = std::make_shared<MostMemory>();
  if (!observe(observer)) {
    GTEST_SKIP() << "somebody else watches";
  }
  uint64_t before = 0;
  {
    Tensor one = empty({1}, f32, device);
    before = observer->most;
    linearCrossEntropy(x, w, targets).backward();
  }
  stopObserving(*observer);
  EXPECT_GT(before, 0u);
  EXPECT_LT(observer->most - before, rows * classes * 4 / 4);
}

TEST_P(LinearCrossEntropy, takesNoElements) {
  Variable x(empty({0, 5}, f32, device), true), w(random({3, 5}, f32), true);
  linearCrossEntropy(x, w, empty({0}, i64, device)).backward();
  EXPECT_EQ(w.grad().toFloat64(), Values(15, 0.0));
}

TEST_P(LinearCrossEntropy, namesTheArgumentThatDoesNotFit) {
  auto messageOf = [&](const Tensor &w, CrossEntropyOptions options) {
    try {
      linearCrossEntropy(random({2, 8}, f32), w, zeros({2}, i32, device),
                         options);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(messageOf(zeros({3, 7}, f32, device), {}),
              HasSubstr("linear_cross_entropy: argument 'weight': expected "
                        "shape [any, 8] (classes, and the last dimension of "
                        "x), got fp32[3, 7]"));
  EXPECT_THAT(messageOf(zeros({3, 8}, bf16, device), {}),
              HasSubstr("argument 'weight': expected fp32 elements (those of "
                        "x), got bf16[3, 8]"));
  EXPECT_THAT(
      messageOf(zeros({3, 8}, f32, device), {.reduction = Reduction::None}),
      HasSubstr("argument 'reduction': expected Mean or Sum, got "
                "None"));
}

TEST_P(LinearCrossEntropy, aKeptGraphRunsAgain) {
  for (DType dtype : {f32, f16}) {
    Variable x(random({3, 5}, dtype), true), w(random({4, 5}, dtype), true);
    Variable loss = linearCrossEntropy(x, w, zeros({3}, i64, device));
    auto gradients = [&](bool again) {
      x.zeroGrad();
      w.zeroGrad();
      loss.backward(full({}, 3, f32, device), again);
      return std::pair(x.grad().toFloat64(), w.grad().toFloat64());
    };
    auto first = gradients(true);
    EXPECT_EQ(gradients(true), first);
    EXPECT_EQ(gradients(false), first);
  }
}
