//===- Module.cpp ---------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/module/Module.h"

#include "kernels/operator/CopyByName.h"
#include "nereid/Autograd/Graph.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Weights/Safetensors.h"

#include <algorithm>
#include <set>

using namespace nereid;
using namespace nereid::nn;

struct Module::State {
  struct Buffer {
    std::string name;
    Variable value;
    bool isSaved = true;
  };
  std::vector<NamedVariable> parameters;
  std::vector<Buffer> buffers;
  std::vector<std::pair<std::string, Module>> modules;
  bool isTraining = true;

  /// Throws where the name cannot be used. Dots stand between the names of
  /// modules and what they hold; a list's modules have one of their own.
  void checkName(const std::string &name, bool mayHaveDots = false) const {
    auto is = [&](const auto &one) { return one.name == name; };
    auto isFirst = [&](const auto &one) { return one.first == name; };
    if (!mayHaveDots && name.find('.') != std::string::npos) {
      raise({ErrorCode::InvalidArgument,
             "module: expected a name without '.', got '" + name +
                 "'; hint: a module of its own for what stands in front of it",
             {}});
    }
    if (name.empty() || std::ranges::any_of(parameters, is) ||
        std::ranges::any_of(buffers, is) ||
        std::ranges::any_of(modules, isFirst)) {
      raise({ErrorCode::InvalidArgument,
             "module: expected a name that is not used yet, got '" + name + "'",
             {}});
    }
  }
};

/// A parameter of several names is one.
static const void *identityOf(const Variable &value) {
  return autograd::Recorder::state(value).get();
}

Module::Module() : state(std::make_shared<State>()) {}

std::vector<std::pair<std::string, Module>> Module::namedModules() const {
  std::vector<std::pair<std::string, Module>> all = {{"", *this}};
  for (const auto &[name, module] : state->modules) {
    for (const auto &[inner, one] : module.namedModules()) {
      all.emplace_back(inner.empty() ? name : name + "." + inner, one);
    }
  }
  return all;
}

/// The name of something in a module of this name.
static std::string joined(const std::string &module, const std::string &name) {
  return module.empty() ? name : module + "." + name;
}

std::vector<NamedVariable> Module::namedParameters() const {
  std::vector<NamedVariable> all;
  std::set<const void *> seen;
  for (const auto &[name, module] : namedModules()) {
    for (const NamedVariable &one : module.state->parameters) {
      if (seen.insert(identityOf(one.value)).second) {
        all.push_back({joined(name, one.name), one.value});
      }
    }
  }
  return all;
}

std::vector<Variable> Module::parameters() const {
  std::vector<Variable> all;
  for (NamedVariable &one : namedParameters()) {
    all.push_back(std::move(one.value));
  }
  return all;
}

std::vector<NamedVariable> Module::namedBuffers() const {
  std::vector<NamedVariable> all;
  std::set<const void *> seen;
  for (const auto &[name, module] : namedModules()) {
    for (const State::Buffer &one : module.state->buffers) {
      if (seen.insert(identityOf(one.value)).second) {
        all.push_back({joined(name, one.name), one.value});
      }
    }
  }
  return all;
}

int64_t Module::parameterCount() const {
  int64_t count = 0;
  for (const Variable &one : parameters()) {
    count += one.numel();
  }
  return count;
}

StateDict Module::stateDict() const {
  StateDict all;
  for (const auto &[name, module] : namedModules()) {
    for (const NamedVariable &one : module.state->parameters) {
      all[joined(name, one.name)] = one.value.value();
    }
    for (const State::Buffer &one : module.state->buffers) {
      if (one.isSaved) {
        all[joined(name, one.name)] = one.value.value();
      }
    }
  }
  return all;
}

LoadResult Module::loadStateDict(const StateDict &from, bool strict) const {
  auto [missing, unexpected] = kernels::copyByName(
      "loadStateDict", "the module", "strict = false loads what fits",
      stateDict(), from, strict);
  return {std::move(missing), std::move(unexpected)};
}

