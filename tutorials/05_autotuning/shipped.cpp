//===- shipped.cpp - Lesson 5: choices built into a program ----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// listed_matmul was compiled when this program was built, once for each choice
// in tuned.json. The program has no compiler and no tuner: a launch takes the
// choice whose sizes are nearest.
//
//===----------------------------------------------------------------------===//

#include "tutorial_05_kernels.h"
#include "tutorials/Lesson.h"

using namespace nereid;

int main(int argc, char **argv) try {
  lesson::checkOptions(argc, argv, {"--device"});
  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  double worst = 0;
  for (int64_t n : {64, 200, 256, 500, 512}) {
    Tensor a = full({n, n}, 2, f32, device), b = full({n, n}, 3, f32, device),
           c = emptyLike(a);
    int64_t blocks[3] = {};
    auto grid = [&](const Meta &meta) {
      const char *names[] = {"BLOCK_M", "BLOCK_N", "BLOCK_K"};
      for (int i = 0; i < 3; ++i) {
        blocks[i] = meta[names[i]];
      }
      return Grid{cdiv(n, meta["BLOCK_M"]), cdiv(n, meta["BLOCK_N"])};
    };
    tutorial_05_kernels::listed_matmul(grid, c, a, b, n, n, n);
    std::printf("%3lld x %-3lld: blocks of %lld x %lld x %lld\n", (long long)n,
                (long long)n, (long long)blocks[0], (long long)blocks[1],
                (long long)blocks[2]);
    std::vector<double> expected(size_t(n * n), 6.0 * double(n));
    worst = std::max(worst, lesson::maxDifference(c, expected));
  }
  return lesson::verdict(worst, 0);
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
