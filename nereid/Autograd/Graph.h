//===- Graph.h - Records, and what they hold --------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Node is one recorded operator. It points to the nodes that made its inputs,
// never to the inputs' tensors: those live as long as a variable, or what a
// later operator saved, holds them.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_AUTOGRAD_GRAPH_H
#define NEREID_AUTOGRAD_GRAPH_H

#include "nereid/Autograd/Record.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace nereid::autograd {

struct Node;

/// What a gradient must look like.
struct TensorKind {
  /// Of a tensor that is defined.
  explicit TensorKind(const Tensor &t)
      : shape(t.sharedShape()), dtype(t.dtype()), device(t.device()) {}
  bool fits(const Tensor &t) const {
    return t.shape() == *shape && t.dtype() == dtype && t.device() == device;
  }
  std::string str() const;
  std::shared_ptr<const Shape> shape;
  DType dtype;
  Device device;
};

struct VariableState {
  Tensor value, grad;
  std::mutex adding; ///< to a leaf's `grad`, by passes of several threads
  bool requiresGrad = false, retainsGrad = false;
  std::shared_ptr<Node> producer; ///< null for a leaf
  size_t output = 0;              ///< of the producer
  std::vector<std::function<void(const Variable &)>> hooks;
};

/// Where an input's gradient goes: to a leaf, or to an output of a node.
/// Neither: the input requires none.
struct Edge {
  std::shared_ptr<VariableState> leaf;
  std::shared_ptr<Node> node;
  size_t output = 0;
};

struct Node {
  Node() = default;
  /// Chains of nodes are freed in a loop: a long one would overflow the stack.
  ~Node();
  Node(const Node &) = delete;
  Node &operator=(const Node &) = delete;

  std::string name;
  uint64_t sequence = 0; ///< inputs have smaller ones
  uint64_t function = 0; ///< of the FunctionScope it was recorded in
  bool isOutline = false;
  std::vector<Edge> edges;
  std::vector<TensorKind> inputs, outputs; ///< `inputs` for defined ones
  std::vector<size_t> kindOfInput;         ///< index into `inputs`
  /// Outputs whose gradient is kept.
  std::vector<std::weak_ptr<VariableState>> retained;
  Backward backward; ///< empty once the graph was consumed
  struct SavedTensor {
    Tensor tensor;
    uint64_t writes; ///< of the tensor, when it was saved
  };
  std::vector<SavedTensor> saved; ///< what `backward` must find unchanged
};

/// As `record` of variables: `inputs` are the kinds of those that are defined,
/// and `kindOfInput` says which of them an edge has.
std::vector<Variable> recordEdges(Text name, std::vector<Edge> edges,
                                  std::vector<TensorKind> inputs,
                                  std::vector<size_t> kindOfInput,
                                  std::vector<Tensor> outputs,
                                  Backward backward, const Saved &saved);
/// Where the gradient of `input` goes.
Edge edgeTo(const Variable &input);

/// While it lives, what this thread records has its number, so that the graph
/// of a function can be distinguished from what the function was given. An
/// outline keeps which inputs operators have, and neither how gradients go back
/// nor the tensors for it.
class FunctionScope {
public:
  explicit FunctionScope(bool isOutline);
  ~FunctionScope();
  FunctionScope(const FunctionScope &) = delete;
  FunctionScope &operator=(const FunctionScope &) = delete;

  static const FunctionScope *current();

  const uint64_t number;
  const bool isOutline;

private:
  const FunctionScope *outer;
};

/// The pass over everything that `root` depends on.
void runBackward(const std::shared_ptr<VariableState> &root, Tensor gradient,
                 bool retainGraph);

/// Whether operators are recorded, on this thread and in this scope.
class GradMode {
public:
  explicit GradMode(bool isOn);
  ~GradMode();
  GradMode(const GradMode &) = delete;
  GradMode &operator=(const GradMode &) = delete;

private:
  bool before;
};

/// Makes variables of states; only what records may.
struct Recorder {
  static Variable variable(std::shared_ptr<VariableState> state) {
    return Variable(std::move(state));
  }
  static const std::shared_ptr<VariableState> &state(const Variable &v) {
    return v.state;
  }
};

} // namespace nereid::autograd

#endif // NEREID_AUTOGRAD_GRAPH_H
