//===- Variable.cpp ---------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Autograd/Graph.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Print.h"

using namespace nereid;

static thread_local bool gradIsEnabled = true;

NoGrad::NoGrad() : before(gradIsEnabled) { gradIsEnabled = false; }
NoGrad::~NoGrad() { gradIsEnabled = before; }
autograd::GradMode::GradMode(bool isOn) : before(gradIsEnabled) {
  gradIsEnabled = isOn;
}
autograd::GradMode::~GradMode() { gradIsEnabled = before; }
bool nereid::gradEnabled() { return gradIsEnabled; }

[[noreturn]] static void raiseInvalid(std::string message) {
  raise({ErrorCode::InvalidArgument, std::move(message), {}});
}

Variable::Variable(Tensor value, bool requiresGrad) {
  if (!value.defined()) {
    if (requiresGrad) {
      raiseInvalid("a leaf that requires a gradient: expected a tensor of "
                   "floats, got an undefined one");
    }
    return;
  }
  if (requiresGrad && !isFloat(value.dtype())) {
    raiseInvalid("a leaf that requires a gradient: expected a tensor of "
                 "floats, got " +
                 value.str() +
                 "; hint: integers are inputs that nothing is differentiated "
                 "by");
  }
  state = std::make_shared<autograd::VariableState>();
  state->value = std::move(value);
  state->requiresGrad = requiresGrad;
}

autograd::VariableState &Variable::require(const char *call) const {
  if (!state) {
    raiseInvalid(std::string(call) +
                 " of an undefined variable: expected one with a tensor, got "
                 "none");
  }
  return *state;
}

const Tensor &Variable::value() const {
  static const Tensor undefined;
  return state ? state->value : undefined;
}

void Variable::setValue(Tensor value) const {
  autograd::VariableState &s = require("setValue");
  autograd::TensorKind kind(s.value);
  if (s.producer) {
    raiseInvalid("setValue: expected a leaf, got a result of '" +
                 s.producer->name + "'");
  }
  if (!value.defined() || !kind.fits(value)) {
    raiseInvalid("setValue: expected " + kind.str() + ", as before; got " +
                 (value.defined() ? autograd::TensorKind(value).str()
                                  : "an undefined tensor"));
  }
  s.value = std::move(value);
}

bool Variable::requiresGrad() const { return state && state->requiresGrad; }

void Variable::setRequiresGrad(bool isOn) const {
  autograd::VariableState &s = require("setRequiresGrad");
  if (s.producer) {
    raiseInvalid("setRequiresGrad: expected a leaf, got a result of '" +
                 s.producer->name + "'; hint: detach() gives one");
  }
  if (isOn && !isFloat(s.value.dtype())) {
    raiseInvalid("setRequiresGrad: expected a tensor of floats, got " +
                 s.value.str());
  }
  s.requiresGrad = isOn;
  if (!isOn) {
    s.grad = Tensor();
  }
}

std::ostream &nereid::operator<<(std::ostream &stream,
                                 const Variable &variable) {
  return stream << variable.value();
}

bool Variable::isLeaf() const { return !state || !state->producer; }

const Tensor &Variable::grad() const {
  autograd::VariableState &s = require("grad");
  if (s.producer && !s.retainsGrad) {
    raiseInvalid("grad: expected a leaf, of which gradients are kept, got a "
                 "result of '" +
                 s.producer->name +
                 "'; hint: call retainGrad() before backward()");
  }
  return s.grad;
}

const Variable &Variable::retainGrad() const {
  autograd::VariableState &s = require("retainGrad");
  if (!s.requiresGrad) {
    raiseInvalid("retainGrad: expected a variable that requires a gradient, "
                 "got one that requires none");
  }
  if (s.producer && !s.retainsGrad) {
    s.producer->retained.resize(s.producer->outputs.size());
    s.producer->retained[s.output] = state;
    s.retainsGrad = true;
  }
  return *this;
}

void Variable::setGrad(Tensor gradient) const {
  autograd::VariableState &s = require("setGrad");
  autograd::TensorKind kind(s.value), sum = kind;
  sum.dtype = f32;
  if (gradient.defined() && !kind.fits(gradient) && !sum.fits(gradient)) {
    raiseInvalid("setGrad: expected " + kind.str() + ", as the value is" +
                 (kind.dtype == f32 ? "" : ", or a sum in fp32") + "; got " +
                 autograd::TensorKind(gradient).str());
  }
  s.grad = std::move(gradient);
}

void Variable::backward(Tensor gradient, bool retainGraph) const {
  require("backward");
  autograd::runBackward(state, std::move(gradient), retainGraph);
}

Variable Variable::detach() const { return Variable(value()); }

void Variable::onGradient(std::function<void(const Variable &)> hook) const {
  autograd::VariableState &s = require("onGradient");
  if (s.producer || !s.requiresGrad) {
    raiseInvalid("onGradient: expected a leaf that requires a gradient, got " +
                 (s.producer ? "a result of '" + s.producer->name + "'"
                             : std::string("one that requires none")));
  }
  s.hooks.push_back(std::move(hook));
}
