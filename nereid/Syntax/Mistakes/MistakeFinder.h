//===- MistakeFinder.h - Why a text does not parse ------------------*- C++
//-*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parser stops at the first token that does not fit, which is often not the
// mistake: in `f(a b)` the comma is missing before it, in `if x = 1:` the first
// token that does not fit is right but "expected ':'" is no help.
//
// So the statement that failed is read once more, with a grammar that also
// describes mistakes (MistakeRules.cpp). It is matched as CPython 3.11 matches
// its own: ordered alternatives with backtracking and memory (a packrat
// parser). The order decides which of several mistakes is reported and on which
// line, and "the same line as CPython" is a promise of this module. No tree is
// built; the first mistake that matches ends the search.
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_MISTAKES_MISTAKEFINDER_H
#define NEREID_SYNTAX_MISTAKES_MISTAKEFINDER_H

#include "nereid/Syntax/Parse/PythonParser.h"

#include <vector>

namespace nereid::syntax {

class MistakeGrammar;

/// Tokens [begin, end).
struct TokenRange {
  uint32_t begin = 0, end = 0;
};

/// Which rule matched where, and up to where: a hash table with open
/// addressing. Finding a mistake is mostly looking things up here, and a long
/// statement makes millions of entries, for which std::unordered_map is slower
/// (docs/Syntax.md).
class MatchMemory {
public:
  static constexpr int unknown = -2;

  int find(uint64_t key) const;
  void add(uint64_t key, int end);
  void clear();

private:
  struct Entry {
    uint64_t key;
    int end = unknown;
  };
  /// `key` is the token above 16 bits of the rule. The entries of one token,
  /// some 60, scatter over 256 slots; the next token's start 101 further on, so
  /// that neighbours share cache lines, which one hash over all would not give.
  size_t slot(uint64_t key) const {
    uint64_t within = (key & 0xffff) * 0x9e3779b1 >> 20 & 255;
    return ((key >> 16) * 101 + within) & (entries.size() - 1);
  }
  std::vector<Entry> entries;
  size_t used = 0;
};

class MistakeFinder {
public:
  explicit MistakeFinder(PythonParser &parser);

  /// Raises the reason in the parser, which has failed. Something is always
  /// raised afterwards.
  void find(Start start);

  /// What the tokens before and at `index`, which does not fit, look like;
  /// empty if like nothing in particular.
  std::string hintAt(uint32_t index);

private:
  static constexpr int noMatch = -1;

  //===--- Matching (MistakeFinder.cpp)
  //---------------------------------------===//

  void matchText(Start start);
  /// The token index after the match, or noMatch.
  int match(uint32_t node, uint32_t at);
  int matchRule(uint32_t rule, uint32_t at);
  int matchSequence(uint32_t node, uint32_t at, bool &cut);
  int matchRepeated(uint32_t node, uint32_t at);
  int matchToken(uint32_t node, uint32_t at);
  int matchStrings(uint32_t at);
  bool stopped() const { return parser.raised.has_value(); }

  //===--- Mistakes (ReportMistakes.cpp) ---------------------------------===//

  /// Raises the mistake of a sequence that matched, unless it turns out to be
  /// none. `range` is all of it.
  void report(int mistake, TokenRange range, const TokenRange (&marked)[2]);
  void raise(int mistake, TokenRange where, TokenRange about,
             const std::string &name);
  ast::Expr *rebuild(TokenRange range);
  bool reportTarget(int mistake, TokenRange range);
  TokenRange lastOfSeveral(TokenRange range);
  std::string substitute(const char *text, TokenRange about,
                         const std::string &name);
  ast::Span spanOf(TokenRange range, TokenRange about);

  //===--- Anything else (UnexpectedTokens.cpp) --------------------------===//

  void raiseUnexpected(uint32_t index);
  void preferLexicalErrors();

  PythonParser &parser;
  const MistakeGrammar &grammar;
  MatchMemory memory;
  unsigned nesting = 0;
  bool seeksMistakes = true;
};

} // namespace nereid::syntax

#endif // NEREID_SYNTAX_MISTAKES_MISTAKEFINDER_H
