//===- Scope.h - Variables, and what statements do to them ------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_IRGEN_EVAL_SCOPE_H
#define NEREID_IRGEN_EVAL_SCOPE_H

#include "nereid/IRGen/Eval/Value.h"
#include "nereid/Syntax/Ast.h"

#include "llvm/ADT/StringMap.h"

namespace nereid::irgen {

/// How a statement or a block ended.
struct Outcome {
  enum Kind {
    Falls,   ///< goes on with the next statement
    Returns, ///< `value` is the function's
    Maybe,   ///< returned if `flag` (an i1) holds; then `value`
    Breaks,
    Continues,
    Open, ///< goes on after the statement (BranchChain.h)
  };
  Kind kind = Falls;
  Value value = {};
  mlir::Value flag = {};
  /// Where some paths are Open and others are not: an i1 that says so. And
  /// what the open paths bring along.
  mlir::Value open = {};
  llvm::SmallVector<Tensor, 0> brought = {};
};

/// The variables of one function.
struct Scope {
  struct Binding {
    Value value;
    bool isConstexpr = false; ///< declared `x: tl.constexpr`
    ast::Span span;           ///< where it was assigned
    /// Why reading it is an error, when it is ("assigned only where ...").
    std::string poison = {};
  };
  llvm::StringMap<Binding> variables;
  std::shared_ptr<Scope> parent; ///< host closures
};

/// Variables with what became of them; nothing: they have no value any more.
using Changes =
    std::vector<std::pair<std::string, std::optional<Scope::Binding>>>;

/// What evaluating a branch did to the variables; undone after it.
struct Branch {
  Outcome outcome;
  mlir::Block *block = nullptr;
  Changes changes;

  const std::optional<Scope::Binding> *find(llvm::StringRef name) const;
};

/// A variable that a loop carries.
struct Carried {
  std::string name;
  Scope::Binding before;
  size_t parts = 0;
};

/// The variable of a run-time `for`, and what it ran over: lower bound, upper
/// bound and step, counted up also where the source counts down.
struct LoopIndex {
  const ast::Name *target;
  ScalarType type;
  llvm::SmallVector<Tensor> bounds;
  bool reversed = false;
  bool isAssigned = false; ///< by the body
  Value before;
};

} // namespace nereid::irgen

#endif // NEREID_IRGEN_EVAL_SCOPE_H
