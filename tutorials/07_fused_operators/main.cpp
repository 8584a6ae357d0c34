//===- main.cpp - Lesson 7: fused operators and their gradients -*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network of fused operators is trained in C++ as it would be in Python. New
// here: the operators of kernels/, variables and their gradients, an
// optimiser that takes one launch, and what fusing saves in a backward pass.
//
//===----------------------------------------------------------------------===//

#include "kernels/adamw/AdamW.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/expression/Expression.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/linear/Linear.h"
#include "nereid/nereid.h"
#include "tutorials/Lesson.h"

#include <numbers>

using namespace nereid;

namespace {

/// Points of two spirals in the plane, and which spiral each is of.
struct Data {
  Tensor points, classes;
};

Data spirals(int64_t count, Device device) {
  std::vector<double> noise = randn({count}, f32, Device::cpu(), 1).toFloat64();
  std::vector<float> points;
  std::vector<int32_t> classes;
  for (int64_t i = 0; i < count; ++i) {
    int32_t of = int32_t(i % 2);
    double t = double(i) / double(count),
           angle = 3 * std::numbers::pi * t + std::numbers::pi * of,
           radius = 0.2 + t + 0.02 * noise[size_t(i)];
    points.push_back(float(radius * std::cos(angle)));
    points.push_back(float(radius * std::sin(angle)));
    classes.push_back(of);
  }
  return {Tensor::fromVector(points, Shape{count, 2}, device),
          Tensor::fromVector(classes, std::nullopt, device)};
}

/// A variable that requires a gradient, with random values of this size.
Variable parameter(Shape shape, double scale, uint64_t seed, Device device) {
  Tensor values = randn(std::move(shape), f32, Device::cpu(), seed);
  std::vector<float> scaled = values.toVector<float>();
  for (float &value : scaled) {
    value *= float(scale);
  }
  return Variable(Tensor::fromVector(scaled, values.shape(), device),
                  /*requiresGrad=*/true);
}

struct Network {
  Variable w1, b1, w2, b2, gain, shift, w3, b3;

