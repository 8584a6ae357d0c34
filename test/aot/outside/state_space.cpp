//===- state_space.cpp - Trains a selective state space ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   state_space [FOLDER]
//
// A Mamba block learns to repeat a sequence a few steps later, and reads one in
// pieces after. Prints the loss of each step. FOLDER gets what models.py needs
// to do the same: the sequences, their targets and the first weights.
//
//===----------------------------------------------------------------------===//

#include "kernels/causal_conv/CausalConv.h"
#include "kernels/linear/Linear.h"
#include "kernels/losses/Losses.h"
#include "kernels/rms_norm/RmsNorm.h"
#include "kernels/selective_scan/SelectiveScan.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Npy.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <string>

using namespace nereid;
using namespace nereid::kernels;

namespace {

constexpr int64_t batch = 2, steps = 40, width = 12, inner = 24, states = 8,
                  rank = 3, taps = 4;

using Weights = std::map<std::string, Variable>;

Tensor normal(const Shape &shape, double scale, uint64_t seed) {
  Tensor values = randn(shape, f32, Device::cpu(), seed);
  return (Expression(values) * scale).value();
}

Weights firstWeights() {
  Weights w;
  uint64_t seed = 1;
  auto add = [&](const char *name, const Shape &shape, double scale) {
    w.emplace(name, Variable(normal(shape, scale, seed++), true));
  };
  add("in", {2 * inner, width}, 1 / std::sqrt(double(width)));
  add("conv", {inner, taps}, 0.5);
  add("conv_bias", {inner}, 0.1);
  add("x", {rank + 2 * states, inner}, 1 / std::sqrt(double(inner)));
  add("dt", {inner, rank}, 1 / std::sqrt(double(rank)));
  add("dt_bias", {inner}, 0.1);
  add("out", {width, inner}, 1 / std::sqrt(double(inner)));
  std::vector<float> logs;
  for (int64_t i = 0; i < inner * states; ++i) {
    logs.push_back(std::log(float(i % states + 1)));
  }
  w.emplace("a_log", Variable(Tensor::fromVector(logs, Shape{inner, states},
                                                 Device::cpu()),
                              true));
  for (const char *name : {"d", "gain"}) {
    int64_t size = name[0] == 'd' ? inner : width;
    w.emplace(name, Variable(full({size}, 1, f32, Device::cpu()), true));
  }
  return w;
}

Variable block(const Variable &input, const Weights &w) {
  Variable both = linear(rmsNorm(input, w.at("gain")), w.at("in"));
  Variable x = silu(
      causalConv(both.slice(2, 0, inner), w.at("conv"), w.at("conv_bias")));
  Variable z = both.slice(2, inner);
  Variable of = linear(x, w.at("x"));
  Variable dt =
      softplus(linear(of.slice(2, 0, rank), w.at("dt"), w.at("dt_bias")));
  Variable y = selectiveScan(x, dt, -exp(w.at("a_log")),
                             of.slice(2, rank, rank + states),
                             of.slice(2, rank + states), w.at("d"));
  return input + linear(y * silu(z), w.at("out"));
}

} // namespace

int main(int argc, char **argv) {
  try {
    Variable x(normal({batch, steps, width}, 1, 100));
    Tensor target = zeros({batch, steps, width}, f32, Device::cpu());
    target.slice(1, 2).copyFrom(x.value().slice(1, 0, steps - 2));
    Weights weights = firstWeights();
    if (argc > 1) {
      std::string folder = std::string(argv[1]) + "/";
      saveNpy(folder + "tokens.npy", x.value());
      saveNpy(folder + "target.npy", target);
      for (const auto &[name, w] : weights) {
        saveNpy(folder + name + ".npy", w.value());
      }
    }
    for (int step = 0; step < 8; ++step) {
      Variable loss = mseLoss(block(x, weights), Variable(target));
      loss.backward();
      std::printf("%.6f\n", loss.item());
      for (auto &[name, w] : weights) {
        Tensor next = Expression(w.value()) - Expression(w.grad()) * 0.2;
        w = Variable(next, true);
      }
    }
  } catch (const Error &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
