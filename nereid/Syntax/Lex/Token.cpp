//===- Token.cpp - Names of tokens ----------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Lex/Token.h"

#include <array>
#include <string>
#include <unordered_map>

namespace nereid::syntax {

const char *describe(Tok kind) {
  switch (kind) {
  case Tok::EndMarker:
    return "the end of the file";
  case Tok::Error:
    return "an unreadable token";
  case Tok::Name:
    return "a name";
  case Tok::Number:
    return "a number";
  case Tok::String:
    return "a string";
  case Tok::Newline:
    return "the end of the line";
  case Tok::Indent:
    return "an indented line";
  case Tok::Dedent:
    return "the end of the indented block";
  case Tok::Other:
    return "a stray character";
#define NEREID_TOKEN(NAME, SPELLING)                                           \
  case Tok::NAME:                                                              \
    return "'" SPELLING "'";
    NEREID_TOKEN_OPERATORS(NEREID_TOKEN)
#undef NEREID_TOKEN
#define NEREID_KEYWORD(NAME, SPELLING)                                         \
  case Tok::Kw##NAME:                                                          \
    return "'" SPELLING "'";
    NEREID_TOKEN_KEYWORDS(NEREID_KEYWORD)
#undef NEREID_KEYWORD
  }
  return "a token";
}

namespace {
struct Keyword {
  std::string_view word;
  Tok kind;
};
} // namespace

// By length and first letter at most four keywords remain, so a linear scan of
// the few of one length is as fast as a perfect hash and needs no generator.
static constexpr Keyword keywords[] = {
#define NEREID_KEYWORD(NAME, SPELLING) {SPELLING, Tok::Kw##NAME},
    NEREID_TOKEN_KEYWORDS(NEREID_KEYWORD)
#undef NEREID_KEYWORD
};

namespace {
/// Keywords grouped by first letter.
struct KeywordIndex {
  std::array<uint8_t, 129> first{};
  std::array<uint8_t, std::size(keywords)> order{};

  constexpr KeywordIndex() {
    uint8_t count = 0;
    for (size_t letter = 0; letter < 128; ++letter) {
      first[letter] = count;
      for (uint8_t i = 0; i < std::size(keywords); ++i) {
        if (static_cast<size_t>(keywords[i].word[0]) == letter) {
          order[count++] = i;
        }
      }
    }
    first[128] = count;
  }
};
} // namespace

static constexpr KeywordIndex keywordIndex;

Tok keywordOrName(std::string_view word) {
  unsigned char letter = word[0];
  if (letter >= 128 || word.size() < 2 || word.size() > 8) {
    return Tok::Name;
  }
  for (unsigned i = keywordIndex.first[letter],
                end = keywordIndex.first[letter + 1];
       i != end; ++i) {
    const Keyword &keyword = keywords[keywordIndex.order[i]];
    if (keyword.word == word) {
      return keyword.kind;
    }
  }
  return Tok::Name;
}

Tok tokenSpelled(std::string_view spelling) {
  static const std::unordered_map<std::string_view, Tok> table = {
#define NEREID_TOKEN(NAME, SPELLING) {SPELLING, Tok::NAME},
      NEREID_TOKEN_OPERATORS(NEREID_TOKEN)
#undef NEREID_TOKEN
#define NEREID_KEYWORD(NAME, SPELLING) {SPELLING, Tok::Kw##NAME},
          NEREID_TOKEN_KEYWORDS(NEREID_KEYWORD)
#undef NEREID_KEYWORD
  };
  auto it = table.find(spelling);
  return it == table.end() ? Tok::Error : it->second;
}

} // namespace nereid::syntax
