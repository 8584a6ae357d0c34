//===- reference.h - Products in double precision --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_LINEAR_REFERENCE_H
#define NEREID_KERNELS_LINEAR_REFERENCE_H

#include "kernels/linear/Linear.h"
#include "kernels/testing/Number.h"

#include <algorithm>
#include <numbers>

namespace nereid::kernels::reference {

inline Number activate(const Number &z, Activation activation) {
  switch (activation) {
  case Activation::None:
    return z;
  case Activation::Relu:
    return z.value > 0 ? z : Number(Bound{0, z.error});
  case Activation::Gelu:
    return z * (0.5 + 0.5 * erf(z * parameter(1 / std::numbers::sqrt2)));
  case Activation::GeluTanh: {
    Number cubed = z + parameter(0.044715) * z * z * z;
    return z * sigmoid(parameter(2 * std::sqrt(2 / std::numbers::pi)) * cubed);
  }
  case Activation::Silu:
    return z * sigmoid(z);
  }
  __builtin_unreachable();
}

/// a [ofA, m, k] times b [ofB, k, n]; a batch of 1 is that of all.
inline Numbers product(const Numbers &a, size_t ofA, const Numbers &b,
                       size_t ofB, size_t m, size_t n, size_t k) {
  size_t batch = std::max(ofA, ofB);
  Numbers y(batch * m * n);
  std::vector<Sum> sums(n);
  for (size_t i = 0; i < batch * m; ++i) {
    size_t each = i / m;
    const Number *left = &a[((ofA == 1 ? 0 : each) * m + i % m) * k];
    const Number *right = &b[(ofB == 1 ? 0 : each) * k * n];
    sums.assign(n, {});
    for (size_t l = 0; l < k; ++l) {
      for (size_t j = 0; j < n; ++j) {
        sums[j].addProduct(left[l], right[l * n + j]);
      }
    }
    for (size_t j = 0; j < n; ++j) {
      y[i * n + j] = sums[j].total();
    }
  }
  return y;
}

/// What an activation is applied to is kept in `kept` for the backward.
inline Numbers linear(const Numbers &x, const Numbers &weight,
                      const Numbers &bias, size_t n, size_t k,
                      Activation activation, DType kept = DType::Float32) {
  size_t rows = x.size() / k;
  Numbers y(rows * n);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < n; ++j) {
      Sum sum;
      for (size_t l = 0; l < k; ++l) {
        sum.addProduct(x[i * k + l], weight[j * k + l]);
      }
      Number z = bias.empty() ? sum.total() : sum.total() + bias[j];
      y[i * n + j] = activate(storedAs(z, kept), activation);
    }
  }
  return y;
}

} // namespace nereid::kernels::reference

#endif // NEREID_KERNELS_LINEAR_REFERENCE_H
