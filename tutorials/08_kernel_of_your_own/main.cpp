//===- main.cpp - Lesson 8: a kernel of your own, with gradients -*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An activation that no library has, y = x * sigmoid(beta * x) with a slope
// beta that is learned for every column, becomes an operator that can be
// differentiated. New here: recording an operator, what it saves, sums over
// rows without atomics, and how a gradient is checked.
//
//===----------------------------------------------------------------------===//

#include "nereid/Autograd/Record.h"
#include "nereid/nereid.h"
#include "tutorials/Lesson.h"

using namespace nereid;
using namespace nereid::literals;

namespace {

Kernel load(const char *name) {
  return Kernel::load(LESSON_DIR "/swish.py", name);
}

/// The operator. `record` gets its name, its inputs, its output, and how
/// gradients go back. What the function captures is what the operator saves:
/// here x and beta, and not y.
Variable swish(const Variable &x, const Variable &beta) {
  static const Kernel forward = load("swish_forward"),
                      backward = load("swish_backward"),
                      addParts = load("add_parts");
  int64_t rows = x.size(0), columns = x.size(1);
  auto block = "BLOCK"_a = columns;
  Tensor y = emptyLike(x.value());
  forward[{rows}](y, x.value(), beta.value(), columns, block);
  return autograd::record(
      "swish", {x, beta}, y,
      [=, x = x.value(), beta = beta.value()](const Tensor &dy,
                                              autograd::Needs) {
        int64_t programs = std::min<int64_t>(rows, 256);
        Tensor dx = emptyLike(x), dbeta = emptyLike(beta),
               parts = empty({programs, columns}, f32, x.device());
        backward[{programs}](dx, parts, dy, x, beta, rows, columns,
                             "BLOCK"_a = columns);
        addParts[{cdiv(columns, 128)}](dbeta, parts, programs, columns,
                                       "BLOCK"_a = 128);
        return autograd::Gradients{dx, dbeta};
      });
}

/// Forward in double precision, the sum of y * dy: what is differentiated.
double swishFloat64(const std::vector<double> &x,
                    const std::vector<double> &beta,
                    const std::vector<double> &dy) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    sum += dy[i] * x[i] / (1 + std::exp(-beta[i % beta.size()] * x[i]));
  }
  return sum;
}

/// The derivative along a direction, by differences, against the gradient's: a
/// wrong term shows at once, whatever the number of elements.
double gradientError(const Variable &x, const Variable &beta, const Tensor &dy,
                     const Variable &of) {
  std::vector<double> xs = x.value().toFloat64(),
                      betas = beta.value().toFloat64(), dys = dy.toFloat64(),
                      gradient = of.grad().toFloat64(),
                      direction =
                          randn(of.shape(), f32, Device::cpu(), 9).toFloat64();
  std::vector<double> &moved = &of == &x ? xs : betas;
  const std::vector<double> start = moved;
  auto along = [&](double t) {
    for (size_t i = 0; i < moved.size(); ++i) {
      moved[i] = start[i] + t * direction[i];
    }
    return swishFloat64(xs, betas, dys);
  };
  constexpr double step = 1e-5;
  double expected = (along(step) - along(-step)) / (2 * step), got = 0,
         scale = 0;
  for (size_t i = 0; i < gradient.size(); ++i) {
    got += gradient[i] * direction[i];
    scale += std::fabs(gradient[i] * direction[i]);
  }
  return std::fabs(got - expected) / scale;
}

} // namespace

