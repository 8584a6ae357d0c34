//===- TokenFilesTest.cpp -------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files that Python wrote are read in test/foreign_files.py.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/TokenFiles.h"

#include "apps/gpt2/checkpoint/TorchTesting.h"
#include "apps/gpt2/data/Loader.h"
#include "apps/gpt2/data/Preparation.h"
#include "apps/gpt2/data/Testing.h"
#include "nereid/Weights/Testing.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

static std::string bytesOf(const Tokens &tokens, int width = 2) {
  std::string text;
  for (int32_t token : tokens) {
    text += littleEndian(uint64_t(token), width);
  }
  return text;
}

static std::string headerOf(int64_t magic, int64_t version, int64_t count) {
  return littleEndian(uint64_t(magic), 4) + littleEndian(uint64_t(version), 4) +
         littleEndian(uint64_t(count), 4) + std::string(1012, '\0');
}

static std::string llmcOf(const Tokens &tokens) {
  return headerOf(20240520, 1, int64_t(tokens.size())) + bytesOf(tokens);
}

/// As pickle.dump writes a dictionary with protocol 4.
static std::string metaPickle(const std::vector<std::string> &texts) {
  std::string numbers = "}(";
  for (size_t i = 0; i < texts.size(); ++i) {
    numbers += integerPickle(int64_t(i)) + textPickle(texts[i]);
  }
  return "\x80\x04" +
         dictPickle({{"vocab_size", integerPickle(int64_t(texts.size()))},
                     {"itos", numbers + "u"}}) +
         ".";
}

namespace {
class TokenFiles : public ::testing::Test {
protected:
  void write(const std::string &name, const std::string &content) {
    writeContent(folder / name, content);
  }
  std::string refusal() {
    return errorOf([&] {
      Dataset data = openDataset(folder.path);
      tokensOf(data.train);
      tokensOf(data.val);
    });
  }
  TestFolder folder;
};
} // namespace

TEST_F(TokenFiles, ofNanoGptGiveTheBatchesOfOurShards) {
  PrepareOptions options;
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text += char('a' + i * i % 23);
  }
  write("text.txt", text);
  options.inputs = {folder / "text.txt"};
  options.dataset = folder / "ours";
  prepare(options);
  Dataset ours = openDataset(options.dataset);
  write("train.bin", bytesOf(tokensOf(ours.train)));
  write("val.bin", bytesOf(tokensOf(ours.val)));
  write("meta.pkl", metaPickle(ours.tokenizer->characters()));
  Dataset theirs = openDataset(folder.path);
  EXPECT_EQ(theirs.tokenizer->hash(), ours.tokenizer->hash());
  EXPECT_EQ(tokensOf(theirs.train), tokensOf(ours.train));
  EXPECT_EQ(tokensOf(theirs.val), tokensOf(ours.val));
  Loader a(ours.train, 3, 16, 7), b(theirs.train, 3, 16, 7);
  for (uint64_t step : {0, 5}) {
    Batch one = a.batch(step), other = b.batch(step);
    EXPECT_TRUE(haveSameBits(one.inputs, other.inputs));
    EXPECT_TRUE(haveSameBits(one.targets, other.targets));
  }
}

TEST_F(TokenFiles, ofLlmcAreOneTextInTheOrderOfTheirNames) {
  write("edu_fineweb_train_000002.bin", llmcOf({3, 50256}));
  write("edu_fineweb_train_000001.bin", llmcOf({1, 2}));
  write("edu_fineweb_val_000000.bin", llmcOf({4}));
  Dataset data = openDataset(folder.path);
  EXPECT_THAT(tokensOf(data.train), ElementsAre(1, 2, 3, 50256));
  EXPECT_THAT(tokensOf(data.val), ElementsAre(4));
  EXPECT_EQ(data.tokenizer->size(), 50257);
}

TEST_F(TokenFiles, ofLlama3HaveWideTokens) {
  write("tiny_shakespeare_train.bin",
        headerOf(20240801, 7, 2) + bytesOf({128000, 70000}, 4));
  write("tiny_shakespeare_val.bin", headerOf(20240801, 7, 1) + bytesOf({5}, 4));
  Dataset data = openDataset(folder.path);
  EXPECT_THAT(tokensOf(data.train), ElementsAre(128000, 70000));
  EXPECT_EQ(data.tokenizer->size(), 128256);
}

TEST_F(TokenFiles, withoutATokenizerAreGpt2s) {
  write("train.bin", bytesOf({0, 50256}));
  write("val.bin", bytesOf({1}));
  Dataset data = openDataset(folder.path);
  EXPECT_EQ(data.tokenizer->size(), 50257);
  EXPECT_FALSE(hasTokenizer(folder.path));
  EXPECT_THAT(errorOf([&] { data.tokenizer->encode("a"); }),
              HasSubstr("expected a tokenizer beside its tokens"));
}

