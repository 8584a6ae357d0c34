//===- Literals.cpp - The values of numbers -------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Parse/PythonParser.h"

#include <charconv>
#include <limits>

namespace nereid::syntax {

using namespace ast;

/// CPython's sys.int_info.default_max_str_digits: a longer decimal literal is
/// refused, since reading it takes quadratic time.
static constexpr size_t maxDecimalDigits = 4300;

static std::string withoutUnderscores(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c != '_') {
      out += c;
    }
  }
  return out;
}

/// words = words * factor + addend.
static void multiplyAdd(std::vector<uint64_t> &words, uint64_t factor,
                        uint64_t addend) {
  for (uint64_t &word : words) {
    unsigned __int128 product =
        static_cast<unsigned __int128>(word) * factor + addend;
    word = static_cast<uint64_t>(product);
    addend = static_cast<uint64_t>(product >> 64);
  }
  if (addend) {
    words.push_back(addend);
  }
}

static unsigned digitValue(char c) {
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/// A binary radix needs no multiplication: `bits` per digit, from the end.
static std::vector<uint64_t> packDigits(std::string_view digits,
                                        unsigned bits) {
  std::vector<uint64_t> words(digits.size() * bits / 64 + 1);
  size_t at = 0;
  for (size_t i = digits.size(); i-- > 0; at += bits) {
    uint64_t value = digitValue(digits[i]);
    words[at / 64] |= value << at % 64;
    if (at % 64 + bits > 64) {
      words[at / 64 + 1] |= value >> (64 - at % 64);
    }
  }
  return words;
}

/// Decimal digits in steps of 18, which fit a word.
static std::vector<uint64_t> readDecimal(std::string_view digits) {
  std::vector<uint64_t> words;
  while (!digits.empty()) {
    size_t count = std::min<size_t>(digits.size(), 18);
    uint64_t chunk = 0, scale = 1;
    for (char c : digits.substr(0, count)) {
      chunk = chunk * 10 + digitValue(c);
      scale *= 10;
    }
    multiplyAdd(words, scale, chunk);
    digits.remove_prefix(count);
  }
  return words;
}

static const Integer *makeInteger(Arena &arena, std::string_view text,
                                  std::vector<uint64_t> words) {
  while (!words.empty() && words.back() == 0) {
    words.pop_back();
  }
  if (words.empty() || words.back() >> 63) {
    words.push_back(0);
  }
  Integer *out = arena.create<Integer>();
  out->text = text;
  out->fitsInt64 = words.size() == 1;
  out->small = out->fitsInt64 ? static_cast<int64_t>(words[0]) : 0;
  out->words = arena.copy(words.data(), words.size());
  return out;
}

/// As strtod, but never by the locale's decimal point.
static double readFloat(const std::string &text) {
  double value = 0;
  const char *end = text.data() + text.size();
  if (std::from_chars(text.data(), end, value).ec !=
      std::errc::result_out_of_range) {
    return value;
  }
  // Out of range on which side? The first significant digit decides: its place
  // plus the exponent is far from zero here.
  size_t exponentAt = text.find_first_of("eE");
  long exponent = 0;
  if (exponentAt != std::string::npos) {
    bool negative = text[exponentAt + 1] == '-';
    size_t digits = text.find_first_of("0123456789", exponentAt);
    for (char c : text.substr(digits)) {
      exponent = std::min(exponent * 10 + (c - '0'), 1000000000L);
    }
    exponent = negative ? -exponent : exponent;
  }
  std::string mantissa = text.substr(0, exponentAt);
  size_t point = std::min(mantissa.find('.'), mantissa.size());
  size_t first = mantissa.find_first_of("123456789");
  if (first == std::string::npos) {
    return 0;
  }
  long place = static_cast<long>(point) - static_cast<long>(first);
  return place + exponent > 0 ? std::numeric_limits<double>::infinity() : 0;
}

Expr *PythonParser::number() {
  const Token literal = tokens[pos];
  std::string_view spelled = text(literal);
  Constant *node = make<Constant>(pos++);
  char radix = spelled.size() > 1 && spelled[0] == '0' ? spelled[1] | 0x20 : 0;
  if (radix == 'x' || radix == 'o' || radix == 'b') {
    unsigned bits = radix == 'x' ? 4 : radix == 'o' ? 3 : 1;
    node->constantKind = ConstantKind::Int;
    node->integer =
        makeInteger(arena, spelled,
                    packDigits(withoutUnderscores(spelled.substr(2)), bits));
    return finish(node);
  }
  bool imaginary = (spelled.back() | 0x20) == 'j';
  if (imaginary || spelled.find_first_of(".eE") != std::string_view::npos) {
    node->constantKind =
        imaginary ? ConstantKind::Complex : ConstantKind::Float;
    node->number = readFloat(
        withoutUnderscores(spelled.substr(0, spelled.size() - imaginary)));
    return finish(node);
  }
  std::string digits = withoutUnderscores(spelled);
  if (digits.size() > maxDecimalDigits) {
    return raise(literal.span,
                 "an integer literal of " + std::to_string(digits.size()) +
                     " digits exceeds the limit of " +
                     std::to_string(maxDecimalDigits),
                 "write it in hexadecimal");
  }
  node->constantKind = ConstantKind::Int;
  node->integer = makeInteger(arena, spelled, readDecimal(digits));
  return finish(node);
}

} // namespace nereid::syntax
