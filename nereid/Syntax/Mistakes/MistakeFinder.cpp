//===- MistakeFinder.cpp - Matches a text with the mistake grammar
//------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Mistakes/MistakeFinder.h"

#include "nereid/Syntax/Mistakes/MistakeGrammar.h"

namespace nereid::syntax {

/// Nested rules, as CPython limits them (6000 there, where binary operators
/// take levels of their own). 200 brackets take 4000.
static constexpr unsigned maxNesting = 5000;

int MatchMemory::find(uint64_t key) const {
  if (entries.empty()) {
    return unknown;
  }
  size_t at = slot(key);
  while (entries[at].end != unknown && entries[at].key != key) {
    at = (at + 1) & (entries.size() - 1);
  }
  return entries[at].end;
}

void MatchMemory::add(uint64_t key, int end) {
  if (used * 2 >= entries.size()) {
    std::vector<Entry> old(std::max<size_t>(entries.size() * 2, 1024));
    old.swap(entries);
    used = 0;
    for (const Entry &entry : old) {
      if (entry.end != unknown) {
        add(entry.key, entry.end);
      }
    }
  }
  size_t at = slot(key);
  while (entries[at].end != unknown) {
    at = (at + 1) & (entries.size() - 1);
  }
  entries[at] = {key, end};
  ++used;
}

void MatchMemory::clear() {
  entries.assign(entries.size(), Entry());
  used = 0;
}

MistakeFinder::MistakeFinder(PythonParser &parser)
    : parser(parser), grammar(MistakeGrammar::get()) {}

void MistakeFinder::matchText(Start start) {
  switch (start) {
  case Start::File: {
    // What parsed before this statement is no mistake.
    int at = static_cast<int>(parser.statementStart);
    do {
      at = matchRule(grammar.ruleNamed("statement"), at);
    } while (at != noMatch && !stopped() &&
             parser.token(at).kind != Tok::EndMarker);
    break;
  }
  case Start::Eval:
    matchRule(grammar.ruleNamed("eval"), 0);
    break;
  case Start::Field:
    matchRule(grammar.ruleNamed("star_expressions"), 0);
    break;
  }
}

void MistakeFinder::find(Start start) {
  uint32_t last = 0;
  if (!stopped()) {
    // Twice, as CPython does: some mistakes (in dicts) are found by the first,
    // quiet pass and win over all of the second.
    seeksMistakes = false;
    matchText(start);
    last = static_cast<uint32_t>(parser.tokens.size() - 1);
  }
  if (!stopped()) {
    memory.clear();
    seeksMistakes = true;
    matchText(start);
  }
  bool fromLexer = parser.lexer.failed();
  if (!stopped()) {
    raiseUnexpected(last);
    Tok kind = parser.tokens[last].kind;
    if (kind == Tok::Indent || kind == Tok::Dedent) {
      return; // CPython does not look further either
    }
  }
  if (!fromLexer) {
    preferLexicalErrors();
  }
}

int MistakeFinder::matchRule(uint32_t index, uint32_t at) {
  const MistakeGrammar::Rule &rule = grammar.rule(index);
  uint64_t way = rule.sharesMemory || seeksMistakes ? 0 : 1;
  uint64_t key = uint64_t(at) << 16 | index << 1 | way;
  bool remembers = !rule.isSmall;
  if (remembers) {
    if (int known = memory.find(key); known != MatchMemory::unknown) {
      return known;
    }
  }
  if (++nesting > maxNesting) {
    parser.raiseTooDeep(parser.token(at).span);
    return noMatch;
  }
  int end = match(rule.body, at);
  --nesting;
  if (remembers && !stopped()) {
    memory.add(key, end);
  }
  return end;
}

int MistakeFinder::match(uint32_t index, uint32_t at) {
  using Op = MistakeGrammar::Op;
  if (stopped()) {
    return noMatch;
  }
  const MistakeGrammar::Node &node = grammar.node(index);
  bool cut = false;
  switch (node.op) {
  case Op::Token:
  case Op::Soft:
  case Op::AnySoft:
  case Op::Forced:
    return matchToken(index, at);
  case Op::Strings:
    return matchStrings(at);
  case Op::Rule:
    return matchRule(node.first, at);
  case Op::Sequence:
    return matchSequence(index, at, cut);
  case Op::Choice:
    for (uint32_t child : node.children) {
      if (grammar.node(child).describesMistake && !seeksMistakes) {
        continue;
      }
      int end = matchSequence(child, at, cut);
      if (end != noMatch || cut || stopped()) {
        return end;
      }
    }
    return noMatch;
  case Op::Optional: {
    int end = match(node.first, at);
    return end == noMatch && !stopped() ? static_cast<int>(at) : end;
  }
  case Op::Star:
  case Op::Plus:
  case Op::List:
    return matchRepeated(index, at);
  case Op::And:
  case Op::Not: {
    bool found = match(node.first, at) != noMatch;
    return !stopped() && found == (node.op == Op::And) ? static_cast<int>(at)
                                                       : noMatch;
  }
  case Op::Cut:
    return static_cast<int>(at);
  case Op::Quietly: {
    bool before = seeksMistakes;
    seeksMistakes = false;
    int end = match(node.first, at);
    seeksMistakes = before;
    return end;
  }
  }
  return noMatch;
}

int MistakeFinder::matchSequence(uint32_t index, uint32_t at, bool &cut) {
  const MistakeGrammar::Node &node = grammar.node(index);
  TokenRange marked[2];
  uint32_t begin = at;
  for (uint32_t child : node.children) {
    int end = match(child, at);
    if (end == noMatch || stopped()) {
      return noMatch;
    }
    const MistakeGrammar::Node &element = grammar.node(child);
    cut = cut || element.op == MistakeGrammar::Op::Cut;
    if (element.mark >= 0) {
      marked[element.mark] = {at, static_cast<uint32_t>(end)};
    }
    at = end;
  }
  if (node.mistake >= 0) {
    report(node.mistake, {begin, at}, marked);
    return noMatch; // a mistake that turns out to be right matches nothing
  }
  return static_cast<int>(at);
}

int MistakeFinder::matchRepeated(uint32_t index, uint32_t at) {
  using Op = MistakeGrammar::Op;
  const MistakeGrammar::Node &node = grammar.node(index);
  int end = match(node.first, at);
  if (end == noMatch) {
    return node.op == Op::Star && !stopped() ? static_cast<int>(at) : noMatch;
  }
  for (;;) {
    int next = end;
    if (node.op == Op::List) {
      next = match(node.second, next);
    }
    if (next != noMatch) {
      next = match(node.first, next);
    }
    if (stopped()) {
      return noMatch;
    }
    if (next == noMatch || next == end) {
      return end;
    }
    end = next;
  }
}

int MistakeFinder::matchToken(uint32_t index, uint32_t at) {
  using Op = MistakeGrammar::Op;
  const MistakeGrammar::Node &node = grammar.node(index);
  const Token &token = parser.token(at);
  if (stopped()) {
    return noMatch;
  }
  bool found = false;
  switch (node.op) {
  case Op::Token:
    found = token.kind == node.kind &&
            (node.word.empty() || parser.text(token) == node.word);
    break;
  case Op::Soft:
    found = token.kind == Tok::Name && parser.text(token) == node.word;
    break;
  case Op::AnySoft:
    found = token.kind == Tok::Name &&
            (parser.text(token) == "match" || parser.text(token) == "case" ||
             parser.text(token) == "_");
    break;
  default: {
    parser.pos = at;
    found = parser.require(grammar.node(node.first).kind);
    break;
  }
  }
  return found ? static_cast<int>(at + 1) : noMatch;
}

/// Strings are read with their values, since an escape may be wrong.
int MistakeFinder::matchStrings(uint32_t at) {
  if (parser.token(at).kind != Tok::String || stopped()) {
    return noMatch;
  }
  parser.pos = at;
  return parser.strings() ? static_cast<int>(parser.pos) : noMatch;
}

} // namespace nereid::syntax
