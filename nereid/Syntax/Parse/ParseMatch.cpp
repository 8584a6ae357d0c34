//===- ParseMatch.cpp - The match statement and its patterns --------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/PythonParser.h"

namespace nereid::syntax {

using namespace ast;

/// Null without anything raised: `match` is an ordinary name here.
Stmt *PythonParser::matchStatement() {
  Match *node = make<Match>(pos++);
  node->subject = subject();
  if (!node->subject || !accept(Tok::Colon) || !accept(Tok::Newline) ||
      !expect(Tok::Indent)) {
    return nullptr;
  }
  Builder<MatchCase> cases(*this);
  do {
    MatchCase *next = matchCase();
    if (!next) {
      return nullptr;
    }
    cases.add(next);
  } while (!at(Tok::Dedent) && !at(Tok::EndMarker));
  if (!expect(Tok::Dedent)) {
    return nullptr;
  }
  node->cases = cases.take();
  return finishBlock(node, node->subject, node->cases);
}

Expr *PythonParser::subject() {
  uint32_t first = pos;
  Expr *value = starNamedExpression();
  if (!value || !at(Tok::Comma)) {
    if (value && tokens[first].kind == Tok::Star) {
      mismatch("','");
      return nullptr;
    }
    return value;
  }
  Builder<Expr> elements(*this);
  elements.add(value);
  if (!moreElements(elements, Tok::Colon)) {
    return nullptr;
  }
  Tuple *tuple = make<Tuple>(first);
  tuple->elts = elements.take();
  tuple->ctx = ExprContext::Load;
  return finish(tuple, tuple->elts);
}

MatchCase *PythonParser::matchCase() {
  Nesting nesting(*this);
  if (!atSoftKeyword("case") || !nesting.ok()) {
    mismatch("'case'");
    return nullptr;
  }
  MatchCase *node = make<MatchCase>(pos++);
  node->pattern = patterns();
  if (!node->pattern) {
    return nullptr;
  }
  if (accept(Tok::KwIf) && !(node->guard = namedExpression())) {
    return nullptr;
  }
  if (!expect(Tok::Colon) || !block(node->body)) {
    return nullptr;
  }
  return finishBlock(node, node->pattern, node->guard, node->body);
}

/// `pattern`, or an open sequence: `a, *b, c`.
Pattern *PythonParser::patterns() {
  uint32_t first = pos;
  Pattern *value = at(Tok::Star) ? starPattern() : pattern();
  if (!value) {
    return nullptr;
  }
  if (!at(Tok::Comma)) {
    if (isa<MatchStar>(value)) {
      mismatch("','");
      return nullptr;
    }
    return value;
  }
  Builder<Pattern> items(*this);
  items.add(value);
  ++pos;
  if (!at(Tok::Colon) && !at(Tok::KwIf) && !sequenceItems(items, Tok::Colon)) {
    return nullptr;
  }
  MatchSequence *node = make<MatchSequence>(first);
  node->patterns = items.take();
  return finish(node, node->patterns);
}

/// Items with commas between, a trailing one allowed; `end` is not taken.
bool PythonParser::sequenceItems(Builder<Pattern> &out, Tok end) {
  do {
    if (out.size() > 0 && (at(end) || (end == Tok::Colon && at(Tok::KwIf)))) {
      return true;
    }
    Pattern *item = at(Tok::Star) ? starPattern() : pattern();
    if (!item) {
      return false;
    }
    out.add(item);
  } while (accept(Tok::Comma));
  return true;
}

Pattern *PythonParser::pattern() {
  Nesting nesting(*this);
  if (!nesting.ok()) {
    return nullptr;
  }
  uint32_t first = pos;
  Pattern *value = orPattern();
  if (!value || !accept(Tok::KwAs)) {
    return value;
  }
  MatchAs *node = make<MatchAs>(first);
  node->pattern = value;
  return captureTarget(node->name) ? finish(node, value) : nullptr;
}

Pattern *PythonParser::orPattern() {
  uint32_t first = pos;
  Pattern *value = closedPattern();
  if (!value || !at(Tok::Bar)) {
    return value;
  }
  Builder<Pattern> alternatives(*this);
  alternatives.add(value);
  while (accept(Tok::Bar)) {
    if (!(value = closedPattern())) {
      return nullptr;
    }
    alternatives.add(value);
  }
  MatchOr *node = make<MatchOr>(first);
  node->patterns = alternatives.take();
  return finish(node, node->patterns);
}

Pattern *PythonParser::closedPattern() {
  switch (peek()) {
  case Tok::Number:
  case Tok::Minus:
  case Tok::String:
  case Tok::KwNone:
  case Tok::KwTrue:
  case Tok::KwFalse:
    return literalPattern();
  case Tok::Name:
    return namePattern();
  case Tok::LeftParen:
  case Tok::LeftBracket:
    return groupOrSequencePattern();
  case Tok::LeftBrace:
    return mappingPattern();
  default:
    mismatch("a pattern");
    return nullptr;
  }
}

/// `_`, a capture, a dotted value, or a class pattern.
Pattern *PythonParser::namePattern() {
  uint32_t first = pos;
  if (atSoftKeyword("_")) {
    return finish(make<MatchAs>(pos++));
  }
  Tok second = peekSecond();
  if (second != Tok::Dot && second != Tok::LeftParen) {
    MatchAs *capture = make<MatchAs>(first);
    return captureTarget(capture->name) ? finish(capture) : nullptr;
  }
  Expr *value = dottedValue();
  if (!value) {
    return nullptr;
  }
  if (at(Tok::LeftParen)) {
    return classPattern(first, value);
  }
  if (at(Tok::Equal)) {
    mismatch("':'");
    return nullptr;
  }
  MatchValue *node = make<MatchValue>(first);
  node->value = value;
  return finish(node, value);
}

/// A name to bind: not `_`, and not the start of something longer.
bool PythonParser::captureTarget(std::string_view &out) {
  if (!at(Tok::Name) || atSoftKeyword("_")) {
    return mismatch("a name");
  }
  Tok second = peekSecond();
  if (second == Tok::Dot || second == Tok::LeftParen || second == Tok::Equal) {
    ++pos;
    return mismatch("':'");
  }
  return name(out);
}

Pattern *PythonParser::starPattern() {
  MatchStar *node = make<MatchStar>(pos++);
  if (atSoftKeyword("_")) {
    ++pos;
    return finish(node);
  }
  return captureTarget(node->name) ? finish(node) : nullptr;
}

Expr *PythonParser::dottedValue() {
  uint32_t first = pos;
  Expr *value = nameExpression();
  while (value && accept(Tok::Dot)) {
    Attribute *node = make<Attribute>(first);
    node->value = value;
    node->ctx = ExprContext::Load;
    value = name(node->attr) ? finish(node, value) : nullptr;
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// `1`, `-1`, `1 + 2j`.
Expr *PythonParser::signedNumber() {
  uint32_t first = pos;
  auto part = [&](bool imaginary) -> Expr * {
    if (!at(Tok::Number)) {
      mismatch("a number");
      return nullptr;
    }
    const Token literal = tokens[pos];
    Constant *value = cast<Constant>(number());
    if (value && imaginary != (value->constantKind == ConstantKind::Complex)) {
      return raise(literal.span,
                   imaginary ? "imaginary number required in complex literal"
                             : "real number required in complex literal",
                   "a complex pattern is written 1 + 2j");
    }
    return value;
  };
  bool negative = accept(Tok::Minus);
  uint32_t numberAt = pos;
  bool complex = at(Tok::Number) &&
                 (peekSecond() == Tok::Plus || peekSecond() == Tok::Minus);
  Expr *value = nullptr;
  if (complex) {
    value = part(false);
  } else if (expect(Tok::Number)) {
    pos = numberAt;
    value = number();
  }
  if (value && negative) {
    UnaryOp *minus = make<UnaryOp>(first);
    minus->op = UnaryOperator::USub;
    minus->operand = value;
    value = finish(minus, minus->operand);
  }
  if (!value || !complex) {
    return value;
  }
  BinOp *sum = make<BinOp>(first);
  sum->left = value;
  sum->op = at(Tok::Plus) ? Operator::Add : Operator::Sub;
  ++pos;
  sum->right = part(true);
  return sum->right ? finish(sum, value, sum->right) : nullptr;
}

static bool singleton(Tok kind, ConstantKind &out) {
  switch (kind) {
  case Tok::KwNone:
    out = ConstantKind::None;
    return true;
  case Tok::KwTrue:
    out = ConstantKind::True;
    return true;
  case Tok::KwFalse:
    out = ConstantKind::False;
    return true;
  default:
    return false;
  }
}

Pattern *PythonParser::literalPattern() {
  uint32_t first = pos;
  ConstantKind kind;
  if (singleton(peek(), kind)) {
    MatchSingleton *node = make<MatchSingleton>(pos++);
    node->value = kind;
    return finish(node);
  }
  MatchValue *node = make<MatchValue>(first);
  node->value = at(Tok::String) ? strings() : signedNumber();
  return node->value ? finish(node, node->value) : nullptr;
}

/// A key of a mapping pattern: a literal or a dotted name.
Expr *PythonParser::literalKey() {
  ConstantKind kind;
  if (singleton(peek(), kind)) {
    return constant(kind);
  }
  if (at(Tok::String)) {
    return strings();
  }
  if (!at(Tok::Name)) {
    return signedNumber();
  }
  if (peekSecond() != Tok::Dot) {
    ++pos;
    mismatch("'.'");
    return nullptr;
  }
  return dottedValue();
}

//===----------------------------------------------------------------------===//
// Containers and classes
//===----------------------------------------------------------------------===//

/// `(p)` is p itself; `()`, `(p,)` and `[...]` are sequences.
Pattern *PythonParser::groupOrSequencePattern() {
  uint32_t first = pos;
  bool round = at(Tok::LeftParen);
  Tok end = round ? Tok::RightParen : Tok::RightBracket;
  ++pos;
  Builder<Pattern> items(*this);
  if (!at(end)) {
    if (!sequenceItems(items, end)) {
      return nullptr;
    }
    bool comma = tokens[pos - 1].kind == Tok::Comma;
    if (round && items.size() == 1 && !comma) {
      Pattern *group = items.take()[0];
      if (isa<MatchStar>(group)) {
        mismatch("','");
        return nullptr;
      }
      return expect(end) ? group : nullptr;
    }
  }
  if (!expect(end)) {
    return nullptr;
  }
  MatchSequence *node = make<MatchSequence>(first);
  node->patterns = items.take();
  return finish(node, node->patterns);
}

Pattern *PythonParser::mappingPattern() {
  MatchMapping *node = make<MatchMapping>(pos++);
  std::vector<Expr *> keys;
  std::vector<Pattern *> values;
  while (!at(Tok::RightBrace)) {
    if (accept(Tok::DoubleStar)) {
      if (!captureTarget(node->rest)) {
        return nullptr;
      }
      accept(Tok::Comma);
      break;
    }
    Expr *key = literalKey();
    if (!key || !expect(Tok::Colon)) {
      return nullptr;
    }
    Pattern *value = pattern();
    if (!value) {
      return nullptr;
    }
    keys.push_back(key);
    values.push_back(value);
    if (!accept(Tok::Comma)) {
      break;
    }
  }
  if (!expect(Tok::RightBrace)) {
    return nullptr;
  }
  node->keys = arena.copy(keys.data(), keys.size());
  node->patterns = arena.copy(values.data(), values.size());
  return finish(node, node->keys, node->patterns);
}

/// `cls(p, q, name=r)`; `pos` is at the parenthesis.
Pattern *PythonParser::classPattern(uint32_t first, Expr *cls) {
  ++pos;
  MatchClass *node = make<MatchClass>(first);
  node->cls = cls;
  std::vector<Pattern *> positional, keyword;
  std::vector<std::string_view> names;
  while (!at(Tok::RightParen)) {
    bool named = at(Tok::Name) && peekSecond() == Tok::Equal;
    if (named) {
      names.push_back(identifier(tokens[pos]));
      pos += 2;
    } else if (!names.empty()) {
      mismatch("a keyword pattern");
      return nullptr;
    }
    Pattern *value = pattern();
    if (!value) {
      return nullptr;
    }
    (named ? keyword : positional).push_back(value);
    if (!accept(Tok::Comma)) {
      break;
    }
  }
  if (!expect(Tok::RightParen)) {
    return nullptr;
  }
  node->patterns = arena.copy(positional.data(), positional.size());
  node->kwdAttrs = arena.copy(names.data(), names.size());
  node->kwdPatterns = arena.copy(keyword.data(), keyword.size());
  return finish(node, cls, node->patterns, node->kwdPatterns);
}

} // namespace nereid::syntax
