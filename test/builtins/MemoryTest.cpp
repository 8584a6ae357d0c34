//===- MemoryTest.cpp - Block pointers, descriptors, atomics ---*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <cmath>
#include <numeric>

using namespace nereid;
using namespace nereid::test;

namespace {

class MemoryTest : public OnTarget {};

/// Element (r, c) of a rows x columns array, or `outside`.
float at(const std::vector<float> &x, int rows, int columns, int r, int c,
         float outside) {
  bool isInside = r >= 0 && r < rows && c >= 0 && c < columns;
  return isInside ? x[r * columns + c] : outside;
}

TEST_P(MemoryTest, PartsOfBlocksInEveryOrderOfOperations) {
  std::vector<int> x(60), y(16), z(9), s(2);
  std::iota(x.begin(), x.end(), 0);
  Snippet(GetParam(),
          "m = tl.load(x + tl.arange(0, 60)).reshape(6, 10)\n"
          "p = tl.extract_slice(m, [1, 2], [2, 8])\n"
          "tl.store(y + tl.arange(0, 16), (p * 2).reshape(16))\n"
          "h = tl.extract_slice(m.T * 10, [1, 0], [3, 3], [3, 2])\n"
          "tl.store(z + tl.arange(0, 9), h.reshape(9))\n"
          // A part of a part, of what a reduction leaves, and stored over what
          // it is a part of.
          "q = tl.extract_slice(tl.extract_slice(tl.sum(m, 1), [1], [4]), [2],"
          " [2])\n"
          "tl.store(s + tl.arange(0, 2), q)\n"
          "tl.store(x + tl.arange(0, 30), "
          "tl.extract_slice(m, [3, 0], [3, 10]).reshape(30))")
      .array("x", x)
      .array("y", y)
      .array("z", z)
      .array("s", s)
      .run();
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(y[i], 2 * ((1 + i / 8) * 10 + 2 + i % 8));
  }
  for (int i = 0; i < 9; ++i) { // h[a, b] is m[2 b, 1 + 3 a]
    EXPECT_EQ(z[i], 10 * (i % 3 * 2 * 10 + 1 + i / 3 * 3));
  }
  EXPECT_EQ(s, (std::vector<int>{345, 445}));
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(x[i], i < 30 ? i + 30 : i);
  }
}

TEST_P(MemoryTest, BlockPointersPadAndDrop) {
  constexpr int rows = 5, columns = 7;
  std::vector<float> x(rows * columns), nan(24), zero(24);
  std::iota(x.begin(), x.end(), 1.0f);
  std::vector<float> y(rows * columns, -1);
  Snippet(GetParam(),
          "b = tl.make_block_ptr(base=x, shape=(M, N), strides=(N, 1), "
          "offsets=(3, -1), block_shape=(4, 6), order=(1, 0))\n"
          "o = tl.arange(0, 4)[:, None] * 6 + tl.arange(0, 6)[None, :]\n"
          "tl.store(p + o, tl.load(b, boundary_check=(0, 1), "
          "padding_option='nan'))\n"
          "tl.store(z + o, tl.load(b, boundary_check=(1, 0)))\n"
          "c = tl.make_block_ptr(y, (M, N), (N, 1), (3, 4), (4, 6), (1, 0))\n"
          "tl.store(c, tl.full([4, 6], 9, tl.int32), boundary_check=(0, 1))")
      .array("x", x)
      .array("p", nan)
      .array("z", zero)
      .array("y", y)
      .constant("M", rows)
      .constant("N", columns)
      .run();
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 6; ++c) {
      float expected = at(x, rows, columns, 3 + r, c - 1, NAN);
      float padded = nan[r * 6 + c];
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(padded)
                                       : padded == expected);
      EXPECT_EQ(zero[r * 6 + c], std::isnan(expected) ? 0 : expected);
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      EXPECT_EQ(y[r * columns + c], r >= 3 && c >= 4 ? 9 : -1);
    }
  }
}

