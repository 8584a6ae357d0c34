//===- PythonParser.cpp - Tokens, errors and start rules ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/PythonParser.h"

#include "nereid/Syntax/Lex/Characters.h"
#include "nereid/Syntax/Mistakes/MistakeFinder.h"

namespace nereid::syntax {

using namespace ast;

void PythonParser::fetch() {
  tokens.push_back(lexer.next());
  if (tokens.back().kind == Tok::Error) {
    raise(lexer.error());
  }
}

bool PythonParser::mismatch(const char *what) {
  if (!expected || pos >= expectedAt) {
    expected = what;
    expectedAt = pos;
  }
  return false;
}

bool PythonParser::require(Tok kind) {
  if (accept(kind)) {
    return true;
  }
  const Token &found = tokens[pos];
  std::string hint = MistakeFinder(*this).hintAt(pos);
  if (hint.empty() && kind == Tok::Colon) {
    hint = "a ':' opens the block";
  }
  raise(found.span,
        std::string("expected ") + describe(kind) + ", got " +
            describe(found.kind),
        std::move(hint));
  return false;
}

const Token &PythonParser::lastVisible() const {
  uint32_t index = pos - 1;
  while (index > 0 && (tokens[index].kind == Tok::Newline ||
                       tokens[index].kind == Tok::Indent ||
                       tokens[index].kind == Tok::Dedent)) {
    --index;
  }
  return tokens[index];
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::nullptr_t PythonParser::raise(Problem problem) {
  if (!raised) {
    raised = std::move(problem);
  }
  return nullptr;
}

std::nullptr_t PythonParser::raise(const Span &span, std::string message,
                                   std::string hint) {
  return raise(Problem{span, std::move(message), std::move(hint)});
}

std::nullptr_t PythonParser::raiseInString(const Token &about,
                                           std::string message,
                                           std::string hint) {
  const Span &last = tokens.back().span;
  if (last.line == about.span.line) {
    return raise(about.span, std::move(message), std::move(hint));
  }
  Problem problem{last, std::move(message), std::move(hint)};
  problem.noteSpan = about.span;
  problem.note = "the string starts here";
  return raise(std::move(problem));
}

void PythonParser::raiseTooDeep(const Span &span) {
  raise(span, "this is nested too deeply",
        "at most " + std::to_string(maxHeight) +
            " levels are allowed; split it into parts");
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string_view PythonParser::identifier(const Token &token) {
  std::string_view spelled = text(token);
  for (char c : spelled) {
    if (static_cast<unsigned char>(c) >= 128) {
      return arena.copy(std::string_view(normalizeIdentifier(spelled)));
    }
  }
  return spelled;
}

bool PythonParser::name(std::string_view &out) {
  if (!at(Tok::Name)) {
    return mismatch("a name");
  }
  out = identifier(tokens[pos++]);
  return true;
}

//===----------------------------------------------------------------------===//
// Start rules
//===----------------------------------------------------------------------===//

Module *PythonParser::parseFile() {
  Builder<Stmt> body(*this);
  while (!at(Tok::EndMarker)) {
    statementStart = pos;
    if (!statement(body)) {
      MistakeFinder(*this).find(Start::File);
      return nullptr;
    }
  }
  Module *module = arena.create<Module>();
  module->body = body.take();
  module->span = {1, 0, tokens[pos].span.endLine,
                  tokens[pos].span.endColOffset};
  if (!bound(module, module->body)) {
    return nullptr;
  }
  return module;
}

Expr *PythonParser::parseEval() {
  Expr *value = expressions();
  while (value && accept(Tok::Newline)) {
  }
  if (!value || !expect(Tok::EndMarker)) {
    MistakeFinder(*this).find(Start::Eval);
    return nullptr;
  }
  return value;
}

Expr *PythonParser::parseField() {
  Expr *value = starExpressions();
  if (!value) {
    MistakeFinder(*this).find(Start::Field);
  }
  return value;
}

} // namespace nereid::syntax
