//===- PieceScannerTest.cpp
//------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/PieceScanner.h"

#include "apps/gpt2/data/Tokenizer.h"
#include "apps/gpt2/data/Utf8.h"

#include <gmock/gmock.h>
#include <random>
#include <string>
#include <vector>

using namespace nereid::gpt2;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

static std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> result;
  const uint8_t *at = reinterpret_cast<const uint8_t *>(text.data());
  const uint8_t *end = at + text.size();
  while (at < end) {
    const uint8_t *stop = pieceEnd(at, end);
    result.emplace_back(at, stop);
    if (stop <= at || stop > end) {
      ADD_FAILURE() << "a piece without an end";
      break;
    }
    at = stop;
  }
  return result;
}

TEST(PieceScanner, wordsTakeTheSpaceBeforeThem) {
  EXPECT_THAT(pieces("Hello world"), ElementsAre("Hello", " world"));
  EXPECT_THAT(pieces("a1b2"), ElementsAre("a", "1", "b", "2"));
  EXPECT_THAT(pieces("x = 12.5;"),
              ElementsAre("x", " =", " 12", ".", "5", ";"));
  EXPECT_THAT(pieces("_a_"), ElementsAre("_", "a", "_"));
  EXPECT_THAT(pieces(" !?a"), ElementsAre(" !?", "a"));
  EXPECT_TRUE(pieces("").empty());
}

TEST(PieceScanner, contractions) {
  EXPECT_THAT(pieces("I'll we've you're he's don't I'm she'd"),
              ElementsAre("I", "'ll", " we", "'ve", " you", "'re", " he", "'s",
                          " don", "'t", " I", "'m", " she", "'d"));
  // The pattern ends a contraction wherever its letters end it.
  EXPECT_THAT(pieces("'tis"), ElementsAre("'t", "is"));
  EXPECT_THAT(pieces("'lard"), ElementsAre("'", "lard"));
  EXPECT_THAT(pieces("'"), ElementsAre("'"));
  EXPECT_THAT(pieces("'r"), ElementsAre("'", "r"));
  EXPECT_THAT(pieces("'S"), ElementsAre("'", "S"));
  // After a space the apostrophe is one of other characters.
  EXPECT_THAT(pieces(" 's"), ElementsAre(" '", "s"));
  // And within a run of these it is no beginning.
  EXPECT_THAT(pieces("\"'s"), ElementsAre("\"'", "s"));
  EXPECT_THAT(pieces("''s"), ElementsAre("''", "s"));
}

TEST(PieceScanner, whiteSpaceLeavesItsLastCharacterToWhatFollows) {
  EXPECT_THAT(pieces("a  b"), ElementsAre("a", " ", " b"));
  EXPECT_THAT(pieces("a   b"), ElementsAre("a", "  ", " b"));
  EXPECT_THAT(pieces("a \n b"), ElementsAre("a", " \n", " b"));
  // Only a space goes with a word: other white space stands alone.
  EXPECT_THAT(pieces("a\nb"), ElementsAre("a", "\n", "b"));
  EXPECT_THAT(pieces("a\n\nb"), ElementsAre("a", "\n", "\n", "b"));
  EXPECT_THAT(pieces("a\t\tb"), ElementsAre("a", "\t", "\t", "b"));
  // All of it at the end of the text.
  EXPECT_THAT(pieces("a  "), ElementsAre("a", "  "));
  EXPECT_THAT(pieces(" "), ElementsAre(" "));
  EXPECT_THAT(pieces("\r\n\r\n"), ElementsAre("\r\n\r\n"));
}

TEST(PieceScanner, classesOfUnicode) {
  using enum CharacterClass;
  const std::pair<uint32_t, CharacterClass> expected[] = {
      {'a', Letter},     {'0', Number},      {' ', Space},
      {'_', Other},      {0x1C, Other},      {0x85, Space},
      {0xA0, Space},     {0xAA, Letter},     {0xAD, Other},
      {0xB2, Number},    {0xBC, Number},     {0xD7, Other},
      {0x301, Other}, // combining acute accent
      {0x5D0, Letter},   {0x660, Number},    {0x1680, Space},
      {0x180E, Other}, // Mongolian vowel separator: no white space any more
      {0x2003, Space},   {0x200B, Other}, // zero width space
      {0x200D, Other},   {0x2028, Space},    {0x2029, Space},
      {0x202F, Space},   {0x205F, Space},    {0x2160, Number}, // Roman one
      {0x3000, Space},   {0x3007, Number},   {0x4E00, Letter},
      {0xAC00, Letter},  {0xD800, Other},    {0xFEFF, Other},
      {0xFF11, Number},  {0x1D400, Letter},  {0x1F600, Other},
      {0x20000, Letter}, {0xE0001, Other},   {0x10FFFF, Other},
      {0x110000, Other}, {0xFFFFFFFF, Other}};
  for (auto [code, kind] : expected) {
    EXPECT_EQ(classOf(code), kind) << std::hex << code;
  }
}

