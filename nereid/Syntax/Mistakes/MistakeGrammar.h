//===- MistakeGrammar.h - A grammar that describes mistakes -----*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_SYNTAX_MISTAKES_MISTAKEGRAMMAR_H
#define NEREID_SYNTAX_MISTAKES_MISTAKEGRAMMAR_H

#include "nereid/Syntax/Lex/Token.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nereid::syntax {

/// One rule in the notation of MistakeRules.cpp.
struct RuleText {
  const char *name;
  const char *body;
};

/// What is said about a mistake. In the texts `{kind}` is what the marked
/// expression is ("function call"), `{text}` its first token, `{line}` its
/// line.
struct Mistake {
  const char *name;
  enum Place {
    First,         ///< the part marked a
    FirstToSecond, ///< from a to the part marked b
    FirstOn,       ///< from a to the last token read
    Last,          ///< the last token read
    Special        ///< see MistakeFinder::report
  } place;
  const char *message;
  const char *hint;
};

/// The rules, read into nodes once. Immutable, shared by all threads.
class MistakeGrammar {
public:
  enum class Op : uint8_t {
    Token,   ///< kind
    Soft,    ///< a name spelled as `word`
    AnySoft, ///< `match`, `case` or `_`
    Strings,
    Rule,     ///< first: the rule
    Sequence, ///< children
    Choice,   ///< children
    Optional, ///< first: the child; the same for those below
    Star,
    Plus,
    List, ///< first: the element, second: the separator
    And,
    Not,
    Cut,
    Forced,
    Quietly ///< without looking for mistakes inside
  };

  struct Node {
    Op op = Op::Sequence;
    Tok kind = Tok::Error;
    bool describesMistake = false; ///< a Sequence skipped in quiet matching
    int8_t mark = -1;              ///< 0: a, 1: b
    int mistake = -1;              ///< of a Sequence
    uint32_t first = 0, second = 0;
    std::string_view word;
    std::vector<uint32_t> children;
  };

  struct Rule {
    std::string_view name;
    uint32_t body = 0;
    bool isSmall = false; ///< holds tokens only: matched faster than looked up
    bool sharesMemory = false; ///< remembered alike in both ways of matching
  };

  static const MistakeGrammar &get();

  const Node &node(uint32_t index) const { return nodes[index]; }
  const Rule &rule(uint32_t index) const { return rules[index]; }
  uint32_t ruleNamed(std::string_view name) const { return ruleIndex.at(name); }

private:
  MistakeGrammar();

  friend class RuleReader;
  std::vector<Node> nodes;
  std::vector<Rule> rules;
  std::unordered_map<std::string_view, uint32_t> ruleIndex;
};

/// MistakeRules.cpp; ends with a null name.
extern const RuleText statementRules[], expressionRules[];
/// ReportMistakes.cpp.
const Mistake &mistakeAt(int index);
int mistakeNamed(std::string_view name);

} // namespace nereid::syntax

#endif // NEREID_SYNTAX_MISTAKES_MISTAKEGRAMMAR_H
