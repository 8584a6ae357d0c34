//===- BytePairTokenizerTest.cpp
//-------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/BytePairTokenizer.h"

#include "apps/gpt2/data/ByteAlphabet.h"
#include "apps/gpt2/data/BytePairTrainer.h"
#include "apps/gpt2/data/PieceScanner.h"
#include "apps/gpt2/data/Utf8.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>
#include <random>
#include <thread>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Tokens = std::vector<int32_t>;

/// The 256 bytes in GPT-2's order.
static std::vector<std::string> byteVocabulary() {
  std::vector<std::string> vocabulary;
  for (int i = 0; i < 256; ++i) {
    vocabulary.push_back(
        spelled(std::string(1, static_cast<char>(byteInOrder(i)))));
  }
  return vocabulary;
}

/// Adds one token for each pair of spellings.
static std::shared_ptr<const BytePairTokenizer>
tokenizerOf(const std::vector<std::pair<std::string, std::string>> &pairs,
            bool hasSpecial = true) {
  std::vector<std::string> vocabulary = byteVocabulary();
  std::vector<Merge> merges;
  auto numberOf = [&](const std::string &text) {
    return static_cast<int32_t>(
        std::find(vocabulary.begin(), vocabulary.end(), text) -
        vocabulary.begin());
  };
  for (const auto &[left, right] : pairs) {
    int32_t result = numberOf(left + right);
    if (result == static_cast<int32_t>(vocabulary.size())) {
      vocabulary.push_back(left + right);
    }
    merges.push_back({numberOf(left), numberOf(right), result});
  }
  if (hasSpecial) {
    vocabulary.emplace_back(endOfTextText);
  }
  return std::make_shared<const BytePairTokenizer>(vocabulary, merges);
}

/// Spellings of the tokens of a text.
static std::vector<std::string> spellings(const Tokenizer &tokenizer,
                                          std::string_view text) {
  std::vector<std::string> result;
  for (int32_t token : tokenizer.encode(text)) {
    result.emplace_back(tokenizer.bytesOf(token));
  }
  return result;
}

TEST(BytePairTokenizer, theAlphabetSpellsEveryByteOnce) {
  std::vector<std::string> vocabulary = byteVocabulary();
  EXPECT_EQ(vocabulary[0], "!");
  EXPECT_EQ(spelled(" \n"), "\u0120\u010A");
  for (int byte = 0; byte < 256; ++byte) {
    std::string one(1, static_cast<char>(byte));
    EXPECT_EQ(unspelled(spelled(one)), one);
    EXPECT_EQ(std::count(vocabulary.begin(), vocabulary.end(), spelled(one)),
              1);
  }
  EXPECT_EQ(unspelled("a b"), std::nullopt); // a space spells no byte
  EXPECT_EQ(unspelled("\u0144"), std::nullopt);
  EXPECT_EQ(unspelled("\xFF"), std::nullopt);
}

TEST(BytePairTokenizer, theLowestRankMergesFirst) {
  // "bc" has the lower rank, so that "ab" is never seen in "abc".
  auto tokenizer = tokenizerOf({{"b", "c"}, {"a", "b"}});
  EXPECT_THAT(spellings(*tokenizer, "abc ab"),
              ElementsAre("a", "bc", " ", "ab"));
  // Of equals the leftmost: three of one kind are two and one.
  auto doubled = tokenizerOf({{"a", "a"}});
  EXPECT_THAT(spellings(*doubled, "aaaaa"), ElementsAre("aa", "aa", "a"));
  // Nothing merges across pieces.
  auto across = tokenizerOf({{"a", "\u0120"}, {"\u0120", "a"}});
  EXPECT_THAT(spellings(*across, "a a"), ElementsAre("a", " a"));
}