TEST_P(MemoryTest, AdvanceInALoopMultipliesMatrices) {
  constexpr int m = 9, n = 6, k = 20;
  std::vector<float> a = randomValues<float>(m * k, -1, 1);
  std::vector<float> b = randomValues<float>(k * n, -1, 1, 2), c(m * n);
  Snippet(GetParam(),
          "A = tl.make_block_ptr(a, (m, k), (k, 1), (0, 0), (16, 8), (1, 0))\n"
          "B = tl.make_block_ptr(b, (k, n), (n, 1), (0, 0), (8, 8), (1, 0))\n"
          "acc = tl.zeros([16, 8], tl.float32)\n"
          "for i in range(0, k, 8):\n"
          "    u = tl.load(A, boundary_check=(0, 1), padding_option='zero')\n"
          "    v = tl.load(B, boundary_check=(0, 1), padding_option='zero')\n"
          "    acc = tl.dot(u, v, acc, input_precision='ieee')\n"
          "    A = tl.advance(A, (0, 8))\n"
          "    B = tl.advance(B, (8, 0))\n"
          "C = tl.make_block_ptr(c, (m, n), (n, 1), (0, 0), (16, 8), (1, 0))\n"
          "tl.store(C, acc, boundary_check=(0, 1))")
      .array("a", a)
      .array("b", b)
      .array("c", c)
      .scalar("m", m)
      .scalar("n", n)
      .scalar("k", k)
      .run();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int l = 0; l < k; ++l) {
        sum += double{a[i * k + l]} * b[l * n + j];
      }
      EXPECT_NEAR(c[i * n + j], sum, 1e-5);
    }
  }
}

TEST_P(MemoryTest, Descriptors) {
  constexpr int rows = 6, columns = 10;
  std::vector<float> x(rows * columns), y(rows * columns, 1), g(8 * 4);
  std::iota(x.begin(), x.end(), 0.0f);
  Snippet(GetParam(),
          "d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [4, 8])\n"
          "e = tl.make_tensor_descriptor(y, [M, N], [N, 1], [4, 8])\n"
          "v = d.load([4, 4])\n"
          "e.store([3, 6], v + 100)\n"
          "e.atomic_add([-2, -2], tl.full([4, 8], 5, tl.float32))\n"
          "r = tl.make_tensor_descriptor(x, [M, N], [N, 1], [1, 4])\n"
          "w = r.gather((tl.arange(0, 8) * 3) % 8, 8)\n"
          "tl.store(g + tl.arange(0, 8)[:, None] * 4 + "
          "tl.arange(0, 4)[None, :], w)")
      .array("x", x)
      .array("y", y)
      .array("g", g)
      .scalar("M", rows)
      .scalar("N", columns)
      .run();
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      float expected = 1;
      if (r >= 3 && c >= 6) { // v[r - 3, c - 6] is x[r + 1, c - 2] or padding
        expected = at(x, rows, columns, r + 1, c - 2, 0) + 100;
      }
      if (r < 2 && c < 6) {
        expected += 5;
      }
      EXPECT_EQ(y[r * columns + c], expected) << r << " " << c;
    }
  }
  for (int i = 0; i < 8; ++i) {
    for (int c = 0; c < 4; ++c) {
      EXPECT_EQ(g[i * 4 + c], at(x, rows, columns, i * 3 % 8, 8 + c, 0));
    }
  }
}

