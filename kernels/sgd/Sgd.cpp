//===- Sgd.cpp ------------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/sgd/Sgd.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/CopyByName.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OptimizerParameter.h"

#include <cmath>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

static void checkRate(double rate) {
  Checks("sgd").require(rate >= 0 && std::isfinite(rate), "learningRate",
                        "a number that is not negative", rate);
}

SGD::SGD(const SGDOptions &options) : options(options) {
  Checks checks("sgd");
  checkRate(options.learningRate);
  checks.require(options.momentum >= 0, "momentum",
                 "a number that is not negative", options.momentum);
  checks.require(std::isfinite(options.dampening), "dampening", "a number",
                 options.dampening);
  if (options.nesterov && !(options.momentum > 0 && options.dampening == 0)) {
    checks.fail("nesterov", "momentum and no dampening",
                "momentum " + std::to_string(options.momentum) +
                    " and dampening " + std::to_string(options.dampening));
  }
}

SGD::SGD(std::span<const Variable> parameters, const SGDOptions &options)
    : SGD(options) {
  for (const Variable &one : parameters) {
    if (one.requiresGrad()) {
      add(one);
    }
  }
}

void SGD::add(const Variable &parameter, double weightDecay) {
  Checks checks("sgd");
  checkParameter(checks, parameters, parameter, weightDecay);
  follow();
  const Tensor &value = parameter.value();
  Device device = value.device();
  if (parameters.empty()) {
    rate = full({1}, options.learningRate, f32, device);
    one = full({1}, 1, f32, device);
  }
  Moments moments;
  moments.started = zeros({1}, i32, device);
  if (options.momentum != 0) {
    moments.momentum = zeros(value.shape(), f32, device);
  }
  if (options.masterWeights && value.dtype() != f32) {
    moments.master = value.to(f32);
  }
  parameters.push_back({parameter, weightDecay, std::move(moments)});
}

std::vector<Variable> SGD::variables() const {
  std::vector<Variable> all;
  for (const Parameter &each : parameters) {
    all.push_back(each.variable);
  }
  return all;
}

/// Checks what a step takes, and brings the state to where parameters are.
void SGD::follow() {
  if (parameters.empty()) {
    return;
  }
  checkStep("sgd", parameters);
  Device device = parameters[0].variable.device();
  moveTo(device, {&rate, &one});
  for (Parameter &each : parameters) {
    const Tensor &value = each.variable.value();
    Moments &moments = each.moments;
    if (lacksMaster(value, moments.master, options.masterWeights)) {
      moments.master = moments.master.defined() ? Tensor() : value.to(f32);
    }
    moveTo(device, {&moments.momentum, &moments.master, &moments.started});
  }
}

void SGD::step(const Tensor &factor) {
  if (parameters.empty()) {
    return;
  }
  follow();
  Device device = rate.device();
  if (factor.defined()) {
    Checks checks("sgd");
    checks.any("parameters", rate);
    checks.floats("factor", factor).shape({1}).dtype(f32);
    // A GPU's is not waited for: its writes are counted either way.
    if (device.isHost() && !std::isfinite(factor.item())) {
      return;
    }
  }
  // Forms compiled ahead of time always read a factor.
  Tensor scale = factor.defined() || hasCompiler() ? factor : one;
  int64_t block = device.isHost() ? 4096 : 2048;
  for (const Parameter &each : parameters) {
    const Tensor &value = each.variable.value(), &grad = each.variable.grad();
    if (!grad.defined() || value.numel() == 0) {
      continue;
    }
    const Moments &moments = each.moments;
    value.noteWrite();
    static const OperatorKernel update("sgd", "sgd_kernel");
    update[{cdiv(value.numel(), block)}](
        value, grad, orNone(moments.momentum), orNone(moments.master),
        value.numel(), rate, orNone(scale), moments.started, each.decay,
        options.momentum, 1 - options.dampening, int32_t(options.nesterov),
        "BLOCK"_a = block, "num_warps"_a = 4);
    static const OperatorKernel start("sgd", "start_kernel");
    if (moments.momentum.defined()) {
      start[{1}](moments.started, orNone(scale), "num_warps"_a = 1);
    }
  }
}

void SGD::zeroGrad() const {
  for (const Parameter &each : parameters) {
    if (each.variable.grad().defined()) {
      each.variable.grad().zero();
    }
  }
}

void SGD::setLearningRate(double to) {
  checkRate(to);
  options.learningRate = to;
  if (rate.defined()) {
    rate.fill(to);
  }
}

std::vector<SGD::Moments> SGD::moments() const {
  std::vector<Moments> all;
  for (const Parameter &each : parameters) {
    all.push_back(each.moments);
  }
  return all;
}

std::map<std::string, Tensor> SGD::stateDict() const {
  std::map<std::string, Tensor> state;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Moments &moments = parameters[i].moments;
    std::string place = "." + std::to_string(i);
    state["started" + place] = moments.started;
    if (moments.momentum.defined()) {
      state["momentum" + place] = moments.momentum;
    }
    if (moments.master.defined()) {
      state["master" + place] = moments.master;
    }
  }
  return state;
}

void SGD::loadStateDict(const std::map<std::string, Tensor> &state) {
  copyByName(
      "loadStateDict", "the optimiser",
      "its parameters are those of the one that was saved, in their order",
      stateDict(), state,
      /*strict=*/true);
}