  std::vector<Variable> parameters() const {
    return {w1, b1, w2, b2, gain, shift, w3, b3};
  }
};

Network makeNetwork(int64_t width, Device device) {
  double scale = 1 / std::sqrt(double(width));
  auto zeroes = [&](int64_t n) {
    return Variable(zeros({n}, f32, device), true);
  };
  return {parameter({width, 2}, 1, 2, device),           zeroes(width),
          parameter({width, width}, scale, 3, device),   zeroes(width),
          Variable(full({width}, 1, f32, device), true), zeroes(width),
          parameter({2, width}, scale, 4, device),       zeroes(2)};
}

/// The loss. Bias and GELU are part of the products, and the sum of the
/// residual is one kernel; layer norm is one, and the loss with the gradient of
/// its logits is one.
Variable lossOf(const Network &net, const Data &data) {
  Variable hidden = kernels::linearGelu(data.points, net.w1, net.b1);
  Variable more = hidden + kernels::linearGelu(hidden, net.w2, net.b2);
  Variable normal = kernels::layerNorm(more, net.gain, net.shift);
  return kernels::crossEntropy(kernels::linear(normal, net.w3, net.b3),
                               data.classes);
}

/// d loss / d t of all parameters moved by t along random directions: by
/// differences of the loss, and by the gradients.
double gradientError(const Network &net, const Data &data) {
  double expected = 0, got = 0, scale = 0;
  constexpr double step = 1e-2;
  std::vector<Tensor> starts, directions;
  for (const Variable &p : net.parameters()) {
    starts.push_back(p.value().clone());
    directions.push_back(
        randn(p.shape(), f32, Device::cpu(), 50 + starts.size()));
    std::vector<double> v = directions.back().toFloat64(),
                        g = p.grad().toFloat64();
    for (size_t i = 0; i < v.size(); ++i) {
      got += v[i] * g[i];
      scale += v[i] * v[i] * g[i] * g[i];
    }
  }
  auto along = [&](double t) {
    NoGrad off;
    std::vector<Variable> all = net.parameters();
    for (size_t k = 0; k < all.size(); ++k) {
      std::vector<float> moved = starts[k].toVector<float>(),
                         v = directions[k].toVector<float>();
      for (size_t i = 0; i < v.size(); ++i) {
        moved[i] += float(t) * v[i];
      }
      all[k].value().copyFrom(Tensor::fromVector(moved, starts[k].shape()));
    }
    return lossOf(net, data).value().item();
  };
  // Fourth order: the loss is fp32, so the step must not be small.
  expected = (8 * (along(step) - along(-step)) -
              (along(2 * step) - along(-2 * step))) /
             (12 * step);
  along(0);
  return std::fabs(got - expected) / std::sqrt(scale);
}

/// The activation of a layer alone, fused into the product and after it.
void compareActivation(int64_t rows, int64_t width, Device device,
                       int64_t repeats) {
  Tensor x = randn({rows, width}, f32, device, 5),
         w = randn({width, width}, f32, device, 6),
         b = randn({width}, f32, device, 7), y;
  double chain = lesson::medianMilliseconds(device, repeats, [&] {
    Tensor product = kernels::linear(x, w);
    Tensor biased = kernels::Expression(product) + kernels::Expression(b);
    y = kernels::gelu(biased);
  });
  double fused = lesson::medianMilliseconds(
      device, repeats, [&] { y = kernels::linearGelu(x, w, b); });
  double megabytes = double(x.bytes()) / 1e6;
  std::printf(
      "GELU(x @ w^T + b), %lld x %lld\n"
      "  chain  3 launches, %7.1f MB of activations, %8.3f ms\n"
      "  fused  1 launch,   %7.1f MB of activations, %8.3f ms, %.2fx\n\n",
      (long long)rows, (long long)width, 6 * megabytes, chain, 2 * megabytes,
      fused, chain / fused);
}

} // namespace

int main(int argc, char **argv) try {
  lesson::checkOptions(
      argc, argv, {"--device", "--points", "--width", "--steps", "--repeats"});
  Device device = Device::parse(lesson::option(argc, argv, "--device", "cpu"));
  int64_t points = lesson::option(argc, argv, "--points", 1000),
          width = lesson::option(argc, argv, "--width", 64),
          steps = lesson::option(argc, argv, "--steps", 300),
          repeats = lesson::option(argc, argv, "--repeats", 10);
  if (points < 2 || width < 1 || steps < 1) {
    std::fprintf(
        stderr,
        "error: expected --points from 2, --width and --steps from 1\n");
    return 2;
  }

  // What one fused operator saves.
  compareActivation(points, width, device, repeats);

  // One pass over the network. `backward` runs the records, latest first, and
  // frees what each has saved.
  Data data = spirals(points, device);
  Network net = makeNetwork(width, device);
  lossOf(net, data).backward();
  double error = gradientError(net, data);
  std::printf("all %zu gradients against differences of the loss: %.1e\n\n",
              net.parameters().size(), error);

  // Training: the optimiser updates all parameters in one launch.
  kernels::AdamWOptions options;
  options.learningRate = 5e-3;
  kernels::AdamW optimiser(options);
  for (const Variable &p : net.parameters()) {
    optimiser.add(p);
  }
  double first = 0, last = 0;
  for (int64_t step = 0; step < steps; ++step) {
    optimiser.zeroGrad();
    Variable loss = lossOf(net, data);
    loss.backward();
    optimiser.step();
    if (step % std::max<int64_t>(steps / 6, 1) == 0 || step == steps - 1) {
      last = loss.value().item();
      first = step ? first : last;
      std::printf("  step %4lld  loss %.4f\n", (long long)step, last);
    }
  }
  std::printf("\nThe spirals are %s.\n",
              last < first / 4 ? "told apart" : "not told apart yet");
  return lesson::verdict(error, 1e-2);
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
