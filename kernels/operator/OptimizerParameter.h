//===- OptimizerParameter.h - What optimisers take --------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_OPERATOR_OPTIMIZERPARAMETER_H
#define NEREID_KERNELS_OPERATOR_OPTIMIZERPARAMETER_H

#include "kernels/operator/Checks.h"
#include "nereid/Autograd/Graph.h"

#include <initializer_list>

namespace nereid::kernels {

/// What a step takes, of all parameters before any is changed: those of one
/// device, each row-major as its gradient is. Throws InvalidArgument.
template <typename Parameters>
void checkStep(const char *op, const Parameters &parameters) {
  Checks checks(op);
  checks.any("the first parameter", parameters[0].variable.value());
  for (const auto &each : parameters) {
    const Tensor &value = each.variable.value(), &grad = each.variable.grad();
    auto parameter = checks.any("parameter", value);
    if (grad.defined() && value.numel() > 0) {
      parameter.contiguous();
      checks.any("gradient", grad).contiguous();
    }
  }
}

/// Moves what is elsewhere.
inline void moveTo(Device device, std::initializer_list<Tensor *> tensors) {
  for (Tensor *t : tensors) {
    if (t->defined() && t->device() != device) {
      *t = t->to(device);
    }
  }
}

/// Does a parameter of this type have a master, which `master` is or lacks?
inline bool lacksMaster(const Tensor &value, const Tensor &master,
                        bool isAsked) {
  return (isAsked && value.dtype() != f32) != master.defined();
}

/// Throws unless `parameter` is a contiguous leaf of floats that requires a
/// gradient, on the device of `known`, the optimiser's parameters so far, and
/// none of their `variable`s.
template <typename Parameters>
void checkParameter(Checks &checks, const Parameters &known,
                    const Variable &parameter, double weightDecay) {
  checks.require(weightDecay >= 0, "weightDecay",
                 "a number that is not negative", weightDecay);
  if (!known.empty()) {
    checks.any("the first parameter", known[0].variable.value());
  }
  const Tensor &value = parameter.value();
  checks.floats("parameter", value).contiguous();
  if (!parameter.requiresGrad() || !parameter.isLeaf()) {
    checks.fail("parameter", "a leaf that requires a gradient", value.str());
  }
  for (const auto &other : known) {
    if (autograd::Recorder::state(other.variable) ==
        autograd::Recorder::state(parameter)) {
      checks.fail("parameter", "each variable once", "one that is there");
    }
  }
}

} // namespace nereid::kernels

#endif // NEREID_KERNELS_OPERATOR_OPTIMIZERPARAMETER_H
