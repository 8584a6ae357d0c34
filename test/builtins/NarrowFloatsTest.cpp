//===- NarrowFloatsTest.cpp - fp16, bf16 and fp8 in built-ins --*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include "nereid/Support/FloatFormats.h"

#include <algorithm>
#include <cmath>

using namespace nereid;
using namespace nereid::test;

namespace {

class NarrowFloatsTest : public OnTarget {};

std::vector<uint16_t> halves(const std::vector<float> &x) {
  std::vector<uint16_t> out(x.size());
  std::transform(x.begin(), x.end(), out.begin(), encodeFloat16);
  return out;
}

std::vector<uint16_t> brains(const std::vector<float> &x) {
  std::vector<uint16_t> out(x.size());
  std::transform(x.begin(), x.end(), out.begin(), encodeBFloat16);
  return out;
}

/// One at a time in float16 a sum of ones stops at 2048, in bfloat16 at 256.
TEST_P(NarrowFloatsTest, SumsAreAccumulatedInFloat32) {
  std::vector<uint16_t> h = halves(std::vector<float>(3000, 1));
  std::vector<uint16_t> b = brains(std::vector<float>(1000, 1));
  std::vector<uint16_t> sums(2), running(3000), runningB(1000);
  Snippet(GetParam(), "o, r = tl.arange(0, 3000), tl.arange(0, 1000)\n"
                      "v = tl.load(h + o)\n"
                      "w = tl.load(b + r)\n"
                      "tl.store(s, tl.sum(v))\n"
                      "tl.store((s + 1).to(tl.pointer_type(tl.bfloat16)), "
                      "tl.sum(w))\n"
                      "tl.store(c + o, tl.cumsum(v))\n"
                      "tl.store(d + r, tl.cumsum(w))")
      .array("h", h, DType::Float16)
      .array("b", b, DType::BFloat16)
      .array("s", sums, DType::Float16)
      .array("c", running, DType::Float16)
      .array("d", runningB, DType::BFloat16)
      .run();
  EXPECT_EQ(decodeFloat16(sums[0]), 3000);
  EXPECT_EQ(decodeBFloat16(sums[1]), 1000);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(running[i], encodeFloat16(i + 1)) << i;
  }
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(runningB[i], encodeBFloat16(i + 1)) << i;
  }
}

TEST_P(NarrowFloatsTest, Extrema) {
  std::vector<float> x = randomValues<float>(37, -9, 9);
  std::vector<uint16_t> h = halves(x), b = brains(x), top(37);
  std::vector<float> y(4);
  std::vector<int32_t> where(2);
  Snippet(GetParam(), "o = tl.arange(0, 37)\n"
                      "v, w = tl.load(h + o), tl.load(b + o)\n"
                      "tl.store(y, tl.max(v))\n"
                      "tl.store(y + 1, tl.min(w))\n"
                      "tl.store(y + 2, tl.max(tl.minimum(w, v)))\n"
                      "tl.store(y + 3, tl.max(tl.clamp(w, -1.0, 1.0)))\n"
                      "tl.store(i, tl.argmax(v, 0))\n"
                      "tl.store(i + 1, tl.argmin(w, 0))\n"
                      "tl.store(t + o, tl.sort(v, descending=True))")
      .array("h", h, DType::Float16)
      .array("b", b, DType::BFloat16)
      .array("y", y)
      .array("i", where)
      .array("t", top, DType::Float16)
      .run();
  std::vector<float> v(37), w(37), least(37);
  for (int i = 0; i < 37; ++i) {
    v[i] = decodeFloat16(h[i]);
    w[i] = decodeBFloat16(b[i]);
    least[i] = std::min(v[i], w[i]);
  }
  EXPECT_EQ(y[0], *std::max_element(v.begin(), v.end()));
  EXPECT_EQ(y[1], *std::min_element(w.begin(), w.end()));
  // float16 and bfloat16 meet in float16.
  EXPECT_NEAR(y[2], *std::max_element(least.begin(), least.end()), 1e-2);
  EXPECT_EQ(y[3], 1);
  EXPECT_EQ(where[0], std::max_element(v.begin(), v.end()) - v.begin());
  EXPECT_EQ(where[1], std::min_element(w.begin(), w.end()) - w.begin());
  std::sort(v.begin(), v.end(), std::greater<>());
  for (int i = 0; i < 37; ++i) {
    EXPECT_EQ(decodeFloat16(top[i]), v[i]);
  }
}

