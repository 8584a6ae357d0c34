//===- ProductPatternsTest.cpp - Patterns around tl.dot -------------------===//
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

class ProductPatterns : public Pattern {
protected:
  static constexpr int64_t M = 37, N = 50, K = 200;
};

TEST_P(ProductPatterns, FusedEpilogue) {
  Tensor a = small({M, K}, 1), b = small({K, N}, 2), bias = small({N}, 3);
  Guarded c({M, N}, f32, device);
  load("matmul.py", "linear_relu")[{cdiv(M, 32), cdiv(N, 32)}](
      c.tensor(), a, b, bias, M, N, K, "BLOCK_M"_a = 32, "BLOCK_N"_a = 32,
      "BLOCK_K"_a = 16);
  std::vector<double> expected = product(a, b), add = bias.toFloat64();
  for (int64_t i = 0; i < M * N; ++i) {
    expected[i] = std::max(0.0, expected[i] + add[i % N]);
  }
  expectValues(c, expected);
}

TEST_P(ProductPatterns, SplitK) {
  Tensor a = small({M, K}, 1), b = small({K, N}, 2);
  Guarded c({M, N}, f32, device);
  c.tensor().fill(0);
  int64_t part = 64;
  load("matmul.py", "split_k")[{cdiv(M, 32), cdiv(N, 32), cdiv(K, part)}](
      c.tensor(), a, b, M, N, K, part, "BLOCK_M"_a = 32, "BLOCK_N"_a = 32,
      "BLOCK_K"_a = 16);
  expectValues(c, product(a, b));
}

TEST_P(ProductPatterns, Persistent) {
  Tensor a = small({M, K}, 1), b = small({K, N}, 2);
  // More programs than tiles, and fewer.
  for (int64_t programs : {3, 40}) {
    Guarded c({M, N}, f32, device);
    load("matmul.py",
         "persistent")[{programs}](c.tensor(), a, b, M, N, K, "BLOCK_M"_a = 16,
                                   "BLOCK_N"_a = 32, "BLOCK_K"_a = 32);
    expectValues(c, product(a, b));
  }
}

TEST_P(ProductPatterns, Attention) {
  int64_t n = 100, d = 32;
  Tensor q = randn({n, d}, f32, device, 1), k = randn({n, d}, f32, device, 2),
         v = randn({n, d}, f32, device, 3);
  double scale = 1 / std::sqrt(double(d));
  Guarded o({n, d}, f32, device);
  load("attention.py",
       "attention")[{cdiv(n, 16)}](o.tensor(), q, k, v, n, scale, "D"_a = d,
                                   "BLOCK_M"_a = 16, "BLOCK_N"_a = 32);
  std::vector<double> scores = product(q, k.transpose(0, 1).contiguous());
  for (double &score : scores) {
    score *= scale;
  }
  std::vector<double> weights = softmax(scores, n), values = v.toFloat64(),
                      expected(n * d);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t c = 0; c < d; ++c) {
        expected[i * d + c] += weights[i * n + j] * values[j * d + c];
      }
    }
  }
  // A GPU rounds operands of both products to ten bits of mantissa.
  expectValues(o, expected, device.isHost() ? 2e-6 : 4e-3);
}

INSTANTIATE_TEST_SUITE_P(, ProductPatterns,
                         testing::Values("cpu", "interp", "cuda"));

} // namespace
