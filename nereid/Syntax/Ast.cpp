//===- Ast.cpp - Names of nodes and operators, big integers ---------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Ast.h"

#include <algorithm>
#include <vector>

namespace nereid::ast {

const char *kindName(Kind kind) {
  static constexpr const char *names[] = {
#define NEREID_NAME(TYPE, NAME) NAME,
      NEREID_AST_NODES(NEREID_NAME)
#undef NEREID_NAME
  };
  return names[static_cast<size_t>(kind)];
}

namespace {
struct OperatorName {
  const char *className, *spelled;
};
} // namespace

static constexpr OperatorName boolOperators[] = {{"And", "and"}, {"Or", "or"}};
static constexpr OperatorName operators[] = {
    {"Add", "+"},      {"Sub", "-"},   {"Mult", "*"},   {"MatMult", "@"},
    {"Div", "/"},      {"Mod", "%"},   {"Pow", "**"},   {"LShift", "<<"},
    {"RShift", ">>"},  {"BitOr", "|"}, {"BitXor", "^"}, {"BitAnd", "&"},
    {"FloorDiv", "//"}};
static constexpr OperatorName unaryOperators[] = {
    {"Invert", "~"}, {"Not", "not"}, {"UAdd", "+"}, {"USub", "-"}};
static constexpr OperatorName compareOperators[] = {
    {"Eq", "=="}, {"NotEq", "!="},    {"Lt", "<"},  {"LtE", "<="},
    {"Gt", ">"},  {"GtE", ">="},      {"Is", "is"}, {"IsNot", "is not"},
    {"In", "in"}, {"NotIn", "not in"}};

template <size_t count, typename Enum>
static const OperatorName &entry(const OperatorName (&table)[count], Enum op) {
  return table[static_cast<size_t>(op)];
}

const char *operatorName(BoolOperator op) {
  return entry(boolOperators, op).className;
}
const char *operatorName(Operator op) { return entry(operators, op).className; }
const char *operatorName(UnaryOperator op) {
  return entry(unaryOperators, op).className;
}
const char *operatorName(CompareOperator op) {
  return entry(compareOperators, op).className;
}
const char *spelling(BoolOperator op) {
  return entry(boolOperators, op).spelled;
}
const char *spelling(Operator op) { return entry(operators, op).spelled; }
const char *spelling(UnaryOperator op) {
  return entry(unaryOperators, op).spelled;
}
const char *spelling(CompareOperator op) {
  return entry(compareOperators, op).spelled;
}

const char *contextName(ExprContext ctx) {
  switch (ctx) {
  case ExprContext::Load:
    return "Load";
  case ExprContext::Store:
    return "Store";
  case ExprContext::Del:
    return "Del";
  }
  return "Load";
}

std::string toDecimal(const Integer &value) {
  std::vector<uint64_t> words(value.words.begin(), value.words.end());
  constexpr uint64_t chunk = 1000000000000000000; // 18 digits a step
  std::string reversed;
  while (!words.empty()) {
    unsigned __int128 remainder = 0;
    for (size_t i = words.size(); i-- > 0;) {
      unsigned __int128 current = remainder << 64 | words[i];
      words[i] = static_cast<uint64_t>(current / chunk);
      remainder = current % chunk;
    }
    while (!words.empty() && words.back() == 0) {
      words.pop_back();
    }
    uint64_t digits = static_cast<uint64_t>(remainder);
    for (int i = 0; i < 18 && (digits || !words.empty()); ++i, digits /= 10) {
      reversed += static_cast<char>('0' + digits % 10);
    }
  }
  if (reversed.empty()) {
    reversed = "0";
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

std::string toHex(const Integer &value) {
  std::string digits;
  for (size_t i = value.words.size(); i-- > 0;) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      unsigned digit = value.words[i] >> shift & 15;
      if (digit || !digits.empty()) {
        digits += "0123456789abcdef"[digit];
      }
    }
  }
  return "0x" + (digits.empty() ? "0" : digits);
}

} // namespace nereid::ast