/// Operands are small multiples of 1/4: every product and sum is exact.
TEST_P(NarrowFloatsTest, Products) {
  constexpr int m = 5, n = 6, k = 19;
  std::vector<float> a = randomValues<float>(m * k, -8, 8);
  std::vector<float> b = randomValues<float>(k * n, -8, 8, 2);
  for (std::vector<float> *x : {&a, &b}) {
    for (float &value : *x) {
      value = std::round(value) / 4;
    }
  }
  std::vector<uint16_t> ah = halves(a), bh = halves(b);
  std::vector<uint16_t> ab = brains(a), bb = brains(b);
  std::vector<float> h(m * n), c(m * n), e(m * n);
  Snippet(GetParam(),
          "i = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]\n"
          "j = tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :]\n"
          "o = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]\n"
          "u, v = tl.load(ah + i), tl.load(bh + j)\n"
          "tl.store(h + o, tl.dot(u, v))\n"
          "tl.store(c + o, tl.dot(tl.load(ab + i), tl.load(bb + j)))\n"
          "tl.store(e + o, tl.dot(u.to(tl.float8e5), v.to(tl.float8e4nv)))")
      .array("ah", ah, DType::Float16)
      .array("bh", bh, DType::Float16)
      .array("ab", ab, DType::BFloat16)
      .array("bb", bb, DType::BFloat16)
      .array("h", h)
      .array("c", c)
      .array("e", e)
      .constant("M", m)
      .constant("N", n)
      .constant("K", k)
      .run();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0, narrow = 0;
      for (int l = 0; l < k; ++l) {
        double x = a[i * k + l], y = b[l * n + j];
        sum += x * y;
        narrow += double{decodeFloat8E5M2(encodeFloat8E5M2(x))} *
                  decodeFloat8E4M3(encodeFloat8E4M3(y));
      }
      EXPECT_EQ(h[i * n + j], sum);
      EXPECT_EQ(c[i * n + j], sum);
      EXPECT_EQ(e[i * n + j], narrow);
    }
  }
}

/// The functions of the language that look at bits.
TEST_P(NarrowFloatsTest, EightBits) {
  std::vector<float> x = {-3.5f, 2, 0.25f, -0.0f, 448, -1e9f, NAN, 1};
  std::vector<float> sorted(8), magnitude(8);
  Snippet(GetParam(), "o = tl.arange(0, 8)\n"
                      "v = tl.load(x + o).to(tl.float8e4nv)\n"
                      "tl.store(s + o, tl.sort(v).to(tl.float32))\n"
                      "tl.store(m + o, tl.abs(v).to(tl.float32))")
      .array("x", x)
      .array("s", sorted)
      .array("m", magnitude)
      .run();
  EXPECT_THAT(std::vector<float>(sorted.begin(), sorted.end() - 1),
              testing::ElementsAre(-448, -3.5f, 0, 0.25f, 1, 2, 448));
  EXPECT_TRUE(std::isnan(sorted[7]));
  EXPECT_THAT(std::vector<float>(magnitude.begin(), magnitude.begin() + 6),
              testing::ElementsAre(3.5f, 2, 0.25f, 0, 448, 448));
}

INSTANTIATE_TEST_SUITE_P(Targets, NarrowFloatsTest,
                         testing::Values("interp", "cpu"));

} // namespace
