//===- Values.h - What goes where a value is wanted ------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operator has an overload for tensors and one for variables. An expression
// converts to both, so that it needs one of its own: for several operands a
// template that takes every mix in which one is an expression
// (docs/operators/Values.md).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_KERNELS_EXPRESSION_VALUES_H
#define NEREID_KERNELS_EXPRESSION_VALUES_H

#include "kernels/expression/Expression.h"

namespace nereid::kernels {

template <typename T>
concept Value = std::same_as<T, Tensor> || std::same_as<T, Variable> ||
                std::same_as<T, Expression>;

/// All values, and one of them an expression.
template <typename... T>
concept WithExpression =
    (Value<T> && ...) && (std::same_as<T, Expression> || ...);

inline Variable asVariable(const Variable &x) { return x; }
inline Variable asVariable(const Tensor &x) { return Variable(x); }
inline Variable asVariable(const Expression &x) { return x.variable(); }

} // namespace nereid::kernels

#endif // NEREID_KERNELS_EXPRESSION_VALUES_H
