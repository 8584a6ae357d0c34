//===- Recompute.cpp --------------------------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Autograd/Recompute.h"

#include "nereid/Autograd/Graph.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Seeds.h"

#include <algorithm>
#include <map>

using namespace nereid;
using namespace nereid::autograd;

namespace {

/// What the function takes from outside beside its inputs: where gradients go.
struct Captured {
  Edge edge;
  TensorKind kind;
};

/// The same, without keeping it alive: the record's own edges do.
struct Place {
  explicit Place(const Edge &edge)
      : object(edge.leaf ? static_cast<const void *>(edge.leaf.get())
                         : edge.node.get()),
        output(edge.output) {}
  bool operator==(const Place &) const = default;
  const void *object;
  size_t output;
};

/// One call of the function, on leaves of its own.
struct Call {
  Call(std::span<const Tensor> inputs, const std::vector<char> &needs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      leaves.emplace_back(inputs[i], needs[i]);
    }
  }
  bool isOwn(const Edge &edge, uint64_t function) const {
    return edge.leaf ? std::ranges::any_of(leaves,
                                           [&](const Variable &leaf) {
                                             return Recorder::state(leaf) ==
                                                    edge.leaf;
                                           })
                     : !edge.node || edge.node->function == function;
  }

  std::vector<Variable> leaves;
};

} // namespace

/// `visit(node, index)` for each edge of what the function recorded, in the
/// order of its operators.
template <typename Visit>
static void forEdges(const std::shared_ptr<Node> &root, uint64_t function,
                     Visit visit) {
  std::map<uint64_t, Node *> nodes;
  std::vector<Node *> stack = {root.get()};
  while (!stack.empty()) {
    Node *node = stack.back();
    stack.pop_back();
    if (!nodes.emplace(node->sequence, node).second) {
      continue;
    }
    for (const Edge &edge : node->edges) {
      if (edge.node && edge.node->function == function) {
        stack.push_back(edge.node.get());
      }
    }
  }
  for (const auto &[sequence, node] : nodes) {
    for (size_t i = 0; i < node->edges.size(); ++i) {
      visit(*node, i);
    }
  }
}

/// After all outputs an operator whose backward hands out their gradients, so
/// that one pass goes over what they depend on. Null: they depend on nothing.
static std::shared_ptr<Node> recordRoot(const std::string &name,
                                        std::span<const Variable> outputs,
                                        const Tensor &like,
                                        std::span<const Tensor> gradients) {
  std::vector<Variable> root =
      record(name, outputs, {like},
             [given = Gradients(gradients.begin(), gradients.end())](
                 std::span<const Tensor>, Needs) { return given; });
  return Recorder::state(root[0])->producer;
}

static std::vector<Captured> capturedOf(const std::shared_ptr<Node> &root,
                                        uint64_t function, const Call &call) {
  std::vector<Captured> all;
  std::vector<Place> known;
  forEdges(root, function, [&](const Node &node, size_t i) {
    const Edge &edge = node.edges[i];
    if (call.isOwn(edge, function) ||
        std::ranges::find(known, Place(edge)) != known.end()) {
      return;
    }
    known.emplace_back(edge);
    all.push_back({edge, node.inputs[node.kindOfInput[i]]});
  });
  return all;
}

namespace {

/// What backward needs for computing the function again.
struct Repetition {
  std::string name;
  std::vector<Tensor> inputs;
  std::vector<char> requireGrad;
  Function function;
  std::vector<Place> captured;
  std::vector<uint64_t> seeds;

  Gradients differentiate(std::span<const Tensor> gradients, Needs needs) const;
};

} // namespace

