//===- Utf8.cpp - Characters of UTF-8 -------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Utf8.h"

#include "nereid/Support/Utf8.h"

#include <algorithm>
#include <cstring>

namespace nereid::gpt2 {

Character longCharacterAt(const uint8_t *at, const uint8_t *end) {
  size_t bytes = 0;
  char32_t code = decodeUtf8(
      {reinterpret_cast<const char *>(at), static_cast<size_t>(end - at)},
      bytes);
  return {code, static_cast<uint32_t>(bytes)};
}

static const uint8_t *bytesOf(std::string_view text) {
  return reinterpret_cast<const uint8_t *>(text.data());
}

CharacterCount countCharacters(std::string_view text) {
  CharacterCount count;
  const uint8_t *first = bytesOf(text), *end = first + text.size();
  for (const uint8_t *at = first; at < end;) {
    uint64_t word;
    while (end - at >= 8 &&
           (std::memcpy(&word, at, 8), (word & 0x8080808080808080) == 0)) {
      at += 8;
      count.characters += 8;
    }
    if (at == end) {
      break;
    }
    Character character = characterAt(at, end);
    if (!character.ok() && count.invalid++ == 0) {
      count.firstInvalid = static_cast<uint64_t>(at - first);
    }
    ++count.characters;
    at += character.bytes;
  }
  return count;
}

size_t prefixOf(std::string_view text, uint64_t characters) {
  const uint8_t *first = bytesOf(text), *end = first + text.size(), *at = first;
  for (; characters > 0 && at < end; --characters) {
    at += characterAt(at, end).bytes;
  }
  return static_cast<size_t>(at - first);
}

size_t unfinishedBytes(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(3, text.size()); ++back) {
    uint8_t byte = static_cast<uint8_t>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) {
      continue; // the middle of a character
    }
    // Some bytes that may follow make it a character, or none do.
    size_t bytes = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
    if (back >= bytes) {
      return 0;
    }
    for (char fill : {'\x80', '\x90', '\xBF'}) {
      std::string whole(text.substr(text.size() - back));
      whole.resize(bytes, '\x80');
      if (back == 1) {
        whole[1] = fill;
      }
      if (characterAt(bytesOf(whole), bytesOf(whole) + bytes).ok()) {
        return back;
      }
    }
    return 0;
  }
  return 0;
}

std::string wellFormed(std::string_view text) {
  std::string result;
  const uint8_t *end = bytesOf(text) + text.size();
  for (const uint8_t *at = bytesOf(text); at < end;) {
    Character character = characterAt(at, end);
    if (character.ok()) {
      result.append(reinterpret_cast<const char *>(at), character.bytes);
    } else {
      result += "\xEF\xBF\xBD";
    }
    at += character.bytes;
  }
  return result;
}

std::string placeInText(const std::string &name, std::string_view text,
                        size_t offset) {
  std::string_view before = text.substr(0, std::min(offset, text.size()));
  auto line = std::count(before.begin(), before.end(), '\n') + 1;
  size_t start = before.rfind('\n') + 1; // npos + 1 == 0
  uint64_t column = countCharacters(before.substr(start)).characters + 1;
  return name + ":" + std::to_string(line) + ":" + std::to_string(column) +
         ": error: ";
}

} // namespace nereid::gpt2
