//===- OrderTest.cpp - Sorting, scans, extrema -----------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace nereid;
using namespace nereid::test;

namespace {

class OrderTest : public OnTarget {};

/// Rows of `columns` values with many equal ones.
template <typename T>
std::vector<T> rowsOf(int rows, int columns) {
  double low = std::is_unsigned_v<T> ? 0 : -50;
  std::vector<T> x = randomValues<T>(rows * columns, low, 50);
  for (size_t i = 0; i < x.size(); i += 3) {
    x[i] = static_cast<T>(7);
  }
  return x;
}

template <typename T>
void checkSort(const char *target, int rows, int columns, bool descending) {
  std::vector<T> x = rowsOf<T>(rows, columns), y(x.size());
  int k = (columns + 1) / 2;
  std::vector<T> top(rows * k);
  Snippet(target, "r = tl.arange(0, R)[:, None]\n"
                  "o = r * N + tl.arange(0, N)[None, :]\n"
                  "v = tl.load(x + o)\n"
                  "tl.store(y + o, tl.sort(v, 1, DESC))\n"
                  "tl.store(t + r * K + tl.arange(0, K)[None, :], "
                  "tl.topk(v, K, dim=-1))")
      .array("x", x)
      .array("y", y)
      .array("t", top)
      .constant("R", rows)
      .constant("N", columns)
      .constant("K", k)
      .constant("DESC", descending)
      .run();
  for (int r = 0; r < rows; ++r) {
    std::vector<T> row(x.begin() + r * columns, x.begin() + (r + 1) * columns);
    std::sort(row.begin(), row.end());
    for (int i = 0; i < k; ++i) {
      ASSERT_EQ(top[r * k + i], row[columns - 1 - i]) << columns << " " << i;
    }
    if (descending) {
      std::reverse(row.begin(), row.end());
    }
    ASSERT_TRUE(std::equal(row.begin(), row.end(), y.begin() + r * columns))
        << columns;
  }
}

TEST_P(OrderTest, SortsEveryTypeAtEverySize) {
  for (int columns : {1, 2, 3, 7, 16, 100}) {
    checkSort<float>(GetParam(), 2, columns, false);
  }
  checkSort<double>(GetParam(), 1, 13, true);
  checkSort<int8_t>(GetParam(), 3, 8, true);
  checkSort<uint8_t>(GetParam(), 3, 9, false);
  checkSort<int32_t>(GetParam(), 1, 64, true);
  checkSort<uint32_t>(GetParam(), 1, 11, true);
  checkSort<int64_t>(GetParam(), 1, 33, false);
}

TEST_P(OrderTest, SortPutsNanLastAndKeepsSignedZeros) {
  float nan = std::nanf(""), inf = INFINITY;
  std::vector<float> x = {3, nan, -inf, 0.0f, -0.0f, inf, -nan}, y(7);
  Snippet(GetParam(), "o = tl.arange(0, 7)\n"
                      "tl.store(y + o, tl.sort(tl.load(x + o)))")
      .array("x", x)
      .array("y", y)
      .run();
  EXPECT_EQ(y[0], -inf);
  EXPECT_TRUE(y[1] == 0 && std::signbit(y[1]));
  EXPECT_TRUE(y[2] == 0 && !std::signbit(y[2]));
  EXPECT_EQ(y[3], 3);
  EXPECT_EQ(y[4], inf);
  EXPECT_TRUE(std::isnan(y[5]) && std::isnan(y[6]));
}

TEST_P(OrderTest, FlipAndMerge) {
  std::vector<int32_t> x(6), y(6), merged(8);
  std::iota(x.begin(), x.end(), 0);
  Snippet(GetParam(), "o = tl.arange(0, 2)[:, None] * 3 + "
                      "tl.arange(0, 3)[None, :]\n"
                      "tl.store(y + o, tl.flip(tl.load(x + o), 0))\n"
                      "b = tl.arange(0, 8)\n"
                      "hill = tl.where(b < 4, b * 3, 20 - 2 * b)\n"
                      "tl.store(m + b, tl.bitonic_merge(hill))")
      .array("x", x)
      .array("y", y)
      .array("m", merged)
      .run();
  EXPECT_EQ(y, (std::vector<int32_t>{3, 4, 5, 0, 1, 2}));
  std::vector<int32_t> hill = {0, 3, 6, 9, 12, 10, 8, 6};
  std::sort(hill.begin(), hill.end());
  EXPECT_EQ(merged, hill);
}

template <typename T>
void checkScan(const char *target, int rows, int columns, bool reverse) {
  std::vector<T> x = randomValues<T>(rows * columns, 0, 6);
  std::vector<T> y(x.size()), z(x.size());
  Snippet(target, "o = tl.arange(0, R)[:, None] * N + "
                  "tl.arange(0, N)[None, :]\n"
                  "v = tl.load(x + o)\n"
                  "tl.store(y + o, tl.cumsum(v, 1, reverse=REVERSE))\n"
                  "tl.store(z + o, tl.cumsum(v, 0, reverse=REVERSE))")
      .array("x", x)
      .array("y", y)
      .array("z", z)
      .constant("R", rows)
      .constant("N", columns)
      .constant("REVERSE", reverse)
      .run();
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      double along = 0, down = 0;
      for (int i = reverse ? c : 0; i < (reverse ? columns : c + 1); ++i) {
        along += x[r * columns + i];
      }
      for (int i = reverse ? r : 0; i < (reverse ? rows : r + 1); ++i) {
        down += x[i * columns + c];
      }
      ASSERT_NEAR(y[r * columns + c], along, 1e-4);
      ASSERT_NEAR(z[r * columns + c], down, 1e-4);
    }
  }
}