TEST(PieceScanner, unicode) {
  EXPECT_THAT(pieces("na\u00EFve caf\u00E9"),
              ElementsAre("na\u00EFve", " caf\u00E9"));
  // A combining mark is no letter.
  EXPECT_THAT(pieces("e\u0301t"), ElementsAre("e", "\u0301", "t"));
  EXPECT_THAT(pieces("\u4F60\u597D\uFF0C\u4E16\u754C"),
              ElementsAre("\u4F60\u597D", "\uFF0C", "\u4E16\u754C"));
  EXPECT_THAT(pieces("a\u00A0b"), ElementsAre("a", "\u00A0", "b"));
  EXPECT_THAT(pieces("a\u3000 b"), ElementsAre("a", "\u3000", " b"));
  EXPECT_THAT(pieces("x\u00B2 \u2167"), ElementsAre("x", "\u00B2", " \u2167"));
  EXPECT_THAT(pieces("\U0001F469\u200D\U0001F680 go"),
              ElementsAre("\U0001F469\u200D\U0001F680", " go"));
}

TEST(PieceScanner, bytesThatAreNoCharacterAreOther) {
  EXPECT_THAT(pieces("a\xFF\xFE!b"), ElementsAre("a", "\xFF\xFE!", "b"));
  EXPECT_THAT(pieces(" \x80z"), ElementsAre(" \x80", "z"));
  EXPECT_THAT(pieces("a\xE2\x82"), ElementsAre("a", "\xE2\x82"));
  EXPECT_THAT(pieces("\xC3"), ElementsAre("\xC3"));
  EXPECT_THAT(pieces("\xED\xA0\x80"
                     "a"),
              ElementsAre("\xED\xA0\x80", "a"));
}

namespace {
/// Texts of what the pattern tells apart, at random.
class RandomTexts {
public:
  explicit RandomTexts(uint32_t seed) : generator(seed) {}
  std::string next(size_t atoms) {
    static const std::string kinds[] = {"a",
                                        "Zz",
                                        "'",
                                        "'s",
                                        "'ll",
                                        "0",
                                        "42",
                                        " ",
                                        "  ",
                                        "\n",
                                        "\t",
                                        "\u00A0",
                                        "!",
                                        "|",
                                        "<",
                                        "\u00E9",
                                        "\u0301",
                                        "\u4E00",
                                        "\xFF",
                                        "\xE2",
                                        "\x82",
                                        "\u2028",
                                        "<|endoftext|>",
                                        "\U0001F600"};
    std::string text;
    while (atoms-- > 0) {
      text += kinds[generator() % std::size(kinds)];
    }
    return text;
  }

private:
  std::mt19937 generator;
};
} // namespace

/// The pieces between <|endoftext|>, which is one itself.
static std::vector<std::string> allPieces(std::string_view text) {
  std::vector<std::string> result;
  while (true) {
    size_t special = text.find(endOfTextText);
    std::vector<std::string> part = pieces(text.substr(0, special));
    result.insert(result.end(), part.begin(), part.end());
    if (special == std::string_view::npos) {
      return result;
    }
    result.emplace_back(endOfTextText);
    text.remove_prefix(special + endOfTextText.size());
  }
}

TEST(PieceScanner, aCutChangesNoPiece) {
  RandomTexts texts(1);
  size_t cuts = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = texts.next(40);
    std::vector<std::string> whole = allPieces(text);
    for (size_t from = 0; from < text.size(); from += 7) {
      size_t cut = cutAfter(text, from);
      ASSERT_GE(cut, from);
      ASSERT_LE(cut, text.size());
      if (cut == 0 || cut == text.size()) {
        continue;
      }
      ++cuts;
      std::vector<std::string> halves = allPieces(text.substr(0, cut));
      std::vector<std::string> second = allPieces(text.substr(cut));
      halves.insert(halves.end(), second.begin(), second.end());
      ASSERT_EQ(halves, whole)
          << ::testing::PrintToString(text) << " cut at " << cut;
    }
  }
  EXPECT_GT(cuts, 10000u);
}

TEST(PieceScanner, cutsWhereATextHasNone) {
  EXPECT_EQ(cutAfter("aaaaaaaa", 2), 8u);
  EXPECT_EQ(cutAfter("", 0), 0u);
  EXPECT_EQ(cutAfter("aaa bbb", 7), 7u);
  EXPECT_EQ(cutAfter("aaa bbb", 1), 3u);
}
