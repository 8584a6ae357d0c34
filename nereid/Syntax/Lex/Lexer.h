//===- Lexer.h - Source text to tokens --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Indentation, line joining, names, numbers, strings and operators, with the
// positions and the errors of CPython 3.11's tokenizer. Tokens are made one at
// a time: an error late in a file must not hide a grammar error before it.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_LEX_LEXER_H
#define NEREID_SYNTAX_LEX_LEXER_H

#include "nereid/Syntax/Lex/Token.h"

#include <string>
#include <vector>

namespace nereid::syntax {

/// What is wrong and what to do about it; a Diagnostic without the file.
struct Problem {
  ast::Span span;
  std::string message;
  std::string hint;
  ast::Span noteSpan{}; ///< with `note`: another place to look at
  std::string note{};
};

class Lexer {
public:
  /// Limits of CPython 3.11.
  static constexpr unsigned maxIndents = 100, maxBrackets = 200;

  /// `text` ends with '\n' and outlives the lexer. Positions count from
  /// `firstLine`; tokens that end on it are shifted by `firstColumn` bytes (an
  /// f-string's field is lexed from a copy of its text).
  explicit Lexer(std::string_view text, uint32_t firstLine = 1,
                 uint32_t firstColumn = 0);

  /// The next token. After Error, every further one is Error as well.
  Token next();

  /// Of the Error token.
  const Problem &error() const { return problem; }
  /// CPython's parser prefers such an error, wherever it is, to its own; the
  /// others (indentation, end of file) count only where they are reached.
  bool errorTakesPrecedence() const { return precedence; }
  bool atEnd() const { return ended; }
  bool failed() const { return hasError; }

  /// The innermost bracket that is still open; null if there is none.
  struct Bracket {
    char open;
    ast::Span span;
  };
  const Bracket *openBracket() const {
    return brackets.empty() ? nullptr : &brackets.back();
  }
  Problem neverClosed(const Bracket &bracket) const;

  std::string_view source() const { return text; }

private:
  enum class Line { Blank, Code, Failed };
  Line indentation();
  bool indent(uint32_t column, uint32_t altColumn);
  bool continueLine();
  bool lexName(uint32_t start, Token &out);
  bool checkIdentifier(uint32_t start, uint32_t end);
  bool lexNumber(uint32_t start);
  bool lexRadix(uint32_t start, int radix, const char *what);
  bool decimalTail(uint32_t start);
  bool lexFraction(uint32_t start);
  bool endOfNumber(uint32_t start, const char *what);
  bool lexString(uint32_t start, Token &out);
  Token lexOperator(uint32_t start);
  bool openedBracket(char c, uint32_t start);
  bool closedBracket(char c, uint32_t start);

  char at(uint32_t offset) const {
    return offset < text.size() ? text[offset] : '\0';
  }
  char current() const { return at(pos); }
  void newLine(uint32_t offset) {
    ++line;
    lineStart = offset;
  }
  ast::Span spanFrom(uint32_t start, uint32_t end) const;
  Token token(Tok kind, uint32_t start) const;
  Token marker(Tok kind) const;
  /// Records the error and returns false.
  bool fail(ast::Span span, std::string message, std::string hint = {},
            bool takesPrecedence = true);
  bool failUnclosed(const Bracket &bracket);
  Token errorToken();

  std::string_view text;
  uint32_t pos = 0;
  uint32_t line, lineStart = 0;
  uint32_t firstLine, firstColumn;
  bool atLineStart = true, ended = false;
  bool hasError = false, precedence = false;
  int pendingIndents = 0;
  std::vector<uint32_t> indents{0}, altIndents{0};
  std::vector<Bracket> brackets;
  Problem problem;
};

} // namespace nereid::syntax

#endif // NEREID_SYNTAX_LEX_LEXER_H
