//===- AdamW.cpp ------------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/adamw/AdamW.h"

#include "kernels/operator/Checks.h"
#include "kernels/operator/CopyByName.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/operator/OptimizerParameter.h"

#include <algorithm>
#include <cmath>
#include <utility>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::literals;

static constexpr int64_t fields = 7, factorsOfClock = 3;

static int64_t blockOf(Device device) { return device.isHost() ? 4096 : 2048; }

AdamW::AdamW(const AdamWOptions &options) : options(options) {
  Checks checks("adamw");
  auto isBelowOne = [](double v) { return v >= 0 && v < 1; };
  checks.require(
      options.learningRate >= 0 && std::isfinite(options.learningRate),
      "learningRate", "a number that is not negative", options.learningRate);
  checks.require(isBelowOne(options.beta1), "beta1", "a number in [0, 1)",
                 options.beta1);
  checks.require(isBelowOne(options.beta2), "beta2", "a number in [0, 1)",
                 options.beta2);
  checks.require(options.eps >= 0, "eps", "a number that is not negative",
                 options.eps);
  checks.require(options.weightDecay >= 0, "weightDecay",
                 "a number that is not negative", options.weightDecay);
}

AdamW::AdamW(std::span<const Variable> parameters, const AdamWOptions &options)
    : AdamW(options) {
  for (const Variable &one : parameters) {
    if (one.requiresGrad()) {
      add(one);
    }
  }
}

std::vector<Variable> AdamW::variables() const {
  std::vector<Variable> all;
  for (const Parameter &each : parameters) {
    all.push_back(each.variable);
  }
  return all;
}

void AdamW::follow() {
  if (parameters.empty()) {
    return;
  }
  checkStep("adamw", parameters);
  Device device = parameters[0].variable.device();
  if (device != state.device()) {
    groups.clear(); // their tables
  }
  moveTo(device, {&state, &late, &factors, &one, &running});
  for (Parameter &each : parameters) {
    const Tensor &value = each.variable.value();
    if (lacksMaster(value, each.master, options.masterWeights)) {
      each.master = each.master.defined() ? Tensor() : value.to(f32);
    }
    moveTo(device, {&each.m, &each.v, &each.master});
  }
}

void AdamW::add(const Variable &parameter, double weightDecay) {
  Checks checks("adamw");
  checkParameter(checks, parameters, parameter, weightDecay);
  follow();
  const Tensor &value = parameter.value();
  Device device = value.device();
  Parameter one{parameter, weightDecay, zeros(value.shape(), f32, device),
                zeros(value.shape(), f32, device), Tensor()};
  if (options.masterWeights && value.dtype() != f32) {
    one.master = value.to(f32);
  }
  if (parameters.empty()) {
    state = Tensor::fromVector(std::vector<double>{options.learningRate,
                                                   options.beta1, options.beta2,
                                                   1, 1},
                               std::nullopt, device);
    factors = zeros({1, factorsOfClock}, f32, device);
    this->one = full({1}, 1, f32, device);
  }
  parameters.push_back(std::move(one));
  if (powers().at({0}) != 1) { // there were steps without it
    addClock(parameters.back(), full({2}, 1, f64, device));
  }
}

/// From now on the parameter counts its own steps.
void AdamW::addClock(Parameter &parameter, const Tensor &powers) {
  int64_t count = late.defined() ? late.size(0) : 0, width = state.size(0);
  Tensor grown = empty({count + 1, width}, f64, state.device());
  if (count) {
    grown.slice(0, 0, count).copyFrom(late);
  }
  Tensor row = grown.select(0, count);
  row.copyFrom(state);
  row.slice(0, 3, 5).copyFrom(powers);
  replaced.push_back(std::exchange(late, grown));
  replaced.push_back(factors);
  factors = zeros({count + 2, factorsOfClock}, f32, state.device());
  parameter.clock = count + 1;
}

