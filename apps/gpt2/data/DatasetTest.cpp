//===- DatasetTest.cpp
//-----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Dataset.h"

#include "apps/gpt2/data/CharacterTokenizer.h"
#include "apps/gpt2/data/DatasetMeta.h"
#include "apps/gpt2/data/JsonFile.h"
#include "apps/gpt2/data/Preparation.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace {
class DatasetFolder : public ::testing::Test {
protected:
  DatasetFolder() {
    writeContent(folder / "text.txt", "abcabcabcabcabcabcabc\n");
    PrepareOptions options;
    options.inputs = {folder / "text.txt"};
    options.dataset = data;
    prepare(options);
    meta = contentOf(path);
  }
  std::string replaced(const std::string &from, const std::string &to) {
    std::string text = meta;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  }
  /// What a meta.json with this content is answered.
  std::string refusal(const std::string &content) {
    writeContent(path, content);
    return errorOf([&] { openDataset(data); });
  }

  TestFolder folder;
  std::string data = folder / "data", path = data + "/meta.json", meta;
};
} // namespace

TEST_F(DatasetFolder, opens) {
  Dataset dataset = openDataset(data);
  EXPECT_EQ(dataset.folder, data);
  EXPECT_EQ(dataset.tokenizer->size(), 4);
  ASSERT_EQ(dataset.train.size(), 1u);
  ASSERT_EQ(dataset.val.size(), 1u);
  EXPECT_EQ(dataset.train[0].size() + dataset.val[0].size(), 22u);
  EXPECT_EQ(readMeta(data).tokenizer, "char");
  EXPECT_THAT(readMeta(data).characters, ElementsAre("\n", "a", "b", "c"));
  EXPECT_EQ(openTokenizer(data)->hash(), dataset.tokenizer->hash());
}

TEST_F(DatasetFolder, metaComesBack) {
  DatasetMeta written{"char",
                      3,
                      "00ff",
                      {"\n", "\"", "\u00E9"},
                      {uint64_t{1} << 40, {"train-00000.tokens", "b"}},
                      {0, {}}};
  writeMeta(folder.path, written);
  DatasetMeta read = readMeta(folder.path);
  EXPECT_EQ(read.tokenizer, written.tokenizer);
  EXPECT_EQ(read.vocabulary, written.vocabulary);
  EXPECT_EQ(read.hash, written.hash);
  EXPECT_EQ(read.characters, written.characters);
  EXPECT_EQ(read.train.tokens, written.train.tokens);
  EXPECT_EQ(read.train.shards, written.train.shards);
  EXPECT_TRUE(read.val.shards.empty());
}

TEST_F(DatasetFolder, errorsOfMetaSayWhere) {
  EXPECT_EQ(refusal(replaced("\"version\": 1", "\"version\": 2")),
            path + ":3:14: error: \"version\": expected 1, or the data "
                   "prepared anew, got 2");
  EXPECT_EQ(refusal(replaced("\"char\"", "\"words\"")),
            path + ":4:16: error: \"tokenizer\": expected \"char\" or \"bpe\", "
                   "got \"words\"");
  EXPECT_EQ(refusal(replaced("\"vocab_size\": 4", "\"vocab_size\": 0")),
            path + ":5:17: error: \"vocab_size\": expected an integer from 1 "
                   "to 2147483647, got 0");
  EXPECT_EQ(refusal(replaced("\"vocab_size\"", "\"vocab\"")),
            path + ":1:1: error: expected the key \"vocab_size\", got none");
  EXPECT_EQ(refusal(replaced("\"tokens\": 19", "\"tokens\": -1")),
            path + ":14:15: error: \"tokens\": expected an integer from 0 to "
                   "9007199254740992, got -1");
  EXPECT_EQ(refusal(replaced("\"train-00000.tokens\"", "7")),
            path + ":15:15: error: \"shards\": expected a list of strings, got "
                   "a list");
  EXPECT_EQ(refusal(replaced("\"val\": {", "\"val\": 3, \"x\": {")),
            path + ":19:10: error: \"val\": expected an object, got 3");
  EXPECT_THAT(refusal(replaced(",\n  \"val\"", "\n  \"val\"")),
              StartsWith(path + ":19:7: error: expected JSON, got a syntax "
                                "error while parsing object"));
  EXPECT_THAT(refusal(meta.substr(0, 100)),
              HasSubstr(": error: expected JSON, got a syntax error"));
  EXPECT_EQ(refusal(replaced("\"b\"", "\"a\"")),
            path + ": characters: 'a': expected each character once, got it as "
                   "tokens 1 and 2");
}