TEST_P(MemoryTest, Atomics) {
  std::vector<int32_t> i = {10, 10, 10, 0b1100, 0b1100, 0b1100, 10, 10};
  std::vector<uint32_t> u = {1, 1};
  std::vector<float> f = {1.5f, 2.5f, -2.5f};
  std::vector<int32_t> old(8);
  Snippet(GetParam(), "tl.store(o + 0, tl.atomic_add(i, 5))\n"
                      "tl.store(o + 1, tl.atomic_max(i + 1, 7))\n"
                      "tl.store(o + 2, tl.atomic_min(i + 2, 7))\n"
                      "tl.store(o + 3, tl.atomic_and(i + 3, 0b0110))\n"
                      "tl.store(o + 4, tl.atomic_or(i + 4, 0b0110))\n"
                      "tl.store(o + 5, tl.atomic_xor(i + 5, 0b0110))\n"
                      "tl.store(o + 6, tl.atomic_xchg(i + 6, 3))\n"
                      "tl.store(o + 7, tl.atomic_cas(i + 7, 10, 4))\n"
                      "tl.atomic_cas(i + 7, 10, 5)\n"
                      "tl.atomic_max(u, -1)\n"
                      "tl.atomic_min(u + 1, -1)\n"
                      "tl.atomic_add(f, 0.25, sem='relaxed')\n"
                      "tl.atomic_max(f + 1, 3.5)\n"
                      "tl.atomic_min(f + 2, -3.5, mask=False)\n"
                      "tl.atomic_poll(i + 7, 4)\n"
                      "tl.atomic_poll(i + tl.arange(0, 2), 15 - 5 * "
                      "tl.arange(0, 2))")
      .array("i", i)
      .array("u", u)
      .array("f", f)
      .array("o", old)
      .run();
  EXPECT_THAT(old, testing::ElementsAre(10, 10, 10, 12, 12, 12, 10, 10));
  EXPECT_THAT(i, testing::ElementsAre(15, 10, 7, 4, 14, 10, 3, 4));
  EXPECT_THAT(u, testing::ElementsAre(0xffffffffu, 1u));
  EXPECT_THAT(f, testing::ElementsAre(1.75f, 3.5f, -2.5f));
}

TEST_P(MemoryTest, AtomicLoadsAndStores) {
  std::vector<float> f = {1.5f, 2.5f, -0.0f, 4};
  std::vector<int16_t> h = {1, 2, 3, 4};
  std::vector<int64_t> l = {-5, 6};
  std::vector<int32_t> seen(4);
  Snippet(GetParam(),
          "i = tl.arange(0, 4)\n"
          "x = tl.atomic_load(f + i, i < 3, sem='relaxed')\n"
          "tl.atomic_store(f + i, x * 2, i < 3)\n"
          "tl.atomic_store(h + i, tl.atomic_load(h + i, scope='cta') + 10)\n"
          "tl.atomic_store(l + 1, tl.atomic_load(l), sem='relaxed')\n"
          "tl.store(s + i, tl.atomic_poll(h + i, 9 + i + (i != 2) * 2, "
          "timeout_ns=0))")
      .array("f", f)
      .array("h", h)
      .array("l", l)
      .array("s", seen)
      .run();
  EXPECT_THAT(f, testing::ElementsAre(3.f, 5.f, -0.f, 4.f));
  EXPECT_TRUE(std::signbit(f[2]));
  EXPECT_THAT(h, testing::ElementsAre(11, 12, 13, 14));
  EXPECT_THAT(l, testing::ElementsAre(-5, -5));
  EXPECT_THAT(seen, testing::ElementsAre(1, 1, 0, 1));
}

TEST_P(MemoryTest, AtomicsOnOneAddressAllCount) {
  std::vector<int32_t> total(3);
  std::vector<float> sum(1);
  Snippet(GetParam(), "o = tl.arange(0, 100)\n"
                      "tl.atomic_add(t + o % 3, o, mask=o < 90)\n"
                      "tl.atomic_add(s + o * 0, 0.5)")
      .array("t", total)
      .array("s", sum)
      .run(7);
  EXPECT_THAT(total, testing::ElementsAre(7 * 1305, 7 * 1335, 7 * 1365));
  EXPECT_EQ(sum[0], 350);
}

TEST_P(MemoryTest, BooleanPointers) {
  std::vector<uint8_t> x = {0, 1, 2, 255}, y(4, 7);
  Snippet(GetParam(), "o = tl.arange(0, 4)\n"
                      "v = tl.load(x + o, mask=o < 3, other=True)\n"
                      "tl.store(y + o, ~v)")
      .array("x", x, DType::Int1)
      .array("y", y, DType::Int1)
      .run();
  EXPECT_THAT(y, testing::ElementsAre(1, 0, 0, 0));
}

