//===- AccumulateTest.cpp ---------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/accumulate/Accumulate.h"
#include "kernels/expression/Expression.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Autograd/Views.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(Accumulate);

TEST_P(Accumulate, agreesWithDoublePrecision) {
  forCases([&] {
    Shape shape = {pick(1, 20), awkwardSize(2000)};
    DType dtype = floatType();
    Tensor a = random(shape, coin() ? dtype : f32), b = random(shape, dtype);
    Numbers expected = exactly(a), right = exactly(b);
    for (size_t i = 0; i < right.size(); ++i) {
      expected[i] = expected[i] + right[i];
    }
    bool inPlace = coin();
    Tensor sum = accumulate(a, b, inPlace);
    EXPECT_EQ(sum.data() == a.data(), inPlace);
    EXPECT_EQ(sum.dtype(), a.dtype());
    expectClose(sum, expected, "sum");
  });
}

TEST_P(Accumulate, isWhatAddsGradients) {
  Variable x(full({3}, 1, f32, device), true);
  Variable y = x * 3, z = x * 0.5;
  Variable sum = y + z;
  sum.backward(full({3}, 1, f32, device));
  EXPECT_EQ(x.grad().toFloat64(), Values(3, 3.5));
}

TEST_P(Accumulate, addsDoublesAsDoubles) {
  Tensor a = full({1500}, 1, f64, device),
         b = full({1500}, 0x1p-50, f64, device);
  EXPECT_EQ(accumulate(a, b, false).toFloat64(), Values(1500, 1 + 0x1p-50));
  // The second pass adds to the first.
  Variable x(a, true);
  for (int i = 0; i < 2; ++i) {
    autograd::reshape(x, {3, 500}).backward(b.view({3, 500}));
  }
  EXPECT_EQ(x.grad().toFloat64(), Values(1500, 0x1p-49));
}

TEST_P(Accumulate, namesWhatDoesNotFit) {
  try {
    accumulate(random({2}, f32), random({3}, f32), false);
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.message(),
                HasSubstr("accumulate: argument 'b': expected shape [2]"));
  }
}
