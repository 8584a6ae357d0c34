//===- SelectiveScanTest.cpp ------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/selective_scan/SelectiveScan.h"
#include "kernels/selective_scan/reference.h"
#include "kernels/testing/OperatorTest.h"
#include "nereid/Runtime/Error.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::kernels;
using ::testing::HasSubstr;

class SelectiveScan : public OperatorTest {
protected:
  struct Case {
    reference::ScanSizes sizes;
    std::vector<Variable> in; ///< x, dt, a, b, c, d
  };

  Case draw() {
    int64_t batch = pick(1, 2), steps = awkwardSize(isSlow ? 20 : 50),
            channels = awkwardSize(isSlow ? 5 : 20),
            states = oneOf<int64_t>({1, 3, 4, 16});
    DType type = floatType();
    auto positive = [&](const Shape &shape, DType t) {
      return laidOut(random(shape, f32, 0.1, 0.3).onHost().to(t));
    };
    Case one;
    one.sizes = {size_t(batch), size_t(steps), size_t(channels),
                 size_t(states)};
    one.in = {Variable(random({batch, steps, channels}, type), true),
              Variable(positive({batch, steps, channels}, type), true),
              Variable(random({channels, states}, f32, 0.5, -1), true),
              Variable(random({batch, steps, states}, type), true),
              Variable(random({batch, steps, states}, type), true),
              Variable(random({channels}, f32), true)};
    return one;
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, SelectiveScan,
                         ::testing::Values("cpu", "interp", "cuda:0"),
                         [](const auto &info) {
                           std::string name = info.param;
                           return name.substr(0, name.find(':'));
                         });

TEST_P(SelectiveScan, agreesWithItsReference) {
  forCases(
      [&] {
        Case one = draw();
        const std::vector<Variable> &in = one.in;
        auto reference = [&](const std::vector<Numbers> &at) {
          Numbers state(one.sizes.batch * one.sizes.channels *
                        one.sizes.states);
          return reference::selectiveScan(at[0], at[1], at[2], at[3], at[4],
                                          at[5], one.sizes, state);
        };
        Variable y = selectiveScan(in[0], in[1], in[2], in[3], in[4], in[5]);
        std::vector<Numbers> values;
        for (const Variable &v : in) {
          values.push_back(exactly(v.value()));
        }
        expectClose(y.value(), reference(values), "y");
        EXPECT_EQ(selectiveScan(in[0].value(), in[1].value(), in[2].value(),
                                in[3].value(), in[4].value(), in[5].value())
                      .toFloat64(),
                  y.value().toFloat64())
            << "other bits";
        checkGradients(y, in, reference);
      },
      2);
}

// Without d, and a step at a time after the first ones.
TEST_P(SelectiveScan, goesOnFromAState) {
  constexpr size_t steps = 20;
  Tensor x = random({1, steps, 3}, f32),
         dt = full({1, steps, 3}, 0.25, f32, device),
         a = full({3, 2}, -1, f32, device), b = random({1, steps, 2}, f32),
         c = random({1, steps, 2}, f32), state = zeros({1, 3, 2}, f32, device);
  Numbers last(6);
  Numbers expected =
      reference::selectiveScan(exactly(x), exactly(dt), exactly(a), exactly(b),
                               exactly(c), {}, {1, steps, 3, 2}, last);
  Tensor y = empty({1, steps, 3}, f32, device);
  for (auto [first, behind] : {std::pair(0, 17), {17, 18}, {18, 20}}) {
    auto part = [&, f = first, l = behind](const Tensor &t) {
      return t.slice(1, f, l);
    };
    part(y).copyFrom(
        selectiveScan(part(x), part(dt), a, part(b), part(c), {}, state));
  }
  expectClose(y, expected, "y");
  expectClose(state, last, "state");
}

TEST_P(SelectiveScan, takesNoElements) {
  Variable x(empty({2, 0, 3}, f32, device), true),
      a(zeros({3, 4}, f32, device), true),
      b(empty({2, 0, 4}, f32, device), true);
  Variable y = selectiveScan(x, x, a, b, b);
  EXPECT_EQ(y.shape(), x.shape());
  y.backward(empty({2, 0, 3}, f32, device));
  EXPECT_EQ(a.grad().toFloat64(), Values(12, 0.0));
}

TEST_P(SelectiveScan, namesTheArgumentThatDoesNotFit) {
  Tensor x = zeros({2, 5, 3}, f32, device), a = zeros({3, 4}, f32, device),
         b = zeros({2, 5, 4}, f32, device);
  auto messageOf = [&](const Tensor &x, const Tensor &dt, const Tensor &a,
                       const Tensor &b, const Tensor &c, const Tensor &d,
                       const Tensor &state) {
    try {
      selectiveScan(x, dt, a, b, c, d, state);
    } catch (const Error &error) {
      return error.message();
    }
    return std::string();
  };
  EXPECT_THAT(messageOf(b.select(0, 0), x, a, b, b, {}, {}),
              HasSubstr("selectiveScan: argument 'x': expected 3 dimensions"));
  EXPECT_THAT(messageOf(x, b, a, b, b, {}, {}),
              HasSubstr("'dt': expected shape [2, 5, 3] (that of x)"));
  EXPECT_THAT(messageOf(x, x, zeros({4, 4}, f32, device), b, b, {}, {}),
              HasSubstr("'a': expected shape [3, any] (the channels of x, and "
                        "states)"));
  EXPECT_THAT(messageOf(x, x, zeros({3, 257}, f32, device), b, b, {}, {}),
              HasSubstr("'a': expected 1 to 256 states of a channel, got "
                        "257"));
  EXPECT_THAT(messageOf(x, x, a, x, b, {}, {}),
              HasSubstr("'b': expected shape [2, 5, 4] (batch and steps of x, "
                        "states of a)"));
  EXPECT_THAT(messageOf(x, x, a, b, x, {}, {}), HasSubstr("'c': expected"));
  EXPECT_THAT(messageOf(x, x, a, b, b, zeros({4}, f32, device), {}),
              HasSubstr("'d': expected shape [3] (the channels of x)"));
  EXPECT_THAT(messageOf(x, x, a, b, b, {}, zeros({2, 3, 4}, bf16, device)),
              HasSubstr("'state': expected fp32"));
  EXPECT_THAT(messageOf(x, x, a, b, b, {}, zeros({2, 4, 3}, f32, device)),
              HasSubstr("'state': expected shape [2, 3, 4]"));
}
