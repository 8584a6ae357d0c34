//===- Stmt.h - Statement and pattern nodes ---------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `stmt`, `pattern` and `mod` of CPython 3.11's Python.asdl. Fields have
// CPython's names in lowerCamel. type_comment and type_ignores are always
// empty after ast.parse(text) and have no field here. Python's statement
// `Expr` is called ExprStmt, since Expr is the base of expressions.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_STMT_H
#define NEREID_SYNTAX_STMT_H

#include "nereid/Syntax/Expr.h"

namespace nereid::ast {

struct Stmt : Node {
  using Node::Node;
  static bool classof(const Node *node) {
    return node->kind >= Kind::FunctionDef && node->kind <= Kind::Continue;
  }
};

using Body = Seq<Stmt *>;

/// What FunctionDef and AsyncFunctionDef share.
struct FunctionLike : Stmt {
  using Stmt::Stmt;
  static bool classof(const Node *node) {
    return node->kind == Kind::FunctionDef ||
           node->kind == Kind::AsyncFunctionDef;
  }
  std::string_view name;
  Arguments *args;
  Body body;
  Seq<Expr *> decoratorList;
  Expr *returns; ///< may be null
};

struct FunctionDef : NodeOf<FunctionLike, Kind::FunctionDef> {};
struct AsyncFunctionDef : NodeOf<FunctionLike, Kind::AsyncFunctionDef> {};

struct ClassDef : NodeOf<Stmt, Kind::ClassDef> {
  std::string_view name;
  Seq<Expr *> bases;
  Seq<Keyword *> keywords;
  Body body;
  Seq<Expr *> decoratorList;
};

struct Return : NodeOf<Stmt, Kind::Return> {
  Expr *value; ///< may be null
};

struct Delete : NodeOf<Stmt, Kind::Delete> {
  Seq<Expr *> targets;
};

/// `targets[0] = targets[1] = ... = value`
struct Assign : NodeOf<Stmt, Kind::Assign> {
  Seq<Expr *> targets;
  Expr *value;
};

struct AugAssign : NodeOf<Stmt, Kind::AugAssign> {
  Expr *target;
  Operator op;
  Expr *value;
};

/// `target: annotation = value`
struct AnnAssign : NodeOf<Stmt, Kind::AnnAssign> {
  Expr *target;
  Expr *annotation;
  Expr *value; ///< may be null
  bool simple; ///< a bare name, without parentheses
};

struct ForLike : Stmt {
  using Stmt::Stmt;
  static bool classof(const Node *node) {
    return node->kind == Kind::For || node->kind == Kind::AsyncFor;
  }
  Expr *target;
  Expr *iter;
  Body body;
  Body orelse;
};

struct For : NodeOf<ForLike, Kind::For> {};
struct AsyncFor : NodeOf<ForLike, Kind::AsyncFor> {};

struct While : NodeOf<Stmt, Kind::While> {
  Expr *test;
  Body body;
  Body orelse;
};

/// `elif` is an If alone in orelse.
struct If : NodeOf<Stmt, Kind::If> {
  Expr *test;
  Body body;
  Body orelse;
};

/// The next of a chain: the `elif`, or the `if` alone in an `else`; null at the
/// chain's end. A chain may be longer than the stack is deep.
inline const If *elifOf(const If *branch) {
  return branch->orelse.size() == 1 ? dynCast<If>(branch->orelse[0]) : nullptr;
}

struct WithItem : NodeOf<Node, Kind::WithItem> {
  Expr *contextExpr;
  Expr *optionalVars; ///< may be null
};

struct WithLike : Stmt {
  using Stmt::Stmt;
  static bool classof(const Node *node) {
    return node->kind == Kind::With || node->kind == Kind::AsyncWith;
  }
  Seq<WithItem *> items;
  Body body;
};

struct With : NodeOf<WithLike, Kind::With> {};
struct AsyncWith : NodeOf<WithLike, Kind::AsyncWith> {};

struct Raise : NodeOf<Stmt, Kind::Raise> {
  Expr *exc;   ///< may be null
  Expr *cause; ///< may be null
};

struct ExceptHandler : NodeOf<Node, Kind::ExceptHandler> {
  Expr *type;            ///< null for a bare `except:`
  std::string_view name; ///< empty without `as name`
  Body body;
};

struct TryLike : Stmt {
  using Stmt::Stmt;
  static bool classof(const Node *node) {
    return node->kind == Kind::Try || node->kind == Kind::TryStar;
  }
  Body body;
  Seq<ExceptHandler *> handlers;
  Body orelse;
  Body finalbody;
};

struct Try : NodeOf<TryLike, Kind::Try> {};
/// `except*`
struct TryStar : NodeOf<TryLike, Kind::TryStar> {};

struct Assert : NodeOf<Stmt, Kind::Assert> {
  Expr *test;
  Expr *msg; ///< may be null
};

/// `name as asname`; `name` is dotted as written, or "*".
struct Alias : NodeOf<Node, Kind::Alias> {
  std::string_view name;
  std::string_view asname; ///< empty without `as`
};

struct Import : NodeOf<Stmt, Kind::Import> {
  Seq<Alias *> names;
};

struct ImportFrom : NodeOf<Stmt, Kind::ImportFrom> {
  std::string_view module; ///< empty for `from . import name`
  Seq<Alias *> names;
  int level; ///< leading dots
};

struct Global : NodeOf<Stmt, Kind::Global> {
  Seq<std::string_view> names;
};

struct Nonlocal : NodeOf<Stmt, Kind::Nonlocal> {
  Seq<std::string_view> names;
};

/// An expression as a statement; CPython's `Expr`.
struct ExprStmt : NodeOf<Stmt, Kind::ExprStmt> {
  Expr *value;
};

struct Pass : NodeOf<Stmt, Kind::Pass> {};
struct Break : NodeOf<Stmt, Kind::Break> {};
struct Continue : NodeOf<Stmt, Kind::Continue> {};

//===----------------------------------------------------------------------===//
// match
//===----------------------------------------------------------------------===//

struct Pattern : Node {
  using Node::Node;
  static bool classof(const Node *node) {
    return node->kind >= Kind::MatchValue && node->kind <= Kind::MatchOr;
  }
};

struct MatchCase : NodeOf<Node, Kind::MatchCase> {
  Pattern *pattern;
  Expr *guard; ///< may be null
  Body body;
};

struct Match : NodeOf<Stmt, Kind::Match> {
  Expr *subject;
  Seq<MatchCase *> cases;
};

struct MatchValue : NodeOf<Pattern, Kind::MatchValue> {
  Expr *value;
};

struct MatchSingleton : NodeOf<Pattern, Kind::MatchSingleton> {
  ConstantKind value; ///< None, True or False
};

struct MatchSequence : NodeOf<Pattern, Kind::MatchSequence> {
  Seq<Pattern *> patterns;
};

struct MatchMapping : NodeOf<Pattern, Kind::MatchMapping> {
  Seq<Expr *> keys;
  Seq<Pattern *> patterns;
  std::string_view rest; ///< the name of `**rest`, or empty
};

struct MatchClass : NodeOf<Pattern, Kind::MatchClass> {
  Expr *cls;
  Seq<Pattern *> patterns;
  Seq<std::string_view> kwdAttrs;
  Seq<Pattern *> kwdPatterns;
};

struct MatchStar : NodeOf<Pattern, Kind::MatchStar> {
  std::string_view name; ///< empty for `*_`
};

struct MatchAs : NodeOf<Pattern, Kind::MatchAs> {
  Pattern *pattern;      ///< null for a bare name or `_`
  std::string_view name; ///< empty for `_`
};

struct MatchOr : NodeOf<Pattern, Kind::MatchOr> {
  Seq<Pattern *> patterns;
};

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

/// A file.
struct Module : NodeOf<Node, Kind::Module> {
  Body body;
};

/// A single expression, from parseExpression.
struct Expression : NodeOf<Node, Kind::Expression> {
  Expr *body;
};

} // namespace nereid::ast

#endif // NEREID_SYNTAX_STMT_H
