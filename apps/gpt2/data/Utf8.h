//===- Utf8.h - Characters of UTF-8 -----------------------------*- C++ -*-===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Texts of data sets: any bytes, mostly UTF-8 (Support/Utf8.h).
//
//===----------------------------------------------------------------------===//

#ifndef NEREID_APPS_GPT2_DATA_UTF8_H
#define NEREID_APPS_GPT2_DATA_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nereid::gpt2 {

/// A character, or one byte that begins none.
struct Character {
  uint32_t code = 0; ///< 0xFFFFFFFF for a byte that is no character
  uint32_t bytes = 1;
  bool ok() const { return code != 0xFFFFFFFF; }
};

/// At a byte of 0x80 or more.
Character longCharacterAt(const uint8_t *at, const uint8_t *end);

inline Character characterAt(const uint8_t *at, const uint8_t *end) {
  return *at < 0x80 ? Character{*at, 1} : longCharacterAt(at, end);
}

/// What a text is made of.
struct CharacterCount {
  uint64_t characters = 0;   ///< bytes that are no characters count as one each
  uint64_t invalid = 0;      ///< of these: such bytes
  uint64_t firstInvalid = 0; ///< offset of the first one
};
CharacterCount countCharacters(std::string_view text);

/// Bytes of the first `characters` characters.
size_t prefixOf(std::string_view text, uint64_t characters);

/// Bytes at the end that begin a character and do not finish it, 0 to 3.
size_t unfinishedBytes(std::string_view text);

/// Every byte that is no part of a character becomes U+FFFD.
std::string wellFormed(std::string_view text);

/// "name:line:column: error: " of a byte of a text; columns count characters.
std::string placeInText(const std::string &name, std::string_view text,
                        size_t offset);

} // namespace nereid::gpt2

#endif // NEREID_APPS_GPT2_DATA_UTF8_H
