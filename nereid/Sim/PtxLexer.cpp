//===- PtxLexer.cpp - Words of PTX ----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Sim/PtxLexer.h"

#include <charconv>

namespace nereid::sim {

static bool isNameCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

void Lexer::skipBlank() {
  while (at < text.size()) {
    char c = text[at];
    if (c == '\n') {
      ++currentLine;
      ++at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else if (text.substr(at, 2) == "/*") {
      size_t end = std::min(text.find("*/", at + 2), text.size() - 2);
      for (; at < end + 2; ++at) {
        currentLine += text[at] == '\n';
      }
    } else {
      return;
    }
  }
}

size_t Lexer::wordEnd() const {
  size_t end = at + 1;
  if (text[at] == '"') {
    return std::min(text.find('"', end), text.size() - 1) + 1;
  }
  if (!isNameCharacter(text[at]) && text[at] != '%' && text[at] != '.') {
    return end;
  }
  // "::" is part of a modifier: L1::evict_first.
  while (end < text.size()) {
    if (isNameCharacter(text[end]) || text[end] == '.') {
      ++end;
    } else if (text.substr(end, 2) == "::") {
      end += 2;
    } else {
      break;
    }
  }
  return end;
}

void Lexer::advance() {
  previousEnd = at;
  skipBlank();
  wordLine = currentLine;
  if (at == text.size()) {
    word = text.substr(at);
    return;
  }
  size_t end = wordEnd();
  word = text.substr(at, end - at);
  at = end;
}

std::string_view Lexer::peekSecond() const {
  Lexer next = *this;
  next.advance();
  return next.word;
}

std::string_view Lexer::take() {
  std::string_view taken = word;
  if (taken.empty()) {
    throw PtxError{wordLine, "the text ends too early"};
  }
  advance();
  return taken;
}

bool Lexer::accept(std::string_view wanted) {
  if (word != wanted) {
    return false;
  }
  advance();
  return true;
}

void Lexer::expect(std::string_view wanted) {
  if (!accept(wanted)) {
    throw PtxError{wordLine, "expected '" + std::string(wanted) + "', got '" +
                                 std::string(word) + "'"};
  }
}

std::string Lexer::compact(size_t begin) const {
  std::string out;
  for (char c : text.substr(begin, previousEnd - begin)) {
    bool isBlank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!isBlank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return out;
}

static uint64_t parseDigits(std::string_view digits, int base, uint32_t line) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(
      digits.data(), digits.data() + digits.size(), value, base);
  bool isAll = end == digits.data() + digits.size() ||
               (*end == 'U' && end + 1 == digits.data() + digits.size());
  if (error != std::errc() || !isAll) {
    throw PtxError{line,
                   "expected a number, got '" + std::string(digits) + "'"};
  }
  return value;
}

uint64_t Lexer::integer(std::string_view digits) const {
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    return hexadecimal(digits.substr(2));
  }
  return parseDigits(digits, 10, wordLine);
}

uint64_t Lexer::hexadecimal(std::string_view digits) const {
  return parseDigits(digits, 16, wordLine);
}

} // namespace nereid::sim
