//===- DensePatternsTest.cpp - Patterns that take all of an array ---------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/docs/Patterns.h"

using namespace nereid;
using namespace nereid::literals;
using namespace nereid::guide;
using e2e::Guarded;

namespace {

class DensePatterns : public Pattern {};

TEST_P(DensePatterns, ElementWise) {
  int64_t rows = 7, columns = 33, n = rows * columns;
  Tensor x = randn({rows, columns}, f32, device, 1),
         bias = randn({columns}, f32, device, 2);
  Guarded y({rows, columns}, f32, device);
  load("elementwise.py", "add_gelu")[{cdiv(n, 64)}](y.tensor(), x, bias, n,
                                                    columns, "BLOCK"_a = 64);
  std::vector<double> expected = x.toFloat64(), b = bias.toFloat64();
  for (int64_t i = 0; i < n; ++i) {
    double sum = expected[i] + b[i % columns];
    expected[i] = 0.5 * sum * (1 + std::erf(sum * std::sqrt(0.5)));
  }
  expectValues(y, expected, 1e-6);
}

TEST_P(DensePatterns, TilesWithStrides) {
  int64_t m = 37, n = 50;
  // A view of every second column, and one with its dimensions exchanged.
  Tensor a = small({m, 2 * n}, 1).slice(1, 0, 2 * n, 2),
         b = small({n, m}, 2).transpose(0, 1);
  Guarded c({m, n}, f32, device, {n + 3, 1});
  load("tiles.py", "add_tiles")[{cdiv(m, 16), cdiv(n, 32)}](
      c.tensor(), a, b, m, n, n + 3, 1, a.stride(0), a.stride(1), b.stride(0),
      b.stride(1), "BLOCK_M"_a = 16, "BLOCK_N"_a = 32);
  std::vector<double> expected = a.toFloat64(), other = b.toFloat64();
  for (int64_t i = 0; i < m * n; ++i) {
    expected[i] += other[i];
  }
  expectValues(c, expected);
}

TEST_P(DensePatterns, Transpose) {
  int64_t m = 70, n = 33;
  Tensor x = randn({m, n}, f32, device, 1);
  Guarded y({n, m}, f32, device);
  load("tiles.py", "transpose")[{cdiv(m, 32), cdiv(n, 32)}](y.tensor(), x, m, n,
                                                            "BLOCK"_a = 32);
  expectValues(y, x.transpose(0, 1).toFloat64());
}

TEST_P(DensePatterns, RowSums) {
  int64_t rows = 5, columns = 1000;
  Tensor x = small({rows, columns}, 1);
  Guarded y({rows}, f32, device);
  load("reductions.py", "row_sums")[{rows}](y.tensor(), x, columns,
                                            "BLOCK"_a = 128);
  std::vector<double> values = x.toFloat64(), expected(rows);
  for (int64_t i = 0; i < rows * columns; ++i) {
    expected[i / columns] += values[i];
  }
  expectValues(y, expected);
}

TEST_P(DensePatterns, ColumnSums) {
  int64_t rows = 300, columns = 41;
  Tensor x = small({rows, columns}, 1);
  Guarded y({columns}, f32, device);
  load("reductions.py", "column_sums")[{cdiv(columns, 16)}](
      y.tensor(), x, rows, columns, "BLOCK_M"_a = 32, "BLOCK_N"_a = 16);
  std::vector<double> values = x.toFloat64(), expected(columns);
  for (int64_t i = 0; i < rows * columns; ++i) {
    expected[i % columns] += values[i];
  }
  expectValues(y, expected);
}

TEST_P(DensePatterns, RowArgmax) {
  int64_t rows = 9, columns = 100;
  Tensor x = randn({rows, columns}, f32, device, 3);
  Guarded index({rows}, i32, device);
  load("reductions.py", "row_argmax")[{rows}](index.tensor(), x, columns,
                                              "BLOCK"_a = 128);
  std::vector<double> values = x.toFloat64(), expected;
  for (auto row = values.begin(); row != values.end(); row += columns) {
    expected.push_back(double(std::max_element(row, row + columns) - row));
  }
  expectValues(index, expected);
}

TEST_P(DensePatterns, ReductionOfOnesOwn) {
  int64_t rows = 4, columns = 100;
  Tensor x = randn({rows, columns}, f32, device, 1);
  Guarded mean({rows}, f32, device), variance({rows}, f32, device);
  load("reductions.py", "row_moments")[{rows}](mean.tensor(), variance.tensor(),
                                               x, columns, "BLOCK"_a = 128);
  std::vector<double> values = x.toFloat64(), means(rows), variances(rows);
  for (int64_t i = 0; i < rows * columns; ++i) {
    means[i / columns] += values[i] / double(columns);
  }
  for (int64_t i = 0; i < rows * columns; ++i) {
    double distance = values[i] - means[i / columns];
    variances[i / columns] += distance * distance / double(columns);
  }
  expectValues(mean, means, 1e-6);
  expectValues(variance, variances, 1e-6);
}

TEST_P(DensePatterns, OnlineSoftmax) {
  int64_t rows = 3, columns = 1000;
  Tensor x = randn({rows, columns}, f32, device, 1);
  Guarded y({rows, columns}, f32, device);
  load("online_softmax.py", "online_softmax")[{rows}](y.tensor(), x, columns,
                                                      "BLOCK"_a = 128);
  expectValues(y, softmax(x.toFloat64(), columns), 1e-6);
}

TEST_P(DensePatterns, CrossEntropy) {
  int64_t rows = 6, columns = 333;
  Tensor x = randn({rows, columns}, f32, device, 1),
         label = randint({rows}, 0, columns, i32, device, 2);
  Guarded loss({rows}, f32, device);
  load("online_softmax.py", "cross_entropy")[{rows}](loss.tensor(), x, label,
                                                     columns, "BLOCK"_a = 64);
  std::vector<double> p = softmax(x.toFloat64(), columns),
                      labels = label.toFloat64(), expected(rows);
  for (int64_t row = 0; row < rows; ++row) {
    expected[row] = -std::log(p[row * columns + int64_t(labels[row])]);
  }
  expectValues(loss, expected, 1e-6);
}

TEST_P(DensePatterns, CumulativeSums) {
  int64_t rows = 3, columns = 300;
  Tensor x = small({rows, columns}, 1);
  Guarded y({rows, columns}, f32, device);
  load("scan.py", "cumulative_sums")[{rows}](y.tensor(), x, columns,
                                             "BLOCK"_a = 64);
  std::vector<double> expected = x.toFloat64();
  for (int64_t i = 0; i < rows * columns; ++i) {
    expected[i] += i % columns ? expected[i - 1] : 0;
  }
  expectValues(y, expected);
}

TEST_P(DensePatterns, LinearRecurrence) {
  int64_t rows = 3, columns = 50;
  Tensor a = rand({rows, columns}, f32, device, 1),
         b = randn({rows, columns}, f32, device, 2);
  Guarded h({rows, columns}, f32, device);
  load("scan.py", "linear_recurrence")[{rows}](h.tensor(), a, b, columns,
                                               "BLOCK"_a = 64);
  std::vector<double> scale = a.toFloat64(), expected = b.toFloat64();
  for (int64_t i = 0; i < rows * columns; ++i) {
    expected[i] += i % columns ? scale[i] * expected[i - 1] : 0;
  }
  expectValues(h, expected, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(, DensePatterns,
                         testing::Values("cpu", "interp", "cuda"));

} // namespace
