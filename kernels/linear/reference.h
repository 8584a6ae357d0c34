//===- reference.h - Products in double precision --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_REFERENCE_H
#define NEREID_KERNELS_LINEAR_REFERENCE_H

#include "kernels/linear/Linear.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace nereid::kernels::reference {

using Values = std::vector<double>;

inline double activate(double z, Activation activation) {
  switch (activation) {
  case Activation::None:
    return z;
  case Activation::Relu:
    return z > 0 ? z : 0;
  case Activation::Gelu:
    return 0.5 * z * std::erfc(-z / std::numbers::sqrt2);
  case Activation::GeluTanh:
    return 0.5 * z *
           (1 + std::tanh(std::sqrt(2 / std::numbers::pi) *
                          (z + 0.044715 * z * z * z)));
  case Activation::Silu:
    return z / (1 + std::exp(-z));
  }
  __builtin_unreachable();
}

/// a [B, M, K] @ b [B, K, N], all row-major; `ofA`, `ofB`: their batches, 1 or
/// B.
inline Values product(const Values &a, size_t ofA, const Values &b, size_t ofB,
                      size_t m, size_t n, size_t k) {
  size_t batch = std::max(ofA, ofB);
  Values y(batch * m * n);
  for (size_t i = 0; i < batch * m; ++i) {
    size_t each = i / m;
    const double *left = &a[((ofA == 1 ? 0 : each) * m + i % m) * k];
    const double *right = &b[(ofB == 1 ? 0 : each) * k * n];
    for (size_t l = 0; l < k; ++l) {
      for (size_t j = 0; j < n; ++j) {
        y[i * n + j] += left[l] * right[l * n + j];
      }
    }
  }
  return y;
}

/// activation(x [rows, K] @ weight [N, K]^T + bias), `bias` empty for 0.
inline Values linear(const Values &x, const Values &weight, const Values &bias,
                     size_t n, size_t k, Activation activation) {
  size_t rows = x.size() / k;
  Values y(rows * n);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = bias.empty() ? 0 : bias[j];
      for (size_t l = 0; l < k; ++l) {
        sum += x[i * k + l] * weight[j * k + l];
      }
      y[i * n + j] = activate(sum, activation);
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_LINEAR_REFERENCE_H