void Module::train(bool isOn) const {
  for (const auto &[name, module] : namedModules()) {
    module.state->isTraining = isOn;
  }
}

bool Module::isTraining() const { return state->isTraining; }

void Module::zeroGrad() const {
  for (const Variable &one : parameters()) {
    one.zeroGrad();
  }
}

void Module::requiresGrad(bool isOn) const {
  for (const Variable &one : parameters()) {
    one.setRequiresGrad(isOn);
  }
}

/// Other memory for what handles have already.
static void move(const Variable &variable, const Tensor &value,
                 const Tensor &grad) {
  autograd::VariableState &state = *autograd::Recorder::state(variable);
  state.value = value;
  state.grad = grad;
}

void Module::to(Device device) const {
  for (const auto &list : {namedParameters(), namedBuffers()}) {
    for (const NamedVariable &one : list) {
      const Tensor &grad = one.value.grad();
      move(one.value, one.value.value().to(device),
           grad.defined() ? grad.to(device) : grad);
    }
  }
}

void Module::to(DType dtype) const {
  if (!isFloat(dtype)) {
    raise({ErrorCode::InvalidArgument,
           "module: expected a type of floats, got " +
               std::string(languageName(dtype)),
           {}});
  }
  for (const auto &list : {namedParameters(), namedBuffers()}) {
    for (const NamedVariable &one : list) {
      if (isFloat(one.value.dtype()) && one.value.dtype() != dtype) {
        move(one.value, one.value.value().to(dtype), Tensor());
      }
    }
  }
}

Variable Module::add(Text name, Variable parameter) const {
  state->checkName(name.str());
  if (!parameter.defined()) {
    return parameter;
  }
  if (!parameter.isLeaf() || !isFloat(parameter.dtype())) {
    raise({ErrorCode::InvalidArgument,
           "module: expected a leaf of floats as the parameter '" + name.str() +
               "', got " +
               (parameter.isLeaf() ? parameter.value().str()
                                   : "a result of an operator") +
               "; hint: detach() gives a leaf, addBuffer keeps other tensors",
           {}});
  }
  state->parameters.push_back({name.str(), parameter});
  return parameter;
}

Variable Module::addBuffer(Text name, Tensor buffer, bool isSaved) const {
  state->checkName(name.str());
  if (!buffer.defined()) {
    raise({ErrorCode::InvalidArgument,
           "module: expected a tensor as the buffer '" + name.str() +
               "', got an undefined one",
           {}});
  }
  Variable value(std::move(buffer));
  state->buffers.push_back({name.str(), value, isSaved});
  return value;
}

void Module::addModule(Text name, const Module &module) const {
  state->checkName(name.str(), /*mayHaveDots=*/true);
  for (const auto &[inner, one] : module.namedModules()) {
    if (one.state == state) {
      raise({ErrorCode::InvalidArgument,
             "module: expected another module as '" + name.str() +
                 "', got one that this module is part of",
             {}});
    }
  }
  state->modules.emplace_back(name.str(), module);
}

void nn::saveFile(const StateDict &state, Text path,
                  const std::map<std::string, std::string> &metadata) {
  std::vector<NamedTensor> tensors;
  for (const auto &[name, tensor] : state) {
    tensors.push_back({name, tensor});
  }
  writeSafetensors(path.str(), tensors, metadata);
}

StateDict nn::loadFile(Text path) {
  SafetensorsFile file(path.str());
  StateDict state;
  for (const NamedTensor &one : file.tensors()) {
    state[one.name] = one.tensor;
  }
  return state;
}

void nn::saveModel(const Module &module, Text path,
                   const std::map<std::string, std::string> &metadata) {
  StateDict state;
  for (const auto &[name, tensor] : module.stateDict()) {
    bool isTied = std::ranges::any_of(state, [&](const auto &other) {
      return kernels::isSameTensor(other.second, tensor);
    });
    if (!isTied) {
      state[name] = tensor;
    }
  }
  saveFile(state, path, metadata);
}

LoadResult nn::loadModel(const Module &module, Text path, bool strict) {
  return module.loadStateDict(loadFile(path), strict);
}
