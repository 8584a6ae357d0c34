//===- CompileCost.cpp - What compiling and launching cost -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The budgets of docs/BENCHMARKING.md, measured: source text to callable code
// cold and from the disk cache, growth with the block size, and the time of a
// launch. Exits with 1 when a budget is exceeded.
//
//===----------------------------------------------------------------------===//

#include "bench/Cost.h"
#include "nereid/nereid.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

using namespace nereid;
using namespace nereid::literals;

namespace {

const char *layerNorm = R"(
import triton
import triton.language as tl

@triton.jit
def layer_norm(y_ptr, x_ptr, w_ptr, b_ptr, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / N
    centred = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(centred * centred, axis=0) / N + eps)
    w = tl.load(w_ptr + cols, mask=mask).to(tl.float32)
    b = tl.load(b_ptr + cols, mask=mask).to(tl.float32)
    tl.store(y_ptr + row * stride + cols, centred * rstd * w + b, mask=mask)

@triton.jit
def six(z_ptr, x_ptr, y_ptr, n, a, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(z_ptr + offsets, x + a * y, mask=mask)
)";

struct Compiled {
  double milliseconds;
  uint64_t codeBytes;
};

/// Source text to callable code.
Compiled compileLayerNorm(int64_t block, const std::string &cache) {
  static Tensor x = randn({4, 65536}), y = emptyLike(x), w = randn({65536}),
                b = randn({65536});
  int64_t start = steadyClock()->now();
  Context context(createKernelCompiler(), coldOptions(cache));
  Kernel kernel = Kernel::fromSource(layerNorm, "layer_norm", context);
  std::vector<LaunchArgument> arguments = {
      y, x, w, b, x.stride(0), int64_t{250}, 1e-5, "BLOCK"_a = block};
  CompiledInfo info = kernel.compile(arguments);
  return {millisecondsSince(start), info.codeBytes};
}

double launchMicroseconds() {
  Context context(createKernelCompiler());
  Kernel kernel = Kernel::fromSource(layerNorm, "six", context);
  Tensor x = randn({16}), y = randn({16}), z = emptyLike(x);
  constexpr int launches = 100000;
  auto run = [&] {
    int64_t start = steadyClock()->now();
    for (int i = 0; i < launches; ++i) {
      kernel[{1}](z, x, y, 16, 0.5f, "BLOCK"_a = 16);
    }
    return millisecondsSince(start) * 1e3 / launches;
  };
  run();
  return median(5, run);
}

} // namespace

int main() try {
  CostTable table;
  compileLayerNorm(1024, ""); // loads the libraries' pages
  table.add("layer norm, source text to callable, cold",
            median(9, [] { return compileLayerNorm(1024, "").milliseconds; }),
            "ms", 50);

  std::string cache = std::filesystem::temp_directory_path() /
                      ("nereid-cost-" + std::to_string(::getpid()));
  compileLayerNorm(1024, cache);
  table.add(
      "the same, from the disk cache",
      median(9, [&] { return compileLayerNorm(1024, cache).milliseconds; }),
      "ms", 2);
  std::filesystem::remove_all(cache);

  auto milliseconds = [](int64_t block) {
    return median(15, [=] { return compileLayerNorm(block, "").milliseconds; });
  };
  double small = milliseconds(256), large = milliseconds(65536);
  table.add("growth of compile time, BLOCK 256 to 65536",
            (large / small - 1) * 100, "%", 10);
  double smallCode = compileLayerNorm(256, "").codeBytes,
         largeCode = compileLayerNorm(65536, "").codeBytes;
  table.add("growth of code size, BLOCK 256 to 65536",
            (largeCode / smallCode - 1) * 100, "%", 10);
  table.add("a launch: 6 arguments, one program, warm", launchMicroseconds(),
            "us", 1);
  return table.isExceeded();
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
