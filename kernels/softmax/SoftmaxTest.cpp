//===- SoftmaxTest.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/softmax/Softmax.h"
#include "kernels/softmax/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Softmax);

namespace {

struct Case {
  Shape shape;
  SoftmaxOptions options;
  Values added; ///< what options do, as numbers to add
  bool isLog;
};

/// A matrix of -inf and 0 (causal) and a mask of `options`.
Values addedBy(const SoftmaxOptions &options, const Shape &shape) {
  int64_t columns = shape.back(), rows = shape[shape.size() - 2], count = 1;
  for (int64_t size : shape) {
    count *= size;
  }
  Values added(static_cast<size_t>(count), 0.0);
  if (options.mask.defined()) {
    added = options.mask.onHost().expand(shape).toFloat64();
    if (options.mask.dtype() == i1) {
      for (double &value : added) {
        value = value != 0 ? 0 : -INFINITY;
      }
    }
  }
  for (int64_t i = 0; i < count && options.causal; ++i) {
    if (i % columns > i / columns % rows + columns - rows) {
      added[static_cast<size_t>(i)] = -INFINITY;
    }
  }
  return added;
}

} // namespace

/// Random options and shape; a long row now and then.
static Case randomCase(const std::function<int64_t(int64_t, int64_t)> &pick,
                       const std::function<Tensor(const Shape &)> &random,
                       int64_t columns, Device device) {
  Case c;
  int64_t most = std::max<int64_t>(1, 3000 / columns);
  c.shape = {pick(1, 2), pick(1, 3), pick(1, most), columns};
  c.isLog = pick(0, 1);
  c.options.scale = pick(0, 1) ? 1 : 0.125;
  c.options.causal = pick(0, 2) == 0;
  if (int64_t kind = pick(0, 3)) {
    Shape of = c.shape;
    for (int64_t &size : of) {
      size = pick(0, 1) ? size : 1;
    }
    of.erase(of.begin(), of.begin() + pick(0, 2));
    c.options.mask = random(of);
    if (kind == 1) { // a third takes no part
      std::vector<bool> takes;
      for (double value : c.options.mask.toFloat64()) {
        takes.push_back(value > -0.4);
      }
      c.options.mask = Tensor::fromVector(takes, of).to(device);
    }
  }
  c.added = addedBy(c.options, c.shape);
  return c;
}

TEST_P(Softmax, agreesWithDoublePrecision) {
  forCases([&] {
    bool isLong = !isSlow && pick(0, 9) == 0;
    DType dtype = floatType();
    Case c = randomCase(
        [&](int64_t a, int64_t b) { return pick(a, b); },
        [&](const Shape &shape) { return random(shape, oneOf({f32, dtype})); },
        isLong ? 70001 : awkwardSize(isSlow ? 300 : 5000), device);
    Tensor x = random(c.shape, dtype, 2);
    auto run = [&] {
      return c.isLog ? logSoftmax(x, c.options) : softmax(x, c.options);
    };
    Tensor y = run();
    expectClose(y,
                reference::softmax(exactly(x), c.added, size_t(c.shape.back()),
                                   c.options.scale, c.isLog),
                c.isLog ? "logarithm" : "y");
    EXPECT_EQ(run().toFloat64(), y.toFloat64()) << "other bits";
  });
}

TEST_P(Softmax, gradientsAgreeWithDerivatives) {
  forCases([&] {
    bool isLong = !isSlow && pick(0, 9) == 0;
    Case c =
        randomCase([&](int64_t a, int64_t b) { return pick(a, b); },
                   [&](const Shape &shape) { return random(shape, f32); },
                   isLong ? 70001 : awkwardSize(isSlow ? 300 : 5000), device);
    Variable x(random(c.shape, f32), true);
    checkGradients(c.isLog ? logSoftmax(x, c.options) : softmax(x, c.options),
                   {x}, [&](const std::vector<Numbers> &at) {
                     return reference::softmax(at[0], c.added,
                                               size_t(c.shape.back()),
                                               c.options.scale, c.isLog);
                   });
  });
}

TEST_P(Softmax, gradientsOfHalvesStayNear) {
  for (DType dtype : {f16, bf16}) {
    Variable x(random({5, 300}, dtype), true);
    checkGradients(softmax(x), {x}, [&](const std::vector<Numbers> &at) {
      return storedAs(
          reference::softmax(at[0], Values(1500, 0.0), 300, 1, false), dtype);
    });
  }
}

TEST_P(Softmax, isZeroWhereNothingTakesPart) {
  Tensor none = zeros({2, 3}, i1, device);
  Variable x(random({2, 3}, f32), true);
  Variable y = softmax(x, {1, false, none});
  EXPECT_EQ(y.value().toFloat64(), Values(6, 0.0));
  y.backward(random({2, 3}, f32));
  EXPECT_EQ(x.grad().toFloat64(), Values(6, 0.0));
  EXPECT_EQ(logSoftmax(x.value(), {1, false, none}).toFloat64(),
            Values(6, -INFINITY));
}

TEST_P(Softmax, ofMinusInfinityIsZeroInEveryForm) {
  for (Shape shape : {Shape{1, 4}, Shape{2, 3000}}) {
    Tensor x = full(shape, -INFINITY, f32, device);
    for (double scale : {1.0, 2.0}) {
      EXPECT_EQ(softmax(x, {scale}).toFloat64(),
                Values(size_t(x.numel()), 0.0));
    }
  }
}

TEST_P(Softmax, takesNoElements) {
  EXPECT_EQ(softmax(empty({3, 0}, f32, device)).shape(), (Shape{3, 0}));
  Variable x(empty({0, 5}, f32, device), true);
  softmax(x).backward(empty({0, 5}, f32, device));
  EXPECT_EQ(x.grad().shape(), (Shape{0, 5}));
}

TEST_P(Softmax, namesTheArgumentThatDoesNotFit) {
  auto messageOf = [&](const Tensor &mask) {
    try {
      logSoftmax(random({2, 3, 8}, f32), {1, false, mask});
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(messageOf(zeros({2, 8}, f32, device)),
              HasSubstr("log_softmax: argument 'mask': expected a shape that "
                        "broadcasts to that of x, fp32[2, 3, 8"));
  EXPECT_THAT(messageOf(zeros({3, 8}, i32, device)),
              HasSubstr("log_softmax: argument 'mask': expected a tensor of "
                        "fp32, fp16 or bf16, got i32[3, 8]"));
}
