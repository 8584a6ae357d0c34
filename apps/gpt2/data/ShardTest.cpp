//===- ShardTest.cpp
//-------------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Shard.h"

#include "apps/gpt2/data/Checksum.h"
#include "apps/gpt2/data/ShardHeader.h"
#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>
#include <numeric>
#include <sys/resource.h>
#include <sys/stat.h>
#include <thread>

using namespace nereid;
using namespace nereid::gpt2;
using ::testing::HasSubstr;

TEST(Checksum, isXxh64) {
  // Values of the reference implementation, seed 0.
  auto of = [](std::string_view text) {
    return checksum(text.data(), text.size());
  };
  EXPECT_EQ(of(""), 0xEF46DB3751D8E999);
  EXPECT_EQ(of("a"), 0xD24EC4F1A98C6E5B);
  EXPECT_EQ(of("abc"), 0x44BC2CF5AD770999);
  EXPECT_EQ(of("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1);
}

static Digest digestOf(uint8_t first) {
  Digest digest{};
  std::iota(digest.bytes.begin(), digest.bytes.end(), first);
  return digest;
}

/// Numbers below the vocabulary, without a short period.
static std::vector<int32_t> someTokens(size_t count, int32_t vocabulary) {
  std::vector<int32_t> tokens(count);
  for (size_t i = 0; i < count; ++i) {
    tokens[i] = static_cast<int32_t>(i * 2654435761 %
                                     static_cast<uint64_t>(vocabulary));
  }
  return tokens;
}

static void writeShard(const std::string &path,
                       const std::vector<int32_t> &tokens, int32_t vocabulary) {
  ShardWriter writer(path, vocabulary, digestOf(1));
  writer.append(tokens);
  writer.finish();
  writer.commit();
}

static std::vector<int32_t> allOf(const Shard &shard) {
  std::vector<int32_t> tokens(shard.size());
  shard.read(0, tokens.size(), tokens.data());
  return tokens;
}

namespace {
class ShardFile : public ::testing::Test {
protected:
  /// What opening and reading all of this content says.
  std::string refusal(const std::string &content) {
    writeContent(path, content);
    return errorOf([&] { Shard::open(path).verify(); });
  }
  /// A change of the header whose own checksum is right.
  std::string refusalOf(const std::function<void(ShardHeader &)> &change) {
    writeShard(path, someTokens(1000, 65), 65);
    std::string content = contentOf(path);
    ShardHeader header;
    std::memcpy(&header, content.data(), sizeof(header));
    change(header);
    header.headerChecksum = checksum(&header, ShardHeader::checkedBytes);
    std::memcpy(content.data(), &header, sizeof(header));
    return refusal(content);
  }

  TestFolder folder;
  std::string path = folder / "train-00000.tokens";
};
} // namespace

TEST_F(ShardFile, givesBackWhatWasWritten) {
  // Vocabularies on both sides of 16 bits; counts at the edges of a block of
  // 65536 bytes.
  for (int32_t vocabulary : {1, 65, 65536, 65537, 1 << 24}) {
    size_t block = vocabulary <= 65536 ? 32768 : 16384;
    for (size_t count : {size_t{0}, size_t{1}, size_t{3}, size_t{4}, block - 1,
                         block, block + 1, 3 * block + 5}) {
      std::vector<int32_t> tokens = someTokens(count, vocabulary);
      writeShard(path, tokens, vocabulary);
      Shard shard = Shard::open(path);
      ASSERT_EQ(shard.size(), count);
      ASSERT_EQ(shard.vocabulary(), vocabulary);
      ASSERT_EQ(shard.tokenizerHash(), digestOf(1));
      ASSERT_EQ(shard.path(), path);
      ASSERT_TRUE(allOf(shard) == tokens) << vocabulary << ", " << count;
      shard.verify();
    }
  }
}

TEST_F(ShardFile, hasTheLayoutThatTheHeaderFileDescribes) {
  writeShard(path, {1, 2, 258}, 300);
  std::string content = contentOf(path);
  ASSERT_EQ(content.size(), 4096u + 8 + 8);
  EXPECT_EQ(content.substr(0, 8), "NRDTOKEN");
  EXPECT_EQ(content.substr(8, 8), std::string("\1\0\0\0\x10\0\0\0", 8));
  EXPECT_EQ(content.substr(16, 8), std::string("\3\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(content.substr(24, 8), std::string("\x2C\1\0\0\0\0\1\0", 8));
  EXPECT_EQ(content[32], 1); // of the tokenizer's hash
  EXPECT_EQ(content[63], 32);
  EXPECT_EQ(content.substr(80, 4016), std::string(4016, '\0'));
  EXPECT_EQ(content.substr(4096, 8), std::string("\1\0\2\0\2\1\0\0", 8));
  uint64_t word;
  std::memcpy(&word, &content[4104], 8);
  EXPECT_EQ(word, checksum(&content[4096], 6));
  std::memcpy(&word, &content[64], 8);
  EXPECT_EQ(word, checksum(&content[4104], 8));
  std::memcpy(&word, &content[72], 8);
  EXPECT_EQ(word, checksum(content.data(), 72));
}

TEST_F(ShardFile, manyAppendsAreOneText) {
  std::vector<int32_t> tokens = someTokens(100000, 50257);
  ShardWriter writer(path, 50257, digestOf(1));
  for (size_t first = 0, count = 1; first < tokens.size(); first += count++) {
    writer.append(std::span(tokens).subspan(
        first, std::min(count, tokens.size() - first)));
  }
  EXPECT_EQ(writer.size(), tokens.size());
  writer.finish();
  EXPECT_FALSE(std::filesystem::exists(path)); // until it is committed
  writer.commit();
  EXPECT_TRUE(allOf(Shard::open(path)) == tokens);
  std::vector<int32_t> some(5);
  Shard::open(path).read(32766, 5, some.data());
  EXPECT_TRUE(std::equal(some.begin(), some.end(), tokens.begin() + 32766));
}

TEST_F(ShardFile, whatIsNotCommittedIsRemoved) {
  {
    ShardWriter writer(path, 65, digestOf(1));
    writer.append(someTokens(100, 65));
    writer.finish();
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path));
  EXPECT_THAT(errorOf([&] {
                ShardWriter writer(folder / "none/x.tokens", 65, digestOf(1));
              }),
              HasSubstr("cannot write " + (folder / "none/x.tokens") +
                        ": No such file or directory"));
}

TEST_F(ShardFile, readsOutsideAreRefused) {
  writeShard(path, someTokens(100, 65), 65);
  Shard shard = Shard::open(path);
  int32_t token;
  EXPECT_EQ(errorOf([&] { shard.read(100, 1, &token); }),
            path + ": expected tokens 0 to 100, got 100 to 101");
  EXPECT_EQ(errorOf([&] { shard.read(~uint64_t{0}, 1, &token); }),
            path + ": expected tokens 0 to 100, got 18446744073709551615 to 0");
  EXPECT_EQ(errorOf([&] { shard.read(100, 0, &token); }), "");
}

TEST_F(ShardFile, everyChangedBitIsSeen) {
  writeShard(path, someTokens(50000, 65), 65);
  const std::string good = contentOf(path);
  ASSERT_EQ(refusal(good), "");
  for (size_t bit = 0; bit < 8 * good.size();
       bit += bit < 8 * 80 ? 1 : 8 * 311 + 1) {
    if (bit >= 8 * 80 && bit < 8 * 4096) {
      bit = 8 * 4096; // between header and tokens there is nothing
    }
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    ASSERT_THAT(refusal(bad), HasSubstr(path + ": ")) << "bit " << bit;
  }
}

TEST_F(ShardFile, everyCutIsSeen) {
  writeShard(path, someTokens(50000, 65), 65);
  const std::string good = contentOf(path);
  for (size_t size = 0; size < good.size();
       size += size < 100 || size + 20 > good.size() ? 1 : 997) {
    ASSERT_THAT(refusal(good.substr(0, size)), HasSubstr(path + ": "))
        << size << " bytes";
  }
  EXPECT_EQ(refusal(good + "x"),
            path + ": cut off or damaged: expected 104112 bytes for 50000 "
                   "tokens, got 104113; prepare the data anew");
  EXPECT_EQ(refusal(good.substr(0, 5000)),
            path + ": cut off or damaged: expected 104112 bytes for 50000 "
                   "tokens, got 5000; prepare the data anew");
}

TEST_F(ShardFile, damageIsNamed) {
  writeShard(path, someTokens(50000, 65), 65);
  const std::string good = contentOf(path);
  auto changed = [&](size_t at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    return bad;
  };
  EXPECT_EQ(refusal(changed(20)),
            path + ": damaged: the checksum of its header is wrong; prepare "
                   "the data anew");
  EXPECT_EQ(refusal(changed(good.size() - 1)),
            path + ": damaged: the checksum of its table is wrong; prepare the "
                   "data anew");
  EXPECT_EQ(refusal(changed(4096 + 65536 + 10)),
            path + ": damaged: the checksum of bytes 69632 to 104096 is not "
                   "the one that was written; prepare the data anew");
  // Only what is read is checked: the first block is good.
  Shard shard = Shard::open(path);
  std::vector<int32_t> tokens(32768);
  shard.read(0, tokens.size(), tokens.data());
  EXPECT_TRUE(tokens == someTokens(32768, 65));
  EXPECT_NE(errorOf([&] { shard.read(32767, 2, tokens.data()); }), "");
}

TEST_F(ShardFile, otherFilesAreRefused) {
  std::string foreign =
      path + ": expected a file of tokens (its first bytes are NRDTOKEN), got "
             "another one; nereid-gpt2 prepare makes such files from text";
  EXPECT_EQ(refusal(""), foreign);
  EXPECT_EQ(refusal("First Citizen:"), foreign);
  EXPECT_EQ(refusal(std::string(100000, '\0')), foreign);
  EXPECT_EQ(refusal("NRDTOKEN"), foreign);
  EXPECT_EQ(refusalOf([](ShardHeader &header) { header.version = 2; }),
            path + ": expected a file of version 1, got version 2; prepare the "
                   "data anew");
  EXPECT_THAT(refusalOf([](ShardHeader &header) { header.bits = 8; }),
              HasSubstr("damaged"));
  EXPECT_THAT(refusalOf([](ShardHeader &header) { header.blockBytes = 0; }),
              HasSubstr("damaged"));
  EXPECT_THAT(refusalOf([](ShardHeader &header) { header.tokens = ~0ull; }),
              HasSubstr("damaged"));
  EXPECT_THAT(
      refusalOf([](ShardHeader &header) { header.tokens = 1ull << 47; }),
      HasSubstr("cut off or damaged"));
  EXPECT_EQ(refusalOf([](ShardHeader &header) { header.vocabulary = 64; }),
            path + ": expected tokens below 64, got 64 in block 0; prepare the "
                   "data anew");
  EXPECT_EQ(errorOf([&] { Shard::open(folder / "none"); }),
            "cannot open " + (folder / "none") + ": No such file or directory");
  EXPECT_EQ(errorOf([&] { Shard::open(folder.path); }),
            folder.path + ": expected a file of tokens, got no regular file");
  std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(errorOf([&] { Shard::open(pipe); }),
            pipe + ": expected a file of tokens, got no regular file");
}

TEST_F(ShardFile, aFileThatIsCutMeanwhileIsAnError) {
  writeShard(path, someTokens(50000, 65), 65);
  Shard shard = Shard::open(path);
  std::filesystem::resize_file(path, 4096);
  int32_t token;
  EXPECT_EQ(errorOf([&] { shard.read(40000, 1, &token); }),
            path + ": expected 104112 bytes, as when it was opened, got 4096: "
                   "somebody has changed it");
}

TEST_F(ShardFile, threadsShareOne) {
  std::vector<int32_t> tokens = someTokens(300000, 50257);
  writeShard(path, tokens, 50257);
  Shard shard = Shard::open(path);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t, copy = shard] {
      std::vector<int32_t> some(1000);
      for (size_t i = t; i < 299; i += 4) {
        copy.read(i * 1000, 1000, some.data());
        wrong += !std::equal(some.begin(), some.end(),
                             tokens.begin() + static_cast<ptrdiff_t>(i * 1000));
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(wrong, 0);
}
