//===- MistakeGrammar.cpp - Reads the rules of MistakeRules.cpp -----------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules are part of the program, so what does not read is our own error and
// asserted.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Mistakes/MistakeGrammar.h"

#include <algorithm>
#include <cassert>

namespace nereid::syntax {

/// Reads the body of one rule. Choice binds weakest, then sequence, `%`, the
/// prefixes and the suffixes.
class RuleReader {
public:
  RuleReader(MistakeGrammar &grammar, std::string_view text)
      : grammar(grammar), text(text) {}

  uint32_t choice();
  bool atEnd() {
    skipBlanks();
    return text.empty();
  }

private:
  using Node = MistakeGrammar::Node;
  using Op = MistakeGrammar::Op;

  void skipBlanks() {
    while (!text.empty() && text[0] == ' ') {
      text.remove_prefix(1);
    }
  }
  bool accept(char c) {
    skipBlanks();
    if (text.empty() || text[0] != c) {
      return false;
    }
    text.remove_prefix(1);
    return true;
  }
  std::string_view word() {
    size_t length = 0;
    while (length < text.size() &&
           (text[length] == '_' || (text[length] | 0x20) >= 'a') &&
           (text[length] | 0x20) <= 'z' + 5) {
      ++length;
    }
    std::string_view out = text.substr(0, length);
    text.remove_prefix(length);
    return out;
  }
  std::string_view quoted(char quote) {
    size_t length = text.find(quote);
    std::string_view out = text.substr(0, length);
    text.remove_prefix(length + 1);
    return out;
  }
  uint32_t add(Node node) {
    grammar.nodes.push_back(std::move(node));
    return static_cast<uint32_t>(grammar.nodes.size() - 1);
  }
  uint32_t wrap(Op op, uint32_t first, uint32_t second = 0) {
    Node node;
    node.op = op;
    node.first = first;
    node.second = second;
    return add(node);
  }
  uint32_t sequence();
  uint32_t item();
  uint32_t prefixed();
  uint32_t suffixed();
  uint32_t primary();
  uint32_t named(std::string_view name);

  MistakeGrammar &grammar;
  std::string_view text;
};

uint32_t RuleReader::choice() {
  Node node;
  node.op = Op::Choice;
  do {
    node.children.push_back(sequence());
  } while (accept('|'));
  return add(node);
}

uint32_t RuleReader::sequence() {
  Node node;
  node.op = Op::Sequence;
  for (skipBlanks(); !text.empty() && text[0] != '|' && text[0] != ')';
       skipBlanks()) {
    if (accept('#')) {
      node.mistake = mistakeNamed(word());
      continue;
    }
    node.children.push_back(item());
  }
  const Node &only = grammar.nodes[node.children[0]];
  node.describesMistake = node.children.size() == 1 && only.op == Op::Rule &&
                          grammar.rules[only.first].name.starts_with("bad_");
  return add(node);
}

uint32_t RuleReader::item() {
  int8_t mark = -1;
  if (text.starts_with("a:") || text.starts_with("b:")) {
    mark = text[0] == 'a' ? 0 : 1;
    text.remove_prefix(2);
  }
  uint32_t element = prefixed();
  if (accept('%')) {
    skipBlanks();
    element = wrap(Op::List, element, suffixed());
  }
  if (mark >= 0) {
    element = wrap(Op::Sequence, element);
    grammar.nodes[element].children = {grammar.nodes[element].first};
    grammar.nodes[element].mark = mark;
  }
  return element;
}

uint32_t RuleReader::prefixed() {
  skipBlanks();
  if (accept('&')) {
    return wrap(Op::And, suffixed());
  }
  if (accept('!')) {
    return wrap(Op::Not, suffixed());
  }
  if (accept('^')) {
    return wrap(Op::Forced, suffixed());
  }
  if (accept('~')) {
    Node cut;
    cut.op = Op::Cut;
    return add(cut);
  }
  if (text.starts_with("quietly ")) {
    text.remove_prefix(8);
    return wrap(Op::Quietly, suffixed());
  }
  return suffixed();
}

uint32_t RuleReader::suffixed() {
  uint32_t element = primary();
  if (text.empty()) {
    return element;
  }
  Op op;
  switch (text[0]) {
  case '?':
    op = Op::Optional;
    break;
  case '*':
    op = Op::Star;
    break;
  case '+':
    op = Op::Plus;
    break;
  default:
    return element;
  }
  text.remove_prefix(1);
  return wrap(op, element);
}

uint32_t RuleReader::primary() {
  skipBlanks();
  Node node;
  if (accept('(')) {
    uint32_t group = choice();
    bool closed = accept(')');
    assert(closed && "a group without an end");
    (void)closed;
    return group;
  }
  if (accept('\'')) {
    node.op = Op::Token;
    node.kind = tokenSpelled(quoted('\''));
    assert(node.kind != Tok::Error && "no such token");
    return add(node);
  }
  if (accept('"')) {
    node.op = Op::Soft;
    node.word = quoted('"');
    return add(node);
  }
  return named(word());
}

uint32_t RuleReader::named(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    Tok kind;
  } kinds[] = {{"NAME", Tok::Name},     {"NUMBER", Tok::Number},
               {"STRING", Tok::String}, {"NEWLINE", Tok::Newline},
               {"INDENT", Tok::Indent}, {"DEDENT", Tok::Dedent},
               {"END", Tok::EndMarker}, {"NOT_EQUAL", Tok::NotEqual}};
  Node node;
  for (const auto &entry : kinds) {
    if (entry.name == name) {
      node.op = Op::Token;
      node.kind = entry.kind;
      node.word = name == "NOT_EQUAL" ? "!=" : "";
      return add(node);
    }
  }
  if (name == "SOFT" || name == "STRINGS") {
    node.op = name == "SOFT" ? Op::AnySoft : Op::Strings;
    return add(node);
  }
  assert(grammar.ruleIndex.count(name) && "no such rule");
  node.op = Op::Rule;
  node.first = grammar.ruleIndex.at(name);
  return add(node);
}

MistakeGrammar::MistakeGrammar() {
  std::vector<const RuleText *> texts;
  for (const RuleText *table : {statementRules, expressionRules}) {
    for (; table->name; ++table) {
      std::string_view name = table->name;
      Rule rule;
      rule.sharesMemory = name.ends_with('*');
      rule.name = name.substr(0, name.size() - rule.sharesMemory);
      ruleIndex.emplace(rule.name, static_cast<uint32_t>(rules.size()));
      rules.push_back(rule);
      texts.push_back(table);
    }
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    RuleReader reader(*this, texts[i]->body);
    size_t before = nodes.size();
    rules[i].body = reader.choice();
    rules[i].isSmall =
        std::none_of(nodes.begin() + before, nodes.end(), [](const Node &node) {
          return node.op == Op::Rule || node.op == Op::Strings;
        });
    assert(reader.atEnd() && "a rule that does not read");
  }
}

const MistakeGrammar &MistakeGrammar::get() {
  static const MistakeGrammar grammar;
  return grammar;
}

} // namespace nereid::syntax
