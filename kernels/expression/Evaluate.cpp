//===- Evaluate.cpp - Expressions computed, and on a tape -------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Prepared.h"
#include "kernels/operator/OperatorKernel.h"
#include "kernels/reduce/Reduce.h"
#include "nereid/Autograd/Graph.h"
#include "nereid/Autograd/Record.h"
#include "nereid/Runtime/Error.h"
#include "nereid/Runtime/Print.h"

#include <algorithm>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

static void check(std::span<const NodePtr> roots) {
  for (const NodePtr &root : roots) {
    if (!root->device) {
      raise({ErrorCode::InvalidArgument,
             "expression: expected a tensor in it, got numbers alone",
             {}});
    }
    if (root->shape != roots[0]->shape || root->device != roots[0]->device) {
      raise({ErrorCode::InvalidArgument,
             "expression: expected results of one shape on one device",
             {}});
    }
  }
}

std::vector<Tensor> expression::launch(std::span<const NodePtr> roots,
                                       std::span<const DType> types,
                                       const Tensor &gradient) {
  check(roots);
  if (!hasCompiler()) {
    return launchAheadOfTime(roots, types, gradient);
  }
  std::vector<Tensor> results;
  results.reserve(types.size());
  for (DType type : types) {
    results.push_back(empty(roots[0]->shape, type, *roots[0]->device));
  }
  if (results[0].numel() != 0) {
    launchPrepared(roots, gradient, {}, results);
  }
  return results;
}

void expression::launchInto(const Tensor &result, const NodePtr &root) {
  if (!hasCompiler()) {
    DType type = result.dtype();
    result.copyFrom(launchAheadOfTime({&root, 1}, {&type, 1}, {})[0]);
  } else if (result.numel() != 0) {
    Tensor strided = result.isContiguous() ? Tensor() : result;
    launchPrepared({&root, 1}, {}, strided, {&result, 1});
  }
}

static std::vector<NodePtr> nodesOf(std::span<const Expression> expressions) {
  std::vector<NodePtr> nodes;
  for (const Expression &one : expressions) {
    nodes.push_back(one.node);
  }
  return nodes;
}

std::vector<Tensor> kernels::evaluate(std::span<const Expression> expressions) {
  if (expressions.empty()) {
    return {};
  }
  std::vector<NodePtr> roots = nodesOf(expressions);
  std::vector<DType> types;
  for (const NodePtr &root : roots) {
    types.push_back(root->dtype);
  }
  return launch(roots, types, {});
}

Tensor kernels::evaluate(const Expression &expression) {
  const NodePtr &root = expression.node;
  if (!hasCompiler()) {
    return evaluate(std::span(&expression, 1))[0];
  }
  check({&root, 1});
  Tensor result = empty(root->shape, root->dtype, *root->device);
  if (result.numel() != 0) {
    launchPrepared({&root, 1}, {}, {}, {&result, 1});
  }
  return result;
}

std::string kernels::source(std::span<const Expression> expressions) {
  if (expressions.empty()) {
    return "";
  }
  std::vector<NodePtr> roots = nodesOf(expressions);
  check(roots);
  Tensor none;
  return writeKernel(Recorded(roots, none, none, false)).text;
}

std::string kernels::source(const Expression &expression) {
  return source(std::span(&expression, 1));
}

/// The leaves that are variables, each variable once.
static std::vector<Variable> variablesOf(const NodePtr &root) {
  std::vector<Variable> found;
  for (const Node *node : inOrder({&root, 1})) {
    const Variable &own = node->variable;
    if (own.defined() && std::none_of(found.begin(), found.end(), [&](auto &v) {
          return autograd::Recorder::state(v) == autograd::Recorder::state(own);
        })) {
      found.push_back(own);
    }
  }
  return found;
}

Expression::operator Tensor() const {
  if (autograd::isRecording(variablesOf(node))) {
    raise({ErrorCode::InvalidArgument,
           "expression: expected tensors, got a variable that requires a "
           "gradient, which a tensor would lose; hint: Variable y = ..., or "
           "NoGrad",
           {}});
  }
  return value();
}

/// The same expression of plain tensors: what a tape keeps must not hold
/// variables. `leaves[i]` becomes the leaf of `variables[i]`.
static NodePtr withoutVariables(const NodePtr &root,
                                std::span<const Variable> variables,
                                std::vector<NodePtr> &leaves) {
  std::vector<const Node *> order = inOrder({&root, 1});
  Places placeOf(order);
  std::vector<NodePtr> done(order.size());
  leaves.resize(variables.size());
  for (size_t place = 0; place < order.size(); ++place) {
    const Node *node = order[place];
    if (node->variable.defined()) {
      size_t i = 0;
      while (autograd::Recorder::state(variables[i]) !=
             autograd::Recorder::state(node->variable)) {
        ++i;
      }
      if (!leaves[i]) {
        leaves[i] = Expression(node->tensor).node;
      }
      done[place] = leaves[i];
    } else if (node->inputs.empty()) {
      done[place] = node->shared_from_this();
    } else {
      auto copy = std::make_shared<Node>(*node);
      for (NodePtr &input : copy->inputs) {
        input = done[placeOf(input.get())];
      }
      done[place] = std::move(copy);
    }
  }
  return done.back();
}

