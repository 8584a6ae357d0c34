//===- ParseExpression.cpp - Operators, conditions, lambda, yield  ===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/PythonParser.h"

namespace nereid::syntax {

using namespace ast;

bool PythonParser::startsExpression(Tok kind) {
  switch (kind) {
  case Tok::Name:
  case Tok::Number:
  case Tok::String:
  case Tok::LeftParen:
  case Tok::LeftBracket:
  case Tok::LeftBrace:
  case Tok::Ellipsis:
  case Tok::Plus:
  case Tok::Minus:
  case Tok::Tilde:
  case Tok::Star:
  case Tok::KwNone:
  case Tok::KwTrue:
  case Tok::KwFalse:
  case Tok::KwNot:
  case Tok::KwLambda:
  case Tok::KwAwait:
    return true;
  default:
    return false;
  }
}

/// `first` and what follows, separated by commas, as a Tuple; `element` parses
/// one more.
#define NEREID_TUPLE_OF(ELEMENT)                                               \
  uint32_t first = pos;                                                        \
  Expr *value = ELEMENT();                                                     \
  if (!value || !at(Tok::Comma)) {                                             \
    return value;                                                              \
  }                                                                            \
  Builder<Expr> elements(*this);                                               \
  elements.add(value);                                                         \
  while (accept(Tok::Comma) && startsExpression(peek())) {                     \
    Expr *element = ELEMENT();                                                 \
    if (!element) {                                                            \
      return nullptr;                                                          \
    }                                                                          \
    elements.add(element);                                                     \
  }                                                                            \
  Tuple *tuple = make<Tuple>(first);                                           \
  tuple->elts = elements.take();                                               \
  tuple->ctx = ExprContext::Load;                                              \
  return finish(tuple, tuple->elts)

Expr *PythonParser::expressions() { NEREID_TUPLE_OF(expression); }
Expr *PythonParser::starExpressions() { NEREID_TUPLE_OF(starExpression); }

#undef NEREID_TUPLE_OF

Expr *PythonParser::starredBitwiseOr() {
  uint32_t first = pos++;
  Starred *starred = make<Starred>(first);
  starred->value = bitwiseOr();
  starred->ctx = ExprContext::Load;
  return starred->value ? finish(starred, starred->value) : nullptr;
}

Expr *PythonParser::starExpression() {
  return at(Tok::Star) ? starredBitwiseOr() : expression();
}

Expr *PythonParser::starNamedExpression() {
  return at(Tok::Star) ? starredBitwiseOr() : namedExpression();
}

Expr *PythonParser::namedExpression() {
  if (!at(Tok::Name) || peekSecond() != Tok::ColonEqual) {
    return expression();
  }
  NamedExpr *named = make<NamedExpr>(pos);
  Name *target = make<Name>(pos);
  target->id = identifier(tokens[pos]);
  target->ctx = ExprContext::Store;
  named->target = target;
  pos += 2;
  named->value = expression();
  return named->value ? finish(named, named->value) : nullptr;
}

Expr *PythonParser::expression() {
  Nesting nesting(*this);
  if (!nesting.ok()) {
    return nullptr;
  }
  if (at(Tok::KwLambda)) {
    return lambda();
  }
  uint32_t first = pos;
  Expr *body = disjunction();
  if (!body || !accept(Tok::KwIf)) {
    return body;
  }
  IfExp *conditional = make<IfExp>(first);
  conditional->body = body;
  conditional->test = disjunction();
  if (!conditional->test || !expect(Tok::KwElse)) {
    return nullptr;
  }
  conditional->orelse = expression();
  return conditional->orelse
             ? finish(conditional, body, conditional->test, conditional->orelse)
             : nullptr;
}

Expr *PythonParser::lambda() {
  Lambda *function = make<Lambda>(pos++);
  function->args = parameters(Tok::Colon);
  if (!function->args || !expect(Tok::Colon)) {
    return nullptr;
  }
  function->body = expression();
  return function->body ? finish(function, function->args, function->body)
                        : nullptr;
}

Expr *PythonParser::yieldExpression() {
  uint32_t first = pos++;
  if (accept(Tok::KwFrom)) {
    YieldFrom *yield = make<YieldFrom>(first);
    yield->value = expression();
    return yield->value ? finish(yield, yield->value) : nullptr;
  }
  Yield *yield = make<Yield>(first);
  if (startsExpression(peek())) {
    yield->value = starExpressions();
    if (!yield->value) {
      return nullptr;
    }
  }
  return finish(yield, yield->value);
}

Expr *PythonParser::yieldOrStarExpressions() {
  return at(Tok::KwYield) ? yieldExpression() : starExpressions();
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Expr *PythonParser::disjunction() {
  uint32_t first = pos;
  Expr *value = conjunction();
  if (!value || !at(Tok::KwOr)) {
    return value;
  }
  Builder<Expr> values(*this);
  values.add(value);
  while (accept(Tok::KwOr)) {
    if (!(value = conjunction())) {
      return nullptr;
    }
    values.add(value);
  }
  BoolOp *node = make<BoolOp>(first);
  node->op = BoolOperator::Or;
  node->values = values.take();
  return finish(node, node->values);
}

Expr *PythonParser::conjunction() {
  uint32_t first = pos;
  Expr *value = inversion();
  if (!value || !at(Tok::KwAnd)) {
    return value;
  }
  Builder<Expr> values(*this);
  values.add(value);
  while (accept(Tok::KwAnd)) {
    if (!(value = inversion())) {
      return nullptr;
    }
    values.add(value);
  }
  BoolOp *node = make<BoolOp>(first);
  node->op = BoolOperator::And;
  node->values = values.take();
  return finish(node, node->values);
}

Expr *PythonParser::inversion() {
  if (!at(Tok::KwNot)) {
    return comparison();
  }
  Nesting nesting(*this);
  if (!nesting.ok()) {
    return nullptr;
  }
  UnaryOp *node = make<UnaryOp>(pos++);
  node->op = UnaryOperator::Not;
  node->operand = inversion();
  return node->operand ? finish(node, node->operand) : nullptr;
}

namespace {
struct ComparisonAt {
  CompareOperator op;
  unsigned tokens; ///< 0: no comparison
};
} // namespace

static ComparisonAt comparisonAt(Tok kind, Tok second) {
  switch (kind) {
  case Tok::EqualEqual:
    return {CompareOperator::Eq, 1};
  case Tok::NotEqual:
    return {CompareOperator::NotEq, 1};
  case Tok::Less:
    return {CompareOperator::Lt, 1};
  case Tok::LessEqual:
    return {CompareOperator::LtE, 1};
  case Tok::Greater:
    return {CompareOperator::Gt, 1};
  case Tok::GreaterEqual:
    return {CompareOperator::GtE, 1};
  case Tok::KwIn:
    return {CompareOperator::In, 1};
  case Tok::KwIs:
    return second == Tok::KwNot ? ComparisonAt{CompareOperator::IsNot, 2}
                                : ComparisonAt{CompareOperator::Is, 1};
  case Tok::KwNot:
    return {CompareOperator::NotIn, second == Tok::KwIn ? 2u : 0u};
  default:
    return {CompareOperator::Eq, 0};
  }
}

Expr *PythonParser::comparison() {
  uint32_t first = pos;
  Expr *left = bitwiseOr();
  if (!left) {
    return nullptr;
  }
  std::vector<CompareOperator> ops;
  Builder<Expr> comparators(*this);
  for (;;) {
    Tok kind = peek();
    bool two = kind == Tok::KwIs || kind == Tok::KwNot;
    ComparisonAt found = comparisonAt(kind, two ? peekSecond() : Tok::Error);
    if (found.tokens == 0) {
      break;
    }
    // `<>` is the same token, valid only under a flag that ast.parse never
    // sets.
    if (kind == Tok::NotEqual && text(tokens[pos]) == "<>") {
      break;
    }
    pos += found.tokens;
    Expr *right = bitwiseOr();
    if (!right) {
      return nullptr;
    }
    ops.push_back(found.op);
    comparators.add(right);
  }
  if (ops.empty()) {
    return left;
  }
  Compare *node = make<Compare>(first);
  node->left = left;
  node->ops = arena.copy(ops.data(), ops.size());
  node->comparators = comparators.take();
  return finish(node, left, node->comparators);
}

namespace {
struct BinaryOperator {
  Operator op;
  int precedence; ///< 0: no binary operator
};
} // namespace

static BinaryOperator binaryOperator(Tok kind) {
  switch (kind) {
  case Tok::Bar:
    return {Operator::BitOr, 1};
  case Tok::Caret:
    return {Operator::BitXor, 2};
  case Tok::Ampersand:
    return {Operator::BitAnd, 3};
  case Tok::LeftShift:
    return {Operator::LShift, 4};
  case Tok::RightShift:
    return {Operator::RShift, 4};
  case Tok::Plus:
    return {Operator::Add, 5};
  case Tok::Minus:
    return {Operator::Sub, 5};
  case Tok::Star:
    return {Operator::Mult, 6};
  case Tok::Slash:
    return {Operator::Div, 6};
  case Tok::DoubleSlash:
    return {Operator::FloorDiv, 6};
  case Tok::Percent:
    return {Operator::Mod, 6};
  case Tok::At:
    return {Operator::MatMult, 6};
  default:
    return {Operator::Add, 0};
  }
}

/// Operators of at least this precedence, by climbing: one call for a chain of
/// any length, so that only brackets and unary operators nest.
Expr *PythonParser::binary(int minimum) {
  uint32_t first = pos;
  Expr *left = factor();
  while (left) {
    BinaryOperator found = binaryOperator(peek());
    if (found.precedence < minimum) {
      return left;
    }
    ++pos;
    BinOp *node = make<BinOp>(first);
    node->left = left;
    node->op = found.op;
    node->right = binary(found.precedence + 1);
    left = node->right ? finish(node, node->left, node->right) : nullptr;
  }
  return nullptr;
}

Expr *PythonParser::factor() {
  UnaryOperator op;
  switch (peek()) {
  case Tok::Plus:
    op = UnaryOperator::UAdd;
    break;
  case Tok::Minus:
    op = UnaryOperator::USub;
    break;
  case Tok::Tilde:
    op = UnaryOperator::Invert;
    break;
  default: {
    uint32_t first = pos;
    Expr *base = awaitPrimary();
    if (!base || !accept(Tok::DoubleStar)) {
      return base;
    }
    Nesting nesting(*this);
    BinOp *power = make<BinOp>(first);
    power->left = base;
    power->op = Operator::Pow;
    power->right = nesting.ok() ? factor() : nullptr;
    return power->right ? finish(power, base, power->right) : nullptr;
  }
  }
  Nesting nesting(*this);
  UnaryOp *node = make<UnaryOp>(pos++);
  node->op = op;
  node->operand = nesting.ok() ? factor() : nullptr;
  return node->operand ? finish(node, node->operand) : nullptr;
}

} // namespace nereid::syntax
