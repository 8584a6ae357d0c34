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

namespace nereid::kernels {

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