TEST_P(MemoryTest, ShapesMoveElements) {
  std::vector<int32_t> y(12), z(12), g(4), e(6), s(12), parts(3);
  Snippet(GetParam(),
          "m = tl.arange(0, 6).reshape(2, 3)\n"
          "o = tl.arange(0, 12)\n"
          "tl.store(y + o, tl.interleave(m, m + 10).reshape(12))\n"
          "tl.store(z + o, tl.cat(m, m * 2, dim=1).reshape(12))\n"
          "tl.store(g + tl.arange(0, 4), tl.gather(tl.arange(5, 10), "
          "tl.arange(0, 4) * 3 % 5, 0))\n"
          "tl.store(e + tl.arange(0, 6), m.T.reshape(6))\n"
          "a, b = tl.split(tl.join(m, m + 100))\n"
          "tl.store(s + o, tl.cat(a, b).reshape(12))\n"
          "tl.store(p, tl.full([1, 1], 42, tl.int32).item())\n"
          "i, j = tl.swizzle2d(1, 2, 4, 4, 2)\n"
          "tl.store(p + 1, i * 10 + j)\n"
          "tl.store(p + 2, tl.permute(m[None], (2, 0, 1)).shape[0])")
      .array("y", y)
      .array("z", z)
      .array("g", g)
      .array("e", e)
      .array("s", s)
      .array("p", parts)
      .run();
  using testing::ElementsAre;
  EXPECT_THAT(y, ElementsAre(0, 10, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15));
  EXPECT_THAT(z, ElementsAre(0, 1, 2, 0, 2, 4, 3, 4, 5, 6, 8, 10));
  EXPECT_THAT(g, ElementsAre(5, 8, 6, 9));
  EXPECT_THAT(e, ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(s, ElementsAre(0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105));
  // Number 6 of a 4 x 4 grid, as tile (1, 2): fourth column of row pair 0.
  EXPECT_THAT(parts, ElementsAre(42, 3, 3));
}

/// i8, fp16-like widths in float32, batches.
TEST_P(MemoryTest, Products) {
  constexpr int m = 3, n = 5, k = 7;
  std::vector<int8_t> a = randomValues<int8_t>(2 * m * k, -100, 100);
  std::vector<int8_t> b = randomValues<int8_t>(2 * k * n, -100, 100, 2);
  std::vector<int32_t> c(2 * m * n), d(2 * m * n);
  std::vector<double> f(m * n);
  Snippet(GetParam(),
          "i, j = tl.arange(0, 2)[:, None, None], "
          "tl.arange(0, M)[None, :, None]\n"
          "l, h = tl.arange(0, K), tl.arange(0, N)\n"
          "u = tl.load(a + i * M * K + j * K + l)\n"
          "v = tl.load(b + i * K * N + l[None, :, None] * N + h)\n"
          "o = i * M * N + j * N + h\n"
          "tl.store(c + o, tl.dot(u, v))\n"
          "tl.store(d + o, tl.dot(u, v, acc=tl.full([2, M, N], 7, "
          "tl.int32)))\n"
          "x = tl.load(a + tl.arange(0, M)[:, None] * K + l).to(tl.float64)\n"
          "y = tl.load(b + l[:, None] * N + h).to(tl.float64)\n"
          "tl.store(f + tl.arange(0, M)[:, None] * N + h, tl.dot(x, y))")
      .array("a", a)
      .array("b", b)
      .array("c", c)
      .array("d", d)
      .array("f", f)
      .constant("M", m)
      .constant("N", n)
      .constant("K", k)
      .run();
  for (int batch = 0; batch < 2; ++batch) {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        int32_t sum = 0;
        for (int l = 0; l < k; ++l) {
          sum += a[(batch * m + i) * k + l] * b[(batch * k + l) * n + j];
        }
        EXPECT_EQ(c[(batch * m + i) * n + j], sum);
        EXPECT_EQ(d[(batch * m + i) * n + j], sum + 7);
        if (batch == 0) {
          EXPECT_EQ(f[i * n + j], sum);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, MemoryTest, testing::Values("interp", "cpu"));

} // namespace
