//===- PreparationTest.cpp
//-------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Preparation.h"
#include "apps/gpt2/data/Testing.h"

#include "apps/gpt2/data/Dataset.h"
#include "apps/gpt2/data/DatasetMeta.h"
#include "apps/gpt2/data/ProgressBar.h"
#include "nereid/Weights/Testing.h"

#include "nereid/Runtime/Context.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <random>
#include <sys/file.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Of a folder and those in it.
static std::vector<std::string> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Words, numbers, white space and other scripts; several megabytes are cut
/// into chunks.
static std::string randomText(size_t bytes) {
  std::mt19937 generator(9);
  const std::string words[] = {
      "the",  "of", "Nereid's", "42",         "caf\u00E9", "\u4E16\u754C",
      "!?",   "  ", "\n",       "\U0001F600", "\u00A0",    "<|endoftext|>",
      "don't"};
  std::string text;
  while (text.size() < bytes) {
    text += words[generator() % std::size(words)];
    text += generator() % 3 ? " " : "";
  }
  return text;
}

namespace {
class Preparation : public ::testing::Test {
protected:
  ~Preparation() override { setNumThreads(0); }

  std::string file(const std::string &name, const std::string &content) {
    writeContent(folder / name, content);
    return folder / name;
  }
  PrepareOptions of(std::vector<std::string> inputs) {
    PrepareOptions options;
    options.inputs = std::move(inputs);
    options.dataset = data;
    return options;
  }
  std::string trainText() {
    Dataset dataset = openDataset(data);
    return dataset.tokenizer->decode(tokensOf(dataset.train));
  }
  std::string valText() {
    Dataset dataset = openDataset(data);
    return dataset.tokenizer->decode(tokensOf(dataset.val));
  }

  TestFolder folder;
  std::string data = folder / "data";
};
} // namespace

TEST_F(Preparation, charactersAreSplitAsNanoGptDoes) {
  std::string text = "0123456789\u00E9\u20AC\U0001F600z"; // 14 characters
  std::string told = prepare(of({file("a.txt", text)}));
  // int(14 * 0.9) = 12 characters are for training.
  EXPECT_EQ(trainText(), "0123456789\u00E9\u20AC");
  EXPECT_EQ(valText(), "\U0001F600z");
  EXPECT_THAT(told, StartsWith("text: 14 characters, 20 bytes\n"
                               "vocabulary: 14 characters\n"
                               "train: 12 tokens\n"
                               "val: 2 tokens\n"
                               "encoded in "));
  EXPECT_THAT(told, HasSubstr(" to " + data + "\n"));
  EXPECT_THAT(namesIn(data), ElementsAre("meta.json", "train-00000.tokens",
                                         "val-00000.tokens"));
}

TEST_F(Preparation, howMuchIsForValidation) {
  std::string text = file("a.txt", "0123456789");
  PrepareOptions options = of({text});
  for (auto [fraction, train] :
       {std::pair(0.0, "0123456789"), std::pair(0.5, "01234"),
        std::pair(0.29, "0123456"), std::pair(0.999, "")}) {
    options.valFraction = fraction;
    prepare(options);
    EXPECT_EQ(trainText(), train) << fraction;
    EXPECT_EQ(trainText() + valText(), "0123456789");
  }
}

TEST_F(Preparation, severalFilesAreJoined) {
  std::vector<std::string> files = {file("a", "aaaa"), file("b", "bb"),
                                    file("c", "cccc")};
  prepare(of(files));
  EXPECT_EQ(trainText(), "aaaabbccc");
  EXPECT_EQ(valText(), "c");
  // The split lies within the second one, and a text may be repeated.
  PrepareOptions options = of({files[0], files[1], files[2], files[0]});
  options.valFraction = 0.65;
  prepare(options);
  EXPECT_EQ(trainText(), "aaaa");
  EXPECT_EQ(valText(), "bbccccaaaa");
}

TEST_F(Preparation, bytePairsPartTextsByEndOfText) {
  std::vector<std::string> files = {file("a", "one two one two"),
                                    file("b", "one"), file("c", "two two")};
  PrepareOptions options = of(files);
  options.trainBpe = 270;
  options.valFraction = 0.2; // 5 of 25 characters
  prepare(options);
  EXPECT_EQ(trainText(), "one two one two<|endoftext|>one<|endoftext|>tw");
  EXPECT_EQ(valText(), "o two");
  EXPECT_THAT(namesIn(data),
              ElementsAre("merges.txt", "meta.json", "train-00000.tokens",
                          "val-00000.tokens", "vocab.json"));
  // <|endoftext|> is one token, between texts and in them.
  Dataset dataset = openDataset(data);
  Tokens tokens = tokensOf(dataset.train);
  EXPECT_EQ(
      std::count(tokens.begin(), tokens.end(), *dataset.tokenizer->endOfText()),
      2);
}

