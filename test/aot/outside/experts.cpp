//===- experts.cpp - Trains a layer of experts ----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   experts [FOLDER]
//
// A layer of experts, two for each token, learns a function of random
// tokens. Prints the loss of each step. FOLDER gets what models.py needs to do
// the same: the tokens, their targets and the first weights.
//
//===----------------------------------------------------------------------===//

#include "kernels/experts/Experts.h"
#include "kernels/linear/Linear.h"
#include "kernels/losses/Losses.h"
#include "kernels/reduce/Reductions.h"
#include "kernels/rms_norm/RmsNorm.h"
#include "kernels/softmax/Softmax.h"
#include "kernels/sort/Sort.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Npy.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <string>

using namespace nereid;
using namespace nereid::kernels;

namespace {

constexpr int64_t tokens = 96, width = 16, hidden = 24, count = 4, chosen = 2;

using Weights = std::map<std::string, Variable>;

Tensor normal(const Shape &shape, double scale, uint64_t seed) {
  Tensor values = randn(shape, f32, Device::cpu(), seed);
  return (Expression(values) * scale).value();
}

Weights firstWeights() {
  double in = 1 / std::sqrt(double(width)), out = 1 / std::sqrt(double(hidden));
  Weights w;
  w.emplace("gain", Variable(full({width}, 1, f32, Device::cpu()), true));
  w.emplace("router", Variable(normal({count, width}, in, 1), true));
  w.emplace("gate", Variable(normal({count, hidden, width}, in, 2), true));
  w.emplace("up", Variable(normal({count, hidden, width}, in, 3), true));
  w.emplace("down", Variable(normal({count, width, hidden}, out, 4), true));
  return w;
}

struct Result {
  Variable y, balance;
};

/// x and what its experts add; `balance` is least where all are chosen alike.
Result layer(const Variable &x, const Weights &w) {
  Variable normed = rmsNorm(x, w.at("gain"));
  Variable p = softmax(linear(normed, w.at("router")));
  auto [best, experts] = topk(p, chosen);
  Variable gates = best / sum(best, -1, true);
  Groups groups = groupByExpert(experts, count);
  Variable rows = dispatch(normed, groups);
  auto product = [&](const Variable &a, const char *name) {
    return groupedMatmul(a, w.at(name).transpose(1, 2), groups.starts);
  };
  Variable h = silu(product(rows, "gate")) * product(rows, "up");
  Variable y = x + combine(product(h, "down"), gates, groups);
  return {y, sum(square(mean(p, 0))) * double(count)};
}

} // namespace

int main(int argc, char **argv) {
  try {
    Variable x(normal({tokens, width}, 1, 5));
    Tensor target = (sin(Expression(x.value()) * 2) + x.value()).value();
    Weights weights = firstWeights();
    if (argc > 1) {
      std::string folder = std::string(argv[1]) + "/";
      saveNpy(folder + "x.npy", x.value());
      saveNpy(folder + "target.npy", target);
      for (const auto &[name, w] : weights) {
        saveNpy(folder + name + ".npy", w.value());
      }
    }
    for (int step = 0; step < 8; ++step) {
      Result result = layer(x, weights);
      Variable loss =
          mseLoss(result.y, Variable(target)) + result.balance * 0.01;
      loss.backward();
      std::printf("%.6f\n", loss.item());
      for (auto &[name, w] : weights) {
        Tensor next = Expression(w.value()) - Expression(w.grad()) * 0.5;
        w = Variable(next, true);
      }
    }
  } catch (const Error &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
