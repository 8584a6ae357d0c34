//===- main.cpp - A program that ships compiled kernels --------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// softmax.py was compiled when this program was built. Its code, for several
// processors and GPUs, is part of the program; neither the file nor a compiler
// is needed any more.
//
//   ahead_of_time [--device cpu|cuda:0]
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/Tensor.h"
#include "softmax_kernels.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace nereid;

/// The largest difference from the same in double precision.
static double check(const std::vector<float> &x, const std::vector<float> &y,
                    int rows, int columns) {
  double largest = 0;
  for (int r = 0; r < rows; ++r) {
    const float *row = x.data() + r * columns;
    double top = -INFINITY, sum = 0;
    for (int c = 0; c < columns; ++c) {
      top = std::fmax(top, row[c]);
    }
    for (int c = 0; c < columns; ++c) {
      sum += std::exp(row[c] - top);
    }
    for (int c = 0; c < columns; ++c) {
      double expected = std::exp(row[c] - top) / sum;
      largest = std::fmax(largest, std::fabs(y[r * columns + c] - expected));
    }
  }
  return largest;
}

int main(int argc, char **argv) try {
  Device device = Device::best();
  if (argc == 3 && !std::strcmp(argv[1], "--device")) {
    device = Device::parse(argv[2]);
  }
  double worst = 0;
  for (int columns : {1000, 1024, 4096}) {
    constexpr int rows = 37;
    // BLOCK was compiled with two values: it chooses between them.
    int block = columns <= 1024 ? 1024 : 4096;

    // Tensors know their device. A row of 1000 begins at any address, one of
    // 1024 at a multiple of 16: the right form is found by itself.
    Tensor x = randn({rows, columns}, f32, device), y = emptyLike(x);
    kernels::softmax_kernel({rows}, y, x, columns, columns, block);
    double difference =
        check(x.toVector<float>(), y.toVector<float>(), rows, columns);
    std::printf("%d x %d on %s: max diff %.2g\n", rows, columns,
                device.str().c_str(), difference);
    worst = std::fmax(worst, difference);
  }

  // Memory of one's own, and the device that it belongs to.
  std::vector<float> in = {0, 1, 2, 3}, out(4);
  kernels::softmax_kernel(Device::cpu(), {1}, out.data(), in.data(), 4, 4,
                          1024);
  worst = std::fmax(worst, check(in, out, 1, 4));
  std::printf("4 numbers on cpu: %.4f %.4f %.4f %.4f\n", out[0], out[1], out[2],
              out[3]);
  return worst < 1e-6 ? 0 : 1;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
