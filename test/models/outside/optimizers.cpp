//===- optimizers.cpp - Steps of each optimiser ---------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PROGRAM FOLDER: of batch.safetensors, `w` [a, b] and `g` [steps, a, b], whose
// gradients the loss sum(w * g[step]) has, writes the weights after each step.
//
//===----------------------------------------------------------------------===//

#include "train.h"

using namespace nereid;
using namespace nereid::kernels;

static Batch batch, results;

/// The weights after each step of `step(w, loss, number)`.
template <typename Step>
static void record(const std::string &name, const Variable &w,
                   const Step &step) {
  std::vector<Tensor> after;
  for (int64_t i = 0; i < batch["g"].size(0); ++i) {
    step(sum(w * batch["g"][i]), i);
    after.push_back(w.value().clone());
    w.zeroGrad();
  }
  results[name] = stack(std::span<const Tensor>(after));
}

static Variable start() { return Variable(batch["w"].clone(), true); }

static void sgd(const std::string &name, const SGDOptions &options) {
  Variable w = start();
  SGD optimizer(std::vector{w}, options);
  StepRate rate = {.base = options.learningRate, .every = 5, .factor = 0.5};
  record(name, w, [&](const Variable &loss, int64_t i) {
    loss.backward();
    optimizer.setLearningRate(rate(i));
    optimizer.step();
  });
}

/// Gradients of step 6 are infinite.
static void scaled(const std::string &name, bool clips) {
  Variable w = start();
  SGD optimizer(std::vector{w}, {.learningRate = 0.1, .momentum = 0.9});
  GradScaler scaler({.initialScale = 1024, .growthInterval = 3});
  std::vector<double> scales;
  record(name, w, [&](const Variable &loss, int64_t i) {
    Variable all = i == 6 ? Variable(loss * INFINITY) : loss;
    scaler.scale(all).backward();
    if (clips) {
      scaler.unscale(optimizer);
      clipGradNorm(optimizer.variables(), 1.0);
    }
    scaler.step(optimizer);
    scaler.update();
    scales.push_back(scaler.currentScale());
  });
  results[name + "_scales"] = Tensor::fromVector(scales);
}

int main(int argc, char **argv) {
  return runWithFolder(argc, argv, [](const std::string &folder) {
    for (auto &[name, tensor] : nn::loadFile(folder + "/batch.safetensors")) {
      batch[name] = tensor.to(Device::best());
    }
    sgd("sgd", {.learningRate = 0.1});
    sgd("sgd_decay", {.learningRate = 0.1, .weightDecay = 0.05});
    sgd("sgd_dampened",
        {.learningRate = 0.1, .momentum = 0.9, .dampening = 0.5});
    sgd("sgd_nesterov", {.learningRate = 0.1,
                         .momentum = 0.8,
                         .weightDecay = 0.01,
                         .nesterov = true});
    scaled("scaled", false);
    scaled("scaled_clipped", true);
    Variable w = start();
    AdamW optimizer(std::vector{w}, {.learningRate = 0.01});
    CosineRate rate = {.base = 0.01, .warmup = 3, .steps = 12};
    record("adamw", w, [&](const Variable &loss, int64_t i) {
      loss.backward();
      clipGradNorm(optimizer.variables(), 2.0);
      optimizer.setLearningRate(rate(i));
      optimizer.step();
    });
    nn::saveFile(results, folder + "/results.safetensors");
  });
}
