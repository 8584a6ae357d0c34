//===- Record.cpp -----------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Autograd/Graph.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <atomic>

using namespace nereid;
using namespace nereid::autograd;

std::string TensorKind::str() const {
  std::string text = std::string(shortName(dtype)) + "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "] on " + device.str();
}

Node::~Node() {
  std::vector<std::shared_ptr<Node>> freed;
  auto take = [&](Node &node) {
    for (Edge &edge : node.edges) {
      if (edge.node) {
        freed.push_back(std::move(edge.node));
      }
    }
  };
  take(*this);
  while (!freed.empty()) {
    std::shared_ptr<Node> last = std::move(freed.back());
    freed.pop_back();
    if (last.use_count() == 1) {
      take(*last);
    }
  }
}

bool autograd::isRecording(std::span<const Variable> inputs) {
  return gradEnabled() && std::ranges::any_of(inputs, &Variable::requiresGrad);
}

[[noreturn]] static void invalid(Text name, const std::string &expected,
                                 const std::string &got) {
  raise(
      {ErrorCode::InvalidArgument,
       "record of '" + name.str() + "': expected " + expected + ", got " + got,
       {}});
}

std::vector<Variable> autograd::record(Text name,
                                       std::span<const Variable> inputs,
                                       std::vector<Tensor> outputs,
                                       Backward backward, const Saved &saved) {
  if (!backward) {
    invalid(name, "a function that computes gradients", "none");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined()) {
      invalid(name, "outputs that are tensors",
              "an undefined one, number " + std::to_string(i));
    }
  }
  std::vector<Variable> results;
  if (!isRecording(inputs)) {
    results.reserve(outputs.size());
    for (Tensor &output : outputs) {
      results.emplace_back(std::move(output));
    }
    return results;
  }
  static std::atomic<uint64_t> sequence = 0;
  auto node = std::make_shared<Node>();
  node->name = name.str();
  node->sequence = ++sequence;
  node->backward = std::move(backward);
  for (const Tensor &tensor : saved) {
    if (tensor.defined()) {
      node->saved.push_back({tensor, tensor.writes()});
    }
  }
  for (const Variable &input : inputs) {
    Edge edge;
    if (input.requiresGrad()) {
      const auto &state = Recorder::state(input);
      if (state->producer) {
        edge.node = state->producer;
        edge.output = state->output;
      } else {
        edge.leaf = state;
      }
    }
    node->kindOfInput.push_back(node->inputs.size());
    if (input.defined()) {
      node->inputs.emplace_back(input.value());
    }
    node->edges.push_back(std::move(edge));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    node->outputs.emplace_back(outputs[i]);
    auto state = std::make_shared<VariableState>();
    // A mask, an index: nothing is differentiated by integers.
    state->requiresGrad = isFloat(outputs[i].dtype());
    state->value = std::move(outputs[i]);
    if (state->requiresGrad) {
      state->producer = node;
      state->output = i;
    }
    results.push_back(Recorder::variable(std::move(state)));
  }
  return results;
}

Variable autograd::record(Text name, std::initializer_list<Variable> inputs,
                          Tensor output, BackwardOfOne backward,
                          const Saved &saved) {
  if (!backward) {
    invalid(name, "a function that computes gradients", "none");
  }
  std::vector<Tensor> outputs;
  outputs.push_back(std::move(output));
  return record(
      name, std::span(inputs.begin(), inputs.size()), std::move(outputs),
      [backward = std::move(backward)](std::span<const Tensor> gradients,
                                       Needs needs) {
        return backward(gradients[0], needs);
      },
      saved)[0];
}