int main(int argc, char **argv) try {
  lesson::checkOptions(argc, argv,
                       {"--device", "--rows", "--columns", "--repeats"});
  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  int64_t rows = lesson::option(argc, argv, "--rows", 4096),
          columns = lesson::option(argc, argv, "--columns", 1024),
          repeats = lesson::option(argc, argv, "--repeats", 10);
  if (rows < 1 || columns < 1) {
    std::fprintf(stderr, "error: expected --rows and --columns from 1\n");
    return 2;
  }

  // The problem. Without a kernel of its own, the activation is three
  // operations: each reads and writes the whole matrix.
  Tensor x = randn({rows, columns}, f32, device, 1),
         beta = rand({columns}, f32, device, 2);
  int64_t n = x.numel(), block = 1024;
  Kernel multiply = load("multiply"), sigmoid = load("sigmoid");
  Tensor t = emptyLike(x), y = emptyLike(x);
  double chain = lesson::medianMilliseconds(device, repeats, [&] {
    multiply[{cdiv(n, block)}](t, x, beta, n, columns, "BLOCK"_a = block);
    sigmoid[{cdiv(n, block)}](t, t, n, "BLOCK"_a = block);
    multiply[{cdiv(n, block)}](y, x, t, n, n, "BLOCK"_a = block);
  });
  // The operator without a tape: one kernel, and nothing is saved.
  double fused = lesson::medianMilliseconds(device, repeats, [&] {
    NoGrad off;
    y = swish(x, beta).value();
  });
  double megabytes = double(x.bytes()) / 1e6;
  std::printf("swish of %lld x %lld on %s\n\n"
              "  chain   3 launches, %6.1f MB moved, %8.3f ms\n"
              "  fused   1 launch,   %6.1f MB moved, %8.3f ms, %.2fx\n\n",
              (long long)rows, (long long)columns, device.str().c_str(),
              7 * megabytes, chain, 2 * megabytes, fused, chain / fused);

  // The tape. A variable that requires a gradient is recorded with everything
  // that is computed from it.
  Variable input(x, /*requiresGrad=*/true), slopes(beta, /*requiresGrad=*/true);
  Tensor dy = randn({rows, columns}, f32, device, 3);
  swish(input, slopes).backward(dy);
  double errorOfX = gradientError(input, slopes, dy, input),
         errorOfBeta = gradientError(input, slopes, dy, slopes);
  std::printf("gradients against differences in double precision, relative:\n"
              "  x %.1e, beta %.1e\n\n",
              errorOfX, errorOfBeta);

  // Twice the same bits: no sum depends on which program ends first.
  Tensor first = slopes.grad().clone();
  slopes.zeroGrad();
  swish(input, slopes).backward(dy);
  bool repeatsItself = first.toFloat64() == slopes.grad().toFloat64();
  std::printf("a second run gives %s\n",
              repeatsItself ? "the same bits" : "OTHER BITS");

  // What it is for: slopes that were hidden in data are found again.
  Variable found(full({columns}, 0.5, f32, device), true);
  Tensor wanted = swish(x, beta).value();
  double rate = 4.0 / double(rows), loss = 0;
  for (int step = 0; step < 200; ++step) {
    Variable guess = swish(x, found);
    // d/dguess of the mean of (guess - wanted)^2 / 2, on the host for brevity.
    std::vector<float> difference = guess.value().toVector<float>(),
                       target = wanted.toVector<float>();
    loss = 0;
    for (size_t i = 0; i < difference.size(); ++i) {
      difference[i] -= target[i];
      loss += double(difference[i]) * difference[i] / double(n);
    }
    if (step % 50 == 0) {
      std::printf("  step %3d: loss %.2e\n", step, loss);
    }
    found.zeroGrad();
    guess.backward(Tensor::fromVector(difference, x.shape(), device));
    std::vector<float> value = found.value().toVector<float>(),
                       gradient = found.grad().toVector<float>();
    for (size_t i = 0; i < value.size(); ++i) {
      value[i] -= float(rate) * gradient[i];
    }
    found.value().copyFrom(Tensor::fromVector(value));
  }
  std::printf("  step 200: loss %.2e\n", loss);
  return repeatsItself ? lesson::verdict(std::max(errorOfX, errorOfBeta), 1e-6)
                       : 1;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
