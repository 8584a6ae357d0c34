//===- BytePairTrainerTest.cpp
//---------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/BytePairTrainer.h"

#include "apps/gpt2/data/PieceScanner.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>
#include <map>
#include <random>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// The merges as bytes.
static Pairs mergesOf(const BytePairTokenizer &tokenizer) {
  Pairs result;
  for (const Merge &merge : tokenizer.merges()) {
    result.emplace_back(tokenizer.bytesOf(merge.left),
                        tokenizer.bytesOf(merge.right));
  }
  return result;
}

static std::shared_ptr<const BytePairTokenizer> trained(std::string_view text,
                                                        int32_t size) {
  BytePairTrainer trainer;
  trainer.add(text);
  return trainer.train(size);
}

static std::string randomText(uint32_t seed, size_t words) {
  std::mt19937 generator(seed);
  std::string text;
  while (words-- > 0) {
    for (size_t n = 1 + generator() % 9; n > 0; --n) {
      text += "aabbcde"[generator() % 7];
    }
    text += generator() % 10 ? " " : generator() % 2 ? "\n" : "<|endoftext|>";
  }
  return text;
}

/// Counts all pairs again for each merge.
static Pairs naiveMerges(std::string_view text, int32_t size) {
  auto tokenizer = trained("", leastBytePairVocabulary); // numbers of the bytes
  std::map<std::vector<int32_t>, int64_t> words;
  while (true) {
    size_t special = text.find(endOfTextText);
    std::string_view part = text.substr(0, special);
    const uint8_t *at = reinterpret_cast<const uint8_t *>(part.data());
    const uint8_t *end = at + part.size();
    while (at < end) {
      const uint8_t *stop = pieceEnd(at, end);
      std::string piece(at, stop);
      ++words[tokenizer->encode(piece)];
      at = stop;
    }
    if (special == std::string_view::npos) {
      break;
    }
    text.remove_prefix(special + endOfTextText.size());
  }
  std::vector<std::string> texts;
  for (int32_t i = 0; i < 256; ++i) {
    texts.emplace_back(tokenizer->bytesOf(i));
  }
  Pairs merges;
  while (static_cast<int32_t>(texts.size()) + 1 < size) {
    std::map<std::pair<int32_t, int32_t>, int64_t> counts;
    for (const auto &[tokens, count] : words) {
      for (size_t i = 1; i < tokens.size(); ++i) {
        counts[{tokens[i - 1], tokens[i]}] += count;
      }
    }
    auto best = counts.end();
    for (auto it = counts.begin(); it != counts.end(); ++it) {
      if (best == counts.end() || it->second > best->second) {
        best = it;
      }
    }
    if (best == counts.end() || best->second < 2) {
      break;
    }
    auto [left, right] = best->first;
    merges.emplace_back(texts[static_cast<size_t>(left)],
                        texts[static_cast<size_t>(right)]);
    std::string made = merges.back().first + merges.back().second;
    int32_t result = static_cast<int32_t>(
        std::find(texts.begin(), texts.end(), made) - texts.begin());
    if (result == static_cast<int32_t>(texts.size())) {
      texts.push_back(made);
    }
    std::map<std::vector<int32_t>, int64_t> merged;
    for (const auto &[tokens, count] : words) {
      std::vector<int32_t> word;
      for (size_t i = 0; i < tokens.size(); ++i) {
        bool isPair = i + 1 < tokens.size() && tokens[i] == left &&
                      tokens[i + 1] == right;
        word.push_back(isPair ? result : tokens[i]);
        i += isPair;
      }
      merged[word] += count;
    }
    words = std::move(merged);
  }
  return merges;
}

TEST(BytePairTrainer, theMostFrequentPairMergesFirst) {
  // "ab" occurs four times, "bc" three, and "abc" is then made of "ab".
  auto tokenizer = trained("abc\nabc\nabc\nab\nxbz", 260);
  EXPECT_THAT(mergesOf(*tokenizer),
              ElementsAre(std::pair("a", "b"), std::pair("ab", "c")));
  EXPECT_EQ(tokenizer->size(), 259);
  EXPECT_EQ(tokenizer->endOfText(), 258);
}

TEST(BytePairTrainer, amongEqualsThePairOfLowerNumbers) {
  auto tokenizer = trained("cd\nab\ncd\nab\nzy\nzy", 400);
  EXPECT_THAT(mergesOf(*tokenizer),
              ElementsAre(std::pair("a", "b"), std::pair("c", "d"),
                          std::pair("z", "y")));
}

TEST(BytePairTrainer, pairsThatOccurOnceAreLeftAlone) {
  EXPECT_THAT(mergesOf(*trained("abcdefg", 400)), IsEmpty());
  EXPECT_THAT(mergesOf(*trained("", 400)), IsEmpty());
  EXPECT_EQ(trained("", 400)->size(), leastBytePairVocabulary);
}

TEST(BytePairTrainer, endOfTextPartsTexts) {
  auto tokenizer = trained("a<|endoftext|>b<|endoftext|>a<|endoftext|>b", 400);
  EXPECT_THAT(mergesOf(*tokenizer), IsEmpty());
}

TEST(BytePairTrainer, aRunOfOneByteMerges) {
  auto tokenizer =
      trained(std::string(64, 'a') + " " + std::string(64, 'a'), 400);
  EXPECT_THAT(mergesOf(*tokenizer)[0], std::pair("a", "a"));
  EXPECT_THAT(mergesOf(*tokenizer)[1], std::pair("aa", "aa"));
  std::string text(64, 'a');
  EXPECT_EQ(tokenizer->encode(text).size(), 1u);
}

TEST(BytePairTrainer, agreesWithTheNaiveWay) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    std::string text = randomText(seed, 300);
    for (int32_t size : {257, 258, 300, 700}) {
      EXPECT_EQ(mergesOf(*trained(text, size)), naiveMerges(text, size))
          << seed << ", " << size;
    }
  }
}

TEST(BytePairTrainer, theOrderOfTheTextsDoesNotMatter) {
  std::vector<std::string> texts;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    texts.push_back(randomText(100 + seed, 400));
  }
  BytePairTrainer forward;
  for (const std::string &text : texts) {
    forward.add(text);
  }
  std::string expected = forward.train(600)->hash().hex();
  EXPECT_EQ(forward.train(600)->hash().hex(), expected);
  std::mt19937 generator(1);
  for (int i = 0; i < 5; ++i) {
    std::shuffle(texts.begin(), texts.end(), generator);
    BytePairTrainer parts[3], all;
    for (size_t j = 0; j < texts.size(); ++j) {
      parts[generator() % 3].add(texts[j]);
    }
    for (BytePairTrainer &part : parts) {
      all.add(std::move(part));
    }
    EXPECT_EQ(all.train(600)->hash().hex(), expected);
  }
}

TEST(BytePairTrainer, tellsHowFarItIs) {
  BytePairTrainer trainer;
  trainer.add(randomText(1, 400));
  std::vector<int32_t> told;
  auto tokenizer =
      trainer.train(300, [&](int32_t tokens) { told.push_back(tokens); });
  EXPECT_EQ(tokenizer->size(), 300);
  ASSERT_EQ(told.size(), 300u - 257);
  EXPECT_EQ(told.front(), 258);
  EXPECT_EQ(told.back(), 300);
}