/// Parameters that miss this step leave the optimiser's count.
void AdamW::findLateParameters() {
  std::vector<int64_t> clocks;
  for (Parameter &each : parameters) {
    bool misses = !each.variable.grad().defined();
    if (misses && each.clock == 0) {
      addClock(each, powers());
    }
    if (!misses && each.clock != 0) {
      clocks.push_back(each.clock - 1);
    }
  }
  if (clocks != runningOnHost) {
    runningOnHost = clocks;
    running = Tensor::fromVector(clocks, std::nullopt, state.device());
  }
}

void AdamW::advance(const Tensor &factor) {
  static const OperatorKernel kernel("adamw", "advance_kernel");
  kernel[{1}](state, factors, none, orNone(factor), "num_warps"_a = 1);
  if (!runningOnHost.empty()) {
    kernel[{int64_t(runningOnHost.size())}](late, factors.slice(0, 1), running,
                                            orNone(factor), "num_warps"_a = 1);
  }
}

void AdamW::resetMasters() {
  for (const Parameter &one : parameters) {
    if (one.master.defined()) {
      one.master.copyFrom(one.variable.value());
    }
  }
}

void AdamW::setLearningRate(double rate) {
  Checks("adamw").require(rate >= 0 && std::isfinite(rate), "learningRate",
                          "a number that is not negative", rate);
  options.learningRate = rate;
  Tensor value = full({1}, rate, f64, Device::cpu());
  if (state.defined()) {
    state.slice(0, 0, 1).copyFrom(value);
  }
  if (late.defined()) {
    late.slice(1, 0, 1).copyFrom(value);
  }
}

std::vector<AdamW::Moments> AdamW::moments() const {
  std::vector<Moments> result;
  for (const Parameter &one : parameters) {
    result.push_back(
        {one.m, one.v, one.master,
         one.clock ? late.select(0, one.clock - 1).slice(0, 3, 5) : Tensor()});
  }
  return result;
}

std::map<std::string, Tensor> AdamW::stateDict() const {
  std::map<std::string, Tensor> state;
  std::vector<Moments> all = moments();
  for (size_t i = 0; i < all.size(); ++i) {
    std::string place = "." + std::to_string(i);
    state["m" + place] = all[i].m;
    state["v" + place] = all[i].v;
    if (all[i].master.defined()) {
      state["master" + place] = all[i].master;
    }
    if (all[i].powers.defined()) {
      state["powers" + place] = all[i].powers;
    }
  }
  if (!all.empty()) {
    state["powers"] = powers();
  }
  return state;
}

void AdamW::loadStateDict(const std::map<std::string, Tensor> &from) {
  // Parameters count alone in either, and then in both. Those that count alone
  // here and not there have the powers of all.
  std::map<std::string, Tensor> whole = from, into = stateDict();
  std::vector<Parameter *> alone;
  for (size_t i = 0; i < parameters.size(); ++i) {
    std::string name = "powers." + std::to_string(i);
    if (from.contains(name) && parameters[i].clock == 0) {
      into[name] = powers().clone();
      alone.push_back(&parameters[i]);
    } else if (parameters[i].clock != 0 && from.contains("powers")) {
      whole.emplace(name, from.at("powers"));
    }
  }
  const char *hint =
      "its parameters are those of the one that was saved, in their order";
  checkByName("loadStateDict", "the optimiser", hint, into, whole,
              /*strict=*/true);
  for (Parameter *one : alone) {
    addClock(*one, powers());
  }
  copyByName("loadStateDict", "the optimiser", hint, stateDict(), whole,
             /*strict=*/true);
}

Tensor AdamW::powers() const {
  return state.defined() ? state.slice(0, 3, 5) : Tensor();
}

void AdamW::zeroGrad() const {
  for (const Parameter &one : parameters) {
    if (one.variable.grad().defined()) {
      one.variable.grad().zero();
    }
  }
}

