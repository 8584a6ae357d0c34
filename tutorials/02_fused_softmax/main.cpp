//===- main.cpp - Lesson 2: why fusing wins --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same softmax on the same device, as a chain of five kernels and as one.
// Both do the same arithmetic. What differs is how often the matrix travels
// between memory and the processor, and that is nearly all of the time.
//
//===----------------------------------------------------------------------===//

#include "nereid/nereid.h"
#include "tutorials/Lesson.h"

using namespace nereid;
using namespace nereid::literals;

namespace {

Kernel load(const char *name) {
  return Kernel::load(LESSON_DIR "/softmax.py", name);
}

/// softmax of every row in float64: what both versions are measured against.
std::vector<double> softmaxFloat64(const Tensor &x) {
  std::vector<double> values = x.toFloat64();
  int64_t columns = x.size(1);
  for (auto row = values.begin(); row != values.end(); row += columns) {
    double largest = *std::max_element(row, row + columns), sum = 0;
    for (auto element = row; element != row + columns; ++element) {
      sum += *element = std::exp(*element - largest);
    }
    std::for_each(row, row + columns, [&](double &e) { e /= sum; });
  }
  return values;
}

/// A line of the table. `reads` and `writes` count passes over the matrix.
struct Version {
  const char *name;
  int launches, reads, writes;
  double milliseconds, difference;
};

void printTable(const std::vector<Version> &versions, double matrixBytes) {
  std::printf("| version | launches | memory traffic | time | bandwidth | "
              "speed-up | max diff |\n"
              "|---|--:|--:|--:|--:|--:|--:|\n");
  for (const Version &v : versions) {
    double bytes = (v.reads + v.writes) * matrixBytes;
    std::printf("| %s | %d | %.0f MB | %.3f ms | %.1f GB/s | %.2fx | %.1e |\n",
                v.name, v.launches, bytes * 1e-6, v.milliseconds,
                bytes / v.milliseconds * 1e-6,
                versions.front().milliseconds / v.milliseconds, v.difference);
  }
}

} // namespace

int main(int argc, char **argv) try {
  lesson::checkOptions(argc, argv,
                       {"--device", "--rows", "--columns", "--repeats"});
  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  int64_t rows = lesson::option(argc, argv, "--rows", 4096);
  int64_t columns = lesson::option(argc, argv, "--columns", 4096);
  int64_t repeats = lesson::option(argc, argv, "--repeats", 20);

  Tensor x = randn({rows, columns}, f32, device);
  Tensor y = emptyLike(x);
  int64_t stride = x.stride(0);
  // One program takes a whole row, as one block. Triton wants a power of two
  // here; Nereid takes any size, and a block of 1000 costs 1000. Nothing beyond
  // the row is computed then, and the mask is never false.
  int64_t block = columns;

  // Version 1: the chain. t and e are as large as the matrix, m and s have one
  // number a row. Count the passes over memory, of rows * columns * 4 bytes:
  //
  //   row_max        read x                      1
  //   subtract_row   read x, write t             2
  //   exponential    read t, write e             2
  //   row_sum        read e                      1
  //   divide_row     read e, write y             2     together 5 + 3 = 8
  Kernel rowMax = load("row_max"), subtractRow = load("subtract_row"),
         exponential = load("exponential"), rowSum = load("row_sum"),
         divideRow = load("divide_row");
  Tensor m = empty({rows}, f32, device), s = empty({rows}, f32, device);
  Tensor t = emptyLike(x), e = emptyLike(x);
  double chain = lesson::medianMilliseconds(device, repeats, [&] {
    rowMax[{rows}](m, x, stride, columns, "BLOCK"_a = block);
    subtractRow[{rows}](t, x, m, stride, columns, "BLOCK"_a = block);
    exponential[{rows}](e, t, stride, columns, "BLOCK"_a = block);
    rowSum[{rows}](s, e, stride, columns, "BLOCK"_a = block);
    divideRow[{rows}](y, e, s, stride, columns, "BLOCK"_a = block);
  });
  std::vector<double> expected = softmaxFloat64(x);
  double chainDifference = lesson::maxDifference(y, expected);

  // Version 2: one kernel, one read, one write. A fourth of the traffic.
  Kernel softmax = load("softmax_kernel");
  y.fill(0); // so that a result left over from the chain cannot pass
  double fused = lesson::medianMilliseconds(device, repeats, [&] {
    softmax[{rows}](y, x, stride, columns, "BLOCK"_a = block);
  });
  double fusedDifference = lesson::maxDifference(y, expected);

  std::printf("Softmax of %lld x %lld fp32 on %s\n\n", (long long)rows,
              (long long)columns, device.str().c_str());
  printTable({{"unfused chain", 5, 5, 3, chain, chainDifference},
              {"fused kernel", 1, 1, 1, fused, fusedDifference}},
             double(x.bytes()));

  // Values are at most 1, where two floats are 6e-8 apart. exp, the sum and the
  // division contribute a few roundings each, relative to the value.
  return lesson::verdict(std::max(chainDifference, fusedDifference), 1e-6);
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
