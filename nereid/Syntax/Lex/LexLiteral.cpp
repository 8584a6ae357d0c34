//===- LexLiteral.cpp - Numbers and strings -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Only where a literal ends; its value is made in Literals.cpp.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Lex/Characters.h"
#include "nereid/Syntax/Lex/Lexer.h"

namespace nereid::syntax {

static const char *const numberHint =
    "a name cannot start with a digit; put an operator or a space between them";

/// Digits with single underscores between them; `pos` is behind the first one.
bool Lexer::decimalTail(uint32_t start) {
  for (;;) {
    while (isDigit(current())) {
      ++pos;
    }
    if (current() != '_') {
      return true;
    }
    ++pos;
    if (!isDigit(current())) {
      return fail(spanFrom(start, pos), "invalid decimal literal",
                  "an underscore may only stand between two digits");
    }
  }
}

/// A number may be followed directly by a keyword that can follow a number
/// (`1if x else 2`), but by no other letter.
bool Lexer::endOfNumber(uint32_t start, const char *what) {
  char c = current();
  std::string_view rest = text.substr(pos);
  bool keyword = rest.starts_with("if") || rest.starts_with("in") ||
                 rest.starts_with("is");
  for (std::string_view word : {"and", "else", "for", "or", "not"}) {
    keyword = keyword ||
              (rest.starts_with(word) && !isNameCharacter(rest[word.size()]));
  }
  if (!keyword && isNameCharacter(c) && pos < text.size()) {
    return fail(spanFrom(start, pos),
                std::string("invalid ") + what + " literal", numberHint);
  }
  return true;
}

/// 0x, 0o, 0b; `pos` is at the radix letter.
bool Lexer::lexRadix(uint32_t start, int radix, const char *what) {
  auto isRadixDigit = [&](char c) {
    return radix == 16 ? isHexDigit(c) : c >= '0' && c < '0' + radix;
  };
  auto wrongDigit = [&] {
    return fail(spanFrom(pos, pos + 1),
                std::string("invalid digit '") + current() + "' in " + what +
                    " literal",
                radix == 8 ? "octal digits are 0 to 7"
                           : "binary digits are 0 and 1");
  };
  ++pos;
  do {
    if (current() == '_') {
      ++pos;
    }
    if (!isRadixDigit(current())) {
      if (isDigit(current())) {
        return wrongDigit();
      }
      return fail(spanFrom(start, pos),
                  std::string("invalid ") + what + " literal",
                  "digits are missing here");
    }
    while (isRadixDigit(current())) {
      ++pos;
    }
  } while (current() == '_');
  if (isDigit(current())) {
    return wrongDigit();
  }
  return endOfNumber(start, what);
}

/// What may follow the integer part: fraction, exponent, `j`.
bool Lexer::lexFraction(uint32_t start) {
  if (current() == '.') {
    ++pos;
    if (isDigit(current()) && !decimalTail(start)) {
      return false;
    }
  }
  if (current() == 'e' || current() == 'E') {
    bool isSigned = at(pos + 1) == '+' || at(pos + 1) == '-';
    if (isDigit(at(pos + 1 + isSigned))) {
      pos += 1 + isSigned;
      if (!decimalTail(start)) {
        return false;
      }
    } else if (isSigned) {
      pos += 2;
      return fail(spanFrom(start, pos), "invalid decimal literal",
                  "the exponent's digits are missing");
    } else {
      return endOfNumber(start, "decimal");
    }
  }
  if (current() == 'j' || current() == 'J') {
    ++pos;
    return endOfNumber(start, "imaginary");
  }
  return endOfNumber(start, "decimal");
}

bool Lexer::lexNumber(uint32_t start) {
  if (current() != '0') {
    if (current() != '.' && !decimalTail(start)) {
      return false;
    }
    return lexFraction(start);
  }
  ++pos;
  switch (current() | 0x20) {
  case 'x':
    return lexRadix(start, 16, "hexadecimal");
  case 'o':
    return lexRadix(start, 8, "octal");
  case 'b':
    return lexRadix(start, 2, "binary");
  }
  // Zeros, then perhaps the rest of a float: 00 and 00.5 and 09.5 are numbers,
  // 09 is not.
  for (;;) {
    if (current() == '_') {
      ++pos;
      if (!isDigit(current())) {
        return fail(spanFrom(start, pos), "invalid decimal literal",
                    "an underscore may only stand between two digits");
      }
    }
    if (current() != '0') {
      break;
    }
    ++pos;
  }
  if (!isDigit(current())) {
    return lexFraction(start);
  }
  uint32_t zerosEnd = pos;
  if (!decimalTail(start)) {
    return false;
  }
  char c = current() | 0x20;
  if (c == '.' || c == 'e' || c == 'j') {
    return lexFraction(start);
  }
  return fail(spanFrom(start, zerosEnd),
              "leading zeros in decimal integer literals are not permitted",
              "write 0o for an octal number, or drop the zeros");
}

/// `pos` is at the opening quote, `start` at the prefix.
bool Lexer::lexString(uint32_t start, Token &out) {
  uint32_t startLine = line, startLineBegin = lineStart;
  char quote = current();
  bool triple = at(pos + 1) == quote && at(pos + 2) == quote;
  uint32_t quoteLength = triple ? 3 : 1;
  uint32_t opening = pos;
  pos += quoteLength;
  for (;;) {
    if (pos >= text.size() || (!triple && text[pos] == '\n')) {
      uint32_t lastLine = line;
      line = startLine;
      lineStart = startLineBegin;
      ast::Span span = spanFrom(start, opening + quoteLength);
      if (triple) {
        return fail(span,
                    "unterminated triple-quoted string literal (detected at "
                    "line " +
                        std::to_string(lastLine) + ")",
                    std::string("close it with ") + std::string(3, quote));
      }
      return fail(span,
                  "unterminated string literal (detected at line " +
                      std::to_string(lastLine) + ")",
                  std::string("close it with ") + quote +
                      " on the same line, or use triple quotes for several "
                      "lines");
    }
    char c = text[pos];
    if (c == quote &&
        (!triple || (at(pos + 1) == quote && at(pos + 2) == quote))) {
      pos += quoteLength;
      break;
    }
    ++pos;
    if (c == '\\' && pos < text.size()) {
      c = text[pos++];
    }
    if (c == '\n' && pos < text.size()) {
      newLine(pos);
    }
  }
  out = token(Tok::String, start);
  // A string that spans lines starts where it starts. As CPython has it, only
  // the line where it ends decides whether its columns are shifted.
  out.span.line = startLine;
  out.span.colOffset =
      start - startLineBegin + (line == firstLine ? firstColumn : 0);
  return true;
}

} // namespace nereid::syntax