/// Tables are uploaded where an address has changed since the last call.
const std::vector<AdamW::Group> &AdamW::currentGroups() {
  struct Rows {
    DType dtype, gradient;
    bool masters, aligned = true;
    std::vector<int64_t> table, chunks;
    std::vector<float> decays;
  };
  std::vector<Rows> all;
  for (const Parameter &one : parameters) {
    const Tensor &value = one.variable.value(), &grad = one.variable.grad();
    if (!grad.defined() || value.numel() == 0) {
      continue;
    }
    bool masters = one.master.defined();
    auto rows = std::find_if(all.begin(), all.end(), [&](const Rows &r) {
      return r.dtype == value.dtype() && r.gradient == grad.dtype() &&
             r.masters == masters;
    });
    if (rows == all.end()) {
      rows = all.insert(
          all.end(), {value.dtype(), grad.dtype(), masters, true, {}, {}, {}});
    }
    for (const Tensor *t : {&value, &grad, &one.m, &one.v, &one.master}) {
      auto address = reinterpret_cast<int64_t>(t->data());
      rows->aligned &= address % 16 == 0;
      rows->table.push_back(address);
    }
    rows->table.push_back(value.numel());
    rows->table.push_back(one.clock);
    auto tensor = int64_t(rows->decays.size());
    int64_t block = blockOf(value.device());
    for (int64_t start = 0; start < value.numel(); start += block) {
      rows->chunks.push_back(tensor);
      rows->chunks.push_back(start);
    }
    rows->decays.push_back(float(one.decay));
  }
  groups.resize(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const Rows &rows = all[i];
    Group &group = groups[i];
    group.dtype = rows.dtype;
    group.gradient = rows.gradient;
    group.masters = rows.masters;
    group.aligned = rows.aligned && (hasCompiler() || !state.device().isHost());
    if (group.onHost == rows.table) {
      continue;
    }
    Device device = state.device();
    auto count = int64_t(rows.decays.size());
    auto chunks = int64_t(rows.chunks.size() / 2);
    group.onHost = rows.table;
    group.table = Tensor::fromVector(rows.table, Shape{count, fields}, device);
    group.decays = Tensor::fromVector(rows.decays, std::nullopt, device);
    group.chunks = Tensor::fromVector(rows.chunks, Shape{chunks, 2}, device);
  }
  return groups;
}

void AdamW::step(const Tensor &factor) {
  if (parameters.empty()) {
    return;
  }
  follow();
  if (factor.defined()) {
    Checks checks("adamw");
    checks.any("parameters", state);
    checks.floats("factor", factor).shape({1}).dtype(f32);
  }
  // Forms compiled ahead of time always read a factor.
  Tensor scale = factor.defined() || hasCompiler() ? factor : one;
  findLateParameters();
  // A step that is skipped writes nothing; a GPU's factor is not waited for.
  bool isSkipped = state.device().isHost() && factor.defined() &&
                   !std::isfinite(factor.item());
  for (const Parameter &each : parameters) {
    if (!isSkipped && each.variable.grad().defined()) {
      each.variable.value().noteWrite();
    }
  }
  advance(scale);
  if (state.device().isHost()) {
    stepOnHost(scale);
    return;
  }
  for (const Group &group : currentGroups()) {
    static const OperatorKernel update("adamw", "adamw_kernel");
    update[{group.chunks.size(0)}](
        group.table, group.decays, group.chunks, factors, orNone(scale),
        options.beta1, 1 - options.beta1, options.beta2, 1 - options.beta2,
        options.eps, "P"_a = group.dtype, "G"_a = group.gradient,
        "MASTER"_a = group.masters, "ALIGNED"_a = group.aligned,
        "BLOCK"_a = blockOf(state.device()), "num_warps"_a = 4);
  }
}

