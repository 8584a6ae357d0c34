//===- AssignedNames.cpp - Variables that statements assign -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/IRGen/Eval/AssignedNames.h"

#include "llvm/ADT/STLExtras.h"

namespace nereid::irgen {

namespace {

class Collector {
public:
  std::vector<llvm::StringRef> names;

  void visit(ast::Body body) {
    for (const ast::Stmt *statement : body) {
      visit(statement);
    }
  }

private:
  void add(llvm::StringRef name) {
    if (!llvm::is_contained(names, name)) {
      names.push_back(name);
    }
  }

  void target(const ast::Expr *expr) {
    if (const auto *name = ast::dynCast<ast::Name>(expr)) {
      add(name->id);
    } else if (const auto *tuple = ast::dynCast<ast::Tuple>(expr)) {
      llvm::for_each(tuple->elts, [&](const ast::Expr *e) { target(e); });
    } else if (const auto *list = ast::dynCast<ast::List>(expr)) {
      llvm::for_each(list->elts, [&](const ast::Expr *e) { target(e); });
    } else if (const auto *starred = ast::dynCast<ast::Starred>(expr)) {
      target(starred->value);
    }
  }

  /// `(y := f(x))` anywhere in an expression.
  void walrus(const ast::Expr *expr) {
    if (!expr) {
      return;
    }
    switch (expr->kind) {
    case ast::Kind::NamedExpr:
      target(ast::cast<ast::NamedExpr>(expr)->target);
      return walrus(ast::cast<ast::NamedExpr>(expr)->value);
    case ast::Kind::BinOp:
      walrus(ast::cast<ast::BinOp>(expr)->left);
      return walrus(ast::cast<ast::BinOp>(expr)->right);
    case ast::Kind::UnaryOp:
      return walrus(ast::cast<ast::UnaryOp>(expr)->operand);
    case ast::Kind::BoolOp:
      for (const ast::Expr *value : ast::cast<ast::BoolOp>(expr)->values) {
        walrus(value);
      }
      return;
    case ast::Kind::Compare:
      walrus(ast::cast<ast::Compare>(expr)->left);
      for (const ast::Expr *e : ast::cast<ast::Compare>(expr)->comparators) {
        walrus(e);
      }
      return;
    case ast::Kind::Call:
      for (const ast::Expr *arg : ast::cast<ast::Call>(expr)->args) {
        walrus(arg);
      }
      for (const ast::Keyword *k : ast::cast<ast::Call>(expr)->keywords) {
        walrus(k->value);
      }
      return;
    case ast::Kind::Tuple:
      for (const ast::Expr *item : ast::cast<ast::Tuple>(expr)->elts) {
        walrus(item);
      }
      return;
    default:
      return;
    }
  }

  void visit(const ast::Stmt *statement) {
    switch (statement->kind) {
    case ast::Kind::Assign: {
      const auto *assign = ast::cast<ast::Assign>(statement);
      llvm::for_each(assign->targets, [&](const ast::Expr *e) { target(e); });
      return walrus(assign->value);
    }
    case ast::Kind::AnnAssign:
      target(ast::cast<ast::AnnAssign>(statement)->target);
      return walrus(ast::cast<ast::AnnAssign>(statement)->value);
    case ast::Kind::AugAssign:
      target(ast::cast<ast::AugAssign>(statement)->target);
      return walrus(ast::cast<ast::AugAssign>(statement)->value);
    case ast::Kind::ExprStmt:
      return walrus(ast::cast<ast::ExprStmt>(statement)->value);
    case ast::Kind::For: {
      const auto *loop = ast::cast<ast::For>(statement);
      target(loop->target);
      visit(loop->body);
      return visit(loop->orelse);
    }
    case ast::Kind::While: {
      const auto *loop = ast::cast<ast::While>(statement);
      walrus(loop->test);
      visit(loop->body);
      return visit(loop->orelse);
    }
    case ast::Kind::If:
      for (const auto *branch = ast::cast<ast::If>(statement); branch;
           branch = ast::elifOf(branch)) {
        walrus(branch->test);
        visit(branch->body);
        if (!ast::elifOf(branch)) {
          visit(branch->orelse);
        }
      }
      return;
    case ast::Kind::With:
      return visit(ast::cast<ast::With>(statement)->body);
    default:
      return;
    }
  }
};

} // namespace

std::vector<llvm::StringRef> assignedNames(ast::Body body) {
  Collector collector;
  collector.visit(body);
  return std::move(collector.names);
}

} // namespace nereid::irgen
