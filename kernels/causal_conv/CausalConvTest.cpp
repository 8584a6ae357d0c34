//===- CausalConvTest.cpp ---------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/causal_conv/CausalConv.h"
#include "kernels/causal_conv/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

NEREID_OPERATOR_TEST(CausalConv);

TEST_P(CausalConv, agreesWithItsReference) {
  forCases(
      [&] {
        int64_t batch = pick(1, 2), steps = awkwardSize(isSlow ? 20 : 130),
                channels = awkwardSize(isSlow ? 9 : 130),
                taps = oneOf<int64_t>({1, 3, 4});
        DType type = floatType();
        std::vector<Variable> in = {
            Variable(random({batch, steps, channels}, type), true),
            Variable(random({channels, taps}, coin() ? f32 : type), true)};
        if (coin()) {
          in.emplace_back(random({channels}, type), true);
        }
        Variable bias = in.size() > 2 ? in[2] : Variable();
        auto reference = [&](const std::vector<Numbers> &at) {
          return reference::causalConv(at[0], at[1],
                                       at.size() > 2 ? at[2] : Numbers(),
                                       size_t(steps), size_t(channels));
        };
        Variable y = causalConv(in[0], in[1], bias);
        std::vector<Numbers> values;
        for (const Variable &v : in) {
          values.push_back(exactly(v.value()));
        }
        expectClose(y.value(), reference(values), "y");
        checkGradients(y, in, reference);
      },
      2);
}

TEST_P(CausalConv, takesNoElements) {
  Variable x(empty({2, 0, 3}, f32, device), true),
      w(zeros({3, 4}, f32, device), true);
  causalConv(x, w).backward(empty({2, 0, 3}, f32, device));
  EXPECT_EQ(w.grad().toFloat64(), Values(12, 0.0));
}

TEST_P(CausalConv, namesTheArgumentThatDoesNotFit) {
  Tensor x = zeros({2, 5, 3}, f32, device);
  auto messageOf = [&](const Tensor &x, const Tensor &w, const Tensor &bias) {
    try {
      causalConv(x, w, bias);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(messageOf(x.select(0, 0), x, {}),
              HasSubstr("causalConv: argument 'x': expected 3 dimensions"));
  EXPECT_THAT(messageOf(x, zeros({4, 3}, f32, device), {}),
              HasSubstr("'weight': expected shape [3, any] (the channels of x, "
                        "and taps)"));
  EXPECT_THAT(messageOf(x, zeros({3, 17}, f32, device), {}),
              HasSubstr("'weight': expected from 1 to 16 taps, got 17"));
  EXPECT_THAT(messageOf(x, zeros({3, 4}, f32, device), zeros({4}, f32, device)),
              HasSubstr("'bias': expected shape [3] (the channels of x)"));
}