TEST_F(DatasetFolder, otherFilesAreRefused) {
  std::string other =
      path + ": expected \"format\": \"nereid-gpt2 data\", got another file; "
             "nereid-gpt2 prepare writes such ones";
  EXPECT_EQ(refusal("{}"), other);
  EXPECT_EQ(refusal("[]"), other);
  EXPECT_EQ(refusal("{\"format\": 3}"), other);
  EXPECT_THAT(refusal(""), HasSubstr(path + ":1:1: error: expected JSON"));
  // Deeper than a program's stack.
  EXPECT_NE(refusal("{\"format\": \"nereid-gpt2 data\", \"version\": " +
                    std::string(1000000, '[') + std::string(1000000, ']') +
                    "}"),
            "");
  std::filesystem::remove(path);
  EXPECT_EQ(errorOf([&] { openDataset(data); }),
            data +
                ": expected a folder of tokens, got one without meta.json; "
                "nereid-gpt2 prepare TEXT --dataset=" +
                data + " makes it");
  EXPECT_EQ(errorOf([&] { openDataset(folder / "none"); }),
            (folder / "none") +
                ": expected a folder of tokens, got no such folder; "
                "nereid-gpt2 prepare TEXT --dataset=" +
                (folder / "none") + " makes it");
}

TEST_F(DatasetFolder, aTokenizerThatIsAnotherOneIsSeen) {
  EXPECT_EQ(refusal(replaced("\"b\"", "\"d\"")),
            path + ": expected the tokenizer that the tokens were made with, "
                   "got another one: a file of the folder has been changed; "
                   "prepare the data anew");
  // meta.json and its characters agree, and the shard is of another text.
  CharacterTokenizer other({"\n", "a", "d", "c"});
  DatasetMeta changed;
  writeContent(path, meta);
  changed = readMeta(data);
  changed.characters = other.characters();
  changed.hash = other.hash().hex();
  writeMeta(data, changed);
  EXPECT_EQ(errorOf([&] { openDataset(data); }),
            data + "/train-00000.tokens: expected tokens of the tokenizer of " +
                data + ", got tokens of another one; prepare the data anew");
}

TEST_F(DatasetFolder, shardsThatMissAreSeen) {
  EXPECT_EQ(refusal(replaced("\"tokens\": 19", "\"tokens\": 20")),
            data + ": expected shards of 20 tokens, as meta.json says, got 19; "
                   "prepare the data anew");
  writeContent(path, meta);
  std::filesystem::remove(data + "/val-00000.tokens");
  EXPECT_EQ(errorOf([&] { openDataset(data); }),
            "cannot open " + data +
                "/val-00000.tokens: No such file or directory");
}

TEST_F(DatasetFolder, namesAreFoldersOfData) {
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  EXPECT_EQ(datasetFolder("shakespeare"), "data/shakespeare");
  EXPECT_EQ(datasetFolder("a/b"), "a/b");
  EXPECT_EQ(datasetFolder("."), ".");
  EXPECT_EQ(datasetFolder(".."), "..");
  std::filesystem::create_directory("here");
  writeContent("here/meta.json", "{}");
  EXPECT_EQ(datasetFolder("here"), "here");
  std::filesystem::create_directories("data/here");
  EXPECT_EQ(datasetFolder("here"), "data/here");
  std::filesystem::current_path(before);
}

TEST(JsonFile, placesAreThoseOfValues) {
  TestFolder folder;
  std::string path = folder / "x.json";
  writeContent(path, "{ \"a\\\"\" : [1, \"}\", {\"b\": 2}],\n\t\"\u00E9\": "
                     "{\"b\":\n  {}, \"a\": true}, \"b\" :7}");
  JsonFile file(path);
  auto place = [&](const JsonFile::Keys &keys) {
    std::string message = errorOf([&] { file.refuse(keys, ""); });
    return message.substr(path.size());
  };
  EXPECT_EQ(place({}), ":1:1: error: ");
  EXPECT_EQ(place({"a\""}), ":1:11: error: ");
  EXPECT_EQ(place({"\u00E9"}), ":2:7: error: ");
  EXPECT_EQ(place({"\u00E9", "b"}), ":3:3: error: ");
  EXPECT_EQ(place({"\u00E9", "a"}), ":3:12: error: ");
  EXPECT_EQ(place({"b"}), ":3:24: error: ");
  EXPECT_EQ(place({"\u00E9", "none"}), ":2:7: error: ");
  EXPECT_EQ(place({"b", "none"}), ":3:24: error: ");
  EXPECT_EQ(file.integer({"b"}, 0, 10), 7);
  EXPECT_EQ(errorOf([&] { (void)file.integer({"b"}, 0, 6); }),
            path + ":3:24: error: \"b\": expected an integer from 0 to 6, got "
                   "7");
  EXPECT_EQ(errorOf([&] { (void)file.text({"b"}); }),
            path + ":3:24: error: \"b\": expected a string, got 7");
  EXPECT_EQ(errorOf([&] { (void)file.texts({"a\""}); }),
            path + ":1:11: error: \"a\"\": expected a list of strings, got a "
                   "list");
}
