//===- Recompute.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Autograd/Recompute.h"

#include "nereid/Autograd/Graph.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::autograd;

/// The gradients of `inputs`, where they are needed, from those of what the
/// function makes of them.
static Gradients differentiate(const std::string &name,
                               const std::vector<Tensor> &inputs,
                               const Function &function,
                               std::span<const Tensor> gradients, Needs needs) {
  GradMode recording(true);
  std::vector<Variable> leaves;
  for (size_t i = 0; i < inputs.size(); ++i) {
    leaves.emplace_back(inputs[i], needs[i]);
  }
  std::vector<Variable> outputs = function(leaves);
  Gradients results(inputs.size());
  auto arrived = std::ranges::find_if(gradients, &Tensor::defined);
  if (!isRecording(outputs) || arrived == gradients.end()) {
    return results;
  }
  // One pass over what all outputs depend on: behind them an operator whose
  // backward hands out their gradients.
  std::vector<Variable> root =
      record(name, outputs, {*arrived},
             [given = Gradients(gradients.begin(), gradients.end())](
                 std::span<const Tensor>, Needs) { return given; });
  outputs.clear();
  root[0].backward(*arrived);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (needs[i]) {
      results[i] = leaves[i].grad();
    }
  }
  return results;
}

std::vector<Variable> autograd::recomputed(Text name,
                                           std::span<const Variable> inputs,
                                           const Function &function) {
  if (!isRecording(inputs)) {
    return function(inputs);
  }
  std::vector<Tensor> values, outputs;
  for (const Variable &input : inputs) {
    values.push_back(input.value());
  }
  {
    NoGrad off;
    for (const Variable &output : function(inputs)) {
      outputs.push_back(output.value());
    }
  }
  return record(
      name, inputs, std::move(outputs),
      [name = name.str(), values, function](std::span<const Tensor> gradients,
                                            Needs needs) {
        return differentiate(name, values, function, gradients, needs);
      },
      values);
}
