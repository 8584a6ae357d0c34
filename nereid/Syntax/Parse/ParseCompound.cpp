//===- ParseCompound.cpp - Statements with blocks -------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/PythonParser.h"

namespace nereid::syntax {

using namespace ast;

Stmt *PythonParser::compoundStatement(Tok first) {
  switch (first) {
  case Tok::KwDef:
    return functionDef<FunctionDef>(pos, {});
  case Tok::At:
    return decorated();
  case Tok::KwAsync:
    return asyncStatement({});
  case Tok::KwIf:
    return ifStatement();
  case Tok::KwClass:
    return classDef({});
  case Tok::KwWith:
    return withStatement<With>(pos);
  case Tok::KwFor:
    return forStatement<For>(pos);
  case Tok::KwTry:
    return tryStatement();
  default:
    return whileStatement();
  }
}

bool PythonParser::block(Body &out) {
  Builder<Stmt> statements(*this);
  if (!accept(Tok::Newline)) {
    if (!simpleStatements(statements)) {
      return false;
    }
    out = statements.take();
    return true;
  }
  Nesting nesting(*this);
  if (!expect(Tok::Indent) || !nesting.ok()) {
    return false;
  }
  do {
    if (!statement(statements)) {
      return false;
    }
  } while (!at(Tok::Dedent) && !at(Tok::EndMarker));
  out = statements.take();
  return expect(Tok::Dedent);
}

bool PythonParser::elseBlock(Body &out) {
  return !accept(Tok::KwElse) || (require(Tok::Colon) && block(out));
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

Stmt *PythonParser::decorated() {
  Builder<Expr> list(*this);
  while (accept(Tok::At)) {
    Expr *decorator = namedExpression();
    if (!decorator || !expect(Tok::Newline)) {
      return nullptr;
    }
    list.add(decorator);
  }
  Seq<Expr *> decorators = list.take();
  switch (peek()) {
  case Tok::KwDef:
    return functionDef<FunctionDef>(pos, decorators);
  case Tok::KwClass:
    return classDef(decorators);
  case Tok::KwAsync:
    if (peekSecond() == Tok::KwDef) {
      return asyncStatement(decorators);
    }
    ++pos;
    mismatch("'def'");
    return nullptr;
  default:
    mismatch("a function or a class after the decorator");
    return nullptr;
  }
}

Stmt *PythonParser::asyncStatement(Seq<Expr *> decorators) {
  uint32_t first = pos++;
  switch (peek()) {
  case Tok::KwDef:
    return functionDef<AsyncFunctionDef>(first, decorators);
  case Tok::KwWith:
    return withStatement<AsyncWith>(first);
  case Tok::KwFor:
    return forStatement<AsyncFor>(first);
  default:
    mismatch("'def', 'with' or 'for' after 'async'");
    return nullptr;
  }
}

template <typename T>
Stmt *PythonParser::functionDef(uint32_t first, Seq<Expr *> decorators) {
  T *node = make<T>(first);
  ++pos;
  node->decoratorList = decorators;
  if (!name(node->name) || !require(Tok::LeftParen)) {
    return nullptr;
  }
  node->args = parameters(Tok::RightParen);
  if (!node->args || !expect(Tok::RightParen)) {
    return nullptr;
  }
  if (accept(Tok::Arrow) && !(node->returns = expression())) {
    return nullptr;
  }
  if (!require(Tok::Colon) || !block(node->body)) {
    return nullptr;
  }
  return finishBlock(node, node->args, node->body, node->decoratorList,
                     node->returns);
}

Stmt *PythonParser::classDef(Seq<Expr *> decorators) {
  ClassDef *node = make<ClassDef>(pos++);
  node->decoratorList = decorators;
  if (!name(node->name)) {
    return nullptr;
  }
  if (accept(Tok::LeftParen) &&
      !(arguments(node->bases, node->keywords, false) &&
        expect(Tok::RightParen))) {
    return nullptr;
  }
  if (!expect(Tok::Colon) || !block(node->body)) {
    return nullptr;
  }
  return finishBlock(node, node->bases, node->keywords, node->body,
                     node->decoratorList);
}

//===----------------------------------------------------------------------===//
// if, while, for
//===----------------------------------------------------------------------===//

/// `elif` is an If in the orelse of the one before, and ends where the chain
/// ends. It is no higher than the `if` for that.
bool PythonParser::linkChain(std::span<If *const> chain, Body orelse) {
  const Span &last = lastVisible().span;
  unsigned below = heightOf(orelse);
  for (size_t i = chain.size(); i-- > 0;) {
    If *node = chain[i];
    node->orelse = orelse;
    node->span = node->span.to(last);
    below = std::max({below, heightOf(node->test), heightOf(node->body)});
    if (!limited(node, 1 + below)) {
      return false;
    }
    Stmt *statement = node;
    orelse = arena.copy(&statement, 1);
  }
  return true;
}

Stmt *PythonParser::ifStatement() {
  std::vector<If *> chain;
  Body orelse;
  do {
    If *node = make<If>(pos++);
    node->test = namedExpression();
    if (!node->test || !expect(Tok::Colon) || !block(node->body)) {
      return nullptr;
    }
    chain.push_back(node);
    if (chain.size() > maxElifs + 1) {
      return raise(node->test->span, "this 'if' has too many 'elif'",
                   "at most " + std::to_string(maxElifs) +
                       " are allowed; split it into parts");
    }
  } while (at(Tok::KwElif));
  if (!elseBlock(orelse) || !linkChain(chain, orelse)) {
    return nullptr;
  }
  return chain.front();
}

Stmt *PythonParser::whileStatement() {
  While *node = make<While>(pos++);
  node->test = namedExpression();
  if (!node->test || !expect(Tok::Colon) || !block(node->body) ||
      !elseBlock(node->orelse)) {
    return nullptr;
  }
  return finishBlock(node, node->test, node->body, node->orelse);
}

template <typename T>
Stmt *PythonParser::forStatement(uint32_t first) {
  T *node = make<T>(first);
  ++pos;
  node->target = starTargets();
  if (!node->target || !expect(Tok::KwIn)) {
    return nullptr;
  }
  node->iter = starExpressions();
  if (!node->iter || !expect(Tok::Colon) || !block(node->body) ||
      !elseBlock(node->orelse)) {
    return nullptr;
  }
  return finishBlock(node, node->target, node->iter, node->body, node->orelse);
}

//===----------------------------------------------------------------------===//
// with
//===----------------------------------------------------------------------===//

WithItem *PythonParser::withItem() {
  WithItem *node = make<WithItem>(pos);
  node->contextExpr = expression();
  if (!node->contextExpr) {
    return nullptr;
  }
  if (accept(Tok::KwAs)) {
    node->optionalVars = starTarget();
    if (!node->optionalVars) {
      return nullptr;
    }
    if (!at(Tok::Comma) && !at(Tok::RightParen) && !at(Tok::Colon)) {
      mismatch("':'");
      return nullptr;
    }
  }
  return finish(node, node->contextExpr, node->optionalVars);
}

bool PythonParser::withItems(Builder<WithItem> &items, bool parenthesized) {
  do {
    if (parenthesized && items.size() > 0 && at(Tok::RightParen)) {
      break;
    }
    WithItem *item = withItem();
    if (!item) {
      return false;
    }
    items.add(item);
  } while (accept(Tok::Comma));
  return !parenthesized || expect(Tok::RightParen);
}

template <typename T>
Stmt *PythonParser::withStatement(uint32_t first) {
  T *node = make<T>(first);
  uint32_t start = ++pos;
  bool found = false;
  if (accept(Tok::LeftParen)) {
    // `with (a, b):` and `with (a, b) as c:` differ only at the colon.
    Builder<WithItem> items(*this);
    found = withItems(items, true) && accept(Tok::Colon);
    if (raised) {
      return nullptr;
    }
    if (found) {
      node->items = items.take();
    } else {
      pos = start;
    }
  }
  if (!found) {
    Builder<WithItem> items(*this);
    if (!withItems(items, false) || !expect(Tok::Colon)) {
      return nullptr;
    }
    node->items = items.take();
  }
  if (!block(node->body)) {
    return nullptr;
  }
  return finishBlock(node, node->items, node->body);
}

//===----------------------------------------------------------------------===//
// try
//===----------------------------------------------------------------------===//

ExceptHandler *PythonParser::exceptHandler(bool star) {
  ExceptHandler *node = make<ExceptHandler>(pos++);
  if (star && !expect(Tok::Star)) {
    return nullptr;
  }
  if (star || !at(Tok::Colon)) {
    node->type = expression();
    if (!node->type || (accept(Tok::KwAs) && !name(node->name))) {
      return nullptr;
    }
  }
  if (!expect(Tok::Colon) || !block(node->body)) {
    return nullptr;
  }
  return finishBlock(node, node->type, node->body);
}

Stmt *PythonParser::tryStatement() {
  uint32_t first = pos++;
  Body body, orelse, finalbody;
  if (!require(Tok::Colon) || !block(body)) {
    return nullptr;
  }
  bool star = at(Tok::KwExcept) && peekSecond() == Tok::Star;
  Builder<ExceptHandler> handlers(*this);
  while (at(Tok::KwExcept)) {
    ExceptHandler *handler = exceptHandler(star);
    if (!handler) {
      return nullptr;
    }
    handlers.add(handler);
  }
  if (handlers.size() == 0 && !at(Tok::KwFinally)) {
    mismatch("'except' or 'finally'");
    return nullptr;
  }
  if (handlers.size() > 0 && !elseBlock(orelse)) {
    return nullptr;
  }
  if (accept(Tok::KwFinally) && !(require(Tok::Colon) && block(finalbody))) {
    return nullptr;
  }
  auto fill = [&](auto *node) -> Stmt * {
    node->body = body;
    node->handlers = handlers.take();
    node->orelse = orelse;
    node->finalbody = finalbody;
    return finishBlock(node, body, node->handlers, orelse, finalbody);
  };
  return star ? fill(make<TryStar>(first)) : fill(make<Try>(first));
}

} // namespace nereid::syntax
