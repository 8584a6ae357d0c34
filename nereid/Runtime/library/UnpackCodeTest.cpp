//===- UnpackCodeTest.cpp -------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Runtime/library/UnpackCode.h"

#include <gtest/gtest.h>
#include <string>
#include <zstd.h>

using namespace nereid;

namespace {
class UnpackCode : public testing::Test {
protected:
  UnpackCode() {
    for (int i = 0; i < 300000; ++i) {
      raw += static_cast<char>(i * i >> 3);
    }
    std::string text(ZSTD_compressBound(raw.size()), '\0');
    text.resize(
        ZSTD_compress(text.data(), text.size(), raw.data(), raw.size(), 19));
    packed = text;
    block = {reinterpret_cast<const std::byte *>(packed.data()), packed.size()};
    library.blocks = &block;
    library.blockCount = 1;
  }
  std::optional<std::string> codeOf(uint64_t begin, uint64_t size,
                                    uint32_t index = 0) {
    LibraryImage image = {};
    image.block = index;
    image.begin = begin;
    image.codeSize = size;
    auto code = unpackCode(library, image);
    if (!code) {
      return std::nullopt;
    }
    return std::string(reinterpret_cast<const char *>(code->data()),
                       code->size());
  }

  std::string raw, packed;
  LibraryBlock block = {};
  KernelLibrary library = {};
};
} // namespace

TEST_F(UnpackCode, GivesAnyPieceOfABlock) {
  EXPECT_EQ(codeOf(0, 10), raw.substr(0, 10));
  EXPECT_EQ(codeOf(1234, 5678), raw.substr(1234, 5678));
  EXPECT_EQ(codeOf(299000, 1000), raw.substr(299000));
  EXPECT_EQ(codeOf(0, raw.size()), raw);
}

TEST_F(UnpackCode, RefusesWhatIsNotThere) {
  EXPECT_FALSE(codeOf(0, 10, 1));
  EXPECT_FALSE(codeOf(0, raw.size() + 1));
  EXPECT_FALSE(codeOf(uint64_t(-1), 2));
  EXPECT_FALSE(codeOf(1, uint64_t(-1)));
}

TEST_F(UnpackCode, RefusesDamagedBlocks) {
  packed[0] ^= 1;
  EXPECT_FALSE(codeOf(0, 10));
  packed[0] ^= 1;
  block.size /= 2;
  EXPECT_FALSE(codeOf(0, raw.size()));
}
