//===- CharacterNames.cpp - \N{...} ---------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 35,000 names in 430 kB of text: a name is a sequence of word numbers, a
// frequent word takes one letter and another one three. A query is put into the
// same form and searched for as a substring; nothing is built at start, since
// few files ask at all.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Lex/Characters.h"

#include "nereid/Syntax/Lex/CharacterNames.inc"

#include <algorithm>
#include <iterator>

namespace nereid::syntax {

static constexpr char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encodeWord(std::string &out, size_t index) {
  constexpr size_t shortWords = 48;
  if (index < shortWords) {
    out += alphabet[index];
    return;
  }
  index -= shortWords;
  out += alphabet[shortWords + index / 4096];
  out += alphabet[index / 64 % 64];
  out += alphabet[index % 64];
}

/// Which of the space-separated items of `list` `item` is, or -1.
static ptrdiff_t indexOf(std::string_view list, std::string_view item) {
  size_t at = list.find(" " + std::string(item) + " ");
  if (at == std::string_view::npos) {
    return -1;
  }
  return std::count(list.begin(), list.begin() + at, ' ');
}

static std::optional<char32_t> namedIdeograph(std::string_view digits) {
  if (digits.size() != 4 && digits.size() != 5) {
    return std::nullopt;
  }
  char32_t c = 0;
  for (char digit : digits) {
    if (isDigit(digit)) {
      c = c * 16 + (digit - '0');
    } else if (digit >= 'A' && digit <= 'F') {
      c = c * 16 + (digit - 'A' + 10);
    } else {
      return std::nullopt;
    }
  }
  auto after = std::upper_bound(std::begin(ideographs), std::end(ideographs),
                                static_cast<uint32_t>(c));
  if ((after - std::begin(ideographs)) % 2 == 0) {
    return std::nullopt;
  }
  return c;
}

/// The longest of `parts` that `name` starts with, cut off it; -1 if none.
template <size_t count>
static int takeLongest(const std::string_view (&parts)[count],
                       std::string_view &name) {
  int best = -1;
  for (size_t i = 0; i < count; ++i) {
    if (name.starts_with(parts[i]) &&
        (best < 0 || parts[i].size() > parts[best].size())) {
      best = static_cast<int>(i);
    }
  }
  if (best >= 0) {
    name.remove_prefix(parts[best].size());
  }
  return best;
}

static std::optional<char32_t> namedHangul(std::string_view name) {
  static constexpr std::string_view leads[] = {
      "G",  "GG", "N", "D",  "DD", "R", "M", "B", "BB", "S",
      "SS", "",   "J", "JJ", "C",  "K", "T", "P", "H"};
  static constexpr std::string_view vowels[] = {
      "A",  "AE", "YA", "YAE", "EO", "E",  "YEO", "YE", "O",  "WA", "WAE",
      "OE", "YO", "U",  "WEO", "WE", "WI", "YU",  "EU", "YI", "I"};
  static constexpr std::string_view tails[] = {
      "",   "G",  "GG", "GS", "N",  "NJ", "NH", "D", "L",  "LG",
      "LM", "LB", "LS", "LT", "LP", "LH", "M",  "B", "BS", "S",
      "SS", "NG", "J",  "C",  "K",  "T",  "P",  "H"};
  int lead = takeLongest(leads, name);
  int vowel = takeLongest(vowels, name);
  int tail = takeLongest(tails, name);
  if (lead < 0 || vowel < 0 || tail < 0 || !name.empty()) {
    return std::nullopt;
  }
  return 0xac00 + (lead * 21 + vowel) * 28 + tail;
}

std::optional<char32_t> characterNamed(std::string_view name) {
  constexpr std::string_view hangul = "HANGUL SYLLABLE ";
  constexpr std::string_view ideograph = "CJK UNIFIED IDEOGRAPH-";
  if (name.starts_with(hangul)) {
    return namedHangul(name.substr(hangul.size()));
  }
  if (name.starts_with(ideograph)) {
    return namedIdeograph(name.substr(ideograph.size()));
  }
  std::string upper(name), query;
  for (char &c : upper) {
    c = c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c;
  }
  std::string_view rest = upper;
  for (bool more = true; more;) {
    size_t space = rest.find(' ');
    std::string_view word = rest.substr(0, space);
    more = space != std::string_view::npos;
    rest.remove_prefix(more ? space + 1 : rest.size());
    ptrdiff_t index = word.empty() ? -1 : indexOf(nameWords, word);
    if (index < 0) {
      return std::nullopt;
    }
    encodeWord(query, index);
  }
  ptrdiff_t entry = indexOf(names, query);
  if (entry < 0) {
    return std::nullopt;
  }
  for (size_t run = 0; run < std::size(nameRuns); run += 2) {
    if (entry < static_cast<ptrdiff_t>(nameRuns[run + 1])) {
      return nameRuns[run] + static_cast<char32_t>(entry);
    }
    entry -= nameRuns[run + 1];
  }
  return std::nullopt;
}

} // namespace nereid::syntax
