//===- CharacterTokenizerTest.cpp
//------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/CharacterTokenizer.h"

#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::ElementsAre;

static std::vector<std::string> charactersOf(std::string_view text) {
  auto set = std::make_unique<CharacterSet>();
  set->add(text);
  return set->characters();
}

TEST(CharacterTokenizer, numbersCharactersByCodePoint) {
  std::vector<std::string> characters =
      charactersOf("ba\u00E9\nab\U0001F600\u4E00");
  EXPECT_THAT(characters,
              ElementsAre("\n", "a", "b", "\u00E9", "\u4E00", "\U0001F600"));
  CharacterTokenizer tokenizer(characters);
  EXPECT_EQ(tokenizer.size(), 6);
  EXPECT_STREQ(tokenizer.kind(), "char");
  EXPECT_EQ(tokenizer.endOfText(), std::nullopt);
  EXPECT_THAT(tokenizer.Tokenizer::encode("a\u4E00b\U0001F600"),
              ElementsAre(1, 4, 2, 5));
  std::string text = "\U0001F600\nab\u00E9";
  EXPECT_EQ(tokenizer.decode(tokenizer.Tokenizer::encode(text)), text);
  EXPECT_TRUE(tokenizer.Tokenizer::encode("").empty());
  EXPECT_EQ(tokenizer.characters(), characters);
}

TEST(CharacterTokenizer, setsJoin) {
  auto a = std::make_unique<CharacterSet>(),
       b = std::make_unique<CharacterSet>();
  a->add("xz");
  b->add("yz\xFF"); // a byte that is no character is ignored
  a->add(*b);
  EXPECT_THAT(a->characters(), ElementsAre("x", "y", "z"));
}

TEST(CharacterTokenizer, theHashIsOfTheVocabulary) {
  EXPECT_EQ(CharacterTokenizer({"a", "b"}).hash().hex(),
            CharacterTokenizer({"a", "b"}).hash().hex());
  EXPECT_NE(CharacterTokenizer({"a", "b"}).hash().hex(),
            CharacterTokenizer({"b", "a"}).hash().hex());
  EXPECT_NE(CharacterTokenizer({"a", "b"}).hash().hex(),
            CharacterTokenizer({"a"}).hash().hex());
}

TEST(CharacterTokenizer, refusesWhatItDoesNotKnow) {
  CharacterTokenizer tokenizer({"a", "b"});
  auto refusal = [&](const char *text) {
    return errorOf([&] { (void)tokenizer.Tokenizer::encode(text); });
  };
  EXPECT_EQ(refusal("abc"), "byte 2 of the text: expected one of the 2 "
                            "characters of the vocabulary, got 'c'");
  EXPECT_EQ(refusal("a\u4E00"), "byte 1 of the text: expected one of the 2 "
                                "characters of the vocabulary, got '\u4E00'");
  EXPECT_EQ(refusal("a\xFF"),
            "byte 1 of the text: expected one of the 2 characters of the "
            "vocabulary, got a byte that is not UTF-8");
  EXPECT_EQ(refusal("\xC3"),
            "byte 0 of the text: expected one of the 2 characters of the "
            "vocabulary, got a byte that is not UTF-8");
  EXPECT_EQ(errorOf([&] { (void)tokenizer.bytesOf(2); }),
            "expected a token of the vocabulary, 0 to 1, got 2");
}

TEST(CharacterTokenizer, refusesVocabulariesThatAreNone) {
  auto refusal = [](std::vector<std::string> characters) {
    return errorOf([&] { CharacterTokenizer made(std::move(characters)); });
  };
  EXPECT_EQ(refusal({"a", "bc"}), "token 1: expected one character, got 'bc'");
  EXPECT_EQ(refusal({""}), "token 0: expected one character, got ''");
  EXPECT_EQ(refusal({"\xFF"}), "token 0: expected one character, got '\xFF'");
  EXPECT_EQ(refusal({"a", "b", "a"}),
            "'a': expected each character once, got it as tokens 0 and 2");
  EXPECT_EQ(refusal({}), "");
}