TEST(BytePairTokenizer, endOfTextIsOneToken) {
  auto tokenizer = tokenizerOf({{"<", "|"}});
  ASSERT_EQ(tokenizer->endOfText(), 257);
  EXPECT_EQ(tokenizer->size(), 258);
  EXPECT_THAT(
      spellings(*tokenizer, "a<|endoftext|><|endoftext|>b <|"),
      ElementsAre("a", "<|endoftext|>", "<|endoftext|>", "b", " ", "<|"));
  auto without = tokenizerOf({{"<", "|"}}, false);
  EXPECT_EQ(without->endOfText(), std::nullopt);
  EXPECT_EQ(without->encode("<|endoftext|>").size(), 12u);
  EXPECT_EQ(without->decode(without->encode("<|endoftext|>")), "<|endoftext|>");
}

/// Merges all pairs of the lowest rank, again and again.
static Tokens naive(const BytePairTokenizer &tokenizer, std::string_view text) {
  Tokens result;
  const uint8_t *at = reinterpret_cast<const uint8_t *>(text.data());
  const uint8_t *end = at + text.size();
  while (at < end) {
    const uint8_t *stop = pieceEnd(at, end);
    Tokens piece;
    for (; at < stop; ++at) {
      piece.push_back(
          tokenizer.encode({reinterpret_cast<const char *>(at), 1})[0]);
    }
    while (true) {
      size_t best = piece.size();
      ptrdiff_t bestRank = -1;
      for (size_t i = 0; i + 1 < piece.size(); ++i) {
        const std::vector<Merge> &merges = tokenizer.merges();
        auto found =
            std::find_if(merges.begin(), merges.end(), [&](const Merge &merge) {
              return merge.left == piece[i] && merge.right == piece[i + 1];
            });
        ptrdiff_t rank = found - merges.begin();
        if (found != merges.end() && (bestRank < 0 || rank < bestRank)) {
          bestRank = rank;
          best = i;
        }
      }
      if (bestRank < 0) {
        break;
      }
      piece[best] = tokenizer.merges()[static_cast<size_t>(bestRank)].result;
      piece.erase(piece.begin() + static_cast<ptrdiff_t>(best) + 1);
    }
    result.insert(result.end(), piece.begin(), piece.end());
  }
  return result;
}

/// Words over a few letters, some longer than what merges without a heap.
static std::string randomText(std::mt19937 &generator, size_t bytes) {
  std::string text;
  while (text.size() < bytes) {
    size_t length = generator() % 5 == 0 ? generator() % 300 : generator() % 18;
    std::string word;
    while (word.size() < length) {
      word += "abcd\xC3\xA9"[generator() % 6];
    }
    text += word + (generator() % 3 ? " " : generator() % 2 ? "\n\n" : "'s ");
  }
  return text;
}

static std::shared_ptr<const BytePairTokenizer> trainedOn(std::string_view text,
                                                          int32_t size) {
  BytePairTrainer trainer;
  trainer.add(text);
  return trainer.train(size);
}

TEST(BytePairTokenizer, agreesWithTheNaiveWay) {
  std::mt19937 generator(7);
  std::string text = randomText(generator, 20000);
  for (int32_t size : {257, 300, 500}) {
    auto tokenizer = trainedOn(text, size);
    for (int i = 0; i < 20; ++i) {
      std::string some = randomText(generator, 600);
      Tokens expected = naive(*tokenizer, some);
      ASSERT_EQ(tokenizer->encode(some), expected);
      // From what is remembered now.
      ASSERT_EQ(tokenizer->encode(some), expected);
      ASSERT_EQ(tokenizer->decode(expected), some);
    }
  }
}

TEST(BytePairTokenizer, anyBytesComeBack) {
  std::mt19937 generator(11);
  auto tokenizer = trainedOn(randomText(generator, 5000), 400);
  for (int i = 0; i < 300; ++i) {
    std::string bytes;
    for (size_t n = generator() % 400; n > 0; --n) {
      bytes += static_cast<char>(generator());
    }
    ASSERT_EQ(tokenizer->decode(tokenizer->encode(bytes)), bytes);
  }
  EXPECT_TRUE(tokenizer->encode("").empty());
  // Pieces of 0 to 40 bytes, at the end of a text and before more of it.
  for (size_t bytes = 0; bytes <= 40; ++bytes) {
    std::string word(bytes, 'a');
    EXPECT_EQ(tokenizer->encode(word), naive(*tokenizer, word)) << bytes;
    std::string more = word + " and more of the text after it";
    EXPECT_EQ(tokenizer->encode(more), naive(*tokenizer, more)) << bytes;
  }
}

