//===- RmsNormTest.cpp ------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/rms_norm/RmsNorm.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/rms_norm/reference.h"
#include "kernels/testing/DoubleGradients.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(RmsNorm);

TEST_P(RmsNorm, agreesWithDoublePrecision) {
  forCases([&] {
    int64_t columns =
        !isSlow && pick(0, 9) == 0 ? 70001 : awkwardSize(isSlow ? 600 : 20000);
    int64_t rows = pick(1, 1 + (isSlow ? 2000 : 20000) / columns);
    DType dtype = floatType();
    Tensor x = random({rows, columns}, dtype), w;
    if (coin()) {
      w = random({columns}, coin() ? dtype : f32);
    }
    Tensor y = rmsNorm(x, w, 1e-6);
    expectClose(
        y, reference::rmsNorm(exactly(x), exactly(w), size_t(columns), 1e-6),
        "y");
    EXPECT_EQ(rmsNorm(x, w, 1e-6).toFloat64(), y.toFloat64()) << "other bits";
  });
}

TEST_P(RmsNorm, gradientsAgreeWithDerivatives) {
  forCases([&] {
    int64_t columns = awkwardSize(isSlow ? 300 : 20000);
    int64_t rows = pick(1, 1 + (isSlow ? 2000 : 20000) / columns);
    DType dtype = floatType();
    Variable x(random({rows, columns}, dtype), true),
        w(random({columns}, dtype), coin());
    checkGradients(
        rmsNorm(x, w, 1e-6), {x, w}, [&](const std::vector<Numbers> &at) {
          return reference::rmsNorm(at[0], at[1], size_t(columns), 1e-6);
        });
  });
}

TEST_P(RmsNorm, programsOfAGpuShareFewLongRows) {
  if (device.isHost()) {
    GTEST_SKIP() << "a program has whole rows";
  }
  Tensor longest = random({2, 66001}, f32);
  expectClose(rmsNorm(longest, {}, 1e-6),
              reference::rmsNorm(exactly(longest), {}, 66001, 1e-6), "y");
  constexpr int64_t columns = 20001;
  Variable x(random({2, columns}, f32), true), w(random({columns}, f32), true);
  checkGradients(rmsNorm(x, w, 1e-6), {x, w},
                 [&](const std::vector<Numbers> &at) {
                   return reference::rmsNorm(at[0], at[1], columns, 1e-6);
                 });
}

TEST_P(RmsNorm, ofDoublesHasGradientsOfDoubles) {
  if (!hasCompiler()) {
    GTEST_SKIP() << "fp64 needs a compiler";
  }
  checkGradientOfDoubles(device, [](const Variable &x, const Variable &w) {
    return rmsNorm(x, w);
  });
}

TEST_P(RmsNorm, takesNoElements) {
  Variable x(empty({0, 5}, f32, device), true), w(random({5}, f32), true);
  rmsNorm(x, w).backward(empty({0, 5}, f32, device));
  EXPECT_EQ(w.grad().toFloat64(), Values(5, 0.0));
}

TEST_P(RmsNorm, namesTheArgumentThatDoesNotFit) {
  try {
    rmsNorm(random({2, 768}, f32), random({512}, f32));
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("rms_norm: argument 'weight': expected shape [768] "
                          "(the last dimension of x), got fp32[512]"));
  }
}