TEST_F(TokenFiles, otherTokensHaveAnotherChecksum) {
  Tokens many(100000, 7);
  auto checksumOf = [&] {
    write("train.bin", bytesOf(many));
    write("val.bin", bytesOf({1}));
    return openDataset(folder.path).train[0].tokensChecksum();
  };
  uint64_t first = checksumOf();
  EXPECT_EQ(checksumOf(), first);
  many.back() = 8;
  EXPECT_NE(checksumOf(), first);
  many.back() = 7;
  many.front() = 8;
  EXPECT_NE(checksumOf(), first);
  many.clear();
  EXPECT_NE(checksumOf(), first);
  // Of files above 2 MiB samples between the ends count.
  many.assign(size_t{1} << 21, 7);
  first = checksumOf();
  many[many.size() / 2] = 8;
  EXPECT_NE(checksumOf(), first);
}

TEST_F(TokenFiles, metaPickleMayHaveNoCharacters) {
  write("train.bin", bytesOf({6}));
  write("val.bin", bytesOf({1}));
  write("meta.pkl", "\x80\x04" + dictPickle({{"vocab_size", "K\x07"}}) + ".");
  EXPECT_EQ(openDataset(folder.path).tokenizer->size(), 7);
  // As many tokens as it says, and not as many characters.
  write("meta.pkl", "\x80\x04" +
                        dictPickle({{"vocab_size", integerPickle(1 << 24)},
                                    {"itos", "}(" + integerPickle(0) +
                                                 textPickle("a") + "u"}}) +
                        ".");
  EXPECT_EQ(openDataset(folder.path).tokenizer->size(), 1 << 24);
  // Tokens of several characters are of another tokenizer.
  write("meta.pkl", metaPickle({"a", "bc"}));
  write("train.bin", bytesOf({1}));
  EXPECT_EQ(openDataset(folder.path).tokenizer->size(), 2);
}

TEST_F(TokenFiles, aPipeIsNotReadFrom) {
  write("val.bin", bytesOf({1}));
  ASSERT_EQ(::mkfifo((folder / "train.bin").c_str(), 0600), 0);
  // With a writer, so that a reader need not wait either.
  int pipe = ::open((folder / "train.bin").c_str(), O_RDWR | O_CLOEXEC);
  std::string tokens = headerOf(20240520, 1, 0);
  ASSERT_EQ(::write(pipe, tokens.data(), tokens.size()),
            ssize_t(tokens.size()));
  EXPECT_THAT(refusal(), HasSubstr("train.bin: expected a file of tokens, got "
                                   "a device or pipe"));
  ::close(pipe);
  std::filesystem::remove(folder / "train.bin");
  std::filesystem::create_directory(folder / "train.bin");
  EXPECT_THAT(refusal(), HasSubstr("expected a file of tokens, got a folder"));
  std::filesystem::remove(folder / "train.bin");
  std::filesystem::create_symlink("gone", folder / "train.bin");
  EXPECT_THAT(refusal(),
              HasSubstr("expected a file of tokens, got a name of no file"));
}

TEST_F(TokenFiles, areRefusedWhereTheyAreDamaged) {
  write("val.bin", bytesOf({1}));
  write("train.bin", bytesOf({1, 50257}));
  EXPECT_THAT(refusal(), AllOf(HasSubstr("train.bin"),
                               HasSubstr("expected tokens below 50257, got "
                                         "50257")));
  write("train.bin", "abc");
  EXPECT_THAT(refusal(), HasSubstr("tokens of 2 bytes, as nanoGPT writes"));
  write("train.bin", llmcOf({1, 2}).substr(0, 1026));
  EXPECT_THAT(refusal(), HasSubstr("expected 1028 bytes for 2 tokens, got "
                                   "1026"));
  write("train.bin", headerOf(20240520, 2, 0));
  EXPECT_THAT(refusal(), HasSubstr("version 1, got version 2"));
  write("train.bin", headerOf(20240520, 1, -1));
  EXPECT_NE(refusal(), "");
  write("train.bin", headerOf(20240522, 1, 0));
  EXPECT_THAT(refusal(), HasSubstr("multiple choice questions"));
  write("train.bin", bytesOf({1}));
  write("meta.pkl", "(dp0\n.");
  EXPECT_THAT(refusal(), HasSubstr("meta.pkl"));
  write("meta.pkl", "\x80\x04}.");
  EXPECT_THAT(refusal(), HasSubstr("'vocab_size', a number from 1 on"));
  std::filesystem::remove(folder / "meta.pkl");
  std::filesystem::remove(folder / "val.bin");
  EXPECT_THAT(refusal(), HasSubstr("got none of val"));
  write("my_train.bin", bytesOf({1}));
  write("my_val.bin", bytesOf({1}));
  std::filesystem::remove(folder / "train.bin");
  EXPECT_THAT(refusal(), HasSubstr("nanoGPT's bare tokens are train.bin"));
}
