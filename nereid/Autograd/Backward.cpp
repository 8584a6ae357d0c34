//===- Backward.cpp - Gradients, latest operator first ----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One look over the graph counts how often each leaf is used; then the nodes
// run in the order of their sequence numbers, latest first: every node after
// an output has a larger number than the node that made it. A leaf's hooks run
// when its last use has been added.
//
//===----------------------------------------------------------------------===//

#include "nereid/Autograd/Graph.h"
#include "nereid/Runtime/Context.h"
#include "nereid/Runtime/Error.h"

#include <algorithm>
#include <map>
#include <unordered_map>

using namespace nereid;
using namespace nereid::autograd;

static Tensor addOnHost(const Tensor &a, const Tensor &b, bool inPlace) {
  std::vector<double> left = a.toFloat64(), right = b.toFloat64();
  for (size_t i = 0; i < left.size(); ++i) {
    left[i] += right[i];
  }
  Tensor sum = Tensor::fromVector(left, a.shape());
  return (inPlace ? a : emptyLike(a)).copyFrom(sum);
}

static Tensor add(const Tensor &a, const Tensor &b, bool inPlace) {
  auto function = deviceFunctions().add;
  Tensor sum = function ? function(a, b, inPlace) : Tensor();
  return sum.defined() ? sum : addOnHost(a, b, inPlace);
}

[[noreturn]] static void raiseInvalid(std::string message) {
  raise({ErrorCode::InvalidArgument, std::move(message), {}});
}

/// Into `sum`. What arrives may be another's memory, too: the first gradient
/// is taken as it is, and only memory of our own is added to.
static void accumulate(Tensor &sum, Tensor gradient) {
  if (!sum.defined()) {
    sum = std::move(gradient);
    return;
  }
  if (sum.isUnique() && sum.isContiguous()) {
    add(sum, gradient, /*inPlace=*/true);
  } else if (gradient.isUnique() && gradient.isContiguous() &&
             gradient.dtype() == sum.dtype()) {
    sum = add(gradient, sum, /*inPlace=*/true);
  } else {
    sum = add(sum, gradient, /*inPlace=*/false);
  }
}

/// Into what the caller reads, and may scale in place: it is no other's.
static void accumulateAlone(Tensor &sum, Tensor gradient) {
  if (!sum.defined() && !(gradient.isUnique() && gradient.isContiguous())) {
    gradient = gradient.clone();
  }
  accumulate(sum, std::move(gradient));
}

namespace {

class Pass {
public:
  Pass(std::shared_ptr<Node> root, bool retainGraph)
      : retainGraph(retainGraph) {
    visit(std::move(root));
  }
  void run(size_t output, Tensor gradient);

private:
  /// Of one node: its outputs' gradients so far.
  struct Pending {
    std::shared_ptr<Node> node;
    std::vector<Tensor> gradients;
  };

  void visit(std::shared_ptr<Node> root);
  void runNode(Pending pending);
  Gradients call(Node &node, std::span<const Tensor> gradients);
  void toLeaf(const std::shared_ptr<VariableState> &leaf, Tensor gradient);

  bool retainGraph;
  std::map<uint64_t, Pending, std::greater<>> nodes; ///< latest first
  std::unordered_map<VariableState *, size_t> uses;  ///< still to come
};

} // namespace

void Pass::visit(std::shared_ptr<Node> root) {
  std::vector<std::shared_ptr<Node>> stack = {std::move(root)};
  while (!stack.empty()) {
    std::shared_ptr<Node> node = std::move(stack.back());
    stack.pop_back();
    Pending &pending = nodes[node->sequence];
    if (pending.node) {
      continue;
    }
    if (node->isOutline) {
      raiseInvalid("backward: expected results of the functions that are "
                   "recomputed, got one of '" +
                   node->name +
                   "' inside of such a function; hint: return it from there");
    }
    if (!node->backward) {
      raiseInvalid(
          "backward: expected what operators saved, got nothing: the graph "
          "of '" +
          node->name +
          "' was consumed by an earlier backward; hint: compute the loss "
          "again, or call backward with retainGraph the first time");
    }
    pending.gradients.resize(node->outputs.size());
    for (Edge &edge : node->edges) {
      if (edge.node) {
        stack.push_back(edge.node);
      } else if (edge.leaf) {
        ++uses[edge.leaf.get()];
      }
    }
    pending.node = std::move(node);
  }
}

static void checkSaved(const Node &node) {
  for (const Node::SavedTensor &one : node.saved) {
    if (one.tensor.writes() != one.writes) {
      raiseInvalid("backward of '" + node.name + "': expected " +
                   one.tensor.str() +
                   ", which it saved, as it was, got one that was written to "
                   "since; hint: call backward before fill, copyFrom or an "
                   "optimiser's step, or write to a clone");
    }
  }
}