TEST_F(Preparation, tokensDoNotDependOnTheThreads) {
  std::string text = randomText(3500000);
  PrepareOptions options =
      of({file("a.txt", text), file("b.txt", randomText(100000))});
  options.trainBpe = 350;
  options.threads = 1;
  prepare(options);
  Tokens train = tokensOf(openDataset(data).train),
         val = tokensOf(openDataset(data).val);
  std::string hash = openDataset(data).tokenizer->hash().hex();
  options.threads = 4;
  prepare(options);
  EXPECT_EQ(openDataset(data).tokenizer->hash().hex(), hash);
  EXPECT_TRUE(tokensOf(openDataset(data).train) == train);
  EXPECT_TRUE(tokensOf(openDataset(data).val) == val);
  // Chunks change nothing: the text at once has the same tokens.
  std::string all = text + "<|endoftext|>" + randomText(100000);
  EXPECT_TRUE(trainText() + valText() == all);
  EXPECT_TRUE(openDataset(data).tokenizer->encode(trainText()) == train);
}

TEST_F(Preparation, manyShardsAreOneText) {
  PrepareOptions options = of({file("a.txt", "0123456789abcdef")});
  options.shardTokens = 5;
  prepare(options);
  EXPECT_EQ(trainText(), "0123456789abcd");
  EXPECT_THAT(readMeta(data).train.shards,
              ElementsAre("train-00000.tokens", "train-00001.tokens",
                          "train-00002.tokens"));
  // What an earlier data set had more goes.
  options.shardTokens = 100;
  prepare(options);
  EXPECT_EQ(trainText(), "0123456789abcd");
  EXPECT_THAT(namesIn(data), ElementsAre("meta.json", "train-00000.tokens",
                                         "val-00000.tokens"));
}

TEST_F(Preparation, aTokenizerIsTakenFromAFolder) {
  PrepareOptions options = of({file("a.txt", "one two one two one two")});
  options.trainBpe = 260;
  options.dataset = folder / "first";
  prepare(options);
  PrepareOptions second = of({file("b.txt", "two three\xFF")});
  second.tokenizer = folder / "first";
  prepare(second);
  EXPECT_EQ(openDataset(data).tokenizer->hash(),
            openDataset(folder / "first").tokenizer->hash());
  EXPECT_EQ(trainText() + valText(), "two three\xFF");
  second.tokenizer.clear();
  second.vocab = folder / "first/vocab.json";
  second.merges = folder / "first/merges.txt";
  second.dataset = folder / "third";
  prepare(second);
  EXPECT_TRUE(tokensOf(openDataset(folder / "third").train) ==
              tokensOf(openDataset(data).train));
}

TEST_F(Preparation, charactersThatAreUnknownHaveAPlace) {
  PrepareOptions first = of({file("a.txt", "abc\n")});
  first.dataset = folder / "first";
  prepare(first);
  PrepareOptions second = of({file("b.txt", "abc\ncab\u00E9\n")});
  second.tokenizer = folder / "first";
  EXPECT_EQ(errorOf([&] { prepare(second); }),
            (folder / "b.txt") +
                ":2:4: error: expected one of the 4 "
                "characters of " +
                second.tokenizer + ", got '\u00E9'");
  EXPECT_EQ(errorOf([&] { prepare(of({file("c.txt", "\u00E9x\n\xFF")})); }),
            (folder / "c.txt") +
                ":2:1: error: expected UTF-8, got a byte that is none; "
                "--tokenizer=bpe takes any bytes");
  EXPECT_FALSE(std::filesystem::exists(data));
}

TEST_F(Preparation, whatCannotBeReadIsNamed) {
  EXPECT_EQ(errorOf([&] { prepare(of({folder / "none"})); }),
            "cannot read " + (folder / "none") + ": No such file or directory");
  EXPECT_EQ(errorOf([&] { prepare(of({file("empty", "")})); }),
            (folder / "empty") + ": expected text, got an empty file");
  EXPECT_EQ(errorOf([&] { prepare(of({"ftp://host/file"})); }),
            "ftp://host/file: expected a path, or an address of http:// or "
            "https://, got ftp://");
  EXPECT_THAT(errorOf([&] { prepare(of({folder.path})); }),
              HasSubstr(folder.path));
  EXPECT_FALSE(std::filesystem::exists(data));
}

