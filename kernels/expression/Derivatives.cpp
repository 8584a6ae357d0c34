//===- Derivatives.cpp - Expressions of gradients ---------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/expression/Node.h"

#include <numbers>
#include <optional>

using namespace nereid;
using namespace nereid::kernels;
using namespace nereid::kernels::expression;

/// Of x^p: 0 where p is 0, also where 0 * x^-1 is NaN. Of p: 0 where x is 0
/// and p is not negative, as PyTorch has it, where x^p log(x) is NaN.
static std::vector<std::optional<Expression>> ofPower(const Expression &x,
                                                      const Expression &p,
                                                      const Expression &y,
                                                      const Expression &d) {
  const Node &exponent = *p.node;
  if (exponent.op == Op::Number) {
    double number =
        exponent.isInteger ? double(exponent.integer) : exponent.number;
    if (number == 0) {
      return {constant(0) * d, std::nullopt};
    }
    return {d * (number * pow(x, number - 1)), std::nullopt};
  }
  Expression zero = constant(0), ofExponent = d * (y * log(x));
  Expression atZero = where(p < zero, ofExponent, zero);
  return {where(equal(p, zero), zero, d * (p * pow(x, p - constant(1)))),
          where(equal(x, zero), atZero, ofExponent)};
}

/// d(input)/... for each input of `y`, where `d` is y's.
static std::vector<std::optional<Expression>> ofInputs(const Expression &y,
                                                       const Expression &d) {
  const Node &node = *y.node;
  auto in = [&](size_t i) { return Expression(node.inputs[i]); };
  constexpr double rootOfPi = 1 / std::numbers::inv_sqrtpi;
  // Made where they are wanted: each is a node.
  auto zero = [] { return constant(0); };
  auto half = [] { return constant(0.5); };
  auto one = [] { return constant(1); };
  switch (node.op) {
  case Op::Leaf:
  case Op::Number:
  case Op::Constant:
  case Op::Gradient:
    return {};
  case Op::Cast:
    return {d};
  case Op::Add:
    return {d, d};
  case Op::Subtract:
    return {d, -d};
  case Op::Multiply:
    return {d * in(1), d * in(0)};
  case Op::Divide:
    return {d / in(1), -(d * y) / in(1)};
  case Op::Negate:
    return {-d};
  case Op::Less:
  case Op::LessEqual:
  case Op::Equal:
  case Op::NotEqual:
    return {std::nullopt, std::nullopt};
  case Op::Where:
    return {std::nullopt, where(in(0), d, zero()), where(in(0), zero(), d)};
  case Op::Maximum:
  case Op::Minimum: {
    // Equal ones share, as PyTorch has it.
    Expression a = in(0), b = in(1),
               first = node.op == Op::Maximum ? b < a : a < b;
    Expression shared = where(equal(a, b), half() * d, zero());
    return {where(first, d, shared),
            where(first, zero(), where(equal(a, b), half() * d, d))};
  }
  case Op::Exp:
    return {d * y};
  case Op::Log:
    return {d / in(0)};
  case Op::Sqrt:
    return {half() * d / y};
  case Op::Rsqrt:
    return {constant(-0.5) * d * (y * y * y)};
  case Op::Tanh:
    return {d * (one() - y * y)};
  case Op::Sigmoid:
    // 1 - y has no digits where y is near 1, and factors such as those of
    // geluTanh make that 1e-6 of the result.
    return {d * (y * sigmoid(-in(0)))};
  case Op::Erf:
    return {d * (constant(2 / rootOfPi) * exp(-(in(0) * in(0))))};
  case Op::Abs:
    return {where(zero() < in(0), d, where(in(0) < zero(), -d, zero()))};
  case Op::Relu:
    return {where(zero() < in(0), d, zero())};
  case Op::Dropout:
    return {dropout(d, node.number, node.seed, node.offset)};
  case Op::Sin:
    return {d * cos(in(0))};
  case Op::Cos:
    return {-(d * sin(in(0)))};
  case Op::Floor:
  case Op::Ceil:
  case Op::Round:
    return {std::nullopt};
  case Op::Log1p:
    return {d / (one() + in(0))};
  case Op::Expm1:
    return {d * (y + one())};
  case Op::Softplus:
    return {d * sigmoid(in(0))};
  case Op::Power:
    return ofPower(in(0), in(1), y, d);
  }
  return {};
}

std::vector<NodePtr> expression::derivatives(const NodePtr &root,
                                             const NodePtr &gradient,
                                             std::span<const NodePtr> leaves) {
  Uncut whole;
  std::vector<const Node *> order = inOrder({&root, 1});
  Places placeOf(order);
  // By place: do derivatives go on from it, and what they add up to. One more,
  // for leaves that are not there.
  std::vector<char> isWanted(order.size() + 1);
  std::vector<NodePtr> sums(order.size() + 1);
  for (const NodePtr &leaf : leaves) {
    isWanted[placeOf(leaf.get())] = true;
  }
  for (size_t i = 0; i < order.size(); ++i) {
    for (const NodePtr &input : order[i]->inputs) {
      if (isWanted[placeOf(input.get())] && isFloat(order[i]->dtype)) {
        isWanted[i] = true;
      }
    }
  }
  if (isWanted[order.size() - 1]) {
    sums[order.size() - 1] = gradient;
  }
  for (size_t i = order.size(); i-- > 0;) {
    const Node *node = order[i];
    if (!sums[i] || node->inputs.empty()) {
      continue;
    }
    std::vector<std::optional<Expression>> parts =
        ofInputs(Expression(node->shared_from_this()), Expression(sums[i]));
    for (size_t k = 0; k < parts.size(); ++k) {
      size_t input = placeOf(node->inputs[k].get());
      if (!parts[k] || !isWanted[input]) {
        continue;
      }
      NodePtr &sum = sums[input];
      sum = sum ? (Expression(sum) + *parts[k]).node : parts[k]->node;
    }
  }
  std::vector<NodePtr> results;
  for (const NodePtr &leaf : leaves) {
    size_t place = placeOf(leaf.get());
    results.push_back(place == order.size() ? nullptr : sums[place]);
  }
  return results;
}
