//===- Lexer.cpp - Lines, indentation, operators --------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two columns kept for indentation are CPython's rule for tabs: one counts
// a tab to the next multiple of 8, the other as 1. Lines whose order differs
// between the two would change meaning with the reader's tab width: TabError.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Lex/Lexer.h"

#include "nereid/Support/Utf8.h"
#include "nereid/Syntax/Lex/Characters.h"

namespace nereid::syntax {

Lexer::Lexer(std::string_view text, uint32_t firstLine, uint32_t firstColumn)
    : text(text), line(firstLine), firstLine(firstLine),
      firstColumn(firstColumn) {}

ast::Span Lexer::spanFrom(uint32_t start, uint32_t end) const {
  uint32_t shift = line == firstLine ? firstColumn : 0;
  return {line, start - lineStart + shift, line, end - lineStart + shift};
}

Token Lexer::token(Tok kind, uint32_t start) const {
  Token out;
  out.kind = kind;
  out.level = static_cast<uint8_t>(brackets.size());
  out.begin = start;
  out.end = pos;
  out.span = spanFrom(start, pos);
  return out;
}

Token Lexer::marker(Tok kind) const {
  Token out = token(kind, pos);
  return out;
}

bool Lexer::fail(ast::Span span, std::string message, std::string hint,
                 bool takesPrecedence) {
  problem = {span, std::move(message), std::move(hint)};
  precedence = takesPrecedence;
  hasError = true;
  return false;
}

Token Lexer::errorToken() {
  Token out = marker(Tok::Error);
  out.span = problem.span;
  return out;
}

Problem Lexer::neverClosed(const Bracket &bracket) const {
  return {bracket.span, std::string("'") + bracket.open + "' was never closed",
          "close it, or look for a missing bracket after it"};
}

bool Lexer::failUnclosed(const Bracket &bracket) {
  Problem unclosed = neverClosed(bracket);
  return fail(unclosed.span, unclosed.message, unclosed.hint, false);
}

/// A backslash before the line end; `pos` is behind the backslash.
bool Lexer::continueLine() {
  if (current() != '\n' || pos >= text.size()) {
    return fail(spanFrom(pos, pos + 1),
                "unexpected character after line continuation character",
                "a '\\' joins two lines only as the last character of the "
                "first one",
                false);
  }
  if (pos + 1 >= text.size()) {
    if (const Bracket *open = openBracket()) {
      return failUnclosed(*open);
    }
    return fail(spanFrom(pos - 1, pos),
                "unexpected end of the file after line continuation character",
                "remove the '\\', or add the line it continues", false);
  }
  ++pos;
  newLine(pos);
  return true;
}

Lexer::Line Lexer::indentation() {
  uint32_t column = 0, altColumn = 0, continued = 0;
  for (;; ++pos) {
    char c = current();
    if (c == ' ') {
      ++column;
      ++altColumn;
    } else if (c == '\t') {
      column = (column / 8 + 1) * 8;
      ++altColumn;
    } else if (c == '\f') {
      column = altColumn = 0;
    } else if (c == '\\') {
      // The indentation of a continued line is that of its first part.
      continued = continued ? continued : column;
      ++pos;
      if (!continueLine()) {
        return Line::Failed;
      }
      --pos;
    } else {
      break;
    }
  }
  if (pos < text.size() && (current() == '#' || current() == '\n')) {
    return Line::Blank;
  }
  if (!brackets.empty()) {
    return Line::Code;
  }
  if (continued) {
    column = altColumn = continued;
  }
  return indent(column, altColumn) ? Line::Code : Line::Failed;
}

bool Lexer::indent(uint32_t column, uint32_t altColumn) {
  auto inconsistent = [&] {
    return fail(spanFrom(lineStart, pos),
                "inconsistent use of tabs and spaces in indentation",
                "indent this block with spaces only", false);
  };
  if (column == indents.back()) {
    return altColumn == altIndents.back() || inconsistent();
  }
  if (column > indents.back()) {
    if (indents.size() >= maxIndents) {
      return fail(spanFrom(lineStart, pos), "too many levels of indentation",
                  "at most 100 levels are allowed; move code into functions",
                  false);
    }
    if (altColumn <= altIndents.back()) {
      return inconsistent();
    }
    ++pendingIndents;
    indents.push_back(column);
    altIndents.push_back(altColumn);
    return true;
  }
  while (indents.size() > 1 && column < indents.back()) {
    --pendingIndents;
    indents.pop_back();
    altIndents.pop_back();
  }
  if (column != indents.back()) {
    return fail(spanFrom(lineStart, pos),
                "unindent does not match any outer indentation level",
                "align the line with the statement it belongs to", false);
  }
  return altColumn == altIndents.back() || inconsistent();
}

Token Lexer::next() {
  if (hasError) {
    return errorToken();
  }
  bool blank = false;
  for (;;) {
    if (atLineStart) {
      atLineStart = false;
      blank = false;
      // At the end of the text there is no new line: CPython reports what ends
      // here (dedents, the end marker) on the last one.
      if (pos < text.size() && pos != lineStart) {
        newLine(pos);
      }
      Line kind = indentation();
      if (kind == Line::Failed) {
        return errorToken();
      }
      blank = kind == Line::Blank;
    }
    if (pendingIndents != 0) {
      bool opens = pendingIndents > 0;
      pendingIndents += opens ? -1 : 1;
      return marker(opens ? Tok::Indent : Tok::Dedent);
    }
    while (current() == ' ' || current() == '\t' || current() == '\f') {
      ++pos;
    }
    if (current() == '#') {
      while (pos < text.size() && text[pos] != '\n') {
        ++pos;
      }
    }
    if (pos >= text.size()) {
      ended = true;
      if (const Bracket *open = openBracket()) {
        failUnclosed(*open);
        return errorToken();
      }
      return marker(Tok::EndMarker);
    }
    uint32_t start = pos;
    char c = current();
    if (c == '\n') {
      Token out = token(Tok::Newline, start);
      ++pos;
      atLineStart = true;
      if (blank || !brackets.empty()) {
        continue;
      }
      out.end = pos;
      out.span.endColOffset++;
      return out;
    }
    if (c == '\\') {
      ++pos;
      if (!continueLine()) {
        return errorToken();
      }
      continue;
    }
    Token out;
    if (isNameStart(c)) {
      return lexName(start, out) ? out : errorToken();
    }
    if (isDigit(c) || (c == '.' && isDigit(at(pos + 1)))) {
      return lexNumber(start) ? token(Tok::Number, start) : errorToken();
    }
    if (c == '"' || c == '\'') {
      return lexString(start, out) ? out : errorToken();
    }
    return lexOperator(start);
  }
}

bool Lexer::lexName(uint32_t start, Token &out) {
  // Letters that may be the prefix of a string; each at most once, and only in
  // the combinations the language has.
  bool sawB = false, sawU = false, sawR = false, sawF = false;
  for (;; ++pos) {
    char c = current() | 0x20;
    if (c == 'b' && !(sawB || sawU || sawF)) {
      sawB = true;
    } else if (c == 'u' && !(sawB || sawU || sawR || sawF)) {
      sawU = true;
    } else if (c == 'r' && !(sawR || sawU)) {
      sawR = true;
    } else if (c == 'f' && !(sawF || sawB || sawU)) {
      sawF = true;
    } else {
      break;
    }
    if (at(pos + 1) == '"' || at(pos + 1) == '\'') {
      ++pos;
      return lexString(start, out);
    }
  }
  bool ascii = true;
  while (isNameCharacter(current())) {
    ascii = ascii && static_cast<unsigned char>(text[pos]) < 128;
    ++pos;
  }
  if (!ascii && !checkIdentifier(start, pos)) {
    return false;
  }
  out = token(Tok::Name, start);
  out.kind = keywordOrName(text.substr(start, pos - start));
  return true;
}

bool Lexer::checkIdentifier(uint32_t start, uint32_t end) {
  std::string_view name = text.substr(start, end - start);
  size_t offset = 0;
  while (offset < name.size()) {
    size_t before = offset;
    char32_t c = decodeUtf8(name, offset);
    uint32_t at = start + before;
    if (c == invalidCharacter) {
      return fail(
          spanFrom(at, at + 1), "bytes that are not valid UTF-8",
          "save the file as UTF-8, or declare its encoding in the first "
          "line");
    }
    if (before == 0 ? isXidStart(c) || c == '_' : isXidContinue(c)) {
      continue;
    }
    ast::Span span = spanFrom(at, start + static_cast<uint32_t>(offset));
    std::string code = codePointName(c);
    if (isPrintable(c)) {
      return fail(span,
                  "invalid character '" +
                      std::string(name.substr(before, offset - before)) +
                      "' (" + code + ")",
                  hintForCharacter(c));
    }
    return fail(span, "invalid non-printable character " + code,
                "delete it; it may have been pasted with the text");
  }
  return true;
}

bool Lexer::openedBracket(char c, uint32_t start) {
  if (brackets.size() >= maxBrackets) {
    return fail(spanFrom(start, start + 1), "too many nested parentheses",
                "at most 200 brackets may be open at once");
  }
  brackets.push_back({c, spanFrom(start, start + 1)});
  return true;
}

bool Lexer::closedBracket(char c, uint32_t start) {
  if (brackets.empty()) {
    return fail(spanFrom(start, start + 1),
                std::string("unmatched '") + c + "'",
                "remove it, or open a bracket before it");
  }
  Bracket open = brackets.back();
  brackets.pop_back();
  char expected = open.open == '(' ? ')' : open.open == '[' ? ']' : '}';
  if (c == expected) {
    return true;
  }
  std::string message = std::string("closing parenthesis '") + c +
                        "' does not match opening parenthesis '" + open.open +
                        "'";
  if (open.span.line != line) {
    message += " on line " + std::to_string(open.span.line);
  }
  return fail(spanFrom(start, start + 1), message,
              std::string("expected '") + expected + "' here");
}

/// Operators that start with `c`; the longest that fits.
static Tok operatorAt(char c, char c2, char c3, uint32_t &length) {
  auto withEqual = [&](Tok plain, Tok equal) {
    length = c2 == '=' ? 2 : 1;
    return c2 == '=' ? equal : plain;
  };
  auto doubled = [&](Tok single, Tok singleEqual, Tok twice, Tok twiceEqual) {
    if (c2 != c) {
      return withEqual(single, singleEqual);
    }
    length = c3 == '=' ? 3 : 2;
    return c3 == '=' ? twiceEqual : twice;
  };
  length = 1;
  switch (c) {
  case '(':
    return Tok::LeftParen;
  case ')':
    return Tok::RightParen;
  case '[':
    return Tok::LeftBracket;
  case ']':
    return Tok::RightBracket;
  case '{':
    return Tok::LeftBrace;
  case '}':
    return Tok::RightBrace;
  case ':':
    return withEqual(Tok::Colon, Tok::ColonEqual);
  case ',':
    return Tok::Comma;
  case ';':
    return Tok::Semicolon;
  case '.':
    length = c2 == '.' && c3 == '.' ? 3 : 1;
    return length == 3 ? Tok::Ellipsis : Tok::Dot;
  case '=':
    return withEqual(Tok::Equal, Tok::EqualEqual);
  case '+':
    return withEqual(Tok::Plus, Tok::PlusEqual);
  case '-':
    if (c2 == '>') {
      length = 2;
      return Tok::Arrow;
    }
    return withEqual(Tok::Minus, Tok::MinusEqual);
  case '*':
    return doubled(Tok::Star, Tok::StarEqual, Tok::DoubleStar,
                   Tok::DoubleStarEqual);
  case '/':
    return doubled(Tok::Slash, Tok::SlashEqual, Tok::DoubleSlash,
                   Tok::DoubleSlashEqual);
  case '%':
    return withEqual(Tok::Percent, Tok::PercentEqual);
  case '@':
    return withEqual(Tok::At, Tok::AtEqual);
  case '&':
    return withEqual(Tok::Ampersand, Tok::AmpersandEqual);
  case '|':
    return withEqual(Tok::Bar, Tok::BarEqual);
  case '^':
    return withEqual(Tok::Caret, Tok::CaretEqual);
  case '~':
    return Tok::Tilde;
  case '<':
    if (c2 == '>') {
      length = 2;
      return Tok::NotEqual;
    }
    return doubled(Tok::Less, Tok::LessEqual, Tok::LeftShift,
                   Tok::LeftShiftEqual);
  case '>':
    return doubled(Tok::Greater, Tok::GreaterEqual, Tok::RightShift,
                   Tok::RightShiftEqual);
  case '!':
    return withEqual(Tok::Other, Tok::NotEqual);
  default:
    return Tok::Other;
  }
}

Token Lexer::lexOperator(uint32_t start) {
  char c = current();
  uint32_t length = 1;
  Tok kind = operatorAt(c, at(pos + 1), at(pos + 2), length);
  bool fine = true;
  if (kind == Tok::LeftParen || kind == Tok::LeftBracket ||
      kind == Tok::LeftBrace) {
    fine = openedBracket(c, start);
  } else if (kind == Tok::RightParen || kind == Tok::RightBracket ||
             kind == Tok::RightBrace) {
    fine = closedBracket(c, start);
  } else if (kind == Tok::Other &&
             !isPrintable(static_cast<unsigned char>(c))) {
    fine = fail(spanFrom(start, start + 1),
                "invalid non-printable character " +
                    codePointName(static_cast<unsigned char>(c)),
                "delete it; it may have been pasted with the text");
  }
  if (!fine) {
    return errorToken();
  }
  pos += length;
  return token(kind, start);
}

} // namespace nereid::syntax
