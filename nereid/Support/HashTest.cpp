//===- HashTest.cpp - BLAKE2b against known digests -----------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Hash.h"

#include <gtest/gtest.h>

using namespace nereid;

// Digests of the bytes i % 251, from Python's hashlib.blake2b(digest_size=32).
// The lengths stand around the 128-byte block.
TEST(Hash, MatchesReference) {
  const std::pair<size_t, const char *> cases[] = {
      {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
      {3, "3d8c3d594928271f44aad7a04b177154806867bcf918e1549c0bc16f9da2b09b"},
      {127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"},
      {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
      {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
      {256, "582f782226018ec33076bd8d1c42413530ac7e1126260ffc0f306ba3befc3f24"},
      {1000,
       "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331"},
  };
  for (auto [length, expected] : cases) {
    std::string data;
    for (size_t i = 0; i < length; ++i) {
      data += static_cast<char>(i % 251);
    }
    EXPECT_EQ(hashText(data).hex(), expected) << length;
    // In pieces of every size up to a block and a half.
    for (size_t piece = 1; piece < 200; piece += 7) {
      Hasher hasher;
      for (size_t i = 0; i < length; i += piece) {
        hasher.update(data.data() + i, std::min(piece, length - i));
      }
      EXPECT_EQ(hasher.finish().hex(), expected) << length << " by " << piece;
    }
  }
}

TEST(Hash, FieldsKeepTheirBorders) {
  EXPECT_NE(Hasher().field("ab").field("c").finish(),
            Hasher().field("a").field("bc").finish());
  EXPECT_NE(Hasher().field("").field("a").finish(),
            Hasher().field("a").field("").finish());
}