void AdamW::stepOnHost(const Tensor &factor) const {
  static const OperatorKernel update("adamw", "adamw_tensor_kernel");
  int64_t block = blockOf(state.device());
  for (const Parameter &one : parameters) {
    const Tensor &value = one.variable.value(), &grad = one.variable.grad();
    if (!grad.defined() || value.numel() == 0) {
      continue;
    }
    update[{cdiv(value.numel(), block)}](
        value, grad, one.m, one.v, orNone(one.master), value.numel(), one.decay,
        factors.select(0, one.clock), orNone(factor), options.beta1,
        1 - options.beta1, options.beta2, 1 - options.beta2, options.eps,
        "BLOCK"_a = block, "num_warps"_a = 4);
  }
}

/// f64, one number a chunk.
Tensor AdamW::squaresOfChunks() {
  if (parameters.empty()) {
    Checks("adamw").fail("parameters", "at least one", "none");
  }
  follow();
  Device device = state.device();
  const std::vector<Group> &all = currentGroups();
  int64_t count = 0;
  for (const Group &group : all) {
    count += group.chunks.size(0);
  }
  Tensor parts = empty({count}, f64, device);
  int64_t begin = 0;
  for (const Group &group : all) {
    int64_t chunks = group.chunks.size(0);
    static const OperatorKernel squares("adamw", "squares_kernel");
    squares[{chunks}](parts.slice(0, begin, begin + chunks), group.table,
                      group.chunks, "G"_a = group.gradient,
                      "ALIGNED"_a = group.aligned, "BLOCK"_a = blockOf(device),
                      "num_warps"_a = 4);
    begin += chunks;
  }
  return parts;
}

/// `norm`, and where they are defined the factor and the sum of `parts`.
static void finishNorm(const Tensor &norm, const Tensor &factor,
                       const Tensor &squares, const Tensor &parts,
                       double most) {
  static const OperatorKernel finish("adamw", "norm_kernel");
  finish[{1}](norm, orNone(factor), orNone(squares), parts, parts.numel(), most,
              "BLOCK"_a = 4096, "num_warps"_a = 8);
}

Tensor AdamW::gradNorm() {
  Tensor parts = squaresOfChunks();
  Tensor result = empty({1}, f32, state.device());
  finishNorm(result, Tensor(), Tensor(), parts, 0);
  return result;
}

void AdamW::requireFiniteGradients() {
  if (parameters.empty() || std::isfinite(gradNorm().item())) {
    return;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor &grad = parameters[i].variable.grad();
    if (!grad.defined()) {
      continue;
    }
    for (double value : grad.toFloat64()) {
      if (!std::isfinite(value)) {
        Checks("adamw").fail("gradients", "finite numbers",
                             (std::isnan(value) ? "a NaN" : "an infinity") +
                                 std::string(" in the gradient of parameter ") +
                                 std::to_string(i) + ", " + grad.str());
      }
    }
  }
  Checks("adamw").fail("gradients", "a norm that fp32 holds",
                       "finite gradients whose squares' sum it does not");
}

Tensor AdamW::gradSquares() {
  Tensor parts = squaresOfChunks(), norm = empty({1}, f32, state.device()),
         result = empty({1}, f64, state.device());
  finishNorm(norm, Tensor(), result, parts, 0);
  return result;
}

ClippedNorm AdamW::clippedNormOf(const Tensor &squares, double most) {
  Checks checks("adamw");
  checks.require(most > 0, "most", "a positive number", most);
  checks.any("squares", squares).contiguous().dtype(f64);
  ClippedNorm result = {empty({1}, f32, squares.device()),
                        empty({1}, f32, squares.device())};
  finishNorm(result.norm, result.factor, Tensor(), squares, most);
  return result;
}

ClippedNorm AdamW::clippedNorm(double most) {
  Checks("adamw").require(most > 0, "most", "a positive number", most);
  return parameters.empty() ? ClippedNorm()
                            : clippedNormOf(squaresOfChunks(), most);
}

Tensor AdamW::clipFactor(double most) { return clippedNorm(most).factor; }
