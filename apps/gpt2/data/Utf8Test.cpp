//===- Utf8Test.cpp
//--------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Utf8.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

using namespace nereid::gpt2;

static Character at(std::string_view text) {
  const uint8_t *first = reinterpret_cast<const uint8_t *>(text.data());
  return characterAt(first, first + text.size());
}

namespace {
/// A row of table 3-7 of the Unicode standard: the bytes that may stand at each
/// place.
struct Row {
  std::vector<std::pair<int, int>> bytes;
};
} // namespace

static const std::vector<Row> &wellFormedRows() {
  static const std::pair<int, int> tail{0x80, 0xBF};
  static const std::vector<Row> rows = {
      {{{0x00, 0x7F}}},
      {{{0xC2, 0xDF}, tail}},
      {{{0xE0, 0xE0}, {0xA0, 0xBF}, tail}},
      {{{0xE1, 0xEC}, tail, tail}},
      {{{0xED, 0xED}, {0x80, 0x9F}, tail}},
      {{{0xEE, 0xEF}, tail, tail}},
      {{{0xF0, 0xF0}, {0x90, 0xBF}, tail, tail}},
      {{{0xF1, 0xF3}, tail, tail, tail}},
      {{{0xF4, 0xF4}, {0x80, 0x8F}, tail, tail}}};
  return rows;
}

/// Whether the first `bytes` of `text` agree with a row, or with its beginning.
static bool beginsRow(std::string_view text, const Row &row) {
  for (size_t i = 0; i < std::min(text.size(), row.bytes.size()); ++i) {
    int byte = static_cast<uint8_t>(text[i]);
    if (byte < row.bytes[i].first || byte > row.bytes[i].second) {
      return false;
    }
  }
  return true;
}

/// Bytes of the character at the front by the table; 0: there is none.
static size_t expectedBytes(std::string_view text) {
  for (const Row &row : wellFormedRows()) {
    if (text.size() >= row.bytes.size() && beginsRow(text, row)) {
      return row.bytes.size();
    }
  }
  return 0;
}

/// Whether some bytes after `text` make one character of it.
static bool canBecomeCharacter(std::string_view text) {
  return std::any_of(
      wellFormedRows().begin(), wellFormedRows().end(), [&](const Row &row) {
        return text.size() < row.bytes.size() && beginsRow(text, row);
      });
}

/// Texts of one to four bytes at and beside every boundary of the table.
static std::vector<std::string> boundaryTexts() {
  std::vector<std::string> texts, longer = {""};
  for (int length = 1; length <= 4; ++length) {
    std::vector<std::string> next;
    for (const std::string &text : longer) {
      for (int byte : {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                       0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
                       0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF8, 0xFC, 0xFF}) {
        next.push_back(text + static_cast<char>(byte));
      }
    }
    texts.insert(texts.end(), next.begin(), next.end());
    longer = std::move(next);
  }
  return texts;
}

TEST(Utf8, agreesWithTheStandardsTable) {
  size_t wellFormedOnes = 0, texts = 0;
  for (const std::string &text : boundaryTexts()) {
    size_t expected = expectedBytes(text);
    Character character = at(text);
    ++texts;
    wellFormedOnes += expected > 0;
    if (character.ok() != (expected > 0) ||
        character.bytes != std::max<size_t>(expected, 1)) {
      ADD_FAILURE() << ::testing::PrintToString(text);
    }
  }
  EXPECT_EQ(texts, 27u + 27 * 27 + 27 * 27 * 27 + 27 * 27 * 27 * 27);
  EXPECT_GT(wellFormedOnes, 10000u);
}

TEST(Utf8, unfinishedBytesAreThoseThatCanBecomeACharacter) {
  for (const std::string &text : boundaryTexts()) {
    // What decoding from the front leaves at the end.
    size_t expected = 0;
    for (size_t from = 0; from < text.size();) {
      std::string_view rest = std::string_view(text).substr(from);
      if (canBecomeCharacter(rest)) {
        expected = rest.size();
        break;
      }
      from += std::max<size_t>(1, expectedBytes(rest));
    }
    if (unfinishedBytes(text) != expected) {
      ADD_FAILURE() << ::testing::PrintToString(text) << ": "
                    << unfinishedBytes(text) << " instead of " << expected;
    }
  }
  EXPECT_EQ(unfinishedBytes(""), 0u);
}

TEST(Utf8, invalidBytesBecomeTheReplacementCharacterOneByOne) {
  const std::string r = "\xEF\xBF\xBD";
  EXPECT_EQ(wellFormed("a\xFF\x62"), "a" + r + "b");
  EXPECT_EQ(wellFormed("\xC0\xAF"), r + r);         // too long: '/'
  EXPECT_EQ(wellFormed("\xE0\x80\xAF"), r + r + r); // the same
  EXPECT_EQ(wellFormed("\xF0\x80\x80\xAF"), r + r + r + r);
  EXPECT_EQ(wellFormed("\xED\xA0\x80"), r + r + r);         // surrogate U+D800
  EXPECT_EQ(wellFormed("\xED\xBF\xBF"), r + r + r);         // surrogate U+DFFF
  EXPECT_EQ(wellFormed("\xF4\x90\x80\x80"), r + r + r + r); // U+110000
  EXPECT_EQ(wellFormed("\xF8\x88\x80\x80\x80"), r + r + r + r + r);
  EXPECT_EQ(wellFormed("\xE2\x82"), r + r); // cut off
  EXPECT_EQ(wellFormed("\xE2\x82z"), r + r + "z");
  EXPECT_EQ(wellFormed("\xE2\x82\xAC"), "\xE2\x82\xAC");
  EXPECT_EQ(wellFormed(std::string("\0", 1)), std::string("\0", 1));
}

TEST(Utf8, countsCharactersAndPlaces) {
  std::string text = "0123456789abcdef"; // two words of eight bytes
  text += "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  CharacterCount count = countCharacters(text);
  EXPECT_EQ(count.characters, 19u);
  EXPECT_EQ(count.invalid, 0u);
  count = countCharacters(text + "\x80 \xFF");
  EXPECT_EQ(count.characters, 22u);
  EXPECT_EQ(count.invalid, 2u);
  EXPECT_EQ(count.firstInvalid, text.size());
  EXPECT_EQ(countCharacters("").characters, 0u);
  EXPECT_EQ(prefixOf(text, 0), 0u);
  EXPECT_EQ(prefixOf(text, 17), 18u);
  EXPECT_EQ(prefixOf(text, 18), 21u);
  EXPECT_EQ(prefixOf(text, 19), text.size());
  EXPECT_EQ(prefixOf(text, 1000), text.size());
}
