//===- Token.h - Tokens of Python 3.11 --------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Token kinds and the token itself. `match`, `case` and `_` are ordinary names
// here: only the grammar knows where they are keywords.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_LEX_TOKEN_H
#define NEREID_SYNTAX_LEX_TOKEN_H

#include "nereid/Syntax/Node.h"

namespace nereid::syntax {

#define NEREID_TOKEN_OPERATORS(X)                                              \
  X(LeftParen, "(")                                                            \
  X(RightParen, ")")                                                           \
  X(LeftBracket, "[")                                                          \
  X(RightBracket, "]")                                                         \
  X(LeftBrace, "{")                                                            \
  X(RightBrace, "}")                                                           \
  X(Colon, ":")                                                                \
  X(Comma, ",")                                                                \
  X(Semicolon, ";")                                                            \
  X(Dot, ".")                                                                  \
  X(Ellipsis, "...")                                                           \
  X(Arrow, "->")                                                               \
  X(ColonEqual, ":=")                                                          \
  X(Equal, "=")                                                                \
  X(Plus, "+")                                                                 \
  X(Minus, "-")                                                                \
  X(Star, "*")                                                                 \
  X(DoubleStar, "**")                                                          \
  X(Slash, "/")                                                                \
  X(DoubleSlash, "//")                                                         \
  X(Percent, "%")                                                              \
  X(At, "@")                                                                   \
  X(Ampersand, "&")                                                            \
  X(Bar, "|")                                                                  \
  X(Caret, "^")                                                                \
  X(Tilde, "~")                                                                \
  X(LeftShift, "<<")                                                           \
  X(RightShift, ">>")                                                          \
  X(Less, "<")                                                                 \
  X(Greater, ">")                                                              \
  X(LessEqual, "<=")                                                           \
  X(GreaterEqual, ">=")                                                        \
  X(EqualEqual, "==")                                                          \
  X(NotEqual, "!=")                                                            \
  X(PlusEqual, "+=")                                                           \
  X(MinusEqual, "-=")                                                          \
  X(StarEqual, "*=")                                                           \
  X(SlashEqual, "/=")                                                          \
  X(DoubleSlashEqual, "//=")                                                   \
  X(PercentEqual, "%=")                                                        \
  X(AtEqual, "@=")                                                             \
  X(AmpersandEqual, "&=")                                                      \
  X(BarEqual, "|=")                                                            \
  X(CaretEqual, "^=")                                                          \
  X(LeftShiftEqual, "<<=")                                                     \
  X(RightShiftEqual, ">>=")                                                    \
  X(DoubleStarEqual, "**=")

#define NEREID_TOKEN_KEYWORDS(X)                                               \
  X(False, "False")                                                            \
  X(None, "None")                                                              \
  X(True, "True")                                                              \
  X(And, "and")                                                                \
  X(As, "as")                                                                  \
  X(Assert, "assert")                                                          \
  X(Async, "async")                                                            \
  X(Await, "await")                                                            \
  X(Break, "break")                                                            \
  X(Class, "class")                                                            \
  X(Continue, "continue")                                                      \
  X(Def, "def")                                                                \
  X(Del, "del")                                                                \
  X(Elif, "elif")                                                              \
  X(Else, "else")                                                              \
  X(Except, "except")                                                          \
  X(Finally, "finally")                                                        \
  X(For, "for")                                                                \
  X(From, "from")                                                              \
  X(Global, "global")                                                          \
  X(If, "if")                                                                  \
  X(Import, "import")                                                          \
  X(In, "in")                                                                  \
  X(Is, "is")                                                                  \
  X(Lambda, "lambda")                                                          \
  X(Nonlocal, "nonlocal")                                                      \
  X(Not, "not")                                                                \
  X(Or, "or")                                                                  \
  X(Pass, "pass")                                                              \
  X(Raise, "raise")                                                            \
  X(Return, "return")                                                          \
  X(Try, "try")                                                                \
  X(While, "while")                                                            \
  X(With, "with")                                                              \
  X(Yield, "yield")

enum class Tok : uint8_t {
  EndMarker,
  Error, ///< see Lexer::error()
  Name,
  Number,
  String, ///< prefix and quotes included, f-strings too
  Newline,
  Indent,
  Dedent,
  Other, ///< a character that starts no token: `$`, `?`, a lone `!`
#define NEREID_TOKEN(NAME, SPELLING) NAME,
  NEREID_TOKEN_OPERATORS(NEREID_TOKEN)
#define NEREID_KEYWORD(NAME, SPELLING) Kw##NAME,
      NEREID_TOKEN_KEYWORDS(NEREID_KEYWORD)
#undef NEREID_KEYWORD
#undef NEREID_TOKEN
};

inline bool isKeyword(Tok kind) { return kind >= Tok::KwFalse; }

/// "'+='", "'while'", "a name", "the end of the line".
const char *describe(Tok kind);

/// The keyword `word` is, or Tok::Name.
Tok keywordOrName(std::string_view word);

/// The operator or keyword spelled so, or Tok::Error.
Tok tokenSpelled(std::string_view spelling);

struct Token {
  Tok kind = Tok::Error;
  uint8_t level = 0;           ///< open brackets after this token
  uint32_t begin = 0, end = 0; ///< byte offsets in the lexer's text
  ast::Span span;
};

} // namespace nereid::syntax

#endif // NEREID_SYNTAX_LEX_TOKEN_H
