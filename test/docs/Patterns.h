//===- Patterns.h - Kernels of the guide, and what they compute -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of docs/guide/patterns against plain loops in float64, on every
// device, at sizes that are no multiples of their blocks. Outputs lie in the
// middle of poisoned memory.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_TEST_DOCS_PATTERNS_H
#define NEREID_TEST_DOCS_PATTERNS_H

#include "nereid/Runtime/gpu/simulated/SimulatedDriver.h"
#include "nereid/nereid.h"
#include "test/e2e/Guarded.h"
#include "test/e2e/OnDevice.h"

#include <cmath>

namespace nereid::guide {

inline const bool hasSimulator = (gpu::installSimulator(), true);

class Pattern : public e2e::OnDevice {
protected:
  static Kernel load(const char *file, const char *kernel) {
    return Kernel::load(std::string(SOURCE_DIR "/docs/guide/patterns/") + file,
                        kernel);
  }
  /// Whole numbers from -4 to 3: their products and sums are exact, also where
  /// a GPU rounds the operands of a product to ten bits.
  Tensor small(Shape shape, uint64_t seed) const {
    return randint(std::move(shape), -4, 4, f32, device, seed);
  }
};

/// `bound` is of |difference|, relative to expected values above 1.
inline void expectValues(const e2e::Guarded &actual,
                         const std::vector<double> &expected,
                         double bound = 0) {
  std::vector<double> values = actual.tensor().toFloat64();
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    double scale = std::max(1.0, std::fabs(expected[i]));
    ASSERT_LE(std::fabs(values[i] - expected[i]), bound * scale)
        << "element " << i << ": expected " << expected[i] << ", got "
        << values[i];
  }
  EXPECT_EQ(actual.strayBytes(), 0u);
}

/// a (m x k) times b (k x n).
inline std::vector<double> product(const Tensor &a, const Tensor &b) {
  int64_t m = a.size(0), k = a.size(1), n = b.size(1);
  std::vector<double> x = a.toFloat64(), y = b.toFloat64(), c(m * n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; ++l) {
      for (int64_t j = 0; j < n; ++j) {
        c[i * n + j] += x[i * k + l] * y[l * n + j];
      }
    }
  }
  return c;
}

/// Of each row of `columns` numbers.
inline std::vector<double> softmax(std::vector<double> x, int64_t columns) {
  for (auto row = x.begin(); row != x.end(); row += columns) {
    double largest = *std::max_element(row, row + columns), sum = 0;
    for (auto e = row; e != row + columns; ++e) {
      sum += *e = std::exp(*e - largest);
    }
    std::for_each(row, row + columns, [&](double &e) { e /= sum; });
  }
  return x;
}

} // namespace nereid::guide

#endif // NEREID_TEST_DOCS_PATTERNS_H
