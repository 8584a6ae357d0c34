//===- FString.cpp - Fields of f-strings ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// f'a{x!r:{w}.3f}b': literal text, then a field {expression[=][!c][:spec]}, and
// so on. A specification is again literal text with fields, one level deep.
//
// Positions. The expression is parsed from "(" + text + ")", whose parenthesis
// falls on the field's brace: the first line is shifted by the brace's column,
// later lines by nothing. If only blanks stand between the brace and a line
// end, CPython does not shift at all. Literal parts and fields carry the span
// of the whole run of literals; a specification carries that of its own token.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/StringParser.h"

#include <algorithm>

namespace nereid::syntax {

using namespace ast;

bool FStringParser::fail(std::string message, std::string hint) {
  parser.raiseInString(token, "f-string: " + message, std::move(hint));
  return false;
}

bool FStringParser::missingBrace() {
  return fail("expected '}'", "a field ends with '}'; a literal brace is "
                              "written twice: '{{' or '}}'");
}

bool FStringParser::parse() {
  for (bool more = true; more;) {
    if (!literal(more)) {
      return false;
    }
    if (more) {
      continue;
    }
    if (at >= end || text[at] == '}') {
      break;
    }
    if (!field()) {
      return false;
    }
    more = true;
  }
  return true;
}

/// Text up to a field, a closing brace of a specification, or the end. `more`
/// is set after a doubled brace, after which the text goes on.
bool FStringParser::literal(bool &more) {
  size_t begin = at;
  size_t stop = end;
  more = false;
  while (at < end) {
    char c = text[at++];
    if (!raw && c == '\\' && at < end) {
      c = text[at++];
      if (c == 'N') {
        // The braces of \N{...} are not a field's.
        if (at < end && text[at++] == '{') {
          at = std::min(text.find('}', at), end - 1) + 1;
        }
        continue;
      }
    }
    if (c != '{' && c != '}') {
      continue;
    }
    if (level == 0 && at < end && text[at] == c) {
      stop = at++;
      more = true;
      break;
    }
    if (level == 0 && c == '}') {
      return fail("single '}' is not allowed",
                  "write '}}' for a literal brace");
    }
    stop = --at;
    break;
  }
  if (at >= end && !more) {
    stop = end;
  }
  return strings.decode(token, text.substr(begin, stop - begin), raw, false,
                        strings.pending);
}

/// Moves to the character that ends the expression: one of `!:=}` outside of
/// brackets and quotes, and not part of an operator.
bool FStringParser::findFieldEnd() {
  std::string brackets;
  for (; at < end; ++at) {
    char c = text[at];
    char next = at + 1 < end ? text[at + 1] : '\0';
    if (c == '\\') {
      return fail("an expression cannot include a backslash",
                  "give the value a name before the string");
    }
    if (c == '\'' || c == '"') {
      bool triple = next == c && at + 2 < end && text[at + 2] == c;
      if (!inQuotes(c, triple)) {
        return false;
      }
    } else if (c == '(' || c == '[' || c == '{') {
      if (brackets.size() >= Lexer::maxBrackets) {
        return fail("too many nested parentheses",
                    "at most 200 brackets may be open at once");
      }
      brackets += c;
    } else if (c == '#') {
      return fail("an expression cannot include '#'",
                  "put the comment outside of the string");
    } else if (brackets.empty() && (c == '!' || c == ':' || c == '}' ||
                                    c == '=' || c == '<' || c == '>')) {
      if (next == '=' && c != ':' && c != '}') {
        ++at;
      } else if (c != '<' && c != '>') {
        return true;
      }
    } else if (c == ')' || c == ']' || c == '}') {
      if (brackets.empty()) {
        return fail(std::string("unmatched '") + c + "'",
                    "remove it, or open a bracket before it");
      }
      char open = brackets.back();
      brackets.pop_back();
      if (c != (open == '(' ? ')' : open == '[' ? ']' : '}')) {
        return fail(std::string("closing parenthesis '") + c +
                        "' does not match opening parenthesis '" + open + "'",
                    "close the brackets in the reverse order");
      }
    }
  }
  if (!brackets.empty()) {
    return fail(std::string("unmatched '") + brackets.back() + "'",
                "close it before the field ends");
  }
  return missingBrace();
}

/// Skips a string within an expression; stops at its last quote.
bool FStringParser::inQuotes(char quote, bool triple) {
  for (at += triple ? 3 : 1; at < end; ++at) {
    char c = text[at];
    if (c == '\\') {
      return fail("an expression cannot include a backslash",
                  "give the value a name before the string");
    }
    if (c != quote) {
      continue;
    }
    if (!triple) {
      return true;
    }
    if (at + 2 < end && text[at + 1] == c && text[at + 2] == c) {
      at += 2;
      return true;
    }
  }
  return fail("unterminated string", std::string("close it with ") +
                                         std::string(triple ? 3 : 1, quote));
}

static bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

/// The expression in [begin, at).
Expr *FStringParser::value(size_t begin) {
  std::string_view source = text.substr(begin, at - begin);
  size_t brace = begin - 1;
  if (std::all_of(source.begin(), source.end(),
                  [](char c) { return isBlank(c) || c == '\n'; })) {
    std::string before =
        text[at] == '}' ? "" : std::string(" before '") + text[at] + "'";
    fail("expected an expression" + before, "write '{{' for a literal brace");
    return nullptr;
  }
  std::string_view head = text.substr(0, brace);
  uint32_t lines = std::count(head.begin(), head.end(), '\n');
  size_t lineBreak = head.rfind('\n');
  uint32_t column = lineBreak == head.npos ? brace : brace - lineBreak - 1;
  size_t visible = begin;
  while (isBlank(text[visible])) {
    ++visible;
  }
  if (text[visible] == '\n') {
    column = 0;
  }
  if (lines == 0) {
    column += token.span.colOffset;
  }
  std::string copy = "(" + std::string(source) + ")\n";
  PythonParser inner(parser.arena, parser.arena.copy(std::string_view(copy)),
                     token.span.line + lines, column, parser.depth);
  Expr *out = inner.parseField();
  if (!out) {
    Problem problem = inner.problem();
    problem.message = "f-string: " + problem.message;
    parser.raise(std::move(problem));
  }
  return out;
}

bool FStringParser::conversion(int &out) {
  ++at;
  if (at >= end) {
    return missingBrace();
  }
  out = text[at++];
  return out == 's' || out == 'r' || out == 'a' ||
         fail("invalid conversion character",
              "expected 's', 'r' or 'a' after '!'");
}

bool FStringParser::field() {
  if (level >= 2) {
    return fail("expressions nested too deeply",
                "a format specification may hold fields, but not fields with "
                "specifications of their own");
  }
  size_t begin = ++at;
  if (!findFieldEnd()) {
    return false;
  }
  Expr *expr = value(begin);
  if (!expr) {
    return false;
  }
  int conversionCharacter = -1;
  Expr *spec = nullptr;
  bool debug = atChar('=');
  if (debug) {
    ++at;
    while (at < end &&
           (isBlank(text[at]) || text[at] == '\n' || text[at] == '\v')) {
      ++at;
    }
    if (at >= end) {
      return missingBrace();
    }
    strings.pending += text.substr(begin, at - begin);
  }
  if (atChar('!') && !conversion(conversionCharacter)) {
    return false;
  }
  if (atChar(':')) {
    StringParser specStrings(parser);
    specStrings.span = strings.span;
    specStrings.hasUPrefix = strings.hasUPrefix;
    FStringParser inner(specStrings, *this, at + 1);
    if (inner.at >= end || !inner.parse()) {
      return parser.raised ? false : missingBrace();
    }
    at = inner.at;
    spec = specStrings.joined(token.span);
    if (!spec) {
      return false;
    }
  }
  if (!atChar('}')) {
    return missingBrace();
  }
  ++at;
  if (debug && !spec && conversionCharacter == -1) {
    conversionCharacter = 'r';
  }
  strings.flush(strings.span);
  FormattedValue *node = parser.arena.create<FormattedValue>();
  node->span = strings.span;
  node->value = expr;
  node->conversion = conversionCharacter;
  node->formatSpec = spec;
  if (!parser.bound(node, expr, spec)) {
    return false;
  }
  strings.parts.push_back(node);
  return true;
}

} // namespace nereid::syntax
