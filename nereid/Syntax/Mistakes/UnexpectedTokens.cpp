//===- UnexpectedTokens.cpp - A token that does not fit ------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// When no known mistake matches: what the parser expected at the last token it
// looked at, what it got, and a hint if the tokens around look like another
// language or another version of this one.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Mistakes/MistakeFinder.h"

#include <iterator>

namespace nereid::syntax {

void MistakeFinder::raiseUnexpected(uint32_t index) {
  const Token found = parser.tokens[index];
  if (found.kind == Tok::Indent) {
    parser.raise(found.span, "unexpected indent",
                 "align the line with the one before, or end that one with "
                 "':'");
    return;
  }
  if (found.kind == Tok::Dedent) {
    parser.raise(found.span, "unexpected end of the indented block",
                 "a statement is missing or unfinished before this line");
    return;
  }
  std::string got = describe(found.kind);
  if (found.kind == Tok::Name || found.kind == Tok::Number ||
      found.kind == Tok::Other) {
    got = "'" + std::string(parser.text(found)) + "'";
  }
  std::string message = "invalid syntax: unexpected " + got;
  if (parser.expected && parser.expectedAt == index) {
    message = std::string("invalid syntax: expected ") + parser.expected +
              ", got " + got;
  }
  std::string hint = hintAt(index);
  if (hint.empty() && !message.starts_with("invalid syntax: expected")) {
    hint = "expected an operator, a comma or the end of the line before it";
  }
  parser.raise(found.span, std::move(message), std::move(hint));
}

namespace {
struct WordHint {
  const char *word;
  const char *hint;
};
} // namespace

/// Words of other languages where a statement starts.
static constexpr WordHint foreignWords[] = {
    {"switch", "write 'match x:' with 'case' lines"},
    {"function", "functions are defined with 'def'"},
    {"func", "functions are defined with 'def'"},
    {"fn", "functions are defined with 'def'"},
    {"elseif", "write 'elif'"},
    {"elsif", "write 'elif'"},
    {"elif", "'elif' must follow an 'if' block of the same indentation"},
    {"else", "'else' must follow an 'if', loop or 'try' block of the same "
             "indentation"},
    {"case", "'case' lines belong into a 'match' block"},
    {"catch", "write 'except'"},
    {"throw", "write 'raise'"},
    {"var", "a variable needs no declaration: write x = 1"},
    {"let", "a variable needs no declaration: write x = 1"},
    {"const", "a variable needs no declaration: write x = 1"},
    {"int", "a variable needs no declaration: write x = 1, or x: int = 1"},
    {"float", "a variable needs no declaration: write x = 1.0"},
    {"unless", "write 'if not'"},
    {"foreach", "write 'for x in xs:'"}};

std::string MistakeFinder::hintAt(uint32_t index) {
  auto kindBefore = [&](uint32_t distance) {
    return index >= distance ? parser.tokens[index - distance].kind
                             : Tok::EndMarker;
  };
  const Token found = parser.tokens[index];
  std::string_view text = parser.text(found);
  Tok before = kindBefore(1);
  if (found.kind == Tok::Other) {
    return text == "?" ? "the conditional expression is: a if condition else b"
           : text == "!" ? "write 'not'"
           : text == "`" ? "write repr(x)"
                         : "this character has no meaning in Python";
  }
  if (found.kind == Tok::NotEqual && text == "<>") {
    return "write '!='";
  }
  if (found.kind == Tok::Ampersand && before == Tok::Ampersand) {
    return "write 'and'";
  }
  if (found.kind == Tok::Bar && before == Tok::Bar) {
    return "write 'or'";
  }
  if ((before == Tok::Plus && kindBefore(2) == Tok::Plus) ||
      (before == Tok::Minus && kindBefore(2) == Tok::Minus)) {
    return before == Tok::Plus ? "write x += 1" : "write x -= 1";
  }
  if (found.kind == Tok::KwIf && before == Tok::KwElse) {
    return "write 'elif'";
  }
  if (found.kind == Tok::LeftBrace) {
    return "a block is opened with ':' and indentation, not with braces";
  }
  // The first word of the line.
  uint32_t first = index;
  while (first > 0 && parser.tokens[first - 1].kind != Tok::Newline &&
         parser.tokens[first - 1].kind != Tok::Indent &&
         parser.tokens[first - 1].kind != Tok::Dedent &&
         parser.tokens[first - 1].kind != Tok::Semicolon) {
    --first;
  }
  std::string_view word = parser.text(parser.tokens[first]);
  for (const WordHint &entry : foreignWords) {
    if (word == entry.word) {
      return entry.hint;
    }
  }
  if (isKeyword(found.kind) && parser.expectedAt == index &&
      (before == Tok::Dot || before == Tok::KwDef || before == Tok::KwClass ||
       before == Tok::KwAs || before == Tok::KwImport ||
       before == Tok::KwGlobal || before == Tok::Comma ||
       before == Tok::LeftParen || before == Tok::Equal)) {
    return "'" + std::string(text) +
           "' is a keyword and cannot be used as a name";
  }
  if (found.kind == Tok::Equal && index > first && isKeyword(before)) {
    return "'" + std::string(parser.text(parser.tokens[index - 1])) +
           "' is a keyword and cannot be used as a name";
  }
  bool twoValues = before == Tok::Name || before == Tok::Number ||
                   before == Tok::String || before == Tok::RightParen ||
                   before == Tok::RightBracket;
  if (twoValues && (found.kind == Tok::Name || found.kind == Tok::Number ||
                    found.kind == Tok::String)) {
    return "put an operator, a comma or a line end between the two";
  }
  return "";
}

/// An error of the lexer anywhere in the rest of the text is reported instead,
/// as in CPython: a bracket or a quote that is wrong there often explains what
/// happened here. A bracket still open at the end counts if it was opened
/// before this line.
void MistakeFinder::preferLexicalErrors() {
  Lexer &lexer = parser.lexer;
  if (lexer.failed() || lexer.atEnd()) {
    return;
  }
  uint32_t line = parser.tokens.back().span.line;
  Tok kind;
  do {
    kind = lexer.next().kind;
  } while (kind != Tok::EndMarker && kind != Tok::Error);
  if (kind != Tok::Error) {
    return;
  }
  if (lexer.errorTakesPrecedence()) {
    parser.raised = lexer.error();
  } else if (const Lexer::Bracket *open = lexer.openBracket();
             open && line > open->span.line) {
    parser.raised = lexer.neverClosed(*open);
  }
}

} // namespace nereid::syntax
