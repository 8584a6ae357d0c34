//===- ParseStatement.cpp - Simple statements -----------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/PythonParser.h"

namespace nereid::syntax {

using namespace ast;

bool PythonParser::statement(Builder<Stmt> &out) {
  Tok first = peek();
  switch (first) {
  case Tok::KwDef:
  case Tok::At:
  case Tok::KwAsync:
  case Tok::KwIf:
  case Tok::KwClass:
  case Tok::KwWith:
  case Tok::KwFor:
  case Tok::KwTry:
  case Tok::KwWhile: {
    Stmt *node = compoundStatement(first);
    if (node) {
      out.add(node);
    }
    return node;
  }
  case Tok::Name:
    if (atSoftKeyword("match")) {
      uint32_t first = pos;
      if (Stmt *node = matchStatement()) {
        out.add(node);
        return true;
      }
      if (raised) {
        return false;
      }
      pos = first;
    }
    break;
  default:
    break;
  }
  return simpleStatements(out);
}

bool PythonParser::simpleStatements(Builder<Stmt> &out) {
  do {
    Stmt *node = simpleStatement();
    if (!node) {
      return false;
    }
    out.add(node);
  } while (accept(Tok::Semicolon) && !at(Tok::Newline));
  return expect(Tok::Newline);
}

Stmt *PythonParser::simpleStatement() {
  switch (peek()) {
  case Tok::KwReturn:
    return returnStatement();
  case Tok::KwImport:
    return importStatement();
  case Tok::KwFrom:
    return importFromStatement();
  case Tok::KwRaise:
    return raiseStatement();
  case Tok::KwPass:
    return finish(make<Pass>(pos++));
  case Tok::KwDel:
    return deleteStatement();
  case Tok::KwYield: {
    ExprStmt *node = make<ExprStmt>(pos);
    node->value = yieldExpression();
    return node->value ? finish(node, node->value) : nullptr;
  }
  case Tok::KwAssert:
    return assertStatement();
  case Tok::KwBreak:
    return finish(make<Break>(pos++));
  case Tok::KwContinue:
    return finish(make<Continue>(pos++));
  case Tok::KwGlobal:
    return nameListStatement<Global>();
  case Tok::KwNonlocal:
    return nameListStatement<Nonlocal>();
  default:
    return assignmentOrExpression();
  }
}

//===----------------------------------------------------------------------===//
// Assignments
//===----------------------------------------------------------------------===//

static bool augmentedOperator(Tok kind, Operator &op) {
  switch (kind) {
  case Tok::PlusEqual:
    op = Operator::Add;
    return true;
  case Tok::MinusEqual:
    op = Operator::Sub;
    return true;
  case Tok::StarEqual:
    op = Operator::Mult;
    return true;
  case Tok::AtEqual:
    op = Operator::MatMult;
    return true;
  case Tok::SlashEqual:
    op = Operator::Div;
    return true;
  case Tok::PercentEqual:
    op = Operator::Mod;
    return true;
  case Tok::AmpersandEqual:
    op = Operator::BitAnd;
    return true;
  case Tok::BarEqual:
    op = Operator::BitOr;
    return true;
  case Tok::CaretEqual:
    op = Operator::BitXor;
    return true;
  case Tok::LeftShiftEqual:
    op = Operator::LShift;
    return true;
  case Tok::RightShiftEqual:
    op = Operator::RShift;
    return true;
  case Tok::DoubleStarEqual:
    op = Operator::Pow;
    return true;
  case Tok::DoubleSlashEqual:
    op = Operator::FloorDiv;
    return true;
  default:
    return false;
  }
}

Stmt *PythonParser::assignmentOrExpression() {
  uint32_t first = pos;
  Expr *value = starExpressions();
  if (!value) {
    return nullptr;
  }
  Operator op;
  switch (peek()) {
  case Tok::Equal:
    return assignment(first, value);
  case Tok::Colon:
    return annotatedAssignment(first, value);
  default:
    if (augmentedOperator(peek(), op)) {
      return augmentedAssignment(first, value, op);
    }
    ExprStmt *node = make<ExprStmt>(first);
    node->value = value;
    return finish(node, value);
  }
}

Stmt *PythonParser::assignment(uint32_t first, Expr *value) {
  Builder<Expr> targets(*this);
  while (at(Tok::Equal)) {
    if (isa<Yield>(value) || isa<YieldFrom>(value) ||
        !makeTarget(value, ExprContext::Store)) {
      mismatch("a target that can be assigned to");
      return nullptr;
    }
    targets.add(value);
    ++pos;
    if (!(value = yieldOrStarExpressions())) {
      return nullptr;
    }
  }
  Assign *node = make<Assign>(first);
  node->targets = targets.take();
  node->value = value;
  return finish(node, node->targets, value);
}

Stmt *PythonParser::annotatedAssignment(uint32_t first, Expr *target) {
  if (!isSingleTarget(target)) {
    mismatch("the end of the line");
    return nullptr;
  }
  ++pos;
  makeTarget(target, ExprContext::Store);
  AnnAssign *node = make<AnnAssign>(first);
  node->target = target;
  node->simple = tokens[first].kind == Tok::Name && isa<Name>(target);
  node->annotation = expression();
  if (!node->annotation) {
    return nullptr;
  }
  if (accept(Tok::Equal) && !(node->value = yieldOrStarExpressions())) {
    return nullptr;
  }
  return finish(node, target, node->annotation, node->value);
}

Stmt *PythonParser::augmentedAssignment(uint32_t first, Expr *target,
                                        Operator op) {
  if (!isSingleTarget(target)) {
    mismatch("the end of the line");
    return nullptr;
  }
  ++pos;
  makeTarget(target, ExprContext::Store);
  AugAssign *node = make<AugAssign>(first);
  node->target = target;
  node->op = op;
  node->value = yieldOrStarExpressions();
  return node->value ? finish(node, target, node->value) : nullptr;
}

//===----------------------------------------------------------------------===//
// Statements with a keyword
//===----------------------------------------------------------------------===//

Stmt *PythonParser::returnStatement() {
  Return *node = make<Return>(pos++);
  if (startsExpression(peek()) && !(node->value = starExpressions())) {
    return nullptr;
  }
  return finish(node, node->value);
}

Stmt *PythonParser::raiseStatement() {
  Raise *node = make<Raise>(pos++);
  if (startsExpression(peek()) && !at(Tok::Star)) {
    node->exc = expression();
    if (!node->exc || (accept(Tok::KwFrom) && !(node->cause = expression()))) {
      return nullptr;
    }
  }
  return finish(node, node->exc, node->cause);
}

Stmt *PythonParser::deleteStatement() {
  Delete *node = make<Delete>(pos++);
  Builder<Expr> targets(*this);
  do {
    if (targets.size() > 0 && (at(Tok::Semicolon) || at(Tok::Newline))) {
      break;
    }
    Expr *target = primary();
    if (!target) {
      return nullptr;
    }
    if (!makeTarget(target, ExprContext::Del)) {
      mismatch("a target that can be deleted");
      return nullptr;
    }
    targets.add(target);
  } while (accept(Tok::Comma));
  if (!at(Tok::Semicolon) && !at(Tok::Newline)) {
    mismatch("the end of the line");
    return nullptr;
  }
  node->targets = targets.take();
  return finish(node, node->targets);
}

Stmt *PythonParser::assertStatement() {
  Assert *node = make<Assert>(pos++);
  node->test = expression();
  if (!node->test || (accept(Tok::Comma) && !(node->msg = expression()))) {
    return nullptr;
  }
  return finish(node, node->test, node->msg);
}

template <typename T>
Stmt *PythonParser::nameListStatement() {
  T *node = make<T>(pos++);
  std::vector<std::string_view> names;
  do {
    if (!name(names.emplace_back())) {
      return nullptr;
    }
  } while (accept(Tok::Comma));
  node->names = arena.copy(names.data(), names.size());
  return finish(node);
}

//===----------------------------------------------------------------------===//
// Imports
//===----------------------------------------------------------------------===//

bool PythonParser::dottedName(std::string_view &out) {
  std::string_view part;
  if (!name(out)) {
    return false;
  }
  std::string joined;
  while (accept(Tok::Dot)) {
    if (!name(part)) {
      return false;
    }
    joined.append(joined.empty() ? out : std::string_view());
    joined.append(".").append(part);
  }
  if (!joined.empty()) {
    out = arena.copy(std::string_view(joined));
  }
  return true;
}

Alias *PythonParser::alias(bool dotted) {
  Alias *node = make<Alias>(pos);
  if (dotted ? !dottedName(node->name) : !name(node->name)) {
    return nullptr;
  }
  if (accept(Tok::KwAs) && !name(node->asname)) {
    return nullptr;
  }
  return finish(node);
}

Stmt *PythonParser::importStatement() {
  Import *node = make<Import>(pos++);
  Builder<Alias> names(*this);
  do {
    Alias *next = alias(true);
    if (!next) {
      return nullptr;
    }
    names.add(next);
  } while (accept(Tok::Comma));
  node->names = names.take();
  return finish(node);
}

Stmt *PythonParser::importFromStatement() {
  ImportFrom *node = make<ImportFrom>(pos++);
  while (at(Tok::Dot) || at(Tok::Ellipsis)) {
    node->level += at(Tok::Dot) ? 1 : 3;
    ++pos;
  }
  if ((node->level == 0 || !at(Tok::KwImport)) && !dottedName(node->module)) {
    return nullptr;
  }
  if (!expect(Tok::KwImport)) {
    return nullptr;
  }
  Builder<Alias> names(*this);
  if (at(Tok::Star)) {
    Alias *everything = make<Alias>(pos++);
    everything->name = "*";
    names.add(finish(everything));
  } else {
    bool bracketed = accept(Tok::LeftParen);
    do {
      if (bracketed && names.size() > 0 && at(Tok::RightParen)) {
        break;
      }
      Alias *next = alias(false);
      if (!next) {
        return nullptr;
      }
      names.add(next);
    } while (accept(Tok::Comma));
    if (bracketed && !expect(Tok::RightParen)) {
      return nullptr;
    }
  }
  node->names = names.take();
  return finish(node);
}

} // namespace nereid::syntax
