//===- CacheWorker.cpp - One process of the cache test --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   worker FOLDER SEED ROUNDS [--file-limit BYTES]
//
// Runs the kernel set through the cache in FOLDER, in an order of its own, and
// checks every result. Each round uses a fresh context, as a new process
// would. Prints "compiled C hits H" and exits with 0 when all results were
// right. --file-limit makes every longer write fail, as a full disk does.
//
//===----------------------------------------------------------------------===//

#include "KernelSet.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sys/resource.h>

using namespace nereid;
using namespace nereid::literals;

static bool runKernel(int index, Context &context) {
  constexpr int64_t n = 300;
  Tensor x = arange({n}, f32), out = zeros({n}, f32);
  loadSetKernel(index, context)[cdiv(n, 128)](out, x, n, "BLOCK"_a = 128);
  std::vector<float> got = out.toVector<float>();
  for (int64_t i = 0; i < n; ++i) {
    if (got[i] != static_cast<float>(i * (index + 2) + 1)) {
      std::fprintf(stderr, "kernel %d, element %d: %g\n", index,
                   static_cast<int>(i), got[i]);
      return false;
    }
  }
  return true;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    return 2;
  }
  if (argc == 6 && !std::strcmp(argv[4], "--file-limit")) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlim_t bytes = std::strtoul(argv[5], nullptr, 10);
    rlimit limit = {bytes, bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::mt19937 random(static_cast<unsigned>(std::atoi(argv[2])));
  uint64_t compiled = 0, hits = 0;
  for (int round = 0; round < std::atoi(argv[3]); ++round) {
    Context context(makeSetCompiler(), {argv[1], uint64_t{1} << 30});
    std::vector<int> order(kernelSetSize);
    for (int i = 0; i < kernelSetSize; ++i) {
      order[i] = i;
    }
    std::shuffle(order.begin(), order.end(), random);
    for (int index : order) {
      try {
        if (!runKernel(index, context)) {
          return 1;
        }
      } catch (const Error &error) {
        std::fprintf(stderr, "kernel %d: %s\n", index, error.what());
        return 1;
      }
    }
    compiled += context.cacheCounters().compiled;
    hits += context.cacheCounters().diskHits;
  }
  std::printf("compiled %d hits %d\n", static_cast<int>(compiled),
              static_cast<int>(hits));
  return 0;
}