TEST_F(Preparation, byteOrderMarksAreNamed) {
  std::string bom = "\xEF\xBB\xBF" + std::string("abc\n"),
              wide("\xFF\xFE\x61\x00\x62\x00", 6);
  auto warningOf = [&](const std::string &text, int64_t trainBpe) {
    writeContent(folder / "marked.txt", text);
    PrepareOptions options;
    options.inputs = {folder / "marked.txt"};
    options.dataset = folder / "marked";
    options.trainBpe = trainBpe;
    ::testing::internal::CaptureStderr();
    std::string error = errorOf([&] { prepare(options); });
    return ::testing::internal::GetCapturedStderr() + error;
  };
  EXPECT_THAT(warningOf(bom, 0), HasSubstr("begins with a byte order mark"));
  EXPECT_THAT(warningOf(wide, 0),
              HasSubstr("marked.txt:1:1: error: expected UTF-8, got UTF-16"));
  EXPECT_THAT(warningOf(wide, 258), HasSubstr("it is UTF-16"));
  EXPECT_THAT(warningOf("abc\n", 0), ::testing::Not(HasSubstr("order mark")));
}

TEST_F(Preparation, aPipeIsRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "from a pipe", 11), 11);
  ::close(ends[1]);
  prepare(of({"/dev/fd/" + std::to_string(ends[0])}));
  ::close(ends[0]);
  EXPECT_EQ(trainText() + valText(), "from a pipe");
}

TEST_F(Preparation, anErrorKeepsTheEarlierDataSet) {
  prepare(of({file("a.txt", "0123456789")}));
  auto before = namesIn(data);
  EXPECT_NE(errorOf([&] { prepare(of({file("b.txt", "abc\xFF")})); }), "");
  EXPECT_NE(errorOf([&] { prepare(of({folder / "none"})); }), "");
  EXPECT_EQ(namesIn(data), before);
  EXPECT_EQ(trainText() + valText(), "0123456789");
}

TEST_F(Preparation, leftoversOfAKilledProcessGo) {
  std::filesystem::create_directories(data + "/.prepare-partial/x");
  writeContent(data + "/.prepare-partial/train-00007.tokens.partial", "x");
  writeContent(data + "/train-00003.tokens", "moved, and then killed");
  writeContent(data + "/notes.txt", "of the user");
  prepare(of({file("a.txt", "0123456789")}));
  EXPECT_THAT(namesIn(data),
              ElementsAre("meta.json", "notes.txt", "train-00000.tokens",
                          "val-00000.tokens"));
}

TEST_F(Preparation, foldersOfOthersStay) {
  PrepareOptions options = of({file("a.txt", "0123456789")});
  file("data", "a file");
  EXPECT_THAT(errorOf([&] { prepare(options); }),
              StartsWith("cannot make the folder " + data + ": "));
  std::filesystem::remove(data);
  std::filesystem::create_directory(data);
  writeContent(data + "/meta.json", "{\"of\": \"another program\"}");
  EXPECT_EQ(errorOf([&] { prepare(options); }),
            data + "/meta.json: expected none, or one of an earlier data set, "
                   "got another program's; take another --dataset");
  // One that was cut off is replaced.
  writeContent(data + "/meta.json", "{\n  \"format\": \"nereid-gpt2 data\",");
  prepare(options);
  EXPECT_EQ(trainText(), "012345678");
  writeContent(data + "/meta.json", "");
  prepare(options);
  EXPECT_EQ(trainText(), "012345678");
}

TEST_F(Preparation, oneProcessWritesAFolder) {
  std::filesystem::create_directory(data);
  int fd = ::open(data.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(fd, LOCK_EX), 0);
  PrepareOptions options = of({file("a.txt", "0123456789")});
  EXPECT_EQ(errorOf([&] { prepare(options); }),
            data + ": expected that no other process writes it, got one that "
                   "does; wait for it, or take another --dataset");
  ::close(fd);
  prepare(options);
  EXPECT_EQ(trainText(), "012345678");
}

TEST(ProgressBar, tellsShareSpeedAndTime) {
  EXPECT_EQ(progressLine("encode", 12000000, 24000000, "MB", 4),
            "encode [###############...............] 50 % 12 of 24 MB, 3.0 "
            "MB/s, 4.0 s left");
  EXPECT_EQ(progressLine("read", 0, 10, "tokens", 0),
            "read [..............................] 0 % 0.0 of 10 tokens");
  EXPECT_EQ(progressLine("read", 20, 10, "tokens", 0.1),
            "read [##############################] 100 % 20 of 10 tokens");
  EXPECT_EQ(progressLine("read", 0, 0, "tokens", 0.1),
            "read [##############################] 100 % 0.0 of 0.0 tokens");
}
