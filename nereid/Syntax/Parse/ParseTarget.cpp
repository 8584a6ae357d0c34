//===- ParseTarget.cpp - What may stand left of '='  ===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/PythonParser.h"

namespace nereid::syntax {

using namespace ast;

/// Turns a parsed expression into a target (Store or Del), or refuses it.
/// Parentheses leave no node, so `(a) = 1` needs no care here.
bool PythonParser::makeTarget(Expr *expr, ExprContext context) {
  switch (expr->kind) {
  case Kind::Name:
    cast<Name>(expr)->ctx = context;
    return true;
  case Kind::Attribute:
    cast<Attribute>(expr)->ctx = context;
    return true;
  case Kind::Subscript:
    cast<Subscript>(expr)->ctx = context;
    return true;
  case Kind::Starred: {
    Starred *starred = cast<Starred>(expr);
    if (context == ExprContext::Del || isa<Starred>(starred->value)) {
      return false;
    }
    starred->ctx = context;
    return makeTarget(starred->value, context);
  }
  case Kind::Tuple:
  case Kind::List: {
    Seq<Expr *> elements;
    if (Tuple *tuple = dynCast<Tuple>(expr)) {
      tuple->ctx = context;
      elements = tuple->elts;
    } else {
      List *list = cast<List>(expr);
      list->ctx = context;
      elements = list->elts;
    }
    for (Expr *element : elements) {
      if (!makeTarget(element, context)) {
        return false;
      }
    }
    return true;
  }
  default:
    return false;
  }
}

/// A target of `:` or of an augmented assignment.
bool PythonParser::isSingleTarget(const Expr *expr) const {
  return isa<Name>(expr) || isa<Attribute>(expr) || isa<Subscript>(expr);
}

/// One target where no operator can follow: `for`, `with ... as`, `del`.
Expr *PythonParser::starTarget() {
  if (at(Tok::Star)) {
    Starred *starred = make<Starred>(pos++);
    starred->value = at(Tok::Star) ? nullptr : starTarget();
    starred->ctx = ExprContext::Store;
    return starred->value ? finish(starred, starred->value) : nullptr;
  }
  Expr *target = primary();
  if (target && !makeTarget(target, ExprContext::Store)) {
    mismatch("a name, an attribute or a subscript to assign to");
    return nullptr;
  }
  return target;
}

Expr *PythonParser::starTargets() {
  uint32_t first = pos;
  Expr *target = starTarget();
  if (!target || !at(Tok::Comma)) {
    return target;
  }
  Builder<Expr> targets(*this);
  targets.add(target);
  while (accept(Tok::Comma) && startsExpression(peek())) {
    if (!(target = starTarget())) {
      return nullptr;
    }
    targets.add(target);
  }
  Tuple *tuple = make<Tuple>(first);
  tuple->elts = targets.take();
  tuple->ctx = ExprContext::Store;
  return finish(tuple, tuple->elts);
}

} // namespace nereid::syntax
