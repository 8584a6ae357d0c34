//===- WideLimitsTest.cpp - Masks of limits near the ends of i64 ----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop's bound is the difference of what a mask compares, which 64 bits with
// a sign do not hold. Expected is what the compares say of each element.
//
//===----------------------------------------------------------------------===//

#include "nereid/nereid.h"

#include <gtest/gtest.h>

#include <limits>

using namespace nereid;
using namespace nereid::literals;

static constexpr const char *source =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def kernel(total, y, x, n, o, CLOSED: tl.constexpr,\n"
    "           BLOCK: tl.constexpr):\n"
    "    i = tl.arange(0, BLOCK).to(tl.int64) + o\n"
    "    m = (i <= n) if CLOSED else (i < n)\n"
    "    at = tl.arange(0, BLOCK)\n"
    "    tl.store(total, tl.sum(tl.load(x + at, mask=m, other=0.0)))\n"
    "    tl.store(y + at, 3.0, mask=m)\n";

static void expectWhatCompares(int64_t n, int64_t o, bool isClosed) {
  constexpr int64_t block = 1024;
  Device cpu = Device::cpu();
  Tensor x = full({block}, 1, f32, cpu), y = zeros({block}, f32, cpu),
         total = full({1}, -1, f32, cpu);
  Kernel::fromSource(source, "kernel")[1](
      total, y, x, n, o, "CLOSED"_a = isClosed, "BLOCK"_a = block);
  std::vector<double> expected;
  double count = 0;
  for (int64_t k = 0; k < block; ++k) {
    bool holds = isClosed ? k + o <= n : k + o < n;
    expected.push_back(holds ? 3 : 0);
    count += holds;
  }
  EXPECT_EQ(total.item(), count) << n << ", " << o << ", " << isClosed;
  EXPECT_EQ(y.toFloat64(), expected) << n << ", " << o << ", " << isClosed;
}

TEST(WideLimits, aBoundIsWhatTheCompareSays) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max(),
                    least = std::numeric_limits<int64_t>::min();
  for (bool isClosed : {false, true}) {
    for (int64_t n : {most, most - 1, most - 1000, least, least + 1, int64_t{7},
                      int64_t{-3}, int64_t{5000000500}}) {
      for (int64_t o :
           {int64_t{0}, int64_t{-5}, int64_t{5000000000}, least, least + 100}) {
        expectWhatCompares(n, o, isClosed);
      }
    }
  }
}