void Pass::run(size_t output, Tensor gradient) {
  // All of them before any gradient is added to.
  for (const auto &[sequence, pending] : nodes) {
    checkSaved(*pending.node);
  }
  nodes.begin()->second.gradients[output] = std::move(gradient);
  while (!nodes.empty()) {
    Pending pending = std::move(nodes.begin()->second);
    nodes.erase(nodes.begin());
    runNode(std::move(pending));
  }
}

Gradients Pass::call(Node &node, std::span<const Tensor> gradients) {
  std::vector<char> needs;
  for (const Edge &edge : node.edges) {
    needs.push_back(edge.node || (edge.leaf && edge.leaf->requiresGrad));
  }
  // Hooks may have written to what others saved.
  checkSaved(node);
  NoGrad guard;
  Gradients results = node.backward(gradients, Needs(needs, retainGraph));
  if (results.size() != node.edges.size()) {
    raiseInvalid("backward of '" + node.name + "': expected " +
                 std::to_string(node.edges.size()) +
                 " gradients, one an input; got " +
                 std::to_string(results.size()));
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (!needs[i]) {
      results[i] = Tensor();
    } else if (results[i].defined()) {
      const TensorKind &kind = node.inputs[node.kindOfInput[i]];
      if (!kind.fits(results[i])) {
        raiseInvalid("backward of '" + node.name + "': expected " + kind.str() +
                     " as the gradient of input " + std::to_string(i) +
                     ", got " + TensorKind(results[i]).str());
      }
    }
  }
  return results;
}

void Pass::runNode(Pending pending) {
  Node &node = *pending.node;
  for (size_t i = 0; i < node.retained.size(); ++i) {
    if (auto state = node.retained[i].lock();
        state && pending.gradients[i].defined()) {
      accumulateAlone(state->grad, pending.gradients[i]);
    }
  }
  // Where no gradient arrived (an output that only integers depend on), none
  // goes on, but the leaves that it leads to count this use as done.
  bool arrived = std::ranges::any_of(pending.gradients, &Tensor::defined);
  Gradients results(node.edges.size());
  if (arrived) {
    results = call(node, pending.gradients);
  }
  pending.gradients.clear();
  if (!retainGraph) {
    node.backward = nullptr;
    node.saved.clear();
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Edge &edge = node.edges[i];
    if (edge.node && results[i].defined()) {
      accumulate(nodes.at(edge.node->sequence).gradients[edge.output],
                 std::move(results[i]));
    } else if (edge.leaf) {
      toLeaf(edge.leaf, std::move(results[i]));
    }
  }
}

void Pass::toLeaf(const std::shared_ptr<VariableState> &leaf, Tensor gradient) {
  bool hasGradient = false;
  {
    std::lock_guard lock(leaf->adding);
    if (gradient.defined() && leaf->requiresGrad) {
      accumulateAlone(leaf->grad, std::move(gradient));
    }
    hasGradient = leaf->grad.defined();
  }
  if (--uses[leaf.get()] == 0 && hasGradient) {
    for (const auto &hook : leaf->hooks) {
      hook(Recorder::variable(leaf));
    }
  }
}

void autograd::runBackward(const std::shared_ptr<VariableState> &root,
                           Tensor gradient, bool retainGraph) {
  VariableState &state = *root;
  if (!state.requiresGrad) {
    raiseInvalid("backward: expected a variable that requires a gradient, got "
                 "one that requires no gradient: nothing was recorded; hint: "
                 "was it computed under NoGrad, or from "
                 "leaves without requiresGrad?");
  }
  TensorKind kind(state.value);
  if (!gradient.defined()) {
    if (state.value.numel() != 1) {
      raiseInvalid("backward of " + state.value.str() +
                   ": expected one element, or a gradient to begin with, "
                   "got " +
                   std::to_string(state.value.numel()) + " elements");
    }
    gradient = full(state.value.shape(), 1, kind.dtype, kind.device);
  } else if (!kind.fits(gradient)) {
    raiseInvalid("backward: expected a gradient of " + kind.str() + ", got " +
                 TensorKind(gradient).str());
  }
  if (!state.producer) {
    {
      std::lock_guard lock(state.adding);
      accumulateAlone(state.grad, gradient.clone());
    }
    for (const auto &hook : state.hooks) {
      hook(Recorder::variable(root));
    }
    return;
  }
  Pass(state.producer, retainGraph).run(state.output, std::move(gradient));
}
