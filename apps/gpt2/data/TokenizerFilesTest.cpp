//===- TokenizerFilesTest.cpp ---------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One vocabulary in each form of file. test/tokenizers_peer.py compares their
// tokens with those of the libraries that the forms are of.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/ByteAlphabet.h"
#include "apps/gpt2/data/BytePairTokenizer.h"
#include "apps/gpt2/data/BytePairTrainer.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace nereid;
using namespace nereid::gpt2;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

static std::string base64Of(const std::string &bytes) {
  constexpr char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    for (size_t k = 0; k < 3; ++k) {
      word = word << 8 | (i + k < bytes.size() ? uint8_t(bytes[i + k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      bool isThere = i + k <= bytes.size();
      text += isThere ? digits[word >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

namespace {
class TokenizerFiles : public ::testing::Test {
protected:
  TokenizerFiles() {
    BytePairTrainer trainer;
    trainer.add(text);
    made =
        std::static_pointer_cast<const BytePairTokenizer>(trainer.train(300));
    std::filesystem::create_directory(folder / "pairs");
    made->save(folder / "pairs");
    vocabulary = json::parse(contentOf(folder / "pairs/vocab.json"));
    std::string lines = contentOf(folder / "pairs/merges.txt");
    for (size_t at = lines.find('\n') + 1; at < lines.size();) {
      size_t end = lines.find('\n', at);
      merges.push_back(lines.substr(at, end - at));
      at = end + 1;
    }
  }

  /// As tokenizers writes it.
  json tokenizerJson() const {
    return {{"version", "1.0"},
            {"truncation", nullptr},
            {"padding", nullptr},
            {"added_tokens",
             {{{"id", made->size() - 1},
               {"content", "<|endoftext|>"},
               {"single_word", false},
               {"lstrip", false},
               {"rstrip", false},
               {"normalized", false},
               {"special", true}}}},
            {"normalizer", nullptr},
            {"pre_tokenizer",
             {{"type", "ByteLevel"},
              {"add_prefix_space", false},
              {"trim_offsets", true},
              {"use_regex", true}}},
            {"post_processor", nullptr},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model",
             {{"type", "BPE"},
              {"dropout", nullptr},
              {"unk_token", nullptr},
              {"continuing_subword_prefix", ""},
              {"end_of_word_suffix", ""},
              {"fuse_unk", false},
              {"byte_fallback", false},
              {"ignore_merges", false},
              {"vocab", vocabulary},
              {"merges", merges}}}};
  }
  std::string ranks() const {
    std::string lines;
    for (int32_t i = 0; i + 1 < made->size(); ++i) {
      lines += base64Of(std::string(made->bytesOf(i))) + " " +
               std::to_string(i) + "\n";
    }
    return lines;
  }
  std::string write(const std::string &name, const std::string &content) {
    std::filesystem::create_directories(
        std::filesystem::path(folder / name).parent_path());
    writeContent(folder / name, content);
    return folder / name;
  }
  std::string jsonRefusal(const json &content) {
    std::string path = write("tokenizer.json", content.dump());
    return errorOf([&] { openTokenizer(path); });
  }
  std::string rankRefusal(const std::string &content) {
    std::string path = write("x.tiktoken", content);
    return errorOf([&] { openTokenizer(path); });
  }

  std::string text = "the theory of the thing, thought through; 12 12 121";
  TestFolder folder;
  std::shared_ptr<const BytePairTokenizer> made;
  json vocabulary;
  std::vector<std::string> merges;
};
} // namespace

TEST_F(TokenizerFiles, eachFormIsTheSameTokenizer) {
  ASSERT_GT(merges.size(), 5u);
  json pairs = tokenizerJson(), oneEach = json::array();
  for (const std::string &merge : merges) {
    size_t space = merge.find(' ');
    oneEach.push_back({merge.substr(0, space), merge.substr(space + 1)});
  }
  pairs["model"]["merges"] = oneEach;
  write("json/tokenizer.json", tokenizerJson().dump());
  write("lists/tokenizer.json", pairs.dump());
  write("openai/encoder.json", contentOf(folder / "pairs/vocab.json"));
  write("openai/vocab.bpe", contentOf(folder / "pairs/merges.txt"));
  write("ranks/mine.tiktoken", ranks());
  for (const char *name : {"pairs", "json", "lists", "openai", "ranks",
                           "json/tokenizer.json", "ranks/mine.tiktoken"}) {
    TokenizerPtr opened = openTokenizer(folder / name);
    EXPECT_EQ(opened->hash(), made->hash()) << name;
    EXPECT_EQ(opened->encode(text + "<|endoftext|>"),
              made->encode(text + "<|endoftext|>"))
        << name;
    EXPECT_EQ(opened->endOfText(), made->endOfText()) << name;
  }
  for (const char *name : {"pairs", "json", "openai", "ranks"}) {
    EXPECT_TRUE(hasTokenizer(folder / name)) << name;
  }
  EXPECT_FALSE(hasTokenizer(folder.path));
}

TEST_F(TokenizerFiles, mergesMayBeginWithAByteOrderMark) {
  write("pairs/merges.txt",
        "\xEF\xBB\xBF" + contentOf(folder / "pairs/merges.txt"));
  EXPECT_EQ(openTokenizer(folder / "pairs")->hash(), made->hash());
}

TEST_F(TokenizerFiles, addedTokensAreOneTokenWhereverTheyStand) {
  json file = tokenizerJson();
  int32_t first = made->size();
  for (const char *one : {"[PAD]", "<a>", "<a><b>"}) {
    file["added_tokens"].push_back(
        {{"id", int64_t(file["added_tokens"].size()) + first - 1},
         {"content", one}});
  }
  write("added/tokenizer.json", file.dump());
  TokenizerPtr opened = openTokenizer(folder / "added");
  EXPECT_EQ(opened->size(), first + 3);
  EXPECT_NE(opened->hash(), made->hash());
  std::vector<int32_t> expected = made->encode("the");
  for (int32_t token : {first, first + 2, first + 1, first - 1}) {
    expected.push_back(token);
  }
  std::vector<int32_t> rest = made->encode("<b>");
  expected.insert(expected.end(), rest.begin(), rest.end());
  std::string mixed = "the[PAD]<a><b><a><|endoftext|><b>";
  EXPECT_EQ(opened->encode(mixed), expected);
  EXPECT_EQ(opened->decode(expected), mixed);
  // A text is not cut inside of one.
  for (size_t from = 1; from < mixed.size(); ++from) {
    size_t cut = opened->cutAfter(mixed, from);
    std::vector<int32_t> parts = opened->encode(mixed.substr(0, cut)),
                         behind = opened->encode(mixed.substr(cut));
    parts.insert(parts.end(), behind.begin(), behind.end());
    EXPECT_EQ(parts, expected) << from;
  }
  // They are kept beside vocab.json.
  std::filesystem::create_directory(folder / "saved");
  opened->save(folder / "saved");
  EXPECT_EQ(openTokenizer(folder / "saved")->hash(), opened->hash());
  EXPECT_EQ(openTokenizer(folder / "saved")->encode(mixed), expected);
}

TEST_F(TokenizerFiles, otherKindsOfTokenizerJsonAreNamed) {
  auto with = [&](const char *place, const json &value) {
    json file = tokenizerJson();
    file[json::json_pointer(place)] = value;
    return jsonRefusal(file);
  };
  EXPECT_THAT(with("/model/type", "WordPiece"), HasSubstr("got WordPiece"));
  EXPECT_THAT(with("/model/type", "Unigram"), HasSubstr("got Unigram"));
  EXPECT_THAT(with("/model/byte_fallback", true), HasSubstr("byte_fallback"));
  EXPECT_THAT(with("/model/end_of_word_suffix", "</w>"),
              HasSubstr("end_of_word_suffix"));
  EXPECT_THAT(with("/normalizer", {{"type", "NFC"}}),
              HasSubstr("the normalizer NFC"));
  EXPECT_THAT(with("/pre_tokenizer", nullptr), HasSubstr("no pre_tokenizer"));
  EXPECT_THAT(with("/pre_tokenizer", {{"type", "Whitespace"}}),
              HasSubstr("got Whitespace"));
  EXPECT_THAT(with("/pre_tokenizer", {{"type", "Sequence"},
                                      {"pretokenizers",
                                       {{{"type", "Split"}, {"pattern", "x"}},
                                        {{"type", "ByteLevel"}}}}}),
              HasSubstr("pieces of Split by another pattern"));
  EXPECT_THAT(with("/pre_tokenizer/add_prefix_space", true),
              HasSubstr("add_prefix_space"));
  EXPECT_THAT(with("/pre_tokenizer/use_regex", false), HasSubstr("use_regex"));
  EXPECT_THAT(with("/added_tokens/0/lstrip", true),
              AllOf(HasSubstr("'<|endoftext|>'"), HasSubstr("lstrip")));
}

TEST_F(TokenizerFiles, damagedTokenizerJsonIsRefused) {
  auto with = [&](const char *place, const json &value) {
    json file = tokenizerJson();
    file[json::json_pointer(place)] = value;
    return jsonRefusal(file);
  };
  EXPECT_THAT(jsonRefusal(vocabulary), HasSubstr("an object with \"model\""));
  EXPECT_THAT(with("/model/vocab", json::object()),
              HasSubstr("tokens and their numbers"));
  EXPECT_THAT(with("/model/vocab/!", -1), HasSubstr("an integer from 0"));
  EXPECT_THAT(with("/model/vocab/zzz", 0), HasSubstr("a number of its own"));
  EXPECT_THAT(with("/model/merges", 3), HasSubstr("a list of pairs"));
  EXPECT_THAT(with("/model/merges/0", "a"), HasSubstr("merge 0"));
  EXPECT_THAT(with("/model/merges/1", "a qqq"), HasSubstr("merge 1"));
  EXPECT_THAT(with("/model/merges/1", json::array({"a", "qqq"})),
              HasSubstr("what they become, got \"a\" and \"qqq\""));
  EXPECT_THAT(with("/added_tokens/0/id", -4), HasSubstr("\"id\""));
  EXPECT_THAT(with("/added_tokens/0/id", 3), HasSubstr("one text for token 3"));
  EXPECT_THAT(with("/model/merges/0", {{"a"}, {"b"}}),
              HasSubstr("merge 0: expected two tokens, got a list"));
  json without = tokenizerJson();
  without["model"]["vocab"].erase("!");
  EXPECT_THAT(jsonRefusal(without), HasSubstr("each of the 256 bytes"));
}

TEST_F(TokenizerFiles, deepJsonIsRefusedWithItsPlace) {
  auto nested = [&](size_t depth) {
    std::string file = tokenizerJson().dump(),
                place = "\"post_processor\":null";
    file.replace(file.find(place), place.size(),
                 "\"[{\":\"\\\"[[\",\"post_processor\":" +
                     std::string(depth, '[') + std::string(depth, ']'));
    std::string path = write("tokenizer.json", file);
    return errorOf([&] { openTokenizer(path); });
  };
  // In the file's own object.
  EXPECT_EQ(nested(63), "");
  EXPECT_THAT(nested(64), AllOf(HasSubstr("tokenizer.json:1:"),
                                HasSubstr("error: expected JSON whose lists "
                                          "and objects are nested at most 64 "
                                          "deep")));
  EXPECT_THAT(nested(200000), HasSubstr("nested at most 64 deep"));
}

TEST_F(TokenizerFiles, damagedAndOtherRankFilesAreRefused) {
  EXPECT_THAT(rankRefusal(""), HasSubstr("an empty file"));
  EXPECT_THAT(rankRefusal("hello\n"),
              AllOf(HasSubstr("x.tiktoken:1"), HasSubstr("got 'hello'")));
  EXPECT_THAT(rankRefusal(ranks() + "IQ== 0\n"), HasSubstr("once, got"));
  EXPECT_THAT(rankRefusal("IQ=== 0\n"), HasSubstr("in base64"));
  EXPECT_THAT(rankRefusal("I!== 0\n"), HasSubstr("in base64"));
  EXPECT_THAT(rankRefusal("IQ== -1\n"), HasSubstr("and its rank"));
  EXPECT_THAT(rankRefusal("IQ== 99999999999\n"), HasSubstr("and its rank"));
  // A token that no two others make.
  EXPECT_THAT(rankRefusal(ranks() + base64Of("QXJZ") + " 400\n"),
              HasSubstr("two tokens of lower ranks"));
  std::string many;
  for (int i = 0; i <= 100000; ++i) {
    std::string bytes = {char(i >> 16 & 255), char(i >> 8 & 255),
                         char(i & 255)};
    many += base64Of(bytes) + " " + std::to_string(i) + "\n";
  }
  EXPECT_THAT(rankRefusal(many), HasSubstr("which has another pattern"));
}

TEST_F(TokenizerFiles, aGapInTheRanksIsTheEndOfText) {
  // p50k_base has tokens after it.
  std::string lines = ranks();
  lines += base64Of("zz") + " " + std::to_string(made->size()) + "\n";
  TokenizerPtr opened = openTokenizer(write("gap.tiktoken", lines));
  EXPECT_EQ(opened->endOfText(), made->size() - 1);
  EXPECT_EQ(opened->size(), made->size() + 1);
}

TEST_F(TokenizerFiles, whereGpt2sFilesComeFromIsSaid) {
  EXPECT_THAT(errorOf([&] { openTokenizer("gpt2"); }),
              AllOf(HasSubstr("huggingface.co"), HasSubstr("encoder.json")));
  std::string path = write("gpt2.tiktoken", ranks());
  EXPECT_THAT(errorOf([&] { BytePairTokenizer::read(path, path); }),
              HasSubstr("give it as --tokenizer=" + path));
  write("two/a.tiktoken", "");
  write("two/b.tiktoken", "");
  EXPECT_THAT(errorOf([&] { openTokenizer(folder / "two"); }),
              HasSubstr("two files of tiktoken"));
}

TEST_F(TokenizerFiles, numbersFarAboveTheCountOfTokensAreRefused) {
  size_t count = vocabulary.size();
  std::string below = std::to_string(2 * (count + 1) + 65536);
  json large = vocabulary, file = tokenizerJson(), added = file;
  large["zzz"] = 16777215;
  file["model"]["vocab"] = large;
  std::string last = std::to_string(2 * (count + 1) + 65535);
  EXPECT_THAT(jsonRefusal(file),
              HasSubstr("an integer from 0 to " + last + ", got 16777215"));
  write("pairs/vocab.json", large.dump());
  EXPECT_THAT(errorOf([&] { openTokenizer(folder / "pairs"); }),
              HasSubstr("an integer from 0 to " + last + ", got 16777215"));
  write("pairs/vocab.json", vocabulary.dump());
  write("pairs/added_tokens.json", "{\"[PAD]\": 16777215}");
  EXPECT_THAT(errorOf([&] { openTokenizer(folder / "pairs"); }),
              HasSubstr("a number below " + below + ", got '[PAD]'"));
  added["added_tokens"].push_back({{"id", 16777215}, {"content", "[PAD]"}});
  EXPECT_THAT(jsonRefusal(added), HasSubstr("got '[PAD]' as 16777215"));
  EXPECT_THAT(rankRefusal(ranks() + base64Of("zz") + " 16777215\n"),
              HasSubstr("and its rank, a number below " + below + ","));
  // A gap of some thousand is none of these.
  large["zzz"] = 60000;
  write("gap/vocab.json", large.dump());
  write("gap/merges.txt", contentOf(folder / "pairs/merges.txt"));
  EXPECT_EQ(openTokenizer(folder / "gap")->size(), 60001);
}