TEST(BytePairTokenizer, nulBytesAreNoPartOfALengthThatIsRemembered) {
  auto tokenizer = trainedOn("ab ab ab", 300);
  for (const std::string &text :
       {std::string("\0", 1), std::string("\0\0", 2), std::string("\0\0\0", 3),
        std::string("\0\0", 2), std::string("\0", 1)}) {
    EXPECT_EQ(tokenizer->encode(text).size(), text.size());
  }
}

TEST(BytePairTokenizer, threadsShareOne) {
  std::mt19937 generator(3);
  std::string text = randomText(generator, 200000);
  auto tokenizer = trainedOn(text, 1000);
  Tokens expected = tokenizer->encode(text);
  std::vector<Tokens> got(4);
  std::vector<std::thread> threads;
  for (Tokens &tokens : got) {
    threads.emplace_back([&] { tokens = tokenizer->encode(text); });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  for (const Tokens &tokens : got) {
    EXPECT_TRUE(tokens == expected);
  }
}

TEST(BytePairTokenizer, filesGiveTheSameTokenizer) {
  std::mt19937 generator(5);
  TestFolder folder;
  auto tokenizer = trainedOn(randomText(generator, 5000), 400);
  tokenizer->save(folder.path);
  auto read =
      BytePairTokenizer::read(folder / "vocab.json", folder / "merges.txt");
  EXPECT_EQ(read->hash().hex(), tokenizer->hash().hex());
  EXPECT_EQ(read->size(), tokenizer->size());
  std::string text = randomText(generator, 5000) + "<|endoftext|>\xFF";
  EXPECT_EQ(read->encode(text), tokenizer->encode(text));
  EXPECT_EQ(openTokenizer(folder.path)->hash().hex(), tokenizer->hash().hex());
  // Ends of lines as Windows writes them.
  std::string merges = contentOf(folder / "merges.txt"), windows;
  for (char byte : merges) {
    windows += byte == '\n' ? "\r\n" : std::string(1, byte);
  }
  writeContent(folder / "merges.txt", windows);
  EXPECT_EQ(openTokenizer(folder.path)->hash().hex(), tokenizer->hash().hex());
  EXPECT_NE(tokenizerOf({{"a", "b"}})->hash().hex(),
            tokenizerOf({{"b", "a"}})->hash().hex());
}

namespace {
class BytePairFiles : public ::testing::Test {
protected:
  /// vocab.json of the bytes and `more`.
  std::string vocabularyWith(const std::string &more) {
    std::string json = "{";
    std::vector<std::string> vocabulary = byteVocabulary();
    for (size_t i = 0; i < vocabulary.size(); ++i) {
      std::string text = vocabulary[i] == "\"" || vocabulary[i] == "\\"
                             ? "\\" + vocabulary[i]
                             : vocabulary[i];
      json += (i ? ", \"" : "\"") + text + "\": " + std::to_string(i);
    }
    return json + more + "}";
  }
  std::string refusal(const std::string &vocabulary,
                      const std::string &merges) {
    writeContent(vocabPath, vocabulary);
    writeContent(mergesPath, merges);
    return errorOf([&] { BytePairTokenizer::read(vocabPath, mergesPath); });
  }

  TestFolder folder;
  std::string vocabPath = folder / "vocab.json",
              mergesPath = folder / "merges.txt";
};
} // namespace

TEST_F(BytePairFiles, gapsAreNoTokens) {
  EXPECT_EQ(refusal(vocabularyWith(", \"ab\": 300"), "a b\n"), "");
  auto tokenizer = BytePairTokenizer::read(vocabPath, mergesPath);
  EXPECT_EQ(tokenizer->size(), 301);
  EXPECT_THAT(tokenizer->encode("ab"), ElementsAre(300));
  EXPECT_EQ(errorOf([&] { (void)tokenizer->bytesOf(299); }),
            "expected a token of the vocabulary, 0 to 300, got 299");
  EXPECT_EQ(errorOf([&] { (void)tokenizer->bytesOf(-1); }),
            "expected a token of the vocabulary, 0 to 300, got -1");
  EXPECT_EQ(errorOf([&] { (void)tokenizer->bytesOf(301); }),
            "expected a token of the vocabulary, 0 to 300, got 301");
}

TEST_F(BytePairFiles, errorsNameTheFileAndTheLine) {
  std::string good = vocabularyWith(", \"ab\": 256");
  EXPECT_EQ(refusal(good, "#version: 0.2\na b\n\n"), "");
  EXPECT_EQ(refusal(good, "#version: 0.2\na b\na b c\n"),
            mergesPath + ":3: error: expected two tokens with a space between "
                         "them, got 'a b c'");
  EXPECT_EQ(refusal(good, "ab\n"),
            mergesPath + ":1: error: expected two tokens with a space between "
                         "them, got 'ab'");
  EXPECT_EQ(refusal(good, "a bb\n"), mergesPath +
                                         ":1: error: expected a token "
                                         "of " +
                                         vocabPath + ", got 'bb'");
  EXPECT_EQ(refusal(good, "b a\n"), mergesPath +
                                        ":1: error: expected a token of " +
                                        vocabPath + ", got 'ba'");
  EXPECT_THAT(refusal("{\n \"a\": }", ""),
              StartsWith(vocabPath + ":2:7: error: expected JSON, got a syntax "
                                     "error while parsing value"));
  EXPECT_EQ(refusal("{}", ""),
            vocabPath + ":1:1: error: expected an object of tokens and their "
                        "numbers, got nothing in it");
  EXPECT_EQ(refusal("\n[1]", ""),
            vocabPath + ":2:1: error: expected an object of tokens and their "
                        "numbers, got array");
  auto number = [&](const std::string &value) {
    return refusal("{\"x\": 3,\n  \"ab\": " + value + "}", "");
  };
  std::string expected = vocabPath +
                         ":2:9: error: \"ab\": expected an integer from 0 to "
                         "65539, got ";
  EXPECT_EQ(number("-1"), expected + "-1");
  EXPECT_EQ(number("65540"), expected + "65540");
  EXPECT_EQ(number("1.5"), expected + "1.5");
  EXPECT_EQ(number("\"x\""), expected + "\"x\"");
  EXPECT_EQ(number("[[1, {\"ab\": 2}], \"]\"]"), expected + "a list");
  EXPECT_EQ(refusal("{\"a\": 1, \"\": 256}", ""),
            vocabPath + ":1:14: error: expected tokens with at least one "
                        "character, got \"\"");
  EXPECT_EQ(refusal("{\"a\": 5, \"b\": 5}", ""),
            vocabPath + ":1:15: error: expected a number for each token, got 5 "
                        "for 'a' and for 'b'");
  EXPECT_EQ(refusal("{\"a\": 0}", ""),
            vocabPath +
                ": expected a token for each of the 256 bytes, got none for "
                "byte 0 ('\u0100'); is it the vocabulary of a byte-level BPE?");
  std::filesystem::remove(vocabPath);
  EXPECT_THAT(errorOf([&] { BytePairTokenizer::read(vocabPath, mergesPath); }),
              HasSubstr(vocabPath));
}

TEST(StreamDecoder, onlyWholeCharactersComeOut) {
  auto tokenizer = tokenizerOf({});
  StreamDecoder decoder(tokenizer);
  std::string text = "a\u20AC\xFF\U0001F600z\xE2\x82", got;
  for (int32_t token : tokenizer->encode(text)) {
    std::string part = decoder.put(token);
    got += part;
    EXPECT_EQ(wellFormed(part), part);
  }
  EXPECT_EQ(got, "a\u20AC\uFFFD\U0001F600z");
  EXPECT_EQ(decoder.finish(), "\uFFFD\uFFFD");
  EXPECT_EQ(decoder.finish(), "");
}
