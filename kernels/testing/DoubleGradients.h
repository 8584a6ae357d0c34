//===- DoubleGradients.h - Gradients in fp64 -------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_TESTING_DOUBLEGRADIENTS_H
#define NEREID_KERNELS_TESTING_DOUBLEGRADIENTS_H

#include "nereid/Autograd/Variable.h"

#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace nereid::kernels {

/// Compares the gradient of `norm`, a function of an x of two rows and of five
/// weights, both in fp64, with differences of the fourth order of the function
/// itself.
inline void checkGradientOfDoubles(
    Device device,
    const std::function<Variable(const Variable &, const Variable &)> &norm) {
  constexpr int64_t rows = 2, columns = 5;
  using Values = std::vector<double>;
  std::mt19937 numbers(3);
  std::normal_distribution<double> normal;
  auto draw = [&](int64_t count) {
    Values values;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(normal(numbers));
    }
    return values;
  };
  auto block = [&](const Values &values) {
    return Tensor::fromVector(values, Shape{rows, columns}).to(device);
  };
  Values at = draw(rows * columns), gain = draw(columns),
         weights = draw(rows * columns);
  Variable w(Tensor::fromVector(gain).to(device));
  Variable x(block(at), true), y = norm(x, w);
  EXPECT_EQ(y.dtype(), f64);
  y.backward(block(weights));
  Values gradient = x.grad().toFloat64();
  for (size_t i = 0; i < at.size(); ++i) {
    auto moved = [&](double by) { // the weighted sum of the function
      Values values = at;
      values[i] += by;
      Values result = norm(Variable(block(values)), w).value().toFloat64();
      double total = 0;
      for (size_t k = 0; k < result.size(); ++k) {
        total += result[k] * weights[k];
      }
      return total;
    };
    constexpr double step = 1e-3;
    double slope = (8 * (moved(step) - moved(-step)) -
                    (moved(2 * step) - moved(-2 * step))) /
                   (12 * step);
    EXPECT_NEAR(gradient[i], slope, 1e-9) << i;
  }
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_TESTING_DOUBLEGRADIENTS_H
