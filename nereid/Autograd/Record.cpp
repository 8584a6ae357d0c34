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
  for (size_t i = 0; i < shape->size(); ++i) {
    text += (i ? ", " : "") + std::to_string((*shape)[i]);
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

Edge autograd::edgeTo(const Variable &input) {
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
  return edge;
}

static thread_local const FunctionScope *innermost = nullptr;

static uint64_t nextNumber() {
  static std::atomic<uint64_t> count = 0;
  return ++count;
}

FunctionScope::FunctionScope(bool isOutline)
    : number(nextNumber()), isOutline(isOutline), outer(innermost) {
  innermost = this;
}
FunctionScope::~FunctionScope() { innermost = outer; }
const FunctionScope *FunctionScope::current() { return innermost; }

static std::shared_ptr<Node> makeNode(Text name, std::vector<Edge> edges,
                                      std::vector<TensorKind> inputs,
                                      std::vector<size_t> kindOfInput,
                                      size_t outputs, Backward backward,
                                      std::span<const Tensor> saved) {
  static std::atomic<uint64_t> sequence = 0;
  auto node = std::make_shared<Node>();
  node->name = name.str();
  node->sequence = ++sequence;
  node->edges = std::move(edges);
  node->inputs = std::move(inputs);
  node->kindOfInput = std::move(kindOfInput);
  const FunctionScope *function = FunctionScope::current();
  node->function = function ? function->number : 0;
  node->isOutline = function && function->isOutline;
  if (!node->isOutline) {
    node->backward = std::move(backward);
    node->saved.reserve(saved.size());
    for (const Tensor &tensor : saved) {
      if (tensor.defined()) {
        node->saved.push_back({tensor, tensor.writes()});
      }
    }
  }
  node->outputs.reserve(outputs);
  return node;
}

/// The next of the node's outputs.
static Variable addOutput(const std::shared_ptr<Node> &node, Tensor output) {
  auto state = std::make_shared<VariableState>();
  // A mask, an index: nothing is differentiated by integers.
  state->requiresGrad = isFloat(output.dtype());
  if (state->requiresGrad) {
    state->producer = node;
    state->output = node->outputs.size();
  }
  node->outputs.emplace_back(output);
  state->value = std::move(output);
  return Recorder::variable(std::move(state));
}

std::vector<Variable> autograd::recordEdges(Text name, std::vector<Edge> edges,
                                            std::vector<TensorKind> inputs,
                                            std::vector<size_t> kindOfInput,
                                            std::vector<Tensor> outputs,
                                            Backward backward,
                                            const Saved &saved) {
  auto node = makeNode(name, std::move(edges), std::move(inputs),
                       std::move(kindOfInput), outputs.size(),
                       std::move(backward), saved);
  std::vector<Variable> results;
  results.reserve(outputs.size());
  for (Tensor &output : outputs) {
    results.push_back(addOutput(node, std::move(output)));
  }
  return results;
}

[[noreturn]] static void invalid(Text name, const std::string &expected,
                                 const std::string &got) {
  raise(
      {ErrorCode::InvalidArgument,
       "record of '" + name.str() + "': expected " + expected + ", got " + got,
       {}});
}

[[noreturn]] static void refuseUndefined(Text name, size_t output) {
  invalid(name, "outputs that are tensors",
          "an undefined one, number " + std::to_string(output));
}

static std::shared_ptr<Node> nodeOf(Text name, std::span<const Variable> inputs,
                                    size_t outputs, Backward backward,
                                    std::span<const Tensor> saved) {
  std::vector<Edge> edges;
  std::vector<TensorKind> kinds;
  std::vector<size_t> kindOfInput;
  edges.reserve(inputs.size());
  kinds.reserve(inputs.size());
  kindOfInput.reserve(inputs.size());
  for (const Variable &input : inputs) {
    edges.push_back(edgeTo(input));
    kindOfInput.push_back(kinds.size());
    if (input.defined()) {
      kinds.emplace_back(input.value());
    }
  }
  return makeNode(name, std::move(edges), std::move(kinds),
                  std::move(kindOfInput), outputs, std::move(backward), saved);
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
      refuseUndefined(name, i);
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
  auto node = nodeOf(name, inputs, outputs.size(), std::move(backward), saved);
  results.reserve(outputs.size());
  for (Tensor &output : outputs) {
    results.push_back(addOutput(node, std::move(output)));
  }
  return results;
}

Variable autograd::record(Text name, std::initializer_list<Variable> inputs,
                          Tensor output, BackwardOfOne backward,
                          const Saved &saved) {
  if (!backward) {
    invalid(name, "a function that computes gradients", "none");
  }
  return recordOne(
      name, std::span(inputs.begin(), inputs.size()), std::move(output),
      [backward = std::move(backward)](std::span<const Tensor> gradients,
                                       Needs needs) {
        return backward(gradients[0], needs);
      },
      saved);
}

Variable autograd::recordOne(Text name, std::span<const Variable> inputs,
                             Tensor output, Backward backward,
                             std::span<const Tensor> saved) {
  if (!output.defined()) {
    refuseUndefined(name, 0);
  }
  if (!isRecording(inputs)) {
    return Variable(std::move(output));
  }
  return addOutput(nodeOf(name, inputs, 1, std::move(backward), saved),
                   std::move(output));
}
