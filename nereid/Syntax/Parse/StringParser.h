//===- StringParser.h - String literals and f-strings -----------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_PARSE_STRINGPARSER_H
#define NEREID_SYNTAX_PARSE_STRINGPARSER_H

#include "nereid/Syntax/Parse/PythonParser.h"

namespace nereid::syntax {

/// A run of adjacent string tokens.
class StringParser {
public:
  explicit StringParser(PythonParser &parser) : parser(parser) {}
  ast::Expr *parse();

private:
  friend class FStringParser;

  /// A literal's prefix, and where its text lies within the token.
  struct Shape {
    bool raw = false, bytes = false, format = false;
    uint32_t begin = 0, end = 0;
  };

  static Shape shapeOf(std::string_view spelled);
  ast::Expr *plain(const Token &token, const Shape &shape);
  bool add(const Token &token, const Shape &shape);
  bool decode(const Token &token, std::string_view body, bool raw, bool bytes,
              std::string &out);
  bool escape(const Token &token, std::string_view body, size_t &offset,
              bool bytes, std::string &out);
  bool namedEscape(const Token &token, std::string_view body, size_t &offset,
                   std::string &out);
  ast::Constant *constant(std::string_view text, const ast::Span &span);
  /// Ends the current literal text with a Constant, if there is any.
  void flush(const ast::Span &span);
  ast::Expr *joined(const ast::Span &span);

  PythonParser &parser;
  ast::Span span{};        ///< of all the literals
  bool hasUPrefix = false; ///< of the first one
  std::string pending;     ///< literal text that is not in `parts` yet
  std::vector<ast::Expr *> parts;
};

/// One f-string token, or a format specification within it. In 3.11 the token
/// is lexed like any string; its fields are found by matching brackets and
/// quotes, and parsed from a copy of their text.
class FStringParser {
public:
  using Shape = StringParser::Shape;

  FStringParser(StringParser &strings, const Token &token, const Shape &shape)
      : strings(strings), parser(strings.parser), token(token),
        text(parser.text(token)), raw(shape.raw), at(shape.begin),
        end(shape.end) {}

  /// Appends the token's parts to the string being built.
  bool parse();

private:
  /// A specification starts at `at` of the string around it.
  FStringParser(StringParser &strings, const FStringParser &outer, size_t at)
      : strings(strings), parser(outer.parser), token(outer.token),
        text(outer.text), raw(outer.raw), at(at), end(outer.end),
        level(outer.level + 1) {}

  bool literal(bool &more);
  bool field();
  bool findFieldEnd();
  bool inQuotes(char quote, bool triple);
  ast::Expr *value(size_t begin);
  bool conversion(int &out);
  bool fail(std::string message, std::string hint);
  bool missingBrace();
  bool atChar(char c) const { return at < end && text[at] == c; }

  StringParser &strings;
  PythonParser &parser;
  const Token &token;
  std::string_view text; ///< of the whole token
  bool raw;
  size_t at, end;
  int level = 0;
};

} // namespace nereid::syntax

#endif // NEREID_SYNTAX_PARSE_STRINGPARSER_H
