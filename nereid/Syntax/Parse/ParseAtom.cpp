//===- ParseAtom.cpp - Names, displays, calls, subscripts  ----------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/PythonParser.h"

namespace nereid::syntax {

using namespace ast;

Expr *PythonParser::awaitPrimary() {
  if (!at(Tok::KwAwait)) {
    return primary();
  }
  Await *node = make<Await>(pos++);
  node->value = primary();
  return node->value ? finish(node, node->value) : nullptr;
}

Expr *PythonParser::primary() {
  uint32_t first = pos;
  Expr *value = atom();
  return value ? trailers(first, value) : nullptr;
}

Expr *PythonParser::trailers(uint32_t first, Expr *value) {
  while (value) {
    switch (peek()) {
    case Tok::Dot: {
      ++pos;
      Attribute *node = make<Attribute>(first);
      node->value = value;
      node->ctx = ExprContext::Load;
      value = name(node->attr) ? finish(node, value) : nullptr;
      break;
    }
    case Tok::LeftParen:
      value = call(first, value);
      break;
    case Tok::LeftBracket:
      value = subscript(first, value);
      break;
    default:
      return value;
    }
  }
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Keyword *PythonParser::keyword() {
  Keyword *node = make<Keyword>(pos);
  if (accept(Tok::DoubleStar)) {
    node->value = expression();
  } else {
    node->arg = identifier(tokens[pos]);
    pos += 2;
    node->value = expression();
  }
  return node->value ? finish(node, node->value) : nullptr;
}

/// Up to the closing parenthesis, which is not taken. Positional arguments come
/// first; `*args` may stand among `name=value`, but not after `**kwargs`.
bool PythonParser::arguments(Seq<Expr *> &args, Seq<Keyword *> &keywords,
                             bool generatorAllowed) {
  Builder<Keyword> keywordList(*this);
  std::vector<Expr *> argList;
  bool sawDoubleStar = false;
  while (!at(Tok::RightParen)) {
    uint32_t first = pos;
    if (at(Tok::DoubleStar) || (at(Tok::Name) && peekSecond() == Tok::Equal)) {
      sawDoubleStar = sawDoubleStar || at(Tok::DoubleStar);
      Keyword *node = keyword();
      if (!node) {
        return false;
      }
      keywordList.add(node);
    } else if (at(Tok::Star)) {
      if (sawDoubleStar) {
        return mismatch("a keyword argument");
      }
      Starred *starred = make<Starred>(pos++);
      starred->value = expression();
      starred->ctx = ExprContext::Load;
      if (!starred->value || !finish(starred, starred->value)) {
        return false;
      }
      argList.push_back(starred);
    } else {
      if (keywordList.size() > 0) {
        return mismatch("a keyword argument");
      }
      Expr *value = namedExpression();
      if (!value) {
        return false;
      }
      if (generatorAllowed && argList.empty() && atComprehension()) {
        // f(x for x in y): alone only, and its span has the parentheses.
        GeneratorExp *generator = make<GeneratorExp>(first - 1);
        generator->elt = value;
        if (!comprehensions(generator->generators) ||
            !expect(Tok::RightParen)) {
          return false;
        }
        if (!finish(generator, value, generator->generators)) {
          return false;
        }
        --pos;
        argList.push_back(generator);
        break;
      }
      argList.push_back(value);
    }
    if (!accept(Tok::Comma)) {
      break;
    }
  }
  args = arena.copy(argList.data(), argList.size());
  keywords = keywordList.take();
  return true;
}

Expr *PythonParser::call(uint32_t first, Expr *func) {
  ++pos;
  Call *node = make<Call>(first);
  node->func = func;
  if (!arguments(node->args, node->keywords, true) ||
      !expect(Tok::RightParen)) {
    return nullptr;
  }
  return finish(node, func, node->args, node->keywords);
}

//===----------------------------------------------------------------------===//
// Subscripts
//===----------------------------------------------------------------------===//

Expr *PythonParser::subscript(uint32_t first, Expr *value) {
  ++pos;
  Subscript *node = make<Subscript>(first);
  node->value = value;
  node->ctx = ExprContext::Load;
  node->slice = slices();
  if (!node->slice || !expect(Tok::RightBracket)) {
    return nullptr;
  }
  return finish(node, value, node->slice);
}

Expr *PythonParser::slices() {
  uint32_t first = pos;
  Builder<Expr> elements(*this);
  do {
    if (elements.size() > 0 && at(Tok::RightBracket)) {
      break;
    }
    Expr *element;
    if (at(Tok::Star)) {
      Starred *starred = make<Starred>(pos++);
      starred->value = expression();
      starred->ctx = ExprContext::Load;
      element = starred->value ? finish(starred, starred->value) : nullptr;
    } else {
      element = slice();
    }
    if (!element) {
      return nullptr;
    }
    if (elements.size() == 0 && !at(Tok::Comma) && !isa<Starred>(element)) {
      return element;
    }
    elements.add(element);
  } while (accept(Tok::Comma));
  Tuple *tuple = make<Tuple>(first);
  tuple->elts = elements.take();
  tuple->ctx = ExprContext::Load;
  return finish(tuple, tuple->elts);
}

Expr *PythonParser::slice() {
  uint32_t first = pos;
  Expr *lower = nullptr;
  if (!at(Tok::Colon)) {
    lower = namedExpression();
    // `a[x := 1]` is fine, `a[x := 1 : 2]` is not.
    if (!lower || !at(Tok::Colon) ||
        (isa<NamedExpr>(lower) && tokens[first].kind == Tok::Name)) {
      return lower;
    }
  }
  Slice *node = make<Slice>(first);
  node->lower = lower;
  auto part = [&](Expr *&out) {
    if (at(Tok::Star) || !startsExpression(peek())) {
      return true;
    }
    out = expression();
    return out != nullptr;
  };
  ++pos;
  if (!part(node->upper) || (accept(Tok::Colon) && !part(node->step))) {
    return nullptr;
  }
  return finish(node, node->lower, node->upper, node->step);
}

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

Expr *PythonParser::constant(ConstantKind kind) {
  Constant *node = make<Constant>(pos++);
  node->constantKind = kind;
  return finish(node);
}

Expr *PythonParser::nameExpression() {
  Name *node = make<Name>(pos);
  node->id = identifier(tokens[pos++]);
  node->ctx = ExprContext::Load;
  return finish(node);
}

Expr *PythonParser::atom() {
  switch (peek()) {
  case Tok::Name:
    return nameExpression();
  case Tok::Number:
    return number();
  case Tok::String:
    return strings();
  case Tok::LeftParen:
    return parenthesized();
  case Tok::LeftBracket:
    return listDisplay();
  case Tok::LeftBrace:
    return braceDisplay();
  case Tok::KwNone:
    return constant(ConstantKind::None);
  case Tok::KwTrue:
    return constant(ConstantKind::True);
  case Tok::KwFalse:
    return constant(ConstantKind::False);
  case Tok::Ellipsis:
    return constant(ConstantKind::Ellipsis);
  default:
    mismatch("an expression");
    return nullptr;
  }
}

bool PythonParser::atComprehension() {
  return at(Tok::KwFor) || (at(Tok::KwAsync) && peekSecond() == Tok::KwFor);
}

bool PythonParser::comprehensionConditions(Seq<Expr *> &out) {
  Builder<Expr> conditions(*this);
  while (accept(Tok::KwIf)) {
    Expr *condition = disjunction();
    if (!condition) {
      return false;
    }
    conditions.add(condition);
  }
  out = conditions.take();
  return true;
}

bool PythonParser::comprehensions(Seq<Comprehension *> &out) {
  Builder<Comprehension> list(*this);
  while (atComprehension()) {
    Comprehension *node = make<Comprehension>(pos);
    node->isAsync = accept(Tok::KwAsync);
    ++pos;
    node->target = starTargets();
    if (!node->target || !expect(Tok::KwIn)) {
      return false;
    }
    node->iter = disjunction();
    if (!node->iter) {
      return false;
    }
    if (!comprehensionConditions(node->ifs)) {
      return false;
    }
    if (!finish(node, node->target, node->iter, node->ifs)) {
      return false;
    }
    list.add(node);
  }
  out = list.take();
  return true;
}

/// After the first element: `, element`..., a trailing comma allowed, up to
/// `end`, which is not taken.
bool PythonParser::moreElements(Builder<Expr> &elements, Tok end) {
  while (accept(Tok::Comma)) {
    if (at(end)) {
      return true;
    }
    Expr *element = starNamedExpression();
    if (!element) {
      return false;
    }
    elements.add(element);
  }
  return true;
}

/// `()`, `(a, b)`, `(a)`, `(yield)`, `(a for a in b)`.
Expr *PythonParser::parenthesized() {
  uint32_t first = pos++;
  if (at(Tok::KwYield)) {
    Expr *value = yieldExpression();
    return value && expect(Tok::RightParen) ? value : nullptr;
  }
  Builder<Expr> elements(*this);
  if (!at(Tok::RightParen)) {
    Expr *element = starNamedExpression();
    if (!element) {
      return nullptr;
    }
    bool starred = tokens[first + 1].kind == Tok::Star;
    if (!starred && atComprehension()) {
      GeneratorExp *node = make<GeneratorExp>(first);
      node->elt = element;
      if (!comprehensions(node->generators) || !expect(Tok::RightParen)) {
        return nullptr;
      }
      return finish(node, element, node->generators);
    }
    if (!starred && accept(Tok::RightParen)) {
      return element;
    }
    elements.add(element);
    if (!at(Tok::Comma)) {
      mismatch(starred ? "','" : "')'");
      return nullptr;
    }
    if (!moreElements(elements, Tok::RightParen)) {
      return nullptr;
    }
  }
  if (!expect(Tok::RightParen)) {
    return nullptr;
  }
  Tuple *node = make<Tuple>(first);
  node->elts = elements.take();
  node->ctx = ExprContext::Load;
  return finish(node, node->elts);
}

Expr *PythonParser::listDisplay() {
  uint32_t first = pos++;
  Builder<Expr> elements(*this);
  if (!at(Tok::RightBracket)) {
    Expr *element = starNamedExpression();
    if (!element) {
      return nullptr;
    }
    if (tokens[first + 1].kind != Tok::Star && atComprehension()) {
      ListComp *node = make<ListComp>(first);
      node->elt = element;
      if (!comprehensions(node->generators) || !expect(Tok::RightBracket)) {
        return nullptr;
      }
      return finish(node, element, node->generators);
    }
    elements.add(element);
    if (!moreElements(elements, Tok::RightBracket)) {
      return nullptr;
    }
  }
  if (!expect(Tok::RightBracket)) {
    return nullptr;
  }
  List *node = make<List>(first);
  node->elts = elements.take();
  node->ctx = ExprContext::Load;
  return finish(node, node->elts);
}

/// `{}`: what stands after the first element tells a dict from a set.
Expr *PythonParser::braceDisplay() {
  uint32_t first = pos++;
  if (at(Tok::RightBrace) || at(Tok::DoubleStar)) {
    return dictDisplay(first, nullptr);
  }
  Expr *element = starNamedExpression();
  if (!element) {
    return nullptr;
  }
  bool plain =
      tokens[first + 1].kind != Tok::Star &&
      !(isa<NamedExpr>(element) && tokens[first + 1].kind == Tok::Name);
  return plain && at(Tok::Colon) ? dictDisplay(first, element)
                                 : setDisplay(first, element);
}

Expr *PythonParser::dictDisplay(uint32_t first, Expr *firstKey) {
  std::vector<Expr *> keys, values;
  Expr *key = firstKey;
  while (key || !at(Tok::RightBrace)) {
    if (!key && accept(Tok::DoubleStar)) {
      keys.push_back(nullptr);
      values.push_back(bitwiseOr());
    } else {
      if (!key && !(key = expression())) {
        return nullptr;
      }
      if (!expect(Tok::Colon)) {
        return nullptr;
      }
      keys.push_back(key);
      values.push_back(expression());
      if (values.back() && keys.size() == 1 && atComprehension()) {
        DictComp *node = make<DictComp>(first);
        node->key = key;
        node->value = values.back();
        if (!comprehensions(node->generators) || !expect(Tok::RightBrace)) {
          return nullptr;
        }
        return finish(node, node->key, node->value, node->generators);
      }
    }
    if (!values.back()) {
      return nullptr;
    }
    key = nullptr;
    if (!accept(Tok::Comma)) {
      break;
    }
  }
  if (!expect(Tok::RightBrace)) {
    return nullptr;
  }
  Dict *node = make<Dict>(first);
  node->keys = arena.copy(keys.data(), keys.size());
  node->values = arena.copy(values.data(), values.size());
  return finish(node, node->keys, node->values);
}

Expr *PythonParser::setDisplay(uint32_t first, Expr *firstElement) {
  if (tokens[first + 1].kind != Tok::Star && atComprehension()) {
    SetComp *node = make<SetComp>(first);
    node->elt = firstElement;
    if (!comprehensions(node->generators) || !expect(Tok::RightBrace)) {
      return nullptr;
    }
    return finish(node, firstElement, node->generators);
  }
  Builder<Expr> elements(*this);
  elements.add(firstElement);
  if (!moreElements(elements, Tok::RightBrace) || !expect(Tok::RightBrace)) {
    return nullptr;
  }
  Set *node = make<Set>(first);
  node->elts = elements.take();
  return finish(node, node->elts);
}

} // namespace nereid::syntax