namespace {
/// A variable's gradient: an expression of the result's shape, summed where
/// the variable was broadcast.
struct InputGradient {
  NodePtr value;
  Shape shape;
  DType dtype;
};
} // namespace

/// What they read.
static autograd::Saved tensorsOf(std::span<const InputGradient> inputs) {
  std::vector<NodePtr> roots;
  for (const InputGradient &input : inputs) {
    if (input.value) {
      roots.push_back(input.value);
    }
  }
  autograd::Saved tensors;
  for (const Node *node : inOrder(roots)) {
    if (node->op == Op::Leaf) {
      tensors.push_back(node->tensor);
    }
  }
  return tensors;
}

static autograd::Gradients
evaluateGradients(std::span<const InputGradient> inputs, const Tensor &dy,
                  autograd::Needs needs) {
  autograd::Gradients gradients(inputs.size());
  std::vector<NodePtr> roots;
  std::vector<DType> types;
  std::vector<size_t> of;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const InputGradient &input = inputs[i];
    if (!needs[i]) {
      continue;
    }
    if (!input.value) {
      gradients[i] = zeros(input.shape, input.dtype, dy.device());
      continue;
    }
    bool sums = input.shape != dy.shape();
    // dx = dy needs no kernel.
    if (input.value->op == Op::Gradient &&
        (sums || input.dtype == dy.dtype())) {
      gradients[i] = sums ? sumTo(dy, input.shape, input.dtype) : dy;
      continue;
    }
    roots.push_back(input.value);
    types.push_back(sums && input.dtype != f64 ? f32 : input.dtype);
    of.push_back(i);
  }
  if (roots.empty()) {
    return gradients;
  }
  std::vector<Tensor> values = launch(roots, types, dy);
  for (size_t k = 0; k < of.size(); ++k) {
    const InputGradient &input = inputs[of[k]];
    gradients[of[k]] = input.shape == dy.shape()
                           ? values[k]
                           : sumTo(values[k], input.shape, input.dtype);
  }
  return gradients;
}

/// One operator on the tape.
static Variable evaluateRecorded(const NodePtr &node,
                                 std::span<const Variable> variables) {
  std::vector<NodePtr> leaves;
  NodePtr root = withoutVariables(node, variables, leaves);
  Tensor value = evaluate(Expression(root));
  std::vector<NodePtr> derived =
      derivatives(root, gradientOf(*root).node, leaves);
  std::vector<InputGradient> inputs;
  for (size_t i = 0; i < variables.size(); ++i) {
    inputs.push_back({variables[i].requiresGrad() ? derived[i] : nullptr,
                      variables[i].shape(), variables[i].dtype()});
  }
  autograd::Saved saved = tensorsOf(inputs);
  return autograd::record(
      "expression", variables, {value},
      [inputs = std::move(inputs)](std::span<const Tensor> dy,
                                   autograd::Needs needs) {
        return evaluateGradients(inputs, dy[0], needs);
      },
      saved)[0];
}

bool Expression::requiresGrad() const {
  return std::ranges::any_of(variablesOf(node), &Variable::requiresGrad);
}

Expression::operator Variable() const { return variable(); }

Variable Expression::variable() const {
  if (node->op == Op::Leaf) {
    return node->variable.defined() ? node->variable : Variable(node->tensor);
  }
  std::vector<Variable> variables;
  if (gradEnabled()) {
    variables = variablesOf(node);
  }
  bool records = autograd::isRecording(variables);
  return node->computed.get(
      [&](const Variable &kept) {
        return kept.requiresGrad() || !records || !isFloat(kept.dtype());
      },
      [&] {
        return records ? evaluateRecorded(node, variables)
                       : Variable(evaluate(*this));
      });
}

static thread_local bool isUncut = false;
Uncut::Uncut() : before(isUncut) { isUncut = true; }
Uncut::~Uncut() { isUncut = before; }

NodePtr expression::partOf(const NodePtr &input) {
  if (isUncut || (!gradEnabled() && Expression(input).requiresGrad())) {
    return input;
  }
  Uncut whole;
  Variable value = input->wide.get(
      [&](const Variable &kept) {
        return kept.requiresGrad() || !Expression(input).requiresGrad();
      },
      [&] {
        Expression e(input);
        return (isFloat(e.dtype()) ? cast(e, computedIn(e.dtype())) : e)
            .variable();
      });
  return Expression(value).node;
}

std::ostream &kernels::operator<<(std::ostream &stream,
                                  const Expression &expression) {
  return stream << expression.value();
}
