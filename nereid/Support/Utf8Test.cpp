//===- Utf8Test.cpp - Every code point ------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "nereid/Support/Utf8.h"

#include <gtest/gtest.h>

using namespace nereid;

TEST(Utf8, everyCodePointIsTakenApartAndMade) {
  for (char32_t code = 0; code < 0x110000; ++code) {
    std::string text;
    appendUtf8(text, code);
    size_t offset = 0;
    char32_t read = decodeUtf8(text, offset);
    if (code >= 0xd800 && code < 0xe000) {
      ASSERT_EQ(read, invalidCharacter) << size_t{code};
      ASSERT_EQ(offset, 1u);
      continue;
    }
    ASSERT_EQ(read, code);
    ASSERT_EQ(offset, text.size()) << size_t{code};
    // Without its last byte it is not a character.
    text.pop_back();
    ASSERT_EQ(isValidUtf8(text), text.empty()) << size_t{code};
  }
}
