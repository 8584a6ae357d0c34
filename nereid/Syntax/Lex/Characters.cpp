//===- Characters.cpp - Identifiers, NFKC ---------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalisation follows Unicode Standard Annex 15: decompose, put combining
// marks in canonical order, compose. The tables hold identifier characters
// only, which NFKC maps to themselves.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Lex/Characters.h"

#include "nereid/Support/Utf8.h"

#include "nereid/Syntax/Lex/UnicodeTables.inc"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace nereid::syntax {

/// `boundaries`: the set is [b0, b1), [b2, b3), ...
template <size_t count>
static bool contains(const uint32_t (&boundaries)[count], char32_t c) {
  auto after = std::upper_bound(std::begin(boundaries), std::end(boundaries),
                                static_cast<uint32_t>(c));
  return (after - std::begin(boundaries)) % 2 == 1;
}

bool isXidStart(char32_t c) { return contains(xidStart, c); }
bool isXidContinue(char32_t c) { return contains(xidContinue, c); }
bool isPrintable(char32_t c) { return contains(printable, c); }

//===----------------------------------------------------------------------===//
// NFKC
//===----------------------------------------------------------------------===//

// Hangul syllables are composed by arithmetic (Unicode 3.12).
constexpr char32_t hangulBase = 0xac00, leadBase = 0x1100, vowelBase = 0x1161,
                   tailBase = 0x11a7;
constexpr char32_t vowelCount = 21, tailCount = 28, leadCount = 19;
constexpr char32_t hangulCount = leadCount * vowelCount * tailCount;

static void decompose(char32_t c, std::u32string &out) {
  if (c >= hangulBase && c < hangulBase + hangulCount) {
    char32_t index = c - hangulBase;
    out += leadBase + index / (vowelCount * tailCount);
    out += vowelBase + index / tailCount % vowelCount;
    if (index % tailCount) {
      out += tailBase + index % tailCount;
    }
    return;
  }
  auto it = std::lower_bound(std::begin(decomposed), std::end(decomposed),
                             static_cast<uint32_t>(c));
  if (it == std::end(decomposed) || *it != c) {
    out += c;
    return;
  }
  const uint32_t *mapping =
      decompositions + decompositionAt[it - std::begin(decomposed)];
  out.append(mapping + 1, mapping + 1 + mapping[0]);
}

static uint32_t combiningClass(char32_t c) {
  constexpr size_t count = std::size(combiningClasses) / 3;
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (combiningClasses[3 * middle + 1] < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < count && combiningClasses[3 * low] <= c
             ? combiningClasses[3 * low + 2]
             : 0;
}

/// The composite of two characters, or 0.
static char32_t compose(char32_t first, char32_t second) {
  if (first >= leadBase && first < leadBase + leadCount &&
      second >= vowelBase && second < vowelBase + vowelCount) {
    return hangulBase +
           ((first - leadBase) * vowelCount + second - vowelBase) * tailCount;
  }
  if (first >= hangulBase && first < hangulBase + hangulCount &&
      (first - hangulBase) % tailCount == 0 && second > tailBase &&
      second < tailBase + tailCount) {
    return first + second - tailBase;
  }
  size_t low = 0, high = std::size(compositions) / 3;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const uint32_t *entry = compositions + 3 * middle;
    if (entry[0] == first && entry[1] == second) {
      return entry[2];
    }
    if (entry[0] < first || (entry[0] == first && entry[1] < second)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return 0;
}

static void composeAll(std::u32string &text) {
  size_t starter = std::u32string::npos, end = 0;
  uint32_t lastClass = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char32_t c = text[i];
    uint32_t order = combiningClass(c);
    // A mark is blocked from its starter by a mark of the same or a higher
    // class between them, or by another starter that did not compose.
    bool reachable = starter != std::u32string::npos &&
                     (lastClass == 0 || lastClass < order);
    char32_t composite = reachable ? compose(text[starter], c) : 0;
    if (composite) {
      text[starter] = composite;
      continue;
    }
    if (order == 0) {
      starter = end;
    }
    lastClass = order;
    text[end++] = c;
  }
  text.resize(end);
}

/// Puts each run of combining marks in the order of their classes.
static void sortMarks(std::u32string &text) {
  std::vector<std::pair<uint64_t, char32_t>> marks;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    marks.clear();
    for (end = begin; end < text.size(); ++end) {
      uint32_t order = combiningClass(text[end]);
      if (order == 0) {
        break;
      }
      marks.push_back({uint64_t(order) << 32 | (end - begin), text[end]});
    }
    std::sort(marks.begin(), marks.end());
    for (size_t i = 0; i < marks.size(); ++i) {
      text[begin + i] = marks[i].second;
    }
  }
}

std::string normalizeIdentifier(std::string_view name) {
  std::u32string text;
  for (size_t offset = 0; offset < name.size();) {
    decompose(decodeUtf8(name, offset), text);
  }
  sortMarks(text);
  composeAll(text);
  std::string out;
  for (char32_t c : text) {
    appendUtf8(out, c);
  }
  return out;
}

std::string codePointName(char32_t c) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789ABCDEF"[c % 16]);
    c /= 16;
  } while (c || digits.size() < 4);
  return "U+" + digits;
}

std::string hintForCharacter(char32_t c) {
  static constexpr struct {
    char32_t wrong;
    const char *right;
  } lookalikes[] = {{0x2018, "'"},   {0x2019, "'"},  {0x201c, "\""},
                    {0x201d, "\""},  {0x2013, "-"},  {0x2014, "-"},
                    {0x2212, "-"},   {0xd7, "*"},    {0xf7, "/"},
                    {0x2264, "<="},  {0x2265, ">="}, {0x2260, "!="},
                    {0x2026, "..."}, {0xff0c, ","},  {0xff1a, ":"},
                    {0xff08, "("},   {0xff09, ")"},  {0xff1b, ";"},
                    {0xff1d, "="},   {0x2192, "->"}, {0xa0, " "}};
  for (const auto &entry : lookalikes) {
    if (entry.wrong == c) {
      return std::string("write ") + entry.right + " instead";
    }
  }
  return "it cannot be part of a name or an operator";
}

} // namespace nereid::syntax