TEST_P(OrderTest, CumulativeSums) {
  for (bool reverse : {false, true}) {
    checkScan<float>(GetParam(), 3, 17, reverse);
    checkScan<int32_t>(GetParam(), 5, 8, reverse);
  }
  checkScan<int64_t>(GetParam(), 1, 100, false);
}

TEST_P(OrderTest, CumulativeProduct) {
  std::vector<float> x = randomValues<float>(9, 0.5, 1.5), y(9);
  Snippet(GetParam(), "o = tl.arange(0, 9)\n"
                      "tl.store(y + o, tl.cumprod(tl.load(x + o)))")
      .array("x", x)
      .array("y", y)
      .run();
  double product = 1;
  for (int i = 0; i < 9; ++i) {
    product *= x[i];
    EXPECT_NEAR(y[i], product, 1e-5 * product);
  }
}

template <typename T>
void checkExtrema(const char *target, int rows, int columns) {
  std::vector<T> x = rowsOf<T>(rows, columns);
  std::vector<T> high(rows), low(rows);
  std::vector<int32_t> argHigh(rows), argLow(rows), both(rows), all(1);
  Snippet(target, "r = tl.arange(0, R)\n"
                  "v = tl.load(x + r[:, None] * N + "
                  "tl.arange(0, N)[None, :])\n"
                  "tl.store(hi + r, tl.max(v, 1))\n"
                  "tl.store(lo + r, tl.min(v, axis=1))\n"
                  "tl.store(ahi + r, tl.argmax(v, 1))\n"
                  "tl.store(alo + r, tl.argmin(v, 1))\n"
                  "m, i = tl.max(v, 1, return_indices=True)\n"
                  "tl.store(both + r, tl.where(m == tl.max(v, 1), i, -1))\n"
                  "tl.store(all, tl.argmax(v, None))")
      .array("x", x)
      .array("hi", high)
      .array("lo", low)
      .array("ahi", argHigh)
      .array("alo", argLow)
      .array("both", both)
      .array("all", all)
      .constant("R", rows)
      .constant("N", columns)
      .run();
  for (int r = 0; r < rows; ++r) {
    auto begin = x.begin() + r * columns, end = begin + columns;
    // Both give the first of equal ones: ties go to the left.
    auto most = std::max_element(begin, end),
         least = std::min_element(begin, end);
    EXPECT_EQ(high[r], *most);
    EXPECT_EQ(low[r], *least);
    EXPECT_EQ(argHigh[r], most - begin);
    EXPECT_EQ(argLow[r], least - begin);
    EXPECT_EQ(both[r], most - begin);
  }
  EXPECT_EQ(all[0], std::max_element(x.begin(), x.end()) - x.begin());
}

