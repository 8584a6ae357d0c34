//===- MapTest.cpp - Functions of scalars, and libdevice symbols *- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The reference executor runs the function element by element; the CPU computes
// it on blocks under masks. Both against the same function in C++.
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <cmath>

using namespace nereid;
using namespace nereid::test;

namespace {

class MapTest : public OnTarget {};

/// Steps of the Collatz sequence until 1, at most `most`; a division only where
/// the divisor is not zero; branches in loops and loops in branches.
const char *const helpers = R"(
@triton.jit
def steps(n, most):
    count = 0
    while (n != 1) & (count < most):
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
    return count

@triton.jit
def mixed(x, d):
    if d == 0:
        result = x
    elif d > 0:
        result = 0
        for i in range(d):
            if i % 3 == 1:
                result += x // (i + d)
            else:
                for j in range(i):
                    result ^= j
    else:
        result = x // d
    return result, result.to(tl.float32) * 0.5

@triton.jit
def divmod2(a0, a1, b0, b1):
    return a0 // b0, a1 // b1, a0 % b0, a1 % b1
)";

int stepsOf(int64_t n, int most) {
  int count = 0;
  for (; n != 1 && count < most; ++count) {
    n = static_cast<int32_t>(n % 2 == 0 ? n / 2 : 3 * n + 1);
  }
  return count;
}

int mixedOf(int x, int d) {
  if (d == 0) {
    return x;
  }
  if (d < 0) {
    return x / d;
  }
  int result = 0;
  for (int i = 0; i < d; ++i) {
    if (i % 3 == 1) {
      result += x / (i + d);
      continue;
    }
    for (int j = 0; j < i; ++j) {
      result ^= j;
    }
  }
  return result;
}

TEST_P(MapTest, BranchesAndLoops) {
  constexpr int n = 45; // no power of two
  std::vector<int32_t> x(n), d(n), counts(n), results(n);
  std::vector<float> halves(n);
  for (int i = 0; i < n; ++i) {
    x[i] = 37 * i + 1;
    d[i] = i % 13 - 5;
  }
  Snippet(GetParam(),
          "o = tl.arange(0, N)\n"
          "v, w = tl.load(x + o), tl.load(d + o)\n"
          "tl.store(c + o, tl.map_elementwise(steps, v, most))\n"
          "r, h = tl.map_elementwise(mixed, v, w)\n"
          "tl.store(y + o, r)\n"
          "tl.store(z + o, h)",
          helpers)
      .array("x", x)
      .array("d", d)
      .array("c", counts)
      .array("y", results)
      .array("z", halves)
      .scalar("most", int32_t{60})
      .constant("N", n)
      .run();
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(counts[i], stepsOf(x[i], 60)) << i;
    EXPECT_EQ(results[i], mixedOf(x[i], d[i])) << i;
    EXPECT_EQ(halves[i], 0.5f * mixedOf(x[i], d[i])) << i;
  }
}

TEST_P(MapTest, PacksAndShapes) {
  std::vector<int32_t> x(32), q(32), r(32), one(1);
  for (int i = 0; i < 32; ++i) {
    x[i] = 100 + 7 * i;
  }
  Snippet(GetParam(),
          "o = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]\n"
          "div, mod = tl.map_elementwise(divmod2, tl.load(x + o), "
          "tl.arange(0, 8)[None, :] + 1, pack=2)\n"
          "tl.store(q + o, div)\n"
          "tl.store(r + o, mod)\n"
          "tl.store(s, tl.map_elementwise(steps, tl.load(x), 1000))",
          helpers)
      .array("x", x)
      .array("q", q)
      .array("r", r)
      .array("s", one)
      .run();
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(q[i], x[i] / (i % 8 + 1)) << i;
    EXPECT_EQ(r[i], x[i] % (i % 8 + 1)) << i;
  }
  EXPECT_EQ(one[0], stepsOf(x[0], 1000));
}

/// A symbol is picked by the operands' types; an int result as the table says.
TEST_P(MapTest, LibdeviceSymbols) {
  auto x = randomValues<float>(64, -3, 3, 1);
  auto w = randomValues<double>(64, -3, 3, 2);
  std::vector<float> y(64);
  std::vector<double> z(64);
  std::vector<int32_t> isNan(64);
  x[5] = NAN;
  Snippet(GetParam(),
          "o = tl.arange(0, 64)\n"
          "tl.store(y + o, tanh(tl.load(x + o)))\n"
          "tl.store(z + o, tanh(tl.load(w + o)))\n"
          "tl.store(n + o, is_nan(tl.load(x + o)))",
          "@tl.core.extern\n"
          "def tanh(arg0, _semantic=None):\n"
          "    return tl.extern_elementwise('', '', [arg0], {\n"
          "        (tl.dtype('fp32'),): ('__nv_tanhf', tl.dtype('fp32')),\n"
          "        (tl.dtype('fp64'),): ('__nv_tanh', tl.dtype('fp64')),\n"
          "    }, is_pure=True, _semantic=_semantic)\n"
          "@tl.core.extern\n"
          "def is_nan(arg0, _semantic=None):\n"
          "    return tl.extern_elementwise('', '', [arg0], {\n"
          "        (tl.float32,): ('__nv_isnanf', tl.int32),\n"
          "    }, is_pure=True, _semantic=_semantic)\n")
      .array("x", x)
      .array("w", w)
      .array("y", y)
      .array("z", z)
      .array("n", isNan)
      .run();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(isNan[i], i == 5);
    if (i != 5) {
      EXPECT_NEAR(y[i], std::tanh(double{x[i]}), 3e-7);
    }
    EXPECT_NEAR(z[i], std::tanh(w[i]), 1e-15);
  }
}

/// An aggregate whose __init__ computes its fields, one in another, as an
/// argument and a result of jit functions and across a loop.
TEST_P(MapTest, AggregatesWithInit) {
  std::vector<int32_t> y(16);
  Snippet(
      GetParam(),
      "t = Tile(y, Size(4, 4), tl.to_tensor(2))\n"
      "for i in range(3):\n"
      "    t = t.moved(i)\n"
      "tl.store(t.pointers(), t.size.count() * 10 + t.step)",
      "@tl.core._aggregate\n"
      "class Size:\n"
      "    rows: tl.constexpr\n"
      "    columns: tl.constexpr\n"
      "    def __init__(self, rows, columns):\n"
      "        self.rows = tl.constexpr(rows)\n"
      "        self.columns = tl.constexpr(columns)\n"
      "    @triton.jit\n"
      "    def count(self):\n"
      "        return self.rows * self.columns\n"
      "@triton.aggregate\n"
      "class Tile:\n"
      "    base: tl.tensor\n"
      "    size: Size\n"
      "    step: tl.tensor\n"
      "    @triton.constexpr_function\n"
      "    def __init__(self, base, size, step=1):\n"
      "        self.base = base\n"
      "        self.size = size\n"
      "        self.step = step\n"
      "    @triton.jit\n"
      "    def pointers(self):\n"
      "        return self.base + tl.arange(0, self.size.rows)\n"
      "    @triton.jit\n"
      "    def moved(self, by):\n"
      "        return Tile(self.base + by * 2, self.size, self.step + by)\n")
      .array("y", y)
      .run();
  std::vector<int32_t> expected(16);
  std::fill(expected.begin() + 6, expected.begin() + 10, 165);
  EXPECT_EQ(y, expected);
}

INSTANTIATE_TEST_SUITE_P(Targets, MapTest, testing::Values("interp", "cpu"));

} // namespace
