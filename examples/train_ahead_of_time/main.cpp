//===- main.cpp - A program that trains without a compiler -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small network is trained on points of three spirals. Its operators and
// their gradients were compiled when nereid_kernels was built, for several
// processors and GPUs; this program has no compiler.
//
//   train_ahead_of_time [--device cpu|cuda:0] [--steps N]
//
//===----------------------------------------------------------------------===//

#include "kernels/adamw/AdamW.h"
#include "kernels/cross_entropy/CrossEntropy.h"
#include "kernels/layer_norm/LayerNorm.h"
#include "kernels/linear/Linear.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>

using namespace nereid;
using namespace nereid::kernels;

namespace {

constexpr int64_t spirals = 3, width = 64;

struct Data {
  Tensor points, classes;
};

Data makeData(int64_t count, Device device) {
  std::vector<float> noise =
      randn({count}, f32, Device::cpu(), 1).toVector<float>();
  std::vector<float> points;
  std::vector<int32_t> classes;
  for (int64_t i = 0; i < count; ++i) {
    auto of = static_cast<int32_t>(i % spirals);
    double t = double(i) / double(count),
           angle = 2 * std::numbers::pi * (t + double(of) / spirals),
           radius = 0.1 + t + 0.02 * noise[size_t(i)];
    points.push_back(float(radius * std::cos(angle)));
    points.push_back(float(radius * std::sin(angle)));
    classes.push_back(of);
  }
  return {Tensor::fromVector(points, Shape{count, 2}, device),
          Tensor::fromVector(classes, std::nullopt, device)};
}

Variable normal(const Shape &shape, double scale, uint64_t seed,
                Device device) {
  std::vector<float> values =
      randn(shape, f32, Device::cpu(), seed).toVector<float>();
  for (float &value : values) {
    value *= float(scale);
  }
  return Variable(Tensor::fromVector(values, shape, device), true);
}

Variable filled(int64_t n, double value, Device device) {
  return Variable(full({n}, value, f32, device), true);
}

/// Two hidden layers with GELU, a normalisation, and a layer of classes.
struct Network {
  Variable w1, b1, w2, b2, gain, shift, w3, b3;

  explicit Network(Device device)
      : w1(normal({width, 2}, 1, 2, device)), b1(filled(width, 0, device)),
        w2(normal({width, width}, 1 / std::sqrt(width), 3, device)),
        b2(filled(width, 0, device)), gain(filled(width, 1, device)),
        shift(filled(width, 0, device)),
        w3(normal({spirals, width}, 1 / std::sqrt(width), 4, device)),
        b3(filled(spirals, 0, device)) {}

  Variable logits(const Tensor &points) const {
    Variable hidden = linearGelu(Variable(points), w1, b1);
    hidden = layerNorm(linearGelu(hidden, w2, b2), gain, shift);
    return linear(hidden, w3, b3);
  }
};

struct Options {
  Device device = Device::best();
  int64_t steps = 200;
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view name = argv[i];
    if ((name != "--device" && name != "--steps") || i + 1 == argc) {
      throw Error({ErrorCode::InvalidArgument,
                   "expected --device DEVICE or --steps N, got '" +
                       std::string(name) + "'",
                   {}});
    }
    std::string_view value = argv[++i];
    if (name == "--device") {
      options.device = Device::parse(std::string(value));
      continue;
    }
    auto [end, error] = std::from_chars(
        value.data(), value.data() + value.size(), options.steps);
    if (error != std::errc() || end != value.data() + value.size() ||
        options.steps < 0) {
      throw Error({ErrorCode::InvalidArgument,
                   "--steps: expected a number that is not negative, got '" +
                       std::string(value) + "'",
                   {}});
    }
  }
  return options;
}

double accuracy(const Network &network, const Data &data) {
  std::vector<double> logits = network.logits(data.points).value().toFloat64();
  std::vector<double> classes = data.classes.toFloat64();
  size_t right = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    auto row = logits.begin() + int64_t(i) * spirals;
    right += double(std::max_element(row, row + spirals) - row) == classes[i];
  }
  return double(right) / double(classes.size());
}

} // namespace

int main(int argc, char **argv) try {
  auto start = std::chrono::steady_clock::now();
  Options options = parse(argc, argv);
  Data data = makeData(600, options.device);
  Network network(options.device);
  crossEntropy(network.logits(data.points), data.classes).value().toFloat64();
  std::chrono::duration<double, std::milli> first =
      std::chrono::steady_clock::now() - start;
  std::printf("the first loss is there %.2f ms after main began, on %s\n",
              first.count(), options.device.str().c_str());

  AdamWOptions settings;
  settings.learningRate = 0.01;
  AdamW optimiser(settings);
  for (const Variable *v :
       {&network.w1, &network.b1, &network.w2, &network.b2, &network.gain,
        &network.shift, &network.w3, &network.b3}) {
    optimiser.add(*v);
  }
  for (int64_t step = 0; step < options.steps; ++step) {
    Variable loss = crossEntropy(network.logits(data.points), data.classes);
    optimiser.zeroGrad();
    loss.backward();
    optimiser.step();
    if (step % 20 == 0 || step + 1 == options.steps) {
      std::printf("step %3lld: loss %.6f\n", static_cast<long long>(step),
                  loss.value().toFloat64()[0]);
    }
  }
  if (options.steps > 0) {
    std::printf("right: %.1f %%\n", 100 * accuracy(network, data));
  }
  return 0;
} catch (const Error &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