/// The gradients of the inputs and of what was captured, where they are needed.
Gradients Repetition::differentiate(std::span<const Tensor> gradients,
                                    Needs needs) const {
  Gradients results(inputs.size() + captured.size());
  auto arrived = std::ranges::find_if(gradients, &Tensor::defined);
  if (arrived == gradients.end()) {
    return results;
  }
  GradMode recording(true);
  std::vector<char> wanted = requireGrad;
  for (size_t i = 0; i < wanted.size(); ++i) {
    wanted[i] = wanted[i] && needs[i];
  }
  Call call(inputs, wanted);
  // Gradients for what was captured arrive here, and go on with the pass that
  // asked for them.
  std::vector<std::shared_ptr<VariableState>> standIns;
  for (size_t i = 0; i < captured.size(); ++i) {
    standIns.push_back(std::make_shared<VariableState>());
    standIns.back()->requiresGrad = needs[inputs.size() + i];
  }
  std::shared_ptr<Node> root;
  {
    FunctionScope scope(/*isOutline=*/false);
    std::vector<Variable> outputs;
    {
      RepeatedSeeds same(seeds);
      outputs = function(call.leaves);
    }
    root = recordRoot(name, outputs, *arrived, gradients);
    if (!root) {
      return results;
    }
    forEdges(root, scope.number, [&](Node &node, size_t i) {
      Edge &edge = node.edges[i];
      if (call.isOwn(edge, scope.number)) {
        return;
      }
      auto place = std::ranges::find(captured, Place(edge));
      if (place != captured.end()) {
        edge = {standIns[size_t(place - captured.begin())], nullptr, 0};
      } else if (edge.node) {
        raise({ErrorCode::InvalidArgument,
               "backward of '" + name +
                   "': expected a function that captures the same variables "
                   "each time, got another result of '" +
                   edge.node->name +
                   "'; hint: capture by value, or make it an input",
               {}});
      }
    });
  }
  auto state = std::make_shared<VariableState>();
  state->value = *arrived;
  state->requiresGrad = true;
  state->producer = std::move(root);
  runBackward(state, *arrived, /*retainGraph=*/false);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (wanted[i]) {
      results[i] = call.leaves[i].grad();
    }
  }
  for (size_t i = 0; i < captured.size(); ++i) {
    results[inputs.size() + i] = standIns[i]->grad;
  }
  return results;
}

std::vector<Variable> autograd::recomputed(Text name,
                                           std::span<const Variable> inputs,
                                           const Function &function) {
  if (!function) {
    raise({ErrorCode::InvalidArgument,
           "recomputed '" + name.str() + "': expected a function, got none",
           {}});
  }
  if (!isRecording(inputs)) {
    return function(inputs);
  }
  Repetition again = {name.str(), {}, {}, function, {}, {}};
  std::vector<Edge> edges;
  std::vector<TensorKind> kinds;
  std::vector<size_t> kindOfInput;
  for (const Variable &input : inputs) {
    again.inputs.push_back(input.value());
    again.requireGrad.push_back(input.requiresGrad());
    edges.push_back(edgeTo(input));
    kindOfInput.push_back(kinds.size());
    if (input.defined()) {
      kinds.emplace_back(input.value());
    }
  }
  Saved saved = again.inputs;
  std::vector<Tensor> outputs;
  std::vector<Captured> captured;
  {
    // What is captured is known from an outline of the function's graph.
    FunctionScope scope(/*isOutline=*/true);
    KeptSeeds keep(again.seeds);
    Call call(again.inputs, again.requireGrad);
    std::vector<Variable> results = function(call.leaves);
    for (const Variable &output : results) {
      if (!output.defined()) {
        raise({ErrorCode::InvalidArgument,
               "recomputed '" + name.str() +
                   "': expected outputs that are tensors, got an undefined "
                   "one, number " +
                   std::to_string(outputs.size()),
               {}});
      }
      outputs.push_back(output.value());
    }
    Tensor any = zeros({1}, f32, Device::cpu());
    if (auto root = recordRoot(name.str(), results, any, {})) {
      captured = capturedOf(root, scope.number, call);
    }
  }
  for (Captured &one : captured) {
    again.captured.emplace_back(one.edge);
    if (one.edge.leaf) {
      saved.push_back(one.edge.leaf->value);
    }
    edges.push_back(std::move(one.edge));
    kindOfInput.push_back(kinds.size());
    kinds.push_back(std::move(one.kind));
  }
  return recordEdges(
      name, std::move(edges), std::move(kinds), std::move(kindOfInput),
      std::move(outputs),
      [again = std::move(again)](std::span<const Tensor> gradients,
                                 Needs needs) {
        return again.differentiate(gradients, needs);
      },
      saved);
}