TEST_P(OrderTest, ExtremaWithTiesToTheLeft) {
  checkExtrema<float>(GetParam(), 3, 19);
  checkExtrema<int32_t>(GetParam(), 4, 8);
  checkExtrema<uint32_t>(GetParam(), 2, 5);
  checkExtrema<int64_t>(GetParam(), 1, 1);
  checkExtrema<double>(GetParam(), 2, 33);
}

TEST_P(OrderTest, MaximumIgnoresNanUnlessAsked) {
  float nan = std::nanf("");
  std::vector<float> x = {1, nan, 3}, y(4);
  Snippet(GetParam(), "v = tl.load(x + tl.arange(0, 3))\n"
                      "tl.store(y, tl.max(v))\n"
                      "tl.store(y + 1, tl.min(v))\n"
                      "n = tl.load(x + 1)\n"
                      "tl.store(y + 2, tl.maximum(n, 2.0))\n"
                      "tl.store(y + 3, tl.maximum(n, 2.0, "
                      "propagate_nan=tl.PropagateNan.ALL))")
      .array("x", x)
      .array("y", y)
      .run();
  EXPECT_EQ(y[0], 3);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], 2);
  EXPECT_TRUE(std::isnan(y[3]));
}

TEST_P(OrderTest, BitwiseReductionsAndCombineFunctions) {
  std::vector<int32_t> x = {5, 9, 1024, 77, 12345}, y(2);
  std::vector<float> stats(2), running(5);
  Snippet(GetParam(),
          "o = tl.arange(0, 5)\n"
          "v = tl.load(x + o)\n"
          "tl.store(y, tl.xor_sum(v, 0))\n"
          "tl.store(y + 1, tl.reduce_or(v, 0))\n"
          "f = v.to(tl.float32)\n"
          "s, q = tl.reduce((f, f * f), 0, both)\n"
          "tl.store(t, s)\n"
          "tl.store(t + 1, q)\n"
          "tl.store(r + o, tl.associative_scan(f, 0, larger))",
          "@triton.jit\ndef both(a, b, c, d):\n    return a + c, b + d\n"
          "@triton.jit\ndef larger(a, b):\n    return tl.maximum(a, b)\n")
      .array("x", x)
      .array("y", y)
      .array("t", stats)
      .array("r", running)
      .run();
  EXPECT_EQ(y[0], 5 ^ 9 ^ 1024 ^ 77 ^ 12345);
  EXPECT_EQ(y[1], 5 | 9 | 1024 | 77 | 12345);
  EXPECT_FLOAT_EQ(stats[0], 5 + 9 + 1024 + 77 + 12345);
  EXPECT_FLOAT_EQ(stats[1],
                  25.f + 81 + 1024 * 1024 + 77 * 77 + 12345.f * 12345);
  EXPECT_THAT(running, testing::ElementsAre(5, 9, 1024, 1024, 12345));
}

TEST_P(OrderTest, Histogram) {
  std::vector<int32_t> x(300), y(7), z(7);
  for (int i = 0; i < 300; ++i) {
    x[i] = i * i % 9 - 1;
  }
  Snippet(GetParam(), "o = tl.arange(0, 300)\n"
                      "v = tl.load(x + o)\n"
                      "b = tl.arange(0, 7)\n"
                      "tl.store(y + b, tl.histogram(v, 7))\n"
                      "tl.store(z + b, tl.histogram(v, 7, mask=o < 100))")
      .array("x", x)
      .array("y", y)
      .array("z", z)
      .run();
  for (int bin = 0; bin < 7; ++bin) {
    EXPECT_EQ(y[bin], std::count(x.begin(), x.end(), bin));
    EXPECT_EQ(z[bin], std::count(x.begin(), x.begin() + 100, bin));
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, OrderTest, testing::Values("interp", "cpu"));

} // namespace
